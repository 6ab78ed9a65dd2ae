"""A stream whose estimator only records what it is taught, and motions that are exact for parabolas."""

from collections import deque

import numpy as np

from icub_learning.dynamics import Motion, Prediction
from icub_learning.dynamics.motion.joint_states import JointStateReader
from icub_learning.dynamics.stream.stream import InverseDynamicsStream

JOINTS = ("shoulder", "elbow")  # joints of the stream; the robot has a wrist as well
PERIOD = 5_000_000  # [ns] between joint states
START = 10**18  # [ns] first stamp


class Recorder:
    """An estimator that predicts the sums of positions, velocities and accelerations, and learns nothing."""

    def __init__(self, n_outputs):
        self.n_outputs = n_outputs
        self.learned, self.known, self.stamps = [], [], []

    def predict(self, q, v, a):
        values = np.array([q.sum(), v.sum(), a.sum()])[: self.n_outputs]
        return Prediction(values, values, 0 * values, 0 * values)

    def update(self, q, v, a, y, known=None, stamp=None, published=None):
        self.learned.append((q.copy(), v.copy(), a.copy(), y.copy()))
        self.known.append(known)
        self.stamps.append(stamp)

    def taught(self):
        """Return all that it was taught, one sample per row."""
        samples = zip(self.learned, self.known, self.stamps, strict=True)
        return np.array([np.concatenate([*sample, *known, [stamp]]) for sample, known, stamp in samples])


class Parabolas:
    """A stand-in for the motion filter: parabolas through the last five positions, smoothed `delay` samples late."""

    def __init__(self, n_joints, delay):
        self.n_joints, self.delay, self._samples = n_joints, delay, deque(maxlen=5)

    def reset(self):
        self._samples.clear()

    def add(self, stamp, position, velocity):
        self._samples.append((stamp, position.copy()))

    def newest(self):
        return self._at(-1)

    def smoothed(self):
        return [self._at(4 - self.delay)] if len(self._samples) == 5 else []

    def known(self):
        return True

    def deviation(self):
        return np.zeros((3, self.n_joints))

    def _at(self, index):
        stamps, positions = zip(*self._samples, strict=True)
        times, order = (np.array(stamps) - stamps[index]) * 1e-9, min(2, len(stamps) - 1)
        fitted = np.zeros((3, self.n_joints))
        fitted[: order + 1] = np.polynomial.polynomial.polyfit(times, np.array(positions), order)
        return Motion(stamps[index], fitted[0], fitted[1], 2.0 * fitted[2])


def recorded_stream(outputs, motions, effort=False, tolerance=0.002, joints=JOINTS, **reader):
    """Return a stream of `joints` whose estimator is a Recorder."""
    reader = JointStateReader(joints, (*joints, "wrist"), **reader)
    return InverseDynamicsStream(Recorder(len(outputs)), reader, motions, outputs, effort=effort, tolerance=tolerance)
