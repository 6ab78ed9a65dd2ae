"""Topics and services about loads and contacts."""

import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import InertiaStamped
from rclpy.lifecycle import LifecycleNode
from std_msgs.msg import Bool

from icub_learning.dynamics.changes.load import Load, about_centre
from icub_learning.dynamics.changes.monitor import ChangeMonitor
from icub_learning.dynamics.stream.stream import InverseDynamicsStream
from icub_learning.nodes.common.conversions import set_stamp
from icub_learning.nodes.common.diagnostics import status_of
from icub_learning.nodes.common.qos import STATE
from icub_learning.nodes.common.waiting import until
from icub_learning_msgs.srv import IdentifyPayload

PUBLISH_PERIOD = 0.2  # [s] between publications of a load that is known ever better
USUAL_TIMEOUT = 5.0  # [s]
CLOSED = "the node was cleaned up while this request waited"
OFF = "loads and contacts are not watched for: see the parameter watch"


class ChangeEndpoints:
    """Publishes what the watch of a stream sees, and answers what is asked of it; nothing without a stream."""

    def __init__(self, node: LifecycleNode, stream: InverseDynamicsStream) -> None:
        self._node, self._stream = node, stream
        self._closed = False
        self._payload = node.create_lifecycle_publisher(InertiaStamped, "~/payload", STATE)
        self._contact = node.create_lifecycle_publisher(Bool, "~/contact", STATE)
        node.create_service(IdentifyPayload, "~/identify_payload", self._identify_payload)
        self._shown_contact: bool | None = None
        self._shown_load: Load | None = None
        self._next_load = 0.0

    def close(self) -> None:
        """Let requests that wait be answered at once."""
        self._closed = True

    @property
    def monitor(self) -> ChangeMonitor | None:
        """What watches, or None."""
        watch = self._stream.watch
        return watch if isinstance(watch, ChangeMonitor) else None

    def publish(self, stamp: int) -> None:
        """Publish what has changed since the last call; `stamp` [ns] is that of the newest measurement."""
        monitor = self.monitor
        if monitor is None:
            return
        if monitor.contact != self._shown_contact:
            self._shown_contact = monitor.contact
            self._contact.publish(Bool(data=monitor.contact))
        load, now = monitor.load, time.monotonic()
        if load is self._shown_load or (load is not None and self._shown_load is not None and now < self._next_load):
            return
        self._shown_load, self._next_load = load, now + PUBLISH_PERIOD
        self._payload.publish(self._message(load, stamp))

    def _message(self, load: Load | None, stamp: int) -> InertiaStamped:
        message = InertiaStamped()
        set_stamp(message.header.stamp, stamp)
        message.header.frame_id = self.monitor.effects.link if self.monitor else ""
        if load is not None:
            parameters = load.consistent()
            about, inertia = about_centre(parameters), message.inertia
            inertia.m = float(parameters[0])
            inertia.com.x, inertia.com.y, inertia.com.z = (parameters[1:4] / parameters[0]).tolist()
            inertia.ixx, inertia.ixy, inertia.ixz = about[0].tolist()
            inertia.iyy, inertia.iyz, inertia.izz = float(about[1, 1]), float(about[1, 2]), float(about[2, 2])
        return message

    async def _identify_payload(self, request: IdentifyPayload.Request, response: Any) -> Any:
        """Answer when the load is known as well as asked for, or when the time is over."""
        monitor = self.monitor
        if monitor is None:
            response.message = OFF
            return response
        response.frame_id = monitor.effects.link
        if not (0.0 <= request.timeout <= 600.0 and 0.0 <= request.mass_deviation <= 10.0):
            response.message = "timeout must be within [0, 600] s, mass_deviation within [0, 10] kg"
            return response

        def known() -> bool:
            load = monitor.load
            return request.mass_deviation > 0 and load is not None and load.mass_deviation <= request.mass_deviation

        await until(lambda: self._closed or known(), request.timeout or USUAL_TIMEOUT)
        if self._closed:
            response.message = CLOSED
            return response
        return self._answer(monitor, request.mass_deviation, response)

    def _answer(self, monitor: ChangeMonitor, asked: float, response: Any) -> Any:
        load = monitor.load
        if load is None:
            usual = "nothing is carried" if monitor.ready else "what errors are usual is not known yet"
            response.message = "something pushes, and is no load" if monitor.contact else usual
            return response
        parameters = load.consistent()
        about = about_centre(parameters)
        response.mass, response.mass_std = float(parameters[0]), load.mass_deviation
        response.centre = (parameters[1:4] / parameters[0]).tolist()
        response.centre_std = load.centre_deviation.tolist()
        response.inertia = [float(about[i, j]) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]
        response.seconds = load.seconds
        response.success = not asked or load.mass_deviation <= asked
        response.message = in_words(load)
        if not response.success:
            response.message += f": not enough motion for a standard deviation of {asked:g} kg"
        return response

    def status(self) -> DiagnosticStatus:
        """Return what is seen as a status of diagnostics."""
        monitor = self.monitor
        if monitor is None:
            return status_of(self._node, "changes", DiagnosticStatus.OK, OFF, {})
        values: dict[str, object] = {
            "seen": monitor.phase,
            "link that carries loads": monitor.effects.link,
            "joints before it that are not learned": ", ".join(monitor.effects.held_joints) or "none",
            "samples not learned": self._stream.counts.withheld,
            **{f"not learned: {fault}": n for fault, n in sorted(self._stream.counts.faults.items())},
            "variance of errors over that of their covariances": f"{monitor.scale:.2f}",
            **{f"number of {kind}": monitor.counts[kind] for kind in ("loads", "releases", "contacts")},
            "number of changes of the body": monitor.counts["changes of the body"],
        }
        if monitor.load is not None:
            values["load"] = in_words(monitor.load)
        return status_of(self._node, "changes", DiagnosticStatus.OK, monitor.phase, values)


def in_words(load: Load) -> str:
    """Return a load in words, with standard deviations."""
    centre = ", ".join(
        f"{value:.3f} ± {deviation:.3f}" for value, deviation in zip(load.centre, load.centre_deviation, strict=True)
    )
    return f"{load.mass:.3f} ± {load.mass_deviation:.3f} kg at ({centre}) m, observed for {load.seconds:.1f} s"
