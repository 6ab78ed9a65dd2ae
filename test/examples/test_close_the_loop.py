"""The example that closes the loop: it moves, learns, and takes another model or load while it runs."""

import sys

import numpy as np
from helpers.ros_probe import RosProbe
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64

from icub_learning.nodes.common.conversions import stamp_to_ns


def test_the_arm_moves_while_its_model_and_load_are_changed(ros_domain, start_process, checkout) -> None:
    start_process(sys.executable, str(checkout / "examples/close_the_loop.py"), "--ros-args", "-p", "model:=nominal")
    with RosProbe("/close_the_loop") as probe:
        states, errors = probe.hear(JointState, "joint_states"), probe.hear(Float64, "tracking_error")
        probe.until(lambda: len(errors) >= 3, "errors")
        with_model = errors[-1].data
        assert probe.set_parameter("model", "none").successful
        count = len(errors)
        probe.until(lambda: len(errors) >= count + 3, "errors without a model")
        assert errors[-1].data > 1.2 * with_model
        for name, value, said in (("model", "magic", "learned"), ("load", -1.0, "mass")):
            refused = probe.set_parameter(name, value)
            assert not refused.successful and said in refused.reason
        assert probe.set_parameter("load", 0.5).successful
    steps = np.diff([stamp_to_ns(one.header.stamp) for one in states])
    assert np.median(steps) == 2_000_000  # 500 Hz of simulated time
    assert np.abs([one.effort[0] for one in states]).max() > 0.1
