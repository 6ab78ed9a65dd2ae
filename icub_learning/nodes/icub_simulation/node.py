"""The node of the simulated iCub arm: steps it in time with the wall clock and publishes what it senses."""

import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from rclpy.timer import Timer
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from icub_learning.errors import IcubLearningError, ParameterError, SimulationError
from icub_learning.nodes.common.conversions import inertia_message, set_stamp
from icub_learning.nodes.common.diagnostics import diagnostics_of, status_of
from icub_learning.nodes.common.qos import STATE, STREAM
from icub_learning.nodes.common.spinning import LifecycleSettings, ManagedNode, run
from icub_learning.nodes.common.threads import scheduling
from icub_learning.nodes.common.trajectories import trajectory_points
from icub_learning.nodes.icub_simulation.camera import CameraSettings, ObjectCamera
from icub_learning.nodes.icub_simulation.messages import SensorMessages, TruthMessages
from icub_learning.nodes.icub_simulation.pacing import Pacer
from icub_learning.settings import pick, setting, settings_of
from icub_learning.simulation import TASKS, ArmSimulation, SimulationSettings
from icub_learning.simulation.arm.disturbances import ball_inertia
from icub_learning.simulation.arm.settings import STEPS_PER_SECOND, TIME_STEP_NS, steps_per_sample
from icub_learning_msgs.srv import AttachPayload, Push, SetTask, ShowObject

REPORT_PERIOD = 1.0  # [s] between two reports on /diagnostics
KEEPS_UP = 0.98  # share of the requested real-time factor below which diagnostics warn


def _rate_bound(rate: float) -> str | None:
    try:
        steps_per_sample(rate)
    except ParameterError as error:
        return error.bound
    return None


@dataclass(frozen=True)
class NodeSettings:
    """Settings of the node itself, beside those of the simulated arm and its camera."""

    rate: float = setting(
        200.0, "joint states and wrenches per simulated second; a divisor of 1000", unit="Hz", low=1.0,
        high=float(STEPS_PER_SECOND), check=_rate_bound,
    )  # fmt: skip
    real_time_factor: float = setting(1.0, "simulated seconds per second", low=0.01, high=100.0, live=True)


PARAMETERS = settings_of(
    LifecycleSettings, NodeSettings, SimulationSettings, CameraSettings, scheduling.SchedulingSettings
)


