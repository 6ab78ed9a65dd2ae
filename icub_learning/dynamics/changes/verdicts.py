"""What the evidence of an event says: a load, the release of one, or the end of a contact."""

from collections.abc import Sequence
from math import log

import numpy as np
from scipy.special import chdtri, ndtri

from icub_learning.arrays import Array
from icub_learning.dynamics.changes.error_model import RARE
from icub_learning.dynamics.changes.event import FEWEST, LATEST, Attempt, Block, Cause, Event
from icub_learning.dynamics.regressors.link_effects import N_BODY, N_WRENCH

PUSHES = Cause.PUSH, Cause.PULL  # causes that act from outside
MARGIN = -log(RARE)  # [nats] a push passes for a load, or a load for nothing, with RARE at most (Ville's inequality)
LARGEST_FIT = float(chdtri(N_WRENCH, RARE)) / N_WRENCH  # mean square of six white errors that is exceeded with RARE
LEAST_MASS = -float(ndtri(RARE))  # [standard deviations] a mass of zero seems heavier with probability RARE


def load_in(event: Event, recent: Sequence[Block]) -> Attempt | None:
    """Return the first attempt that shows a load, or None; `recent` are the latest blocks, as for `is_over`."""
    old = [one for one in event.attempts if one.bare.n_blocks >= FEWEST] if event.n_blocks % LATEST == 0 else []
    return next((one for one in old if _is_load(one, event, recent)), None)


def _is_load(attempt: Attempt, event: Event, recent: Sequence[Block]) -> bool:
    """Return whether a load explains the errors better than all else does, explains them well enough, and is possible.
    A load that is there explains each recent block, too; one that stands for a push and its end does not."""
    as_load, as_push, as_unknown = _log_likelihoods(attempt)
    if as_load < max(as_push, as_unknown) + MARGIN:
        return False
    load = attempt.estimate.load(0, 0)
    heavy = load.plausible and load.mass > LEAST_MASS * load.mass_deviation
    if not heavy or not _fits(attempt.bare.left(Cause.LOAD), attempt):
        return False
    distances = (_distances(event, [block.without(load), block.error]) for block in recent)
    return all(carried < without for carried, without in distances)


def _log_likelihoods(attempt: Attempt) -> tuple[float, float, float]:
    """Return log likelihoods of the errors since evidence began: with a load, with a push, in an unknown motion. All
    three lack the same constant. A push may come with the load before the event or without it."""
    bare, loaded = attempt.bare, attempt.loaded
    as_load = bare.log_likelihood(Cause.LOAD)
    as_push = max(evidence.log_likelihood(cause) for evidence in (loaded, bare) for cause in PUSHES)
    return as_load, as_push, attempt.unknown.log_likelihood + attempt.log_roots


def _is_unknown(attempt: Attempt) -> bool:
    """Return whether a motion that the body does not know explains the errors better than a load or a push does."""
    if attempt.bare.n_blocks < FEWEST:
        return False
    as_load, as_push, as_unknown = _log_likelihoods(attempt)
    return as_unknown > max(as_load, as_push) + MARGIN


def _is_released(attempt: Attempt) -> bool:
    """Return whether the load before is gone, and not replaced by another load or a push."""
    bare, loaded = attempt.bare, attempt.loaded
    pushed = max(map(loaded.log_likelihood, PUSHES)) + 0.5 * bare.squares
    return _fits(bare.squares, attempt) and max(bare.best, pushed) < -MARGIN / 2


def _is_nothing(attempt: Attempt) -> bool:
    """Return whether nothing was added to the errors since evidence began, or only the load before the event."""
    return attempt.bare.n_blocks >= FEWEST and any(
        _fits(evidence.squares, attempt) and evidence.best < -MARGIN / 2 for evidence in (attempt.bare, attempt.loaded)
    )


def _fits(squares: float, attempt: Attempt) -> bool:
    return squares <= LARGEST_FIT * len(attempt.bare.level) * attempt.bare.n_blocks


def is_over(event: Event, recent: Sequence[Block]) -> tuple[bool, bool]:
    """Return whether a push is over: the latest errors are as before it, or as without any load, and show no cause.

    That is so if the causes that were estimated since its beginning would show in the latest errors, or if evidence
    that began later is against any cause: what pushes for a while in changing directions has no constant estimate. It
    is also over, and never was, if a motion that the body does not know explains the errors better than any cause.
    The first block cannot tell a push from an error of one sample. The mean of fewer than LATEST blocks after it
    differs more from that before than is allowed for, so that an end is found later rather than too early.

    Returns:
        Whether it is over, judged by `recent`, the latest blocks after its first, LATEST at most, and whether what was
        carried before it is still there.
    """
    if event.n_blocks == 1:
        return False, True
    if event.before is not None and _is_released(event.attempts[0]):
        return True, False
    if any(map(_is_unknown, event.attempts)):
        return True, True
    error = np.add.reduce([block.error for block in recent]) / len(recent)
    columns = np.add.reduce([block.columns for block in recent]) / len(recent)
    of_load, of_push, first = columns[:, :N_BODY], columns[:, N_BODY:], event.attempts[0]
    with_before = error if event.before is None else error - of_load @ event.before.parameters
    with_push = with_before - of_push @ first.loaded.of(Cause.PUSH).mean[:N_WRENCH]
    with_pull = with_before - first.loaded.of(Cause.PULL).mean
    tried = error, with_before, with_push, with_pull, error - of_load @ first.bare.of(Cause.LOAD).mean[:N_BODY]
    nothing, as_before, pushed, pulled, carried = _distances(event, tried)
    still_there = as_before <= nothing
    ended = as_before if still_there else nothing
    if ended > LARGEST_FIT * len(error):
        return False, still_there
    return ended <= min(pushed, pulled, carried) - MARGIN or any(map(_is_nothing, event.attempts[1:])), still_there


def _distances(event: Event, errors: Sequence[Array]) -> list[float]:
    """Return the squared distances of mean errors (m,) from those before the event, in units of their covariance."""
    means = np.array(errors) - event.state[len(event.precision) :, 0]
    distances: list[float] = ((means @ event.precision) * means).sum(axis=1).tolist()
    return distances
