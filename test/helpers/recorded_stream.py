"""A stream whose estimator only writes down what it is taught."""

import numpy as np

from icub_learning.dynamics import Prediction
from icub_learning.dynamics.motion.joint_states import JointStateReader
from icub_learning.dynamics.stream.stream import InverseDynamicsStream

JOINTS = ("shoulder", "elbow")  # of a robot that has a wrist, too
PERIOD = 5_000_000  # ns
START = 10**18  # ns


class Recorder:
    """An estimator of sums of positions, velocities and accelerations that learns nothing."""

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
        """All that it was taught, one sample in a row."""
        samples = zip(self.learned, self.known, self.stamps, strict=True)
        return np.array([np.concatenate([*sample, *known, [stamp]]) for sample, known, stamp in samples])


def recorded_stream(outputs, motions, effort=False, tolerance=0.002, joints=JOINTS, **reader):
    """A stream of `joints` with a Recorder."""
    reader = JointStateReader(joints, (*joints, "wrist"), **reader)
    return InverseDynamicsStream(Recorder(len(outputs)), reader, motions, outputs, effort=effort, tolerance=tolerance)
