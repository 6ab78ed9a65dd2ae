"""Motions that only a recording can give, smoothed from both sides in time or recorded, to judge causal ones by."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.motion.joint_states import JointStateReader
from icub_learning.dynamics.motion.motion import Motion
from icub_learning.dynamics.motion.motion_filter import MotionFilter
from icub_learning.dynamics.motion.stamps import StampSequence
from icub_learning.errors import RecordingError, SampleError
from icub_learning.recording.recording import Event, Recording, WrenchEvent


class KnownMotions:
    """Replaces the MotionFilter of a stream by motions that are known beforehand for every stamp [ns]."""

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

    def known(self) -> bool:
        """Return True: recorded motions are as well known everywhere."""
        return True

    def deviation(self) -> Array:
        """Return zeros, (3, n_joints): the motions are taken as they are."""
        return np.zeros((3, len(self.newest().position)))

    def report(self) -> dict[str, Array | float]:
        """Return nothing: the motions are taken as they are."""
        return {}

    def smoothed(self) -> list[Motion]:
        """Return the motion at the newest sample: it need not wait for later ones."""
        return [self.newest()]


def smooth(events: Iterable[Event], reader: JointStateReader, motion_filter: MotionFilter) -> dict[int, Motion]:
    """Return smoothed motions by stamp [ns] of the joint states that a stream with this new reader and filter takes."""
    motions: dict[int, Motion] = {}
    stamps = StampSequence()
    for event in events:
        if isinstance(event, WrenchEvent):
            continue
        try:
            state = reader.read(event.stamp, event.names, event.position, event.velocity, event.effort)
            clock_set_back = stamps.accept(event.stamp)
        except SampleError:
            continue  # the stream will refuse it, too
        if clock_set_back:
            motions |= {motion.stamp: motion for motion in motion_filter.finish()}
        motion_filter.add(event.stamp, state.position, state.velocity)
        motions[event.stamp] = motion_filter.newest()  # stays where a joint state is alone between two gaps
        motions |= {motion.stamp: motion for motion in motion_filter.smoothed()}
    return motions | {motion.stamp: motion for motion in motion_filter.finish()}


def recorded(recording: Recording, joints: Sequence[str]) -> dict[int, Motion]:
    """Return motions by stamp [ns] with the accelerations that the recording itself holds, where they are finite.
    Raises RecordingError: velocities, accelerations or joints are missing in it.
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
