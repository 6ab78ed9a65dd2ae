"""Subscriptions that are polled for messages with their times, and rates, losses and latencies computed from these."""

import time
from array import array
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from icub_learning.arrays import Array
from icub_learning.evaluation.metrics import percentiles
from icub_learning.nodes.common.conversions import stamp_to_ns, wrench_to_array
from icub_learning.nodes.common.qos import DEEP
from icub_learning_msgs.msg import DynamicsPrediction


class Series:
    """Stamps, times of publication and arrival [ns], and `width` numbers of all messages of one topic."""

    def __init__(self, width: int) -> None:
        self._width, self._times = width, array("q")
        self._values = array("d")

    def __len__(self) -> int:
        return len(self._times) // 3

    def add(self, stamp: int, info: Mapping[str, Any], values: Array | None = None) -> None:
        """Append one message: its stamp [ns], what the middleware reports about it, its numbers (width,) or None."""
        self._times.extend((stamp, info["source_timestamp"], info["received_timestamp"] or time.time_ns()))
        if values is not None:
            self._values.frombytes(values.tobytes())

    def arrays(self, newest: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return times (n, 3) [ns] and values (n, width) of all messages, or of the newest ones."""
        n = len(self) if newest is None else min(newest, len(self))
        times = np.array(self._times[len(self._times) - 3 * n :], dtype=np.int64).reshape(n, 3)
        return times, np.array(self._values[len(self._values) - n * self._width :]).reshape(n, self._width)

    @property
    def last_stamp(self) -> int:
        """Stamp of the newest message [ns], 0 before the first."""
        return self._times[-3] if self._times else 0


def timing_of(joint_states: np.ndarray, predictions: np.ndarray) -> dict[str, Any]:
    """Compute latencies and losses of a node's predictions, from stamp, publication and arrival (n, 3) of each [ns].

    Joint states without a prediction or with two of them are counted from the node's first prediction to its last.
    Predictions of joint states before the first and after the last one received here are left out. Latency
    runs from the publication of a joint state to that of its prediction, by the middleware's clock, and to its arrival.
    """
    received_first, received_last = joint_states[:, 0].min(), joint_states[:, 0].max()
    predictions = predictions[(predictions[:, 0] >= received_first) & (predictions[:, 0] <= received_last)]
    stamps, first_of, second_of = np.intersect1d(joint_states[:, 0], predictions[:, 0], return_indices=True)
    first, last = predictions[:, 0].min(initial=received_last), predictions[:, 0].max(initial=received_first)
    asked = joint_states[(joint_states[:, 0] >= first) & (joint_states[:, 0] <= last), 0]
    published = joint_states[first_of, 1]
    return {
        "predictions": len(predictions),
        "rate_hz": (len(stamps) - 1) / max(1e-9, (stamps[-1] - stamps[0]) * 1e-9) if len(stamps) > 1 else 0.0,
        "latency_to_publication_s": percentiles((predictions[second_of, 1] - published) * 1e-9),
        "latency_to_arrival_s": percentiles((predictions[second_of, 2] - published) * 1e-9),
        "joint_states_without_prediction": int(np.setdiff1d(asked, stamps).size),
        "predicted_twice": int(len(predictions) - np.unique(predictions[:, 0]).size),
        "predictions_of_unknown_stamp": int(np.setdiff1d(predictions[:, 0], joint_states[:, 0]).size),
    }


def stream_of(times: np.ndarray) -> dict[str, Any]:
    """Compute the rate of a topic with regular stamps, and how many messages were lost; times as for `timing_of`."""
    steps = np.diff(np.unique(times[:, 0]))
    period = int(np.median(steps)) if len(steps) else 0
    seconds = (times[-1, 2] - times[0, 2]) * 1e-9 if len(times) else 0.0
    return {
        "messages": len(times), "rate_hz": (len(times) - 1) / seconds if seconds else 0.0,
        "lost": int(np.sum(np.rint(steps / period) - 1)) if period else 0
    }  # fmt: skip


def regularity_of(times: np.ndarray) -> dict[str, dict[str, float]]:
    """Compute percentiles [s] of the periods between publications, and of their deviation from the median (jitter)."""
    periods = np.diff(np.sort(times[:, 1])) * 1e-9 if len(times) > 1 else np.zeros(1)
    return {"period_s": percentiles(periods), "jitter_s": percentiles(np.abs(periods - np.median(periods)))}


class PolledTopic:
    """A subscription of a node that no executor spins: EventsExecutor cannot hand over the times of messages.

    `series` holds the messages taken so far, each with the `width` numbers that `values` returns, if it is given."""

    def __init__(
        self, node: Node, kind: type, topic: str, qos: QoSProfile, width: int = 0,
        values: Callable[[Any], Array] | None = None,
    ) -> None:  # fmt: skip
        self._subscription = node.create_subscription(kind, topic, lambda _: None, qos)
        self._values, self.series = values, Series(width)
        self.name: str = self._subscription.topic_name

    def poll(self) -> None:
        """Record the messages that have arrived; call it often enough that no queue overflows."""
        subscription = self._subscription
        while (taken := subscription.handle.take_message(subscription.msg_type, False)) is not None:
            message, info = taken
            self.series.add(stamp_to_ns(message.header.stamp), info, self._values(message) if self._values else None)


class PredictionMonitor:
    """Records joint states, wrenches and predictions of one node per estimator, by its short name. No executor may spin
    `node`: five busy topics under an executor would take a core from the learners."""

    def __init__(self, node: Node, nodes: dict[str, str]) -> None:
        joint_states = PolledTopic(node, JointState, "joint_states", DEEP)
        wrenches = PolledTopic(node, WrenchStamped, "wrench", DEEP, 6, lambda one: wrench_to_array(one.wrench))
        predictions = {
            short: PolledTopic(node, DynamicsPrediction, f"/{name}/prediction", DEEP, 6, lambda it: np.array(it.total))
            for short, name in nodes.items()
        }
        self._topics = (joint_states, wrenches, *predictions.values())
        self.joint_states, self.wrenches = joint_states.series, wrenches.series
        self.predictions = {short: topic.series for short, topic in predictions.items()}

    def poll(self) -> None:
        """Record the messages that have arrived; call it often enough that no queue overflows."""
        for topic in self._topics:
            topic.poll()

    def complete(self) -> bool:
        return all(len(topic.series) for topic in self._topics)

    def errors(self, short: str, newest: int | None = None) -> tuple[np.ndarray, Array]:
        """Return stamps (n,) [ns] and errors (n, 6), predicted minus measured, of the newest samples that have both."""
        times, predicted = self.predictions[short].arrays(newest)
        wrench_times, measured = self.wrenches.arrays(newest)
        stamps, first, second = np.intersect1d(times[:, 0], wrench_times[:, 0], return_indices=True)
        return stamps, predicted[first] - measured[second]
