"""The node that receives Gazebo's joint states at every step and passes on those that belong to a wrench."""

import time
from dataclasses import dataclass
from functools import partial
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from icub_learning.errors import SampleError
from icub_learning.nodes.common.conversions import NANOSECONDS
from icub_learning.nodes.common.diagnostics import publish_every, status_of
from icub_learning.nodes.common.qos import STREAM
from icub_learning.nodes.common.serialized import MALFORMED, STAMP_END, stamp_in
from icub_learning.nodes.common.spinning import LifecycleSettings, ManagedNode, run
from icub_learning.nodes.common.threads import scheduling
from icub_learning.settings import setting, settings_of
from icub_learning.simulation.gazebo_model import STEP_NS

REPORT_PERIOD = 1.0  # [s] between two reports on /diagnostics
ALL = QoSProfile(depth=1000)  # [messages] queue of one second: a short pause of this node loses none
SPACING = 0.001  # [s] smallest time between two messages: after a pause, all at once would overflow queues


def _rate_bound(rate: float) -> str | None:
    steps = NANOSECONDS / (rate * STEP_NS)
    return None if abs(steps - round(steps)) < 1e-9 else "1000 divided by a whole number"


@dataclass(frozen=True)
class NodeSettings:
    """Settings of the node itself."""

    rate: float = setting(
        200.0, "joint states per simulated second, that of the wrenches; a divisor of 1000", unit="Hz", low=1.0,
        high=1000.0, check=_rate_bound,
    )  # fmt: skip


PARAMETERS = settings_of(LifecycleSettings, NodeSettings, scheduling.SchedulingSettings)


class GazeboJointStatesNode(ManagedNode):
    """Publishes joint states one step before each multiple of the period; wrenches belong to them: docs/gazebo.md."""

    def _configure(self, settings: dict[str, Any]) -> None:
        self._scheduling, self._period = settings, round(NANOSECONDS / settings["rate"])
        self._published = 0.0  # time of the last publication [s, time.monotonic()]
        self._passed = self._missing = self._last = 0
        self._publisher = self.create_lifecycle_publisher(JointState, "joint_states", STREAM)
        self.create_subscription(JointState, "gazebo/joint_states", self._on_state, ALL, raw=True)
        publish_every(self, REPORT_PERIOD, self._statuses)

    def _start(self) -> None:
        self._last = 0  # what came while it was inactive is not missing
        self.get_logger().info("; ".join(scheduling.apply(self._scheduling)))

    def _on_state(self, data: bytes) -> None:
        if len(data) < STAMP_END:
            raise SampleError(MALFORMED, f"{len(data)} bytes are no JointState", name="JointState", value=len(data))
        stamp = stamp_in(data)
        if not self.active or (stamp + STEP_NS) % self._period:
            return
        time.sleep(max(0.0, self._published + SPACING - time.monotonic()))
        self._publisher.publish(data)
        self._published = time.monotonic()
        self._passed += 1
        if self._last < stamp - self._period and self._last:
            self._missing += (stamp - self._last) // self._period - 1
        self._last = stamp

    def _statuses(self) -> list[DiagnosticStatus]:
        values = {
            "messages received": self.gate.received, "passed on": self._passed, "missing": self._missing,
            "refused": self.gate.refused.total(),
        }  # fmt: skip
        level, message = DiagnosticStatus.OK, "passing joint states on"
        if not self.gate.received:
            level, message = DiagnosticStatus.STALE, "no joint states arrive"
        elif self._missing:
            level, message = DiagnosticStatus.WARN, f"{self._missing} joint states did not arrive"
        return [status_of(self, "joint states", level, message, values)]


main = partial(run, partial(GazeboJointStatesNode, "gazebo_joint_states", PARAMETERS))

if __name__ == "__main__":
    raise SystemExit(main())
