"""Diagnostics of nodes: messages, and the report of a node that answers a stream of messages."""

from collections import Counter
from collections.abc import Callable, Mapping

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from icub_learning.nodes.common.qos import STREAM
from icub_learning.nodes.common.spinning import ManagedNode


def status_of(node: Node, subject: str, level: bytes, message: str, values: Mapping[str, object]) -> DiagnosticStatus:
    """Return a status "NODE: SUBJECT", NODE with its namespace; `level` is one of those of DiagnosticStatus."""
    name = node.get_fully_qualified_name().lstrip("/")
    pairs = [KeyValue(key=key, value=str(value)) for key, value in values.items()]
    return DiagnosticStatus(name=f"{name}: {subject}", hardware_id=name, level=level, message=message, values=pairs)


def diagnostics_of(node: Node, *statuses: DiagnosticStatus) -> DiagnosticArray:
    message = DiagnosticArray(status=list(statuses))
    message.header.stamp = node.get_clock().now().to_msg()
    return message


def publish_every(node: ManagedNode, period: float, statuses: Callable[[], list[DiagnosticStatus]]) -> None:
    """Publish statuses on /diagnostics every `period` [s]."""
    publisher = node.create_publisher(DiagnosticArray, "/diagnostics", STREAM)
    node.create_timer(period, lambda: publisher.publish(diagnostics_of(node, *statuses())))


class StreamReport:
    """Reports how a node answers a stream of messages, and what was refused since the last report.

    `subject` names the part of the node that is reported, `stale` is the message while nothing arrives.
    """

    def __init__(self, node: ManagedNode, subject: str, stale: str) -> None:
        self.node = node
        self._subject, self._stale = subject, stale
        self._reported_answers, self._reported_refusals = 0, (0, 0)  # of the gate, and those that passed it
        self._last_time = node.steady.now()  # steady, since simulated time may pause or jump
        self.seconds = 1.0  # between the last two calls of `rate`

    def rate(self, answers: int) -> float:
        """Return the rate [Hz] of answers since the last call; `answers` is their total number."""
        now = self.node.steady.now()
        self.seconds = max((now - self._last_time).nanoseconds * 1e-9, 1e-9)
        rate = (answers - self._reported_answers) / self.seconds
        self._last_time, self._reported_answers = now, answers
        return rate

    def report(
        self, rate: float, running: tuple[bytes, str], values: Mapping[str, object],
        refused: Mapping[str, int] | None = None, last_refusal: str = "",
    ) -> DiagnosticStatus:  # fmt: skip
        """Return an error after an unforeseen exception, a warning while messages are refused or a topic has
        several publishers or a QoS mismatch, stale while nothing arrives; else `running`, a level and a summary.

        `values` are shown before the refusals. `refused` counts messages that passed the gate, by reason of refusal.
        """
        gate = self.node.gate
        by_gate = Counter(dict(gate.refused))  # a copy: other threads refuse messages too
        texts = gate.last_refusal, last_refusal
        counts, refused = (by_gate.total(), sum((refused or {}).values())), by_gate + Counter(refused)
        new = [max(count - before, 0) for count, before in zip(counts, self._reported_refusals, strict=True)]
        self._reported_refusals, others = counts, self.node.endpoints.others()
        if errors := gate.new_errors():
            level, message = DiagnosticStatus.ERROR, errors
        elif not self.node.active:
            level, message = DiagnosticStatus.OK, "inactive"
        elif any(new):
            last = "; ".join(text for text, count in zip(texts, new, strict=True) if count)
            level, message = DiagnosticStatus.WARN, "; ".join([f"{sum(new)} refused; last: {last}", *others])
        else:
            level, message = running
            if level == DiagnosticStatus.OK and not rate:
                level, message = DiagnosticStatus.STALE, self._stale
            if others and level in (DiagnosticStatus.OK, DiagnosticStatus.STALE):
                level, message = DiagnosticStatus.WARN, "; ".join(others)
        shown = {
            **values, "messages received": gate.received, "refused": sum(counts),
            **{f"refused: {reason}": number for reason, number in sorted(refused.items())},
            "last refusal": "; ".join(filter(None, texts)), "others on the topics": "; ".join(others),
        }  # fmt: skip
        return status_of(self.node, self._subject, level, message, shown)
