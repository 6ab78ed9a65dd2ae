"""From joint states and measurements to predictions and learned samples, as node and command line both do it."""

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array
from icub_learning.dynamics.changes.monitor import ChangeMonitor
from icub_learning.dynamics.estimators.noise.noise_variance import FIRST_SAMPLES
from icub_learning.dynamics.estimators.prediction import Estimator, Prediction, Predictor, seconds_between
from icub_learning.dynamics.joint.experts import SILENCE
from icub_learning.dynamics.motion.joint_states import LARGEST_EFFORT, JointStateReader, check_values
from icub_learning.dynamics.motion.motion import Motion
from icub_learning.dynamics.motion.stamps import StampSequence, UsualInterval
from icub_learning.dynamics.settings import DEFAULTS
from icub_learning.dynamics.stream.pairing import Pairing
from icub_learning.dynamics.stream.records import REMEMBERED_STATES, External, Sample, StateRecord, StreamCounts
from icub_learning.dynamics.stream.sensor_faults import FROZEN, SensorFaults
from icub_learning.errors import SampleError

# Number of joint states at which the noise of velocities is first looked at, then each time it has doubled.
FIRST_LOOK = FIRST_SAMPLES
# [ns] least time between two joint states that are settled, see Prediction.settle, and whose errors tell which experts
# are right, and whether something pushes: 250 times in a second, as arms move by fractions of a degree in that time,
# and at 1 kHz all this would take longer than the answers. A little less than 4 ms, as stamps at 250 Hz jitter.
SETTLED = 3_500_000


def answer_of(predictor: Predictor, q: Array, v: Array, a: Array, as_known: bool = False) -> Prediction:
    """Return the answer of a predictor that has experts, see ExpertPredictor, or the prediction of another."""
    answer = getattr(predictor, "answer", None)
    made: Prediction = predictor.predict(q, v, a) if answer is None else answer(q, v, a, as_known)
    return made


class MotionSource(Protocol):
    """What a stream needs to find velocities and accelerations; see MotionFilter."""

    def reset(self) -> None: ...

    def add(self, stamp: int, position: Array, velocity: Array | None) -> None: ...

    def newest(self) -> Motion: ...

    def smoothed(self) -> list[Motion]: ...

    def deviation(self) -> Array: ...

    def known(self) -> bool: ...

    def report(self) -> dict[str, Array | float]: ...


