"""The usual time between two stamps, against its limit and its value after one pause."""

import numpy as np
import pytest

from icub_learning.dynamics.motion.stamps import USUAL_SAMPLES, UsualInterval


def followed(times):
    usual = UsualInterval()
    for elapsed in times:
        usual.follow(elapsed)
    return usual.value


def test_jitter_is_averaged_a_pause_counts_little_and_a_slower_rate_is_followed():
    """The deviation of an exponential mean of independent times is sqrt(share / (2 - share)) of theirs: 0.18."""
    rng, share = np.random.default_rng(0), 1.0 / USUAL_SAMPLES
    found = [followed(1.0 + 0.1 * rng.standard_normal(200)) for _ in range(400)]
    assert np.mean(found) == pytest.approx(1.0, abs=0.005)
    assert np.std(found) == pytest.approx(0.1 * np.sqrt(share / (2.0 - share)), rel=0.15)
    assert followed([0.004]) == followed([0.004] * 20) == 0.004
    assert followed([1.0] * 50 + [1e4]) == pytest.approx(1.0 + 1.0 / USUAL_SAMPLES)
    assert followed([1.0] * 50 + [10.0] * 300) == pytest.approx(10.0, rel=1e-3)
