"""The stream that node and command line share: check, differentiate, predict at once, pair measurements, learn."""

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array
from icub_learning.dynamics.estimators.prediction import MotionInputs, Prediction, Predictor
from icub_learning.dynamics.motion.derivatives import Motion
from icub_learning.dynamics.motion.joint_states import JointStateReader, check_values
from icub_learning.dynamics.motion.stamps import StampSequence
from icub_learning.dynamics.settings import DEFAULTS
from icub_learning.errors import SampleError

LARGEST_OUTPUT = 1e4  # N, Nm or the effort's unit
WAITING_MEASUREMENTS = 64  # measurements kept until the joint state that they belong to has arrived
REMEMBERED_STATES = 512  # joint states kept until their measurement has arrived


class Estimator(Protocol):
    """What a stream asks of an estimator."""

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Prediction: ...

    def update(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, y: ArrayLike, known: MotionInputs | None = None
    ) -> None: ...


class Derivatives(Protocol):
    """What a stream asks of what finds velocities and accelerations; see CausalDerivatives."""

    def reset(self) -> None: ...

    def add(self, stamp: int, position: Array, velocity: Array | None) -> None: ...

    def newest(self) -> Motion: ...

    def delayed(self) -> Motion | None: ...


@dataclass
class StateRecord:
    """One joint state on its way from prediction to learning."""

    stamp: int  # ns
    known: Motion  # at `stamp`, as known at once
    prediction: Prediction
    motion: Motion | None = None  # at `stamp`, seen with the delay of the derivatives
    measured: Array | None = None


@dataclass(frozen=True)
class Sample:
    """What there is to learn from one joint state and its measurement.

    Attributes:
        motion: at that instant, seen with the delay of the derivatives.
        known: at that instant, as known at once.
        measured: (n_outputs,).
    """

    motion: Motion
    known: Motion
    measured: Array

    def teach(self, estimator: Estimator) -> None:
        """Let an estimator learn it."""
        motion, known = self.motion, self.known
        estimator.update(
            motion.position,
            motion.velocity,
            motion.acceleration,
            self.measured,
            known=(known.position, known.velocity, known.acceleration),
        )


@dataclass(frozen=True)
class External:
    """What a measurement holds beyond the prediction made for the same instant.

    Attributes:
        stamp: ns, of the joint state.
        measured: (n_outputs,).
        external: (n_outputs,), measured minus predicted.
    """

    stamp: int
    measured: Array
    external: Array


@dataclass
class StreamCounts:
    """What a stream took, learned and refused.

    Attributes:
        predicted: joint states accepted, each answered by one prediction.
        measured: measurements paired with a joint state.
        learned: samples learned by `learn`.
        unpaired: joint states for which no measurement came within the tolerance.
        refused: by reason; nothing of these was used.
        last_refusal: the newest of them, in words.
    """

    predicted: int = 0
    measured: int = 0
    learned: int = 0
    unpaired: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    last_refusal: str = ""


