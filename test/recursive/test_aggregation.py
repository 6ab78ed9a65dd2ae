"""On-line aggregation: its bound holds whatever the sequence, computed here from the definition alone."""

import numpy as np
import pytest
from helpers.misleading_errors import CASES, MEMORY, followed, within_bound

from icub_learning.recursive.aggregation import ConvexAggregation


@pytest.mark.parametrize("name", CASES)
def test_a_step_is_what_the_class_says_and_the_regret_is_within_its_bound(name):
    errors, fade = CASES[name], 1 - 1 / MEMORY
    learner = ConvexAggregation(errors.shape[2], 1)
    for row in errors:
        learner.update(row[:, :, None], fade)
    rows, history, rates = followed(errors, fade)
    np.testing.assert_allclose(learner.weights[:, 0], history[-1], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(learner.rates[:, 0], rates, rtol=1e-9)
    assert within_bound(rows, rates, fade)


def test_outputs_choose_apart_and_equal_experts_share():
    learner = ConvexAggregation(2, 3)
    for _ in range(200):
        learner.update(np.array([[[1.0, 0.1, 0.7], [0.1, 1.0, 0.7]]]), 0.99)
    assert learner.weights[1, 0] > 0.99
    assert learner.weights[0, 1] > 0.99
    np.testing.assert_allclose(learner.weights[:, 2], 0.5)


def test_numbers_of_any_size_leave_finite_weights():
    learner = ConvexAggregation(3, 1)
    for size in (0.0, 1e-300, 1e300, 1.0, 0.0, 1e80, 1e-160):
        learner.update(size * np.array([[[1.0], [2.0], [-1.0]]]), 0.9)
        assert np.isfinite(learner.weights).all()
        np.testing.assert_allclose(learner.weights.sum(axis=0), 1.0)
