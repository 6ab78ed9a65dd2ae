"""A ROS 2 node that closes the loop: a simulated arm follows circles with torques from a model that it learns.

    .venv/bin/python examples/close_the_loop.py                            # feedback, and torques for the reference
    .venv/bin/python examples/close_the_loop.py --ros-args -p full:=true   # computed torque
    ros2 param set /close_the_loop load 0.5                                # [kg] into the hand
    ros2 param set /close_the_loop model nominal                           # or none, or learned

The arm is **simulated**, with friction, cables and encoders. The controller runs at 500 Hz of simulated time and each
sample is learned, as fast as this machine can. Publishes `joint_states` (sensor_msgs/JointState, with motor torques and
simulated stamps) and, twice a simulated second, `tracking_error` (std_msgs/Float64, RMS over joints [rad]).
"""

import numpy as np
import rclpy
from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64

from icub_learning.errors import IcubLearningError
from icub_learning.experiments.change.control import MODELS, RATE, ControlLoop

TOLD_EVERY = RATE // 2  # periods between two published tracking errors
LOGGED_EVERY = 10 * RATE


class CloseTheLoop(Node):
    """Moves the arm, and publishes its joint states and tracking error."""

    def __init__(self) -> None:
        super().__init__("close_the_loop")
        full = self.declare_parameter("full", False).value
        self.loop = ControlLoop(self.declare_parameter("seed", 0).value, full)
        self.declare_parameter("model", "learned")
        self.declare_parameter("load", 0.0)  # [kg]
        self.add_on_set_parameters_callback(self.change)
        self.change(self.get_parameters(["model", "load"]))
        self.states = self.create_publisher(JointState, "joint_states", 10)
        self.errors = self.create_publisher(Float64, "tracking_error", 10)
        self.squares: list[float] = []
        self.periods = 0

    def change(self, parameters: list) -> SetParametersResult:
        """Switch to another model, or put another load into the hand; refuse other changes."""
        for one in parameters:
            if one.name == "model":
                if one.value not in MODELS:
                    return SetParametersResult(successful=False, reason=f"model must be one of {', '.join(MODELS)}")
                self.loop.use(one.value)
            elif one.name == "load":
                try:
                    self.loop.arm.attach_payload(float(one.value))
                except IcubLearningError as error:
                    return SetParametersResult(successful=False, reason=str(error))
            else:
                return SetParametersResult(successful=False, reason=f"{one.name} is fixed at the start")
        return SetParametersResult(successful=True)

    def step(self) -> None:
        """Control for one period, learn, and publish."""
        shown = self.loop.step()
        message = JointState(name=list(self.loop.arm.arm.joint_names))
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(shown.stamp, 10**9)
        message.position, message.velocity = shown.position.tolist(), shown.velocity.tolist()
        message.effort = self.loop.arm.torque.tolist()
        self.states.publish(message)
        self.squares.append(float(np.mean(self.loop.arm.error**2)))
        self.periods += 1
        if self.periods % TOLD_EVERY == 0:
            error = float(np.sqrt(np.mean(self.squares[-TOLD_EVERY:])))
            self.errors.publish(Float64(data=error))
        if self.periods % LOGGED_EVERY == 0:
            self.squares = self.squares[-LOGGED_EVERY:]
            error = float(np.sqrt(np.mean(self.squares)))
            model, load = (self.get_parameter(name).value for name in ("model", "load"))
            self.get_logger().info(
                f"{self.periods / RATE:.0f} s: {model} model, {load:g} kg, tracking error {error:.4f} rad"
            )


def main() -> None:
    """Run until Ctrl-C."""
    # ROS's own handler of Ctrl-C would end its context in the middle of a step, which then could not publish.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = CloseTheLoop()
        while True:
            node.step()
            rclpy.spin_once(node, timeout_sec=0.0)
    except KeyboardInterrupt:
        pass
    finally:
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
