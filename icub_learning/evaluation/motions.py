"""Motions that only a recording can give, smoothed from both sides in time or recorded, to judge causal ones by."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.motion.derivatives import Motion
from icub_learning.dynamics.motion.joint_states import JointState, JointStateReader
from icub_learning.dynamics.motion.stamps import StampSequence
from icub_learning.errors import RecordingError, SampleError
from icub_learning.recording.recording import Event, Recording, WrenchEvent

HALF_WINDOW = 6  # samples on either side
ORDER = 4  # of the local polynomials


class KnownMotions:
    """Replaces `CausalDerivatives` in a stream by motions that are known beforehand for every stamp.

    Both `newest` and `delayed` return the motion at the newest sample. Not for a running robot, where the smoothed
    motion would need samples of the future.

    Args:
        motions: by stamp [ns], from `smooth` or `recorded`.
    """

    def __init__(self, motions: Mapping[int, Motion]) -> None:
        self._motions = motions
        self._newest: Motion | None = None

    def reset(self) -> None:
        """Do nothing: no motion depends on earlier samples."""

    def add(self, stamp: int, position: Array, velocity: Array | None) -> None:
        """Move on to `stamp` [ns]; the rest is not used. Raises RecordingError if no motion is known for it."""
        if stamp not in self._motions:
            raise RecordingError(f"no motion is known at {stamp} ns", name="stamp", value=stamp)
        self._newest = self._motions[stamp]

    def newest(self) -> Motion:
        """Return the motion at the newest sample."""
        assert self._newest is not None  # a stream calls `add` first
        return self._newest

    def delayed(self) -> Motion:
        """Return the motion at the newest sample: no delay is needed."""
        return self.newest()


def smooth(
    events: Iterable[Event],
    reader: JointStateReader,
    velocity_weight: float,
    velocity_delay: float,
    max_gap: float,
) -> dict[int, Motion]:
    """Return smoothed motions by stamp [ns], of all joint states that a stream with this reader would accept.

    Each is that of a polynomial fitted to positions and velocities around its instant (Savitzky and Golay 1964), with
    as many samples before as after it and so without phase shift, except at the ends of a stretch without gaps.

    Args:
        events: the events of a recording.
        reader: a new one, with the settings of the stream's.
        velocity_weight: standard deviation of positions over that of velocities [s]; 0: positions alone.
        velocity_delay: time by which velocities lag behind the positions they come with [s].
        max_gap: longest time between two samples of one stretch [s].
    """
    motions: dict[int, Motion] = {}
    stretch: list[JointState] = []
    stamps = StampSequence()
    for event in events:
        if isinstance(event, WrenchEvent):
            continue
        try:
            state = reader.read(event.stamp, event.names, event.position, event.velocity, event.effort)
            clock_set_back = stamps.accept(event.stamp)
        except SampleError:
            continue  # the stream will refuse it, too
        if stretch and (clock_set_back or (event.stamp - stretch[-1].stamp) * 1e-9 > max_gap):
            motions |= _smooth_stretch(stretch, velocity_weight, velocity_delay)
            stretch = []
        stretch.append(state)
    return motions | _smooth_stretch(stretch, velocity_weight, velocity_delay)


def _smooth_stretch(stretch: Sequence[JointState], velocity_weight: float, velocity_delay: float) -> dict[int, Motion]:
    """Return motions of samples without a gap; few samples lower the order to what they determine."""
    motions = {}
    width = min(len(stretch), 2 * HALF_WINDOW + 1)
    stamps = np.array([state.stamp for state in stretch], dtype=np.int64)
    for index, state in enumerate(stretch):
        first = min(max(0, index - HALF_WINDOW), len(stretch) - width)
        window = stretch[first : first + width]
        seconds = (stamps[first : first + width] - state.stamp) * 1e-9
        span = max(1e-9, float(np.abs(seconds).max()))  # keeps the powers of time near 1
        powers = np.arange(min(ORDER, width - 1) + 1)
        u = (seconds / span)[:, None]
        design, values = u**powers, np.array([sample.position for sample in window])
        velocities = [sample.velocity for sample in window]
        if velocity_weight and all(velocity is not None for velocity in velocities):
            slopes = powers * (u - velocity_delay / span) ** np.maximum(powers - 1, 0) / span
            design = np.concatenate([design, velocity_weight * slopes])
            values = np.concatenate([values, velocity_weight * np.array(velocities)])
        fitted = np.zeros((3, values.shape[1]))
        fitted[: len(powers)] = np.linalg.lstsq(design, values, rcond=None)[0][:3]
        motions[state.stamp] = Motion(state.stamp, fitted[0], fitted[1] / span, 2 * fitted[2] / span**2)
    return motions


def recorded(recording: Recording, joints: Sequence[str]) -> dict[int, Motion]:
    """Return motions by stamp [ns] with the accelerations that the recording itself holds, where they are finite.

    Raises:
        RecordingError: velocities, accelerations or joints are missing in it.
    """
    if recording.acceleration is None or recording.velocity is None:
        text = "the recording holds no velocities and accelerations: only CSV and NPZ can; let them be derived"
        raise RecordingError(text, name="acceleration")
    missing = [joint for joint in joints if joint not in recording.joint_names]
    if missing:
        raise RecordingError(f"the recording has no joint {', '.join(missing)}", name=missing[0], value=missing)
    columns = [recording.joint_names.index(joint) for joint in joints]
    fields = (values[:, columns] for values in (recording.position, recording.velocity, recording.acceleration))
    stamps = recording.joint_stamps.tolist()
    return {stamp: Motion(stamp, *row) for stamp, *row in zip(stamps, *fields, strict=True) if np.isfinite(row).all()}
