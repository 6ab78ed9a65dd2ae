"""Automatic forgetting: none without a change, quickly raised after one, and ending again."""

import numpy as np
import pytest

from icub_learning.errors import ParameterError
from icub_learning.recursive import AdaptiveForgetting

PERIOD = 0.01  # [s]


def feed(forgetting, rng, seconds, level=1.0, leverage=0.0):
    """Feed white errors; return the forgetting factors after each."""
    errors = level * rng.standard_normal((round(seconds / PERIOD), forgetting.n_outputs))
    return np.array([forgetting.follow(error, leverage, PERIOD) for error in errors])


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_forgotten_without_change(seed):
    assert (feed(AdaptiveForgetting(3), np.random.default_rng(seed), 600.0) == 1.0).all()


@pytest.mark.parametrize("level, within, shorter", [(4.0, 3.0, 2.0), (1.5, 6.0, 20.0), (1.15, 40.0, 60.0)])
def test_larger_errors_raise_forgetting_which_ends_again(level, within, shorter):
    """`shorter` is the longest memory [s] allowed just after a change of this size."""
    rng, forgetting = np.random.default_rng(1), AdaptiveForgetting(3)
    feed(forgetting, rng, 60.0)
    with pytest.raises(ParameterError):
        forgetting.change(np.nan)  # which counts as none
    factors = feed(forgetting, rng, within, level)
    assert (factors < 1.0).any() and -PERIOD / np.log(factors[factors < 1.0][0]) <= shorter
    assert feed(forgetting, rng, 1500.0, level)[-1] == 1.0 and forgetting.changes == 1


@pytest.mark.parametrize("level, leverage", [(0.1, 0.0), (3.0, 8.0)])
def test_smaller_errors_and_those_that_grow_as_their_leverage_says_are_no_change(level, leverage):
    rng, forgetting = np.random.default_rng(3), AdaptiveForgetting(2)
    feed(forgetting, rng, 60.0)
    assert (feed(forgetting, rng, 60.0, level, leverage) == 1.0).all()
