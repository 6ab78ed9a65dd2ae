"""What the evidence of an event says: a load, the release of one, or the end of a contact."""

from collections.abc import Sequence

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.changes.event import LOAD, PUSH, Attempt, Block, Event, load_of
from icub_learning.dynamics.changes.load import DEVIATIONS
from icub_learning.dynamics.regressors.link_effects import N_WRENCH

MARGIN = 4.0  # of log likelihood, by which a load must be more likely than a contact
LARGEST_FIT = 3.0  # mean squared whitened error of an explanation that fits
LEAST_MASS = 2.0  # of a load, in standard deviations


def is_load(attempt: Attempt) -> bool:
    """Whether a load explains the errors better than a push does, well enough, and could be there."""
    bare, loaded = attempt.bare, attempt.loaded
    as_load = bare.log_ratio(LOAD) - 0.5 * bare.squares
    as_push = max(loaded.log_ratio(PUSH) - 0.5 * loaded.squares, bare.log_ratio(PUSH) - 0.5 * bare.squares)
    if as_load < as_push + MARGIN:
        return False
    load = load_of(0, bare)
    return load.plausible and load.mass > LEAST_MASS * load.mass_deviation and _fits(bare.left(LOAD), attempt)


def is_released(attempt: Attempt) -> bool:
    """Whether the load before is gone, rather than another one there or something pushing."""
    bare, loaded = attempt.bare, attempt.loaded
    pushed = loaded.log_ratio(PUSH) - 0.5 * (loaded.squares - bare.squares)
    others = max(bare.log_ratio(LOAD), bare.log_ratio(PUSH), pushed)
    return _fits(bare.squares, attempt) and others < -MARGIN / 2


def _fits(squares: float, attempt: Attempt) -> bool:
    n_outputs = len(attempt.bare_state) // 2
    return squares <= LARGEST_FIT * n_outputs * attempt.bare.n_blocks


def is_over(event: Event, recent: Sequence[Block], covariance: Array) -> tuple[bool, bool]:
    """Tell whether a push is over, as the latest errors are as before it, or as without any load.

    Args:
        event: what began with the push.
        recent: its latest blocks.
        covariance: (m, m) of the mean of their errors while nothing has changed.

    Returns:
        Whether it is over, and whether the load before it, if there was one, is still there.
    """
    m = len(covariance)
    precision = np.linalg.inv(covariance)
    usual = event.offset[m:]  # offsets last, errors of motion do not
    before = np.zeros(len(DEVIATIONS)) if event.before is None else event.before.parameters
    push = event.attempts[0].loaded.posterior(PUSH)[0][:N_WRENCH]
    load = event.attempts[0].bare.posterior(LOAD)[0][: len(DEVIATIONS)]
    without, with_before, with_push, with_load = np.zeros((4, m))
    for block in recent:
        bare = block.error - usual
        loaded = bare - block.load_columns @ before
        without += bare / len(recent)
        with_before += loaded / len(recent)
        with_push += (loaded - block.columns[:, len(DEVIATIONS) :] @ push) / len(recent)
        with_load += (bare - block.load_columns @ load) / len(recent)

    def squares(mean: Array) -> float:
        return float(mean @ precision @ mean)

    still_there = squares(with_before) <= squares(without)
    ended = squares(with_before if still_there else without)
    going_on = min(squares(with_push), squares(with_load))
    return ended <= LARGEST_FIT * m and ended <= going_on - MARGIN, still_there
