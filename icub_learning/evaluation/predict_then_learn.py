"""Predict, then update, over a whole recording: every message, in order, goes through the stream that the node uses."""

from array import array
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.stream.stream import REMEMBERED_STATES, InverseDynamicsStream, StateRecord
from icub_learning.errors import SampleError
from icub_learning.recording.recording import JointStateEvent, WrenchEvent


@dataclass(frozen=True)
class Evaluation:
    """What one estimator predicted and what was measured, for the n joint states that have both.

    Attributes:
        output_names: names of the outputs.
        stamps: (n,) int64 [ns], rising within a stretch of time.
        predicted: (n, n_outputs), made before the sample was learned.
        parametric: (n, n_outputs), the part of the rigid-body model in it.
        measured: (n, n_outputs).
        held: (n, n_outputs), the newest measurement received before each prediction, zero before the first: what the
            simplest of all predictions would have been.
        predict_seconds: (n_predictions,) from the joint state to its prediction [s].
        learn_seconds: (n_updates,) pairing and learning, where a sample was learned [s].
        n_joint_states: joint state messages in the recording.
        n_predicted: joint states accepted, each with a prediction.
        n_learned: samples learned.
        n_unpaired: predictions for which no measurement came.
        refused: messages refused, by reason.
        last_refusal: the newest of them in words.
    """

    output_names: tuple[str, ...]
    stamps: np.ndarray
    predicted: Array
    parametric: Array
    measured: Array
    held: Array
    predict_seconds: Array
    learn_seconds: Array
    n_joint_states: int
    n_predicted: int
    n_learned: int
    n_unpaired: int
    refused: Counter[str]
    last_refusal: str

    @property
    def errors(self) -> Array:
        """(n, n_outputs), predicted minus measured."""
        return self.predicted - self.measured


def evaluate(
    stream: InverseDynamicsStream,
    events: Iterable[JointStateEvent | WrenchEvent],
    output_names: tuple[str, ...],
) -> Evaluation:
    """Feed a new stream with a recording's events and compare each prediction with what was measured later.

    Messages that the stream refuses are counted, as the node counts them. Predictions are compared whether or not
    they are good: nothing is left out but joint states without a measurement.
    """
    comparison = _Comparison(output_names)
    predict_times, learn_times = array("q"), array("q")  # ns
    n_joint_states = 0
    for event in events:
        start = perf_counter_ns()
        try:
            if isinstance(event, WrenchEvent):
                stream.measurement(event.stamp, event.values)
                comparison.newest = event.values
            else:
                n_joint_states += 1
                record = stream.joint_state(event.stamp, event.names, event.position, event.velocity, event.effort)
                predict_times.append(perf_counter_ns() - start)
                comparison.add(record)
                start = perf_counter_ns()
        except SampleError:
            continue  # counted by the stream
        for paired in stream.pair():
            if stream.effort:  # known with its joint state; a wrench is known when it comes
                comparison.newest = paired.measured
        if stream.learn():
            learn_times.append(perf_counter_ns() - start)
    return comparison.result(
        predict_seconds=np.array(predict_times) * 1e-9,
        learn_seconds=np.array(learn_times) * 1e-9,
        n_joint_states=n_joint_states,
        n_predicted=stream.counts.predicted,
        n_learned=stream.counts.learned,
        refused=Counter(stream.counts.refused),
        last_refusal=stream.counts.last_refusal,
    )


class _Comparison:
    """Packs predictions and measurements as they become known, so that a long recording needs little memory."""

    def __init__(self, output_names: tuple[str, ...]) -> None:
        self.newest: Array | None = None  # measurement
        self._output_names = output_names
        self._open: deque[tuple[StateRecord, Array | None]] = deque()  # whose measurement may still come
        self._stamps, self._numbers = array("q"), array("d")
        self._unpaired = 0

    def add(self, record: StateRecord) -> None:
        """A prediction has been made."""
        self._open.append((record, self.newest))
        if len(self._open) > REMEMBERED_STATES + 1:  # the stream has let go of it
            self._close(*self._open.popleft())

    def _close(self, record: StateRecord, held: Array | None) -> None:
        if record.measured is None:
            self._unpaired += 1
            return
        self._stamps.append(record.stamp)
        held = np.zeros_like(record.measured) if held is None else held
        for values in (record.prediction.total, record.prediction.parametric, record.measured, held):
            self._numbers.extend(values.tolist())

    def result(self, **others: Any) -> Evaluation:
        while self._open:
            self._close(*self._open.popleft())
        table = np.array(self._numbers).reshape(len(self._stamps), 4, len(self._output_names))
        predicted, parametric, measured, held = np.ascontiguousarray(table.swapaxes(0, 1))
        return Evaluation(
            output_names=self._output_names,
            stamps=np.array(self._stamps, dtype=np.int64),
            predicted=predicted,
            parametric=parametric,
            measured=measured,
            held=held,
            n_unpaired=self._unpaired,
            **others,
        )