class IcubSimulationNode(ManagedNode):
    """Publishes joint states, wrenches, /clock and ground truth; see docs/ros_interface.md."""

    def _configure(self, settings: dict[str, Any]) -> None:
        self._paced: list[Timer] = []  # timers that run while the node is active
        self._factor, self._scheduling = settings["real_time_factor"], settings
        self._every = steps_per_sample(settings["rate"])
        self._simulation = ArmSimulation(pick(SimulationSettings, settings))
        arm = self._simulation.arm
        self._messages, self._truth_messages = SensorMessages(arm), TruthMessages(arm)
        self._clock_message = Clock()
        self._make_endpoints()
        self._camera = ObjectCamera(self, settings)
        self.started.callback(self._camera.drop)
        self.get_logger().info(f"{settings['side']} arm at {settings['rate']:g} Hz: {settings['task']}")

    def _start(self) -> None:
        self._publish_task()
        self._publish_payload()
        self._camera.publish_truth()
        self._start_pacing()

    def _stop(self, _reason: str = "") -> None:
        while self._paced:  # the arm stays where it is in its motion
            self.destroy_timer(self._paced.pop())

    def _deactivated(self) -> None:
        self._camera.deactivate("the node has been deactivated")

    def _make_endpoints(self) -> None:
        make = self.create_lifecycle_publisher
        self._clock_publisher = make(Clock, "/clock", STREAM)
        self._joint_publisher = make(JointState, "joint_states", STREAM)
        self._wrench_publisher = make(WrenchStamped, "wrench", STREAM)
        self._truth_publishers = {
            name: make(kind, f"~/truth/{name}", STREAM) for name, kind in TruthMessages.TYPES.items()
        }
        self._task_publisher = make(String, "~/truth/task", STATE)
        self._payload_publisher = make(InertiaStamped, "~/truth/payload", STATE)
        self._diagnostics_publisher = make(DiagnosticArray, "/diagnostics", STREAM)
        self.create_subscription(JointTrajectory, "joint_trajectory", self._on_trajectory, 10)
        self.create_service(SetTask, "~/set_task", self._set_task)
        self.create_service(AttachPayload, "~/attach_payload", self._attach_payload)
        self.create_service(Push, "~/push", self._push)
        self.create_service(ShowObject, "~/show_object", self._show_object)

    def _start_pacing(self) -> None:
        # Real-time priority, as a robot's driver has: joint states that wait for a core are late for all subscribers.
        # Faster than real time, it would leave the subscribers too little time of the cores.
        fast = {"realtime_priority": 0} if self._factor > 1.0 else {}
        self.get_logger().info("; ".join(scheduling.apply(self._scheduling | fast)))
        period = self._every / STEPS_PER_SECOND
        self._pacer = Pacer(period, self._factor, time.monotonic())
        self._paced = [
            self.create_timer(period / self._factor, self._tick), self.create_timer(REPORT_PERIOD, self._report)
        ]  # fmt: skip

    def _tick(self) -> None:
        if not self.active:  # the timer came due before it was destroyed
            return
        for _ in range(self._pacer.due(time.monotonic())):
            for _ in range(self._every):
                self._simulation.step()
            self._publish()
        last = self._simulation.stamp - TIME_STEP_NS  # stamp of the newest joint states
        if last > 0:
            self._camera.update(last)

    def _publish(self) -> None:
        sensors = self._simulation.sensors()
        set_stamp(self._clock_message.clock, sensors.stamp)
        self._clock_publisher.publish(self._clock_message)
        self._messages.fill(sensors)
        self._joint_publisher.publish(self._messages.joint_states)
        self._wrench_publisher.publish(self._messages.wrench)
        for name, publisher in self._truth_publishers.items():
            if publisher.get_subscription_count():
                publisher.publish(self._truth_messages.message(name, self._simulation.truth()))

    def _publish_task(self) -> None:
        self._task_publisher.publish(String(data=self._simulation.task))

    def _publish_payload(self) -> None:
        simulation = self._simulation
        mass, centre = simulation.payload
        body = mass, centre, ball_inertia(mass) * np.eye(3)
        self._payload_publisher.publish(inertia_message(simulation.stamp, simulation.arm.hand, *body))

    def _on_trajectory(self, message: JointTrajectory) -> None:
        try:
            self._simulation.command_trajectory(**trajectory_points(message))
        except IcubLearningError as error:
            self.gate.decline(error)
        else:
            self._publish_task()

    def _set_task(self, request: SetTask.Request, _response: Any) -> str:
        self._simulation.set_task(request.task)
        self._publish_task()
        return f"changing over to {request.task}, one of {', '.join(TASKS)}"

    def _attach_payload(self, request: AttachPayload.Request, _response: Any) -> str:
        self._simulation.attach_payload(request.mass, request.position)
        self._publish_payload()
        return f"carrying {request.mass:g} kg" if request.mass else "carrying nothing"

    def _push(self, request: Push.Request, _response: Any) -> str:
        self._simulation.push(request.force, request.duration)
        return f"pushing for {request.duration:g} s"

    async def _show_object(self, request: ShowObject.Request, _response: Any) -> str:
        """Answer when the object is in the hand, or cannot be shown; the simulation goes on meanwhile."""
        if refusal := await self._camera.show(request.name) if self.active else "the node is not active":
            raise SimulationError(refusal)
        return f"showing {request.name}" if request.name else "showing the empty hand"

    def _on_parameter(self, name: str, value: Any) -> None:
        if name == "real_time_factor":
            self._factor = value
            if self.active:
                self._stop()
                self._start_pacing()

    def _report(self) -> None:
        simulation, pacer = self._simulation, self._pacer
        reached = pacer.reached(time.monotonic())
        slow = reached < KEEPS_UP * self._factor
        level = DiagnosticStatus.WARN if slow else DiagnosticStatus.OK
        gate = self.gate
        message = f"{'behind' if slow else 'in step with'} the wall clock: {reached:.3f} of {self._factor:g}"
        values = {
            "real-time factor": f"{reached:.4f}", "real-time factor asked for": f"{self._factor:g}",
            "late samples": pacer.late, "largest delay [ms]": f"{pacer.largest_delay * 1e3:.2f}",
            "simulated time given up [s]": f"{pacer.given_up:.3f}", "simulated time [s]": f"{simulation.time:.3f}",
            "task": simulation.task, "payload [kg]": f"{simulation.payload[0]:g}", "messages received": gate.received,
            "refused commands": gate.declined + gate.refused.total(),
            "last refusal": "; ".join(text for text in (gate.last_refusal, gate.last_declined) if text),
        }  # fmt: skip
        if errors := gate.new_errors():
            level, message = DiagnosticStatus.ERROR, errors
        pace = status_of(self, "pace", level, message, values)
        self._diagnostics_publisher.publish(diagnostics_of(self, pace, self._camera.status()))


main = partial(run, partial(IcubSimulationNode, "icub_simulation", PARAMETERS))

if __name__ == "__main__":
    raise SystemExit(main())
