"""The example that closes the loop: it moves, learns, and takes another model or load while it runs."""

import sys
from pathlib import Path

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy")

from rcl_interfaces.srv import SetParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "close_the_loop.py"


def test_the_arm_moves_while_its_model_and_load_are_changed(ros_domain, start_process) -> None:
    process = start_process(sys.executable, str(EXAMPLE), "--ros-args", "-p", "model:=nominal")
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("probe", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    states: list[JointState] = []
    errors: list[float] = []
    node.create_subscription(JointState, "joint_states", states.append, 1000)
    node.create_subscription(Float64, "tracking_error", lambda told: errors.append(told.data), 100)
    parameters = node.create_client(SetParameters, "/close_the_loop/set_parameters")

    def spin_until(condition) -> None:
        for _ in range(3000):
            if condition():
                return
            executor.spin_once(timeout_sec=0.02)
        pytest.fail(f"{len(states)} joint states, {len(errors)} errors; {process.output}")

    def set_parameter(name: str, value: object) -> tuple[bool, str]:
        asked = parameters.call_async(
            SetParameters.Request(parameters=[Parameter(name, value=value).to_parameter_msg()])
        )
        spin_until(asked.done)
        (result,) = asked.result().results
        return result.successful, result.reason

    try:
        spin_until(lambda: len(errors) >= 4 and parameters.service_is_ready())
        with_model = errors[-1]
        assert set_parameter("model", "none")[0]
        count = len(errors)
        spin_until(lambda: len(errors) >= count + 5)
        assert errors[-1] > 1.2 * with_model
        good, reason = set_parameter("model", "magic")
        assert not good
        assert "learned" in reason
        good, reason = set_parameter("load", -1.0)
        assert not good
        assert reason
        assert set_parameter("load", 0.5)[0]
    finally:
        executor.remove_node(node)
        node.destroy_node()
        rclpy.shutdown(context=context)
    stamps = np.array([one.header.stamp.sec * 10**9 + one.header.stamp.nanosec for one in states])
    assert np.median(np.diff(stamps)) == 2_000_000  # 500 Hz of simulated time
    assert np.abs([one.effort[0] for one in states]).max() > 0.1
