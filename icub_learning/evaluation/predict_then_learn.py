"""Predict, then learn, over a recording: every message passes, in order, through the stream that the node uses."""

from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import inf
from time import perf_counter_ns
from typing import Any

import numpy as np

from icub_learning.arrays import Array, real
from icub_learning.dynamics import Motion, assembly
from icub_learning.dynamics.settings import Settings
from icub_learning.dynamics.stream.records import REMEMBERED_STATES, StateRecord
from icub_learning.dynamics.stream.stream import InverseDynamicsStream
from icub_learning.errors import ParameterError, RecordingError, SampleError
from icub_learning.evaluation.delayed import DelayedEstimator, is_due
from icub_learning.evaluation.motions import KnownMotions, recorded, smooth
from icub_learning.recording.recording import Event, Recording, WrenchEvent

ESTIMATORS = {"P": "parametric", "NP": "nonparametric", "SP": "semiparametric"}
DERIVATIVES = ("causal", "smoothed", "recorded")
STARTING = 3  # joint states until accelerations are known: with learning off, predictions of these are not compared


@dataclass(frozen=True)
class Evaluation:
    """Predictions and measurements of one estimator, for the n joint states that have both."""

    output_names: tuple[str, ...]
    stamps: np.ndarray  # (n,) int64 [ns], rising unless the clock was set back
    predicted: Array  # (n, n_outputs), made before the sample was learned
    parametric: Array  # (n, n_outputs), contribution of the rigid-body model to `predicted`
    measured: Array  # (n, n_outputs)
    # (n, n_outputs), prediction of a zero-order hold: the newest measurement that was received before each prediction
    # and is older by at least the horizon (NaN before the first)
    held: Array
    variance: Array  # (n, n_outputs), predicted variance of the measurement about `predicted`
    predict_seconds: Array  # (n_predictions,), time from each joint state to its prediction [s]
    learn_seconds: Array  # (n_updates,), time to pair and learn each learned sample [s]
    n_joint_states: int  # joint state messages in the recording
    n_predicted: int  # joint states accepted, each with a prediction
    n_learned: int  # samples learned
    n_unpaired: int  # predictions for which no measurement came
    refused: Counter[str]  # number of messages refused, by reason
    last_refusal: str  # reason and text of the newest refusal
    faults: Counter[str]  # number of samples not learned because of a sensor in trouble, by what is wrong with it
    n_withheld: int  # samples not learned because a load or a contact was seen
    seen: Counter[str]  # number of loads, releases, contacts and changes of the body that were seen

    @property
    def errors(self) -> Array:
        """Prediction errors (n, n_outputs): predicted minus measured."""
        return self.predicted - self.measured


def compare(
    recording: Recording, settings: Settings, derivatives: str = "causal",
    watch: Callable[[Iterable[Event], str], Iterable[Event]] = lambda events, _: events, *,
    test: Recording | None = None, horizon: float = 0.0,
) -> dict[str, Evaluation]:  # fmt: skip
    """Evaluate P, NP, SP and any class that the settings name on a recording, each untrained and with its own stream.

    Args:
        settings: settings of the node; `estimator` matters only if it is the import path of a class, which is then
            evaluated too. Its results have the name of the class, or the import path if that name is taken.
        derivatives: "causal": those of the node, so that the results are the node's; "smoothed": from earlier and later
            samples, which a running robot does not have; "recorded": velocities and accelerations of the recording.
        watch: function that gets the events and the estimator's short name and returns the events: for a progress bar.
        test: another recording of the same robot; if given, each estimator learns all of `recording` first, and its
            predictions of `test` with learning off are returned, but for the first STARTING.
        horizon: prediction horizon [s]: each sample is predicted from samples at least this much older, see `evaluate`.

    Raises:
        RecordingError: a recording lacks what the settings need, or none of its joint states was accepted.
        ModelError, ParameterError: the settings do not fit the robot, or are outside their ranges.
    """
    if derivatives not in DERIVATIVES:
        raise ParameterError("derivatives", derivatives, "one of " + ", ".join(DERIVATIVES))
    recordings = [recording] if test is None else [recording, test]
    for each in recordings:
        check_outputs(each, settings)
    regressor = assembly.make_regressor(settings)

    def motions_of(each: Recording) -> dict[int, Motion] | None:
        if derivatives == "smoothed":
            reader = assembly.make_reader(settings, regressor)
            return smooth(each.events(), reader, assembly.make_motion_filter(settings, regressor))
        return recorded(each, regressor.joints) if derivatives == "recorded" else None

    motions, results = list(map(motions_of, recordings)), {}
    path, name = settings.estimator, settings.estimator.rpartition(".")[2]
    taken = (*ESTIMATORS, "hold", "off-line")
    own_class = {} if path in ESTIMATORS.values() else {path if name in taken else name: path}
    for short, estimator in {**ESTIMATORS, **own_class}.items():
        own = assembly.make_regressor(settings)  # follows the velocity noise of one stream
        learner = assembly.make_estimator(replace(settings, estimator=estimator), own)
        for each, known in zip(recordings, motions, strict=True):
            stream = assembly.make_stream(settings, own, learner, None if known is None else KnownMotions(known))
            stream.learning = each is recording
            result = results[short] = evaluate(stream, watch(each.events(), short), horizon)
            if not result.n_predicted:
                refusals = ", ".join(f"{reason} {count}" for reason, count in result.refused.most_common()) or "none"
                text = f"none of {result.n_joint_states} joint states was accepted ({refusals});"
                text += f" the last refusal: {result.last_refusal or 'none'}"
                raise RecordingError(text, name="joint_states", value=dict(result.refused), bound="one accepted")
    return results