class InverseDynamicsStream:
    """Feeds an estimator from joint states and measurements as they arrive, without threads or clocks.

    For each joint state call `joint_state` and use its prediction at once: work that can wait is deferred to the next
    call. Give measurements to `measurement`; then call `pair` for their external parts, and `learn` to learn from all
    samples whose motion and measurement are both known by then. To learn in another thread, take the samples from
    `complete` instead. Where efforts are learned, they come with the joint states and `measurement` is not called.

    Args:
        reader: checks joint states and picks the learned joints.
        motions: estimates position, velocity and acceleration.
        output_names: names of the measured quantities, for error messages.
        effort: True if the outputs are the joint states' efforts, False if measurements come on their own.
        tolerance: largest difference between the stamps of a measurement and its joint state [s].
        watch: finds loads and contacts, adds the load to predictions, and says what must not be learned; or None.
        follow_velocity_noise: called now and then with the standard deviations of the velocities (n_joints,), ever more
            rarely; see TorqueRegressor.

    Attributes:
        estimator, motions, output_names, effort, watch: as given.
        predictor: makes the predictions: the estimator, or what another thread has learned.
        learning: whether samples are learned; can be switched at any time.
        fault: what is wrong with the newest measurement, see SensorFaults; None: nothing.
        settling_period: least time between two joint states that are settled [ns], see SettlingPeriod.
    """

    def __init__(
        self, estimator: Estimator, reader: JointStateReader, motions: MotionSource, output_names: Sequence[str], *,
        effort: bool, tolerance: float = DEFAULTS.tolerance, watch: ChangeMonitor | None = None,
        follow_velocity_noise: Callable[[Array], object] | None = None,
    ) -> None:  # fmt: skip
        self.estimator = estimator
        self.predictor: Predictor = estimator
        self.learning, self.settling_period = True, SETTLED
        self.fault: str | None = None
        self.counts, self.watch = StreamCounts(), watch
        self._changes = 0  # changes of the body that `take_change` has returned
        self._reader, self.motions = reader, motions
        self.output_names = tuple(output_names)
        self._faults, self.effort = SensorFaults(len(self.output_names)), effort
        self._pairing = Pairing(round(tolerance * 1e9))
        self._follow_velocity_noise, self._next_look = follow_velocity_noise, FIRST_LOOK
        self._state_stamps, self._usual = StampSequence(), UsualInterval()  # usual time between joint states [ns]
        self._state_refused = False  # whether the newest joint state was
        self._first_stamp: int | None = None  # stamp of the first joint state since the start or a clock set back
        self._records: deque[StateRecord] = deque()  # joint states not learned yet, oldest first
        self._paired: list[External] = []  # pairs not yet returned by `pair`
        self._smoothed_stamp = 0  # ns: joint states up to here have been given their smoothed motion, or never will
        self._settled = 0  # stamp of the last joint state that was settled [ns]
        self._judged: int | None = None  # stamp of the last prediction that was judged [ns]
        self._heard: int | None = None  # stamp of the newest sound measurement, or the first joint state [ns]
        self._deferred: tuple[StateRecord, Array | None] | None = None  # newest record and its efforts, only predicted

    def joint_state(
        self, stamp: int, names: Sequence[str], position: ArrayLike, velocity: ArrayLike | None = None,
        effort: ArrayLike | None = None,
    ) -> StateRecord:  # fmt: skip
        """Return the prediction for one joint state, in the record that will hold its measurement too.

        Args:
            stamp: time of the joint state [ns].
            names, position, velocity, effort: as in sensor_msgs/JointState; empty or None where not measured.

        Raises:
            SampleError: it was refused, and counted under its reason; nothing else changes.
        """
        self.settle()
        last = self._state_stamps.last
        try:
            state = self._reader.read(names, position, velocity, effort)
            clock_set_back = self._state_stamps.accept(stamp)
        except SampleError as error:
            self._refuse(error)
            self._state_refused = True
            raise
        self._state_refused = False
        if clock_set_back:
            self._drop_incomplete()
        elif last:
            self._usual.follow(stamp - last)
        if self._first_stamp is None:
            self._first_stamp = stamp
        try:
            self.motions.add(stamp, state.position, state.velocity)
        except Exception:  # unforeseen, but what was not taken in must not use up its stamp either
            self._state_stamps.last = last
            raise
        motion = self.motions.newest()
        self._heard = stamp if self._heard is None else self._heard
        silence = (stamp - self._heard) * 1e-9
        if silence > SILENCE and (told := getattr(self.predictor, "nothing_measured", None)):
            told(silence)
        as_known = 0 <= stamp - self._settled < self.settling_period
        body = answer_of(self.predictor, motion.position, motion.velocity, motion.acceleration, as_known)
        if not as_known:
            self._settled = stamp
        prediction, load = (body, None) if self.watch is None else self.watch.compensated(body, motion)
        record = StateRecord(stamp, motion, prediction, body, load, not as_known)
        self._records.append(record)
        self.counts.predicted += 1
        self._deferred = record, state.effort
        return record

    def measurement(self, stamp: int, values: ArrayLike) -> None:
        """Queue one measurement (n_outputs,) for pairing with the joint state nearest in time. Raises SampleError."""
        try:
            given_up = self._pairing.add(stamp, self._check_output(values))
        except SampleError as error:
            self._refuse(error)
            raise
        self.settle()
        if given_up is not None:
            self._refuse_unmatched(given_up)

    @property
    def waiting(self) -> int:
        """Number of measurements that wait for their joint state."""
        return len(self._pairing.waiting)

    def pair(self) -> list[External]:
        """Pair waiting measurements with the joint states nearest in time; return the new pairs.

        A measurement newer than every joint state waits: the state nearest to it may be the next one.
        """
        self.settle()
        newest = self._records[-1].stamp if self._records else self._state_stamps.last
        while (taken := self._pairing.take(newest)) is not None:
            stamp, measured = taken
            nearest = self._pairing.nearest(stamp, self._records)
            if self._pairing.is_surplus(stamp, nearest, self._usual.value):
                self.counts.surplus += 1
            elif nearest is None:
                self._refuse_unmatched(stamp)
            else:
                self._pair(nearest, measured)
        paired, self._paired = self._paired, []
        return paired

    def complete(self) -> list[Sample]:
        """Return the samples completed since the last call, oldest first; none while `learning` is off."""
        self.settle()
        samples = []
        while self._records and self._is_final(self._records[0]):
            record = self._records.popleft()
            if record.measured is None:
                self.counts.unpaired += 1
            elif record.motion is None or not self.learning:
                continue
            elif record.fault is not None:
                self.counts.faults[record.fault] += 1
            elif not self._may_learn(record):
                self.counts.withheld += 1
            else:
                samples.append(Sample(record.motion, record.known, record.measured, record.body))
        return samples

    def _may_learn(self, record: StateRecord) -> bool:
        return self.watch is None or self.watch.may_learn(record.stamp)

    def take_change(self) -> float | None:
        """Return the ratio by which mean squared errors grew in a change of the body since the last call, or None."""
        before, self._changes = self._changes, 0 if self.watch is None else self.watch.changed
        return self.watch.change_ratio if self.watch is not None and self._changes > before else None

    def learn(self) -> int:
        """Learn from the samples that `complete` returns; return how many."""
        samples = self.complete()
        if (ratio := self.take_change()) is not None and (forget := getattr(self.estimator, "body_changed", None)):
            forget(ratio)
        for sample in samples:
            sample.teach(self.estimator)
        self.counts.learned += len(samples)
        return len(samples)

    def settle(self) -> None:
        """Do the work on the newest joint state that was deferred until its prediction was out; others do it, too."""
        if self._deferred is None:
            return
        (record, effort), self._deferred = self._deferred, None
        if record.settled:
            record.body.settle()
        record.settled = self.motions.known() and record.settled
        if self._follow_velocity_noise and self.counts.predicted >= self._next_look:
            self._next_look = 2 * self.counts.predicted
            self._follow_velocity_noise(self.motions.deviation()[1])
        self._add_smoothed_motions()
        if self.effort:
            self._take_effort(record, effort)

    def _add_smoothed_motions(self) -> None:
        """Give earlier joint states the smoothed motions that the newest one made available."""
        if not (smoothed := self.motions.smoothed()):
            return
        self._smoothed_stamp = smoothed[-1].stamp
        by_stamp = {motion.stamp: motion for motion in smoothed}
        for record in reversed(self._records):
            if record.stamp < smoothed[0].stamp:
                break
            record.motion = by_stamp.get(record.stamp, record.motion)
            if self.watch is not None and record.settled and record.stamp == self._smoothed_stamp:
                by: Any = self.predictor
                if (parameters := getattr(by, "parameters", None)) is not None:  # the same of both motions
                    rows = by.regressor(*smoothed[-1][1:]) - by.regressor(*record.known[1:])
                    self.watch.hindsight(rows @ parameters)

    def _pair(self, record: StateRecord, measured: Array) -> None:
        record.measured = measured
        self.counts.measured += 1
        record.fault = self.fault = self._faults.check(record.stamp, measured, record.known.position)
        if self.fault == FROZEN and self.watch is not None:  # a push that saturates a sensor is one all the same
            self.watch.interrupt()
        more = None if self.watch is None else partial(self._more_variance, self.watch, record)
        paired = External(record.stamp, measured, record.known, partial(self._undisturbed, record), record.load, more)
        self._paired.append(paired)
        if record.fault is not None or not record.settled:
            return
        self._heard = record.stamp
        if self.watch is not None:
            self.watch.observe(record.known, paired.unexpected, paired.undisturbed.variance)
        if (judge := self._judge_of(record)) is not None and self._may_learn(record):
            elapsed, self._judged = seconds_between(self._judged, record.stamp), record.stamp
            judge.judge(record.body, measured, elapsed)
        elif judge is not None:  # something is carried or touched
            judge.hold()

    @staticmethod
    def _more_variance(watch: ChangeMonitor, record: StateRecord, signal: Array) -> Array:
        """Return the variance (n_outputs,) of what a load adds, and of the sensor's gain errors in reading a signal."""
        read = watch.gain_variance(signal)
        return read if record.load is None else read + record.prediction.variance - record.body.variance

    def _undisturbed(self, record: StateRecord) -> Prediction:
        """Return the prediction without what follows the newest errors, which would follow a push."""
        judge = self._judge_of(record)
        return record.body if judge is None else cast(Prediction, judge.undisturbed(record.body))

    def _judge_of(self, record: StateRecord) -> Any:
        """Return the ExpertPredictor that learns from a record which experts were right; None without experts."""
        return None if record.body.experts is None else self.predictor

    def _is_final(self, record: StateRecord) -> bool:
        """Return whether neither motion nor measurement can be added to this record any more."""
        if record.stamp > self._smoothed_stamp and len(self._records) <= 2 * REMEMBERED_STATES:
            return False
        given_up = len(self._records) > REMEMBERED_STATES
        return self.effort or record.measured is not None or given_up or not self._pairing.is_awaited(record)

    def _take_effort(self, record: StateRecord, effort: Array | None) -> None:
        """Pair a joint state with its own effort; a bad effort is refused alone, and the prediction stands."""
        try:
            if effort is None:
                raise SampleError("effort_missing", "effort is empty: predicted, nothing to learn from", name="effort")
            self._pair(record, self._check_output(effort))
        except SampleError as error:
            self._refuse(error)

    def _check_output(self, values: ArrayLike) -> Array:
        measured = np.array(values, dtype=np.float64)
        if measured.shape != (len(self.output_names),):
            text = f"measurement has shape {measured.shape}, expected ({(expected := str(len(self.output_names)))},)"
            raise SampleError("array_size", text, name="measurement", value=measured.size, bound=expected)
        check_values("measurement", measured, self.output_names, LARGEST_EFFORT)
        return measured

    def _refuse(self, error: SampleError, follows: bool = False) -> None:
        self.counts.refused[error.reason] += 1
        if not follows:  # from the refusal of another message, whose text says more
            self.counts.last_refusal = f"{error.reason}: {error}"

    def _refuse_unmatched(self, stamp: int) -> None:
        """Count a measurement without joint state, unless it is older than all of these: topics begin one by one."""
        tolerance = self._pairing.tolerance
        if self._first_stamp is None or stamp < self._first_stamp - tolerance:
            return
        text = f"no joint state within {tolerance * 1e-9:g} s of the measurement at {stamp} ns"
        if self._records:
            nearest = min(self._records, key=lambda record: abs(record.stamp - stamp))
            text += f"; the nearest is at {nearest.stamp} ns"
        self._refuse(SampleError("measurement_without_state", text, value=stamp), self._state_refused)

    def _drop_incomplete(self) -> None:
        """Drop all incomplete records: the clock was set back, so nothing before can be completed."""
        self.motions.reset()
        self._records.clear()
        self._pairing.waiting.clear()
        self._deferred = self._first_stamp = self._heard = None
        self._smoothed_stamp = 0
