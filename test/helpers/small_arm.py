"""One joint with inertia, gravity and friction, as small and exact as a robot can be, and its motions."""

import numpy as np

PERIOD = 10_000_000  # [ns] between samples


class SmallArm:
    """The regressor of the arm."""

    n_joints, n_outputs, n_parameters, n_base = 1, 1, 3, 3
    joints = output_names = ("joint",)
    parameter_names = ("I", "mgl", "b")
    nominal_parameters, base_projection = np.array([0.5, 2.0, 0.3]), np.eye(3)

    def __call__(self, q, v, a):
        return np.array([[a[0], np.sin(q[0]), v[0]]])

    def state(self):
        return {}


def motions(n, rng):
    """Return states (n, 3, 1) of a smooth motion at 100 Hz."""
    t = 0.01 * np.arange(n)
    frequencies, phases = rng.uniform(0.5, 2.0, 5), rng.uniform(0, 6, 5)
    angle = t[:, None] * frequencies + phases
    states = np.stack([np.sin(angle), frequencies * np.cos(angle), -(frequencies**2) * np.sin(angle)]).mean(axis=-1)
    return states.T[:, :, None]


def rigid(states, parameters=SmallArm.nominal_parameters):
    """Return the outputs of a rigid body at states, (n, 1)."""
    return np.array([SmallArm()(*state) @ parameters for state in states])


def learn(estimator, states, y, first=0, judged=True):
    """Learn samples 10 ms apart; return total and variance predicted for each before it was learned, (2, n). Without
    `judged` the weights of experts stay as they are."""
    told = []
    for k, (state, target) in enumerate(zip(states, y, strict=True)):
        prediction = estimator.predict(*state)
        told.append((prediction.total[0], prediction.variance[0]))
        if judged:
            estimator.judge(prediction, target, 1e-9 * PERIOD)
        estimator.update(*state, target, stamp=(first + k) * PERIOD, published=prediction)
    return np.array(told).T