def check_outputs(recording: Recording, settings: Settings) -> None:
    """Raise RecordingError unless the recording holds the outputs to be learned."""
    efforts = recording.effort is not None or any(len(event.effort) for event in recording.irregular)
    if settings.output == "joint_torque" and not efforts:
        text = "the joint states carry no efforts to learn from; is the output a wrench?"
        raise RecordingError(text, name="effort", bound="efforts in the joint states")
    if settings.output == "wrench" and (recording.wrench is None or not len(recording.wrench)):
        text = "the recording has no wrench to learn from; is the output joint_torque?"
        raise RecordingError(text, name="wrench", bound="geometry_msgs/WrenchStamped messages")


def evaluate(stream: InverseDynamicsStream, events: Iterable[Event], horizon: float = 0.0) -> Evaluation:
    """Feed a new stream with the events of a recording, as they came, and compare predictions with later measurements.

    Every prediction that has a measurement is compared, with learning off but for the first STARTING. Messages that the
    stream refuses are counted, as the node counts them. Measurements are delayed by `horizon` seconds: they are judged
    and learned only when joint states come that are this much newer, so that each prediction looks this far beyond all
    measurements used. Samples left at the end are learned then. Motions are not delayed. Raises ParameterError: a
    negative horizon.
    """
    horizon_ns, delayed = round(real("horizon", horizon, 0.0) * 1e9), None
    if horizon_ns or not stream.learning:
        delayed = DelayedEstimator(stream.estimator, horizon_ns if stream.learning else inf)
        stream.predictor = delayed
    comparison = _Comparison(stream.output_names, horizon_ns)
    predict_times, learn_times = array("q"), array("q")  # ns
    n_joint_states = 0
    for event in events:
        start = perf_counter_ns()
        try:
            if isinstance(event, WrenchEvent):
                stream.measurement(event.stamp, event.values)
                comparison.receive(event.stamp, event.values)
            else:
                n_joint_states += 1
                if delayed is not None:
                    delayed.advance(event.stamp)
                start = perf_counter_ns()
                record = stream.joint_state(event.stamp, event.names, event.position, event.velocity, event.effort)
                predict_times.append(perf_counter_ns() - start)
                if stream.learning or stream.counts.predicted > STARTING:
                    comparison.add(record)
                start = perf_counter_ns()
        except SampleError:
            continue  # counted by the stream
        for paired in stream.pair():
            if stream.effort:  # efforts come with their joint states, wrenches in messages of their own
                comparison.receive(paired.stamp, paired.measured)
        if delayed is not None:
            samples = stream.complete()
            if (ratio := stream.take_change()) is not None:
                delayed.change(event.stamp, ratio)
            for sample in samples:
                delayed.teach(sample)
        elif stream.learn():
            learn_times.append(perf_counter_ns() - start)
    counts = stream.counts
    if delayed is not None:
        delayed.finish()
        counts.learned += len(delayed.seconds)
    return comparison.result(
        predict_seconds=np.array(predict_times) * 1e-9,
        learn_seconds=np.array(learn_times) * 1e-9 if delayed is None else np.array(delayed.seconds),
        n_joint_states=n_joint_states, n_predicted=counts.predicted, n_learned=counts.learned,
        refused=Counter(counts.refused), last_refusal=counts.last_refusal, faults=Counter(counts.faults),
        n_withheld=counts.withheld, seen=Counter({} if stream.watch is None else stream.watch.counts),
    )  # fmt: skip


class _Comparison:
    """Packs predictions and measurements into arrays as they become known: a long recording needs little memory."""

    def __init__(self, output_names: tuple[str, ...], horizon: int) -> None:
        self._output_names = output_names
        self._horizon = horizon  # ns
        self._received: deque[tuple[int, Array]] = deque()  # stamps and measurements newer than `_newest`
        self._newest = np.full(len(output_names), np.nan)  # newest received measurement that is older than the horizon
        self._open: deque[tuple[StateRecord, Array]] = deque()  # records that wait for measurements, and held values
        self._stamps, self._numbers = array("q"), array("d")
        self._unpaired = 0

    def receive(self, stamp: int, measured: Array) -> None:
        """Take a received measurement, which is held from then on, or as soon as it is older than the horizon."""
        if self._horizon:
            self._received.append((stamp, measured))
        else:
            self._newest = measured

    def add(self, record: StateRecord) -> None:
        """Add the record of a new prediction."""
        while self._received and is_due(self._received[0][0], record.stamp, self._horizon):
            self._newest = self._received.popleft()[1]
        self._open.append((record, self._newest))
        if len(self._open) > REMEMBERED_STATES + 1:  # the stream no longer waits for its measurement
            self._close(*self._open.popleft())

    def _close(self, record: StateRecord, held: Array) -> None:
        if record.measured is None:
            self._unpaired += 1
            return
        self._stamps.append(record.stamp)
        made = record.prediction
        for values in (made.total, made.parametric, record.measured, held, made.variance):
            self._numbers.extend(values.tolist())

    def result(self, **others: Any) -> Evaluation:
        while self._open:
            self._close(*self._open.popleft())
        stamps = np.array(self._stamps, dtype=np.int64)
        table = np.array(self._numbers).reshape(len(stamps), 5, len(self._output_names))
        columns = np.ascontiguousarray(table.swapaxes(0, 1))
        others |= zip(("predicted", "parametric", "measured", "held", "variance"), columns, strict=True)
        return Evaluation(self._output_names, stamps, n_unpaired=self._unpaired, **others)
