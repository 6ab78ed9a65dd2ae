"""The experiments on changes: what they compare is what they say, and they notice a model that knows nothing."""

import numpy as np
import pytest

from icub_learning.experiments.change.control import ControlLoop
from icub_learning.experiments.change.experiment import ROWS


@pytest.mark.parametrize("full", [False, True])
def test_a_rigid_model_in_the_loop_follows_better_than_feedback_alone_or_fights_friction_it_lacks(full):
    loop = ControlLoop(100, full)
    errors = {}
    for model in ("none", "nominal"):
        loop.use(model)
        loop.run(1.0)
        errors[model] = loop.run(1.5)
    # Computed torque has no stiffness beyond the model's, so friction that the rigid bodies lack stops small joints.
    assert (errors["nominal"] > errors["none"]) == full
    assert np.isfinite(list(errors.values())).all()
    assert loop.stream.counts.learned > 500


def test_a_model_that_knows_nothing_is_not_called_good():
    found = {f"{model}, {load:g} kg": 0.1 for model in ("none", "nominal", "learned") for load in (0.0, 0.5)}
    judged = [good for _, _, expected, good in ROWS["control"]([{"feed-forward": found}]) if expected]
    assert judged == [False, False]
    found |= {"learned, 0 kg": 0.01, "learned, 0.5 kg": 0.04}
    judged = [good for _, _, expected, good in ROWS["control"]([{"feed-forward": found}]) if expected]
    assert judged == [True, True]
