"""Topics and services about loads and contacts."""

import time
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import InertiaStamped
from rclpy.lifecycle import LifecycleNode
from std_msgs.msg import Bool

from icub_learning.arrays import real
from icub_learning.dynamics.changes.load import Load
from icub_learning.dynamics.changes.monitor import ChangeMonitor
from icub_learning.dynamics.stream.stream import InverseDynamicsStream
from icub_learning.errors import StateError
from icub_learning.nodes.common.conversions import inertia_message
from icub_learning.nodes.common.diagnostics import status_of
from icub_learning.nodes.common.qos import STATE
from icub_learning.nodes.common.threads.background import until
from icub_learning_msgs.srv import IdentifyPayload

PUBLISH_PERIOD = 0.2  # [s] between two publications of a load whose estimate improves
USUAL_TIMEOUT = 5.0  # [s] timeout of a request that gives none
COUNTED = "loads", "releases", "contacts", "changes of the body"  # in ChangeMonitor.counts
CLOSED = "the node was cleaned up while this request waited"


class ChangeEndpoints:
    """Publishes loads and contacts that a stream's watch finds, and serves requests for loads; idle without a watch."""

    def __init__(self, node: LifecycleNode, stream: InverseDynamicsStream) -> None:
        watch = node.get_parameter("watch").value
        torques = ", and the outputs are torques" if watch == "wrench" else ""
        self._off = f"pushes and loads are learned as part of the body: watch is {watch!r}{torques}; set watch: always"
        self._node, self._stream, self._closed = node, stream, False
        if self.monitor is None:
            node.get_logger().info(self._off)
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
        watch = self._stream.watch
        return watch if isinstance(watch, ChangeMonitor) else None

    def publish(self, stamp: int) -> None:
        """Publish what has changed since the last call; `stamp` [ns] is that of the newest measurement."""
        if (monitor := self.monitor) is None:
            return
        if monitor.contact != self._shown_contact:
            self._shown_contact = monitor.contact
            self._contact.publish(Bool(data=monitor.contact))
        load, now = monitor.load, time.monotonic()
        if load is self._shown_load or (load is not None and self._shown_load is not None and now < self._next_load):
            return
        self._shown_load, self._next_load = load, now + PUBLISH_PERIOD
        body = load.body() if load else (0.0, np.zeros(3), np.zeros((3, 3)))
        self._payload.publish(inertia_message(stamp, monitor.effects.link, *body))

    async def _identify_payload(self, request: IdentifyPayload.Request, response: IdentifyPayload.Response) -> Any:
        """Answer when the load is known as precisely as requested, or when the timeout is over."""
        if (monitor := self.monitor) is None:
            raise StateError(self._off)
        response.frame_id = monitor.effects.link
        timeout = real("timeout", request.timeout, 0.0, 600.0)
        wanted = real("mass_deviation", request.mass_deviation, 0.0, 10.0)

        def known() -> bool:
            load = monitor.load
            return wanted > 0 and load is not None and load.mass_deviation <= wanted

        await until(lambda: self._closed or self.monitor is not monitor or known(), timeout or USUAL_TIMEOUT)
        if self._closed or self.monitor is not monitor:
            raise StateError(CLOSED if self._closed else "the model was replaced while this request waited")
        if (load := monitor.load) is None:
            usual = "nothing is carried" if monitor.ready else "what errors are usual is not known yet"
            response.message = "something pushes, and is no load" if monitor.contact else usual
            return response
        mass, centre, inertia = load.body()
        response.mass, response.mass_std = mass, load.mass_deviation
        response.centre, response.centre_std = centre.tolist(), load.centre_deviation.tolist()
        response.inertia = inertia[np.triu_indices(3)].tolist()
        response.seconds, response.message = load.seconds, in_words(load)
        response.success = not wanted or load.mass_deviation <= wanted
        if not response.success:
            response.message += f": not enough motion for a standard deviation of {wanted:g} kg"
        return response

    def status(self) -> DiagnosticStatus:
        if (monitor := self.monitor) is None:
            return status_of(self._node, "changes", DiagnosticStatus.OK, self._off, {})
        values: dict[str, object] = {
            "seen": monitor.phase, "link that carries loads": monitor.effects.link,
            "joints before it that are not learned": ", ".join(monitor.effects.held_joints) or "none",
            "samples not learned": self._stream.counts.withheld,
            **{f"not learned: {fault}": n for fault, n in sorted(self._stream.counts.faults.items())},
            "variance of errors over that of their covariances": f"{monitor.scale:.2f}",
            **{f"number of {kind}": monitor.counts[kind] for kind in COUNTED},
        }  # fmt: skip
        if monitor.load is not None:
            values["load"] = in_words(monitor.load)
        level, seen = DiagnosticStatus.OK, monitor.phase
        if fault := self._stream.fault:
            level, seen = DiagnosticStatus.WARN, f"{seen} ({fault}: not watched meanwhile)"
        return status_of(self._node, "changes", level, seen, values)


def in_words(load: Load) -> str:
    centre = ", ".join(
        f"{value:.3f} ± {deviation:.2g}" for value, deviation in zip(load.centre, load.centre_deviation, strict=True)
    )
    return f"{load.mass:.3f} ± {load.mass_deviation:.2g} kg at ({centre}) m, observed for {load.seconds:.1f} s"