class InverseDynamicsStream:
    """Feeds an estimator from joint states and measurements as they arrive, without threads or clocks.

    For each joint state call `joint_state` and use its prediction at once: whatever can wait does. Hand measurements to
    `measurement`; then call `pair`, which tells what they hold beyond the predictions, and `learn`, which learns from
    all samples whose motion and measurement are both known by then. Where efforts are what is learned, they come with
    the joint states and no call of `measurement` is needed. Who learns in another thread takes the samples from
    `complete` instead.

    Args:
        estimator: one of the three estimators, or anything with their predict and update.
        reader: checks joint states and picks the learned joints.
        derivatives: estimates velocity and acceleration.
        output_names: of the measurement, for messages about it.
        effort: True if the outputs are the joint states' efforts, False if measurements come on their own.
        tolerance: seconds; farthest that the stamps of a measurement and of its joint state may lie apart.
        learning: whether `learn` learns; can be switched at any time.
    """

    def __init__(
        self,
        estimator: Estimator,
        reader: JointStateReader,
        derivatives: Derivatives,
        output_names: Sequence[str],
        *,
        effort: bool,
        tolerance: float = DEFAULTS.tolerance,
        learning: bool = True,
    ) -> None:
        self.estimator = estimator
        self.predictor: Predictor = estimator  # or what another thread has learned
        self.learning = learning
        self.counts = StreamCounts()
        self._reader = reader
        self._derivatives = derivatives
        self._output_names = tuple(output_names)
        self.effort = effort
        self._tolerance = round(tolerance * 1e9)  # ns
        self._state_stamps, self._measurement_stamps = StampSequence(), StampSequence()
        self._records: deque[StateRecord] = deque()  # not learned yet, oldest first
        self._waiting: deque[tuple[int, Array]] = deque()  # measurements whose joint state may still come
        self._paired: list[External] = []  # not asked for yet
        self._delayed_stamp = 0  # ns: no joint state up to here will be given a motion any more
        self._unfinished: tuple[StateRecord, Array | None] | None = None  # predicted only, and the efforts with it

    def joint_state(
        self,
        stamp: int,
        names: Sequence[str],
        position: ArrayLike,
        velocity: ArrayLike | None = None,
        effort: ArrayLike | None = None,
    ) -> StateRecord:
        """Predict for one joint state, at once.

        Args:
            stamp: ns.
            names, position, velocity, effort: as in sensor_msgs/JointState; empty or None where not measured.

        Raises:
            SampleError: it was refused, and counted under its reason; everything else stays as it was.
        """
        self._finish()
        try:
            restarted = self._state_stamps.check(stamp)
            state = self._reader.read(stamp, names, position, velocity, effort)
        except SampleError as error:
            self._refuse(error)
            raise
        self._state_stamps.last = stamp
        if restarted:
            self._restart()
        self._derivatives.add(stamp, state.position, state.velocity)
        motion = self._derivatives.newest()
        prediction = self.predictor.predict(motion.position, motion.velocity, motion.acceleration)
        record = StateRecord(stamp, motion, prediction)
        self._records.append(record)
        self.counts.predicted += 1
        self._unfinished = record, state.effort
        return record

    def measurement(self, stamp: int, values: ArrayLike) -> None:
        """Take one measurement (n_outputs,), to be paired with the joint state nearest in time.

        Raises:
            SampleError: it was refused, and counted under its reason; everything else stays as it was.
        """
        try:
            restarted = self._measurement_stamps.check(stamp)
            measured = self._check_output(values)
        except SampleError as error:
            self._refuse(error)
            raise
        self._measurement_stamps.last = stamp
        self._finish()
        if restarted:
            self._waiting.clear()
        self._waiting.append((stamp, measured))
        if len(self._waiting) > WAITING_MEASUREMENTS:
            self._refuse_unmatched(self._waiting.popleft()[0])

    def pair(self) -> list[External]:
        """Pair waiting measurements with joint states, nearest stamps first; what was paired is returned once.

        A measurement newer than every joint state waits: the state nearest to it may be the next one.
        """
        self._finish()
        while self._waiting:
            stamp, measured = self._waiting[0]
            newest = self._records[-1].stamp if self._records else self._state_stamps.last
            nearest = min(
                (record for record in self._near(stamp) if record.measured is None),
                key=lambda record: abs(record.stamp - stamp),
                default=None,
            )
            exact = nearest is not None and nearest.stamp == stamp
            if not exact and newest < stamp:
                break
            self._waiting.popleft()
            if nearest is None:
                self._refuse_unmatched(stamp)
                continue
            self._pair(nearest, measured)
        paired, self._paired = self._paired, []
        return paired

    def complete(self) -> list[Sample]:
        """Every sample that is complete by now and was not returned before, in the order of time.

        While `learning` is off there are none.
        """
        self._finish()
        samples = []
        while self._records and self._settled(self._records[0]):
            record = self._records.popleft()
            if record.measured is None:
                self.counts.unpaired += 1
            elif record.motion is not None and self.learning:
                samples.append(Sample(record.motion, record.known, record.measured))
        return samples

    def learn(self) -> int:
        """Learn from every sample that is complete by now; returns how many."""
        samples = self.complete()
        for sample in samples:
            sample.teach(self.estimator)
        self.counts.learned += len(samples)
        return len(samples)

    def _finish(self) -> None:
        """Do about the newest joint state what its prediction did not have to wait for."""
        if self._unfinished is None:
            return
        (record, effort), self._unfinished = self._unfinished, None
        self._complete_motion()
        if self.effort:
            self._take_effort(record, effort)

    def _complete_motion(self) -> None:
        """Give the joint state that lies in the middle of the window its motion."""
        delayed = self._derivatives.delayed()
        if delayed is None:
            return
        self._delayed_stamp = delayed.stamp
        for record in reversed(self._records):
            if record.stamp <= delayed.stamp:
                record.motion = delayed if record.stamp == delayed.stamp else record.motion
                return

    def _pair(self, record: StateRecord, measured: Array) -> None:
        record.measured = measured
        self.counts.measured += 1
        self._paired.append(External(record.stamp, measured, measured - record.prediction.total))

    def _near(self, stamp: int) -> list[StateRecord]:
        """Records within the tolerance; they lie at the end of the queue."""
        near = []
        for record in reversed(self._records):
            if record.stamp < stamp - self._tolerance:
                break
            if record.stamp <= stamp + self._tolerance:
                near.append(record)
        return near

    def _settled(self, record: StateRecord) -> bool:
        """Whether nothing can be added to this record any more."""
        if record.stamp > self._delayed_stamp:
            return False
        passed = self._measurement_stamps.last > record.stamp + self._tolerance
        awaited = bool(self._waiting) and self._waiting[0][0] <= record.stamp + self._tolerance
        given_up = len(self._records) > REMEMBERED_STATES
        return self.effort or record.measured is not None or given_up or (passed and not awaited)

    def _take_effort(self, record: StateRecord, effort: Array | None) -> None:
        """An effort that cannot be trusted is refused on its own: the prediction for this state stands."""
        try:
            if effort is None:
                raise SampleError(
                    "effort_missing", "effort is empty: predicted, but nothing to learn from", name="effort"
                )
            self._pair(record, self._check_output(effort))
        except SampleError as error:
            self._refuse(error)

    def _check_output(self, values: ArrayLike) -> Array:
        measured = np.asarray(values, dtype=np.float64)
        if measured.shape != (len(self._output_names),):
            expected = str(len(self._output_names))
            text = f"measurement has {measured.size} numbers, expected {expected}"
            raise SampleError("array_size", text, name="measurement", value=measured.size, bound=expected)
        check_values("measurement", measured, self._output_names, LARGEST_OUTPUT)
        return measured

    def _refuse(self, error: SampleError) -> None:
        self.counts.refused[error.reason] += 1
        self.counts.last_refusal = f"{error.reason}: {error}"

    def _refuse_unmatched(self, stamp: int) -> None:
        text = f"no joint state within {self._tolerance * 1e-9:g} s of the measurement at {stamp} ns"
        self._refuse(SampleError("measurement_without_state", text, value=stamp))

    def _restart(self) -> None:
        """A new time has begun: nothing before it can be completed."""
        self._derivatives.reset()
        self._records.clear()
        self._waiting.clear()
        self._unfinished = None
        self._delayed_stamp = 0
