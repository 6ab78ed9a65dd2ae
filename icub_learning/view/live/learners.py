"""What a node that learns inverse dynamics publishes, as the state of a learner."""

import contextlib
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

from icub_learning.arrays import Array
from icub_learning.nodes.common.conversions import wrench_to_array
from icub_learning.nodes.common.qos import DEEP_BEST_EFFORT, STATE
from icub_learning.view.live.raw_topic import RawTopic, sampled
from icub_learning.view.shown.curves import PERIOD
from icub_learning.view.shown.state import Learner, Load, Masses
from icub_learning_msgs.msg import DynamicsPrediction, InertialParameters

STEP = round(PERIOD * 1e9)  # [ns]
TOLERANCE = 20_000_000  # [ns] between a prediction and the measurement that it is compared with
SILENT = 3.0  # [s] after which a node without predictions is taken to have gone


class LearnerTopics:
    """Subscribes to the topics of one learner: rare ones by the node `spun` of an executor, streams by `polled`.

    The streams of joint states and wrenches that it subscribes to are shared with other learners.
    """

    def __init__(
        self, name: str, spun: Node, polled: Node, joint_states: RawTopic | None, wrenches: RawTopic | None
    ) -> None:
        self.name = name
        self._spun = spun
        self._joint_states, self._wrenches = joint_states, wrenches
        self._predictions = RawTopic(polled, DynamicsPrediction, f"{name}/prediction", DEEP_BEST_EFFORT)
        self._waiting: list[tuple[int, bytes]] = []  # predictions whose measurement may still be on its way
        self._last, self._heard = 0, time.monotonic()
        self.learner: Learner | None = None  # None before its first prediction
        self._early: dict[str, Any] = {}  # latched messages that came before the first prediction
        latched = (
            (InertialParameters, "inertial_parameters", "masses", masses_of),
            (InertiaStamped, "payload", "load", load_of),
            (Bool, "contact", "contact", lambda message: bool(message.data)),
        )
        self._subscriptions = [
            spun.create_subscription(kind, f"{name}/{topic}", partial(self._set, field, read), STATE)
            for kind, topic, field, read in latched
        ]

    @property
    def lost(self) -> int | None:
        """Predictions that are missing in their stream."""
        return self._predictions.lost

    def take(self) -> None:
        """Take in predictions, and pair those that are shown with what was measured then."""
        new = self._predictions.take()
        now = time.monotonic()
        if new:
            self._heard = now
        if self.learner is not None:
            self.learner.alive = now - self._heard < SILENT
        paired, self._waiting = self._waiting, list(sampled(new, self._last, STEP))
        if self._waiting:
            self._last = self._waiting[-1][0]
        for stamp, data in paired:
            with contextlib.suppress(Exception):  # bytes that are no message: the next ones may be
                self._pair(stamp, self._predictions.decode(data))

    def _pair(self, stamp: int, message: DynamicsPrediction) -> None:
        learner = self.learner
        if learner is None or learner.outputs != tuple(message.names):
            learner = self.learner = Learner(self.name, tuple(message.names), message.header.frame_id)
            for name, value in self._early.items():
                setattr(learner, name, value)
        measured = self._measured(learner, stamp)
        if measured is not None:
            predicted = map(np.array, (message.total, message.parametric, message.variance))
            learner.curves.add(stamp, measured, *predicted)

    def _measured(self, learner: Learner, stamp: int) -> Array | None:
        topic = self._wrenches if learner.is_wrench else self._joint_states
        if topic is None or (data := topic.nearest(stamp, TOLERANCE)) is None:
            return None
        message = topic.decode(data)
        if isinstance(message, WrenchStamped):
            return wrench_to_array(message.wrench)
        return efforts(message, learner.outputs)

    def close(self) -> None:
        """End the subscriptions."""
        self._predictions.close()
        for one in self._subscriptions:
            self._spun.destroy_subscription(one)

    def _set(self, field: str, read: Callable[[Any], Any], message: Any) -> None:
        if self.learner is None:
            self._early[field] = read(message)
        else:
            setattr(self.learner, field, read(message))


def load_of(message: InertiaStamped) -> Load:
    """Return what is carried."""
    centre = message.inertia.com
    return Load(message.inertia.m, np.array([centre.x, centre.y, centre.z]), message.header.frame_id)


def masses_of(message: Any) -> Masses:
    """Return the masses among inertial parameters: those whose names end in .m."""
    places = [place for place, name in enumerate(message.names) if name.endswith(".m")]
    possible = message.consistent_values or message.values
    learned, nominal, consistent = (np.array(one)[places] for one in (message.values, message.nominal, possible))
    links = tuple(message.names[place].removesuffix(".m") for place in places)
    return Masses(links, learned, nominal, consistent, int(message.n_samples))


def efforts(message: JointState, joints: tuple[str, ...]) -> Array | None:
    """Return the efforts of joints, or None if the message lacks one."""
    values = dict(zip(message.name, message.effort, strict=False))
    return np.array([values[name] for name in joints]) if all(name in values for name in joints) else None
