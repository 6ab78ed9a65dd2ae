"""Motions and measurements of a whole recording: as recorded, or smoothed or filtered non-causally."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.signal import butter, sosfiltfilt

from icub_learning.arrays import Array
from icub_learning.dynamics import Motion, MotionFilter
from icub_learning.dynamics.motion.joint_states import JointStateReader
from icub_learning.dynamics.motion.stamps import CAUGHT_UP, StampSequence
from icub_learning.dynamics.settings import Settings
from icub_learning.errors import RecordingError, SampleError
from icub_learning.recording.recording import Event, Recording, WrenchEvent

ORDER = 4  # order of the Butterworth filter; twice that after both passes
REACH = 2.0  # periods of the bandwidth over which the filter spreads a jump: 1 % of it is left beyond
MOST_ROWS = 4_000_000  # most equally spaced rows, if most of them lie in gaps: about an hour at 1 kHz
FEWEST_SAMPLES = 50  # fewest samples of a recording that are worth filtering


class KnownMotions:
    """Replaces the MotionFilter of a stream by motions that are known beforehand for every stamp [ns]."""

    def __init__(self, motions: Mapping[int, Motion]) -> None:
        self._motions = motions
        self._newest: Motion | None = None

    def reset(self) -> None:
        """Do nothing: no motion depends on earlier samples."""

    def add(self, stamp: int, position: Array, velocity: Array | None) -> None:
        """Move on to `stamp` [ns]; other arguments are not used. Raises RecordingError if no motion is known for it."""
        if stamp not in self._motions:
            raise RecordingError(
                f"no motion is known at {stamp} ns: what was recorded is not finite there", name="stamp", value=stamp
            )
        self._newest = self._motions[stamp]

    def newest(self) -> Motion:
        """Return the motion at the newest sample."""
        assert self._newest is not None  # a stream calls `add` first
        return self._newest

    def known(self) -> bool:
        """Return True: recorded motions are equally well known everywhere."""
        return True

    def deviation(self) -> Array:
        """Return zeros, (3, n_joints): the motions are taken as they are."""
        return np.zeros((3, len(self.newest().position)))

    def report(self) -> dict[str, Array | float]:
        """Return an empty report: the motions are taken as they are."""
        return {}

    def smoothed(self) -> list[Motion]:
        """Return the motion at the newest sample: it need not wait for later ones."""
        return [self.newest()]


def smooth(events: Iterable[Event], reader: JointStateReader, motion_filter: MotionFilter) -> dict[int, Motion]:
    """Return smoothed motions, by stamp [ns], of joint states that a stream with this new reader and filter accepts."""
    motions: dict[int, Motion] = {}
    stamps = StampSequence()
    for event in events:
        if isinstance(event, WrenchEvent):
            continue
        try:
            state = reader.read(event.names, event.position, event.velocity, event.effort)
            clock_set_back = stamps.accept(event.stamp)
        except SampleError:
            continue  # the stream will refuse it, too
        if clock_set_back:
            motions |= {motion.stamp: motion for motion in motion_filter.finish()}
        motion_filter.add(event.stamp, state.position, state.velocity)
        motions[event.stamp] = motion_filter.newest()  # kept where a joint state stands alone between two gaps
        motions |= {motion.stamp: motion for motion in motion_filter.smoothed()}
    return motions | {motion.stamp: motion for motion in motion_filter.finish()}


def recorded(recording: Recording, joints: Sequence[str]) -> dict[int, Motion]:
    """Return recorded motions by stamp [ns], where finite. Raises RecordingError: a joint or derivative is missing."""
    if recording.acceleration is None or recording.velocity is None:
        name = "acceleration" if recording.velocity is not None else "velocity"
        text = f"the recording holds no {name}: only CSV and NPZ can; let all be derived (--derivatives causal)"
        raise RecordingError(text, name=name)
    columns = _columns(recording, joints)
    fields = (values[:, columns] for values in (recording.position, recording.velocity, recording.acceleration))
    stamps = recording.joint_stamps.tolist()
    return {stamp: Motion(stamp, *row) for stamp, *row in zip(stamps, *fields, strict=True) if np.isfinite(row).all()}


@dataclass(frozen=True)
class Signals:
    """The signals of a recording that the settings need, at equally spaced times."""

    step: float  # time between two rows [s]
    position: Array  # (n, n_joints) [rad]
    velocity: Array | None  # (n, n_joints) [rad/s]; None where the recording has none
    outputs: Array  # (n, n_outputs), raw measurements
    # (n,), whether a joint state and a measurement lie near that time, so that the row is not interpolated over a gap
    trusted: np.ndarray
    times: Array  # (n,), time since the first row [s]
    measured_times: Array  # (m,), times of the measurements since the first row [s]
    measured: Array  # (m, n_outputs), measurements as recorded
    seams: Array  # times at which a clock that had been set back caught up: another motion goes on there


@dataclass(frozen=True)
class FilteredSignals:
    """Low-pass filtered signals, with derivatives by central differences; arrays as in Signals."""

    motion: tuple[Array, Array, Array]  # position, velocity and acceleration
    outputs: Array
    trusted: np.ndarray  # that of the signals, but for rows within REACH of a seam


def resample(recording: Recording, settings: Settings) -> Signals:
    """Return the recording at equally spaced times, by linear interpolation; the step is the median of its intervals.

    Rows whose stamps do not rise or whose numbers are not finite are left out. Raises RecordingError: a joint is
    missing, or too few rows are left.
    """
    columns, torque = _columns(recording, settings.joints), settings.output == "joint_torque"
    outputs = recording.effort if torque else recording.wrench
    assert outputs is not None  # see predict_then_learn.check_outputs
    velocity = None if settings.velocity_source == "estimated" else recording.velocity
    of_joints = (recording.position, velocity, outputs if torque else None)
    given = [values[:, columns] for values in of_joints if values is not None]
    times, (wrapped, *others), seams = _rising(recording.joint_stamps, given)
    position = np.unwrap(wrapped, axis=0)  # no joint makes half a turn between two rows, but drivers count anew
    of_outputs = (times, others[-1:], seams) if torque else _rising(recording.wrench_stamps, [outputs])
    measured_times, (measured,), more = of_outputs
    first, last = max(times[0], measured_times[0]), min(times[-1], measured_times[-1])
    step = float(np.median(np.diff(times)))
    if (rows := (last - first) / step) > max(MOST_ROWS, 2 * len(times)):
        text = f"{rows:.3g} rows would fill gaps of up to {np.diff(times).max():.3g} s; cut the recording there"
        raise RecordingError(text, name="recording", value=rows, bound=f"at most {MOST_ROWS} rows")
    grid = np.arange(first, last + 0.5 * step, step)  # half a step more: rounding must not lose the last sample
    if len(grid) < FEWEST_SAMPLES:
        text = f"joint states and measurements have {len(grid)} samples in common, too few to filter"
        raise RecordingError(text, name="recording", value=len(grid), bound=f"at least {FEWEST_SAMPLES}")
    farthest = max(0.05, 3 * step)  # [s] from a row to the nearest samples
    trusted = (_distance(grid, times) < farthest) & (_distance(grid, measured_times) < farthest)
    inside = (measured_times >= first) & (measured_times <= last)
    return Signals(
        step, interpolate(grid, times, position), None if velocity is None else interpolate(grid, times, others[0]),
        interpolate(grid, measured_times, measured), trusted, grid - first, measured_times[inside] - first,
        measured[inside], np.union1d(seams, more) - first,
    )  # fmt: skip


def zero_phase(signals: Signals, bandwidth: float, measured_velocity: bool) -> FilteredSignals:
    """Return the signals low-pass filtered at `bandwidth` [Hz] without phase shift (Butterworth, forward and backward).

    The bandwidth is below half the rate of the signals. With `measured_velocity`, velocities are the measured ones and
    accelerations their derivatives; else both are derivatives of the positions.
    """
    sections = butter(ORDER, 2 * bandwidth * signals.step, output="sos")  # exact also far below the rate
    padding = min(len(signals.times) - 1, int(3 / (bandwidth * signals.step)))
    position, outputs = (sosfiltfilt(sections, x, axis=0, padlen=padding) for x in (signals.position, signals.outputs))
    if measured_velocity and signals.velocity is not None:
        velocity = sosfiltfilt(sections, signals.velocity, axis=0, padlen=padding)
    else:
        velocity = np.gradient(position, signals.step, axis=0)
    trusted = signals.trusted & (_distance(signals.times, np.r_[-np.inf, signals.seams, np.inf]) > REACH / bandwidth)
    return FilteredSignals((position, velocity, np.gradient(velocity, signals.step, axis=0)), outputs, trusted)


def _columns(recording: Recording, joints: Sequence[str]) -> list[int]:
    """Return the column numbers of joints. Raises RecordingError if one is missing."""
    if missing := [joint for joint in joints if joint not in recording.joint_names]:
        raise RecordingError(f"the recording has no joint {', '.join(missing)}", name=missing[0], value=missing)
    return [recording.joint_names.index(joint) for joint in joints]


def _rising(stamps: np.ndarray, fields: list[Array]) -> tuple[Array, list[Array], Array]:
    """Return times [s] and rows of the samples whose numbers are finite and whose stamps exceed all before them, and
    the times on both sides of where CAUGHT_UP samples or more between two of these go back."""
    finite = np.all([np.isfinite(field).all(axis=1) for field in fields], axis=0)
    stamps = np.where(finite, stamps, np.iinfo(np.int64).min)
    latest = np.r_[np.iinfo(np.int64).min, np.maximum.accumulate(stamps)[:-1]][: len(stamps)]
    kept = finite & (stamps > latest)
    if kept.sum() < FEWEST_SAMPLES:
        text = f"{kept.sum()} samples are finite and in the order of time, too few to filter"
        raise RecordingError(text, name="recording", value=int(kept.sum()), bound=f"at least {FEWEST_SAMPLES}")
    before = np.flatnonzero(np.diff(np.cumsum(finite & (stamps < latest))[kept]) >= CAUGHT_UP)
    return stamps[kept] * 1e-9, [field[kept] for field in fields], stamps[kept][np.union1d(before, before + 1)] * 1e-9


def _distance(grid: Array, times: Array) -> Array:
    """Return the distance of each time of `grid` from the nearest of `times` (rising) [s]."""
    after = np.clip(np.searchsorted(times, grid), 1, len(times) - 1)
    return np.minimum(np.abs(grid - times[after - 1]), np.abs(times[after] - grid))


def interpolate(grid: Array, times: Array, values: Array) -> Array:
    """Return (m, k): values (n, k) at rising times (n,), interpolated linearly at the times `grid` (m,)."""
    return np.column_stack([np.interp(grid, times, column) for column in values.T])
