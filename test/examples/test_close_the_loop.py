"""The example that closes the loop: it moves, learns, and takes another model or load while it runs."""

import sys

import numpy as np
from helpers.ros_probe import RosProbe
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64

from icub_learning.nodes.common.conversions import stamp_to_ns


def test_the_arm_moves_while_its_model_and_load_are_changed(ros_domain, start_process, checkout) -> None:
    start_process(sys.executable, str(checkout / "examples/close_the_loop.py"), "--ros-args", "-p", "model:=nominal")
    with RosProbe("/close_the_loop") as probe:
        states = probe.hear(JointState, "joint_states")
        errors = probe.hear(Float64, "tracking_error")

        def set_parameter(name: str, value: object) -> tuple[bool, str]:
            parameter = Parameter(name, value=value).to_parameter_msg()
            (result,) = probe.call(SetParameters, "set_parameters", parameters=[parameter]).results
            return result.successful, result.reason

        probe.until(lambda: len(errors) >= 3, "errors")
        with_model = errors[-1].data
        assert set_parameter("model", "none")[0]
        count = len(errors)
        probe.until(lambda: len(errors) >= count + 3, "errors without a model")
        assert errors[-1].data > 1.2 * with_model
        good, reason = set_parameter("model", "magic")
        assert not good
        assert "learned" in reason
        good, reason = set_parameter("load", -1.0)
        assert not good
        assert reason
        assert set_parameter("load", 0.5)[0]
    steps = np.diff([stamp_to_ns(one.header.stamp) for one in states])
    assert np.median(steps) == 2_000_000  # 500 Hz of simulated time
    assert np.abs([one.effort[0] for one in states]).max() > 0.1
