"""The node beside a robot in another process, for a minute at 200 Hz: a prediction for every joint state, once."""

import pytest

from benchmarks import node


@pytest.mark.ros
@pytest.mark.slow
def test_every_joint_state_is_predicted_once(tmp_path, ros_domain):
    found, _ = node.follow("SP", 60.0, tmp_path)
    assert found["joint_states"] > 60 * 200 * 0.95 and found["joint_states_lost_here"] == 0
    assert found["joint_states_without_prediction"] == 0 and found["predicted_twice"] == 0
    assert found["predictions_of_unknown_stamp"] == 0
