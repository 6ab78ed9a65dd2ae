"""Motions with known velocity and acceleration, and recordings of them by imperfect sensors."""

import numpy as np

from icub_learning.dynamics.motion.motion_filter import PRIOR, VECTOR, Filter


def sines(t, rng, highest=1.5):
    """Return the sum of four sines of 0.1 Hz to `highest`: position, velocity, acceleration at times t [s]."""
    q, v, a = np.zeros((3, len(t)))
    for _ in range(4):
        f, phase = rng.uniform(0.1, highest), rng.uniform(0.0, 6.28)
        amplitude, w = 0.5 / (1.0 + (f / 0.5) ** 1.5), 2.0 * np.pi * f
        q += amplitude * np.sin(w * t + phase)
        v += amplitude * w * np.cos(w * t + phase)
        a -= amplitude * w**2 * np.sin(w * t + phase)
    return q, v, a


def quintic(t, rng):
    """Return position, velocity and acceleration of minimum-jerk moves of 0.8 to 2.5 s with rests in between."""
    q, v, a = np.zeros((3, len(t)))
    start = place = 0.0
    while start <= t[-1]:
        span, rest, goal = rng.uniform(0.8, 2.5), rng.uniform(0.0, 0.5), rng.uniform(-1.0, 1.0)
        u, way = np.clip((t - start) / span, 0.0, 1.0), goal - place
        now = (t >= start) & (t < start + span + rest)
        q[now] = (place + way * (10 * u**3 - 15 * u**4 + 6 * u**5))[now]
        v[now] = (way / span * (30 * u**2 - 60 * u**3 + 30 * u**4))[now]
        a[now] = (way / span**2 * (60 * u - 180 * u**2 + 120 * u**3))[now]
        start, place = start + span + rest, goal
    return q, v, a


def trapezoids(t, rng):
    """Return position, velocity and acceleration of moves of trapezoidal velocity with rests in between."""
    q, v, a = np.zeros((3, len(t)))
    start = place = 0.0
    while start <= t[-1]:
        goal, rest = rng.uniform(-1.0, 1.0), rng.uniform(0.0, 0.4)
        span = max(0.6, abs(goal - place) / rng.uniform(0.4, 0.9))
        ramp, u = 0.25 * span, t - start
        top, left = (goal - place) / (span - ramp), span - u
        for m, qm, vm, am in (
            ((u >= 0) & (u < ramp), place + top / ramp * u**2 / 2, top / ramp * u, top / ramp),
            ((u >= ramp) & (u < span - ramp), place + top * (u - ramp / 2), top + 0 * u, 0.0),
            ((u >= span - ramp) & (u < span), goal - top / ramp * left**2 / 2, top / ramp * left, -top / ramp),
            ((u >= span) & (u < span + rest), goal + 0 * u, 0 * u, 0.0),
        ):
            q[m], v[m], a[m] = qm[m], vm[m], am
        start, place = start + span + rest, goal
    return q, v, a


def record(
    motion, rate, *, joints=3, step=1e-4, velocity_noise=None, jitter=0.0, late=0.0, repeated=0.0, standing=0,
    seconds=16.0, seed=1,
):  # fmt: skip
    """Return stamps [ns], measured positions and velocities (or None), and the truth q, v, a, each (n, joints)."""
    rng, n = np.random.default_rng(seed), int(seconds * rate)
    steps = np.clip(rng.lognormal(-0.1, jitter, n), 0.2, 8.8) / rate if jitter else np.full(n, 1.0 / rate)
    stamps = np.round(np.cumsum(steps) * 1e9).astype(np.int64)
    t = (stamps - stamps[0]) * 1e-9
    truth, old = [], []
    for joint in range(joints):
        if joint >= joints - standing:
            truth.append(np.array([np.full(n, 0.3 + 1e-5 * joint), np.zeros(n), np.zeros(n)]))
            old.append(np.zeros(n))
            continue
        truth.append(motion(t, np.random.default_rng(10 * seed + joint)))
        old.append(motion(np.maximum(t - late, 0.0), np.random.default_rng(10 * seed + joint))[1])
    q, v, a = np.array(truth).transpose(1, 2, 0)
    measured = np.round(q / step) * step
    velocity = None if velocity_noise is None else np.array(old).T + velocity_noise * rng.standard_normal(q.shape)
    for k in 1 + np.flatnonzero(rng.random(n)[1:] < repeated):
        measured[k] = measured[k - 1]
        if velocity is not None:
            velocity[k] = velocity[k - 1]
    return stamps, measured, velocity, q, v, a


def with_fixed_levels(joints, levels, times, *, prior=PRIOR, surprise=np.inf):
    """Return the compiled filter of one group with fixed levels (5,) and `times`: period, lag and horizon [s]."""
    lanes = np.repeat(np.array(levels, dtype=float), VECTOR).reshape(5, 1, VECTOR)
    found = np.zeros((4, 1, VECTOR)), np.zeros((7, VECTOR)), np.full((2, VECTOR), np.inf)
    filter = Filter(lanes, *found, 1, VECTOR, joints, 0, 10.0, *prior)
    filter.period, filter.lag, filter.horizon, filter.surprise = *times, surprise
    return filter


def each(filter, stamps, position, velocity=None):
    """Add samples to a filter; yield the index of each one."""
    for k, stamp in enumerate(stamps):
        filter.add(int(stamp), position[k], None if velocity is None else velocity[k])
        yield k


def newest_of(filter, stamps, position, velocity=None):
    """Return velocity and acceleration at each newest sample, (n, 2, joints)."""
    return np.array([filter.newest()[2:] for _ in each(filter, stamps, position, velocity)])


def rms(x):
    return float(np.sqrt(np.mean(np.square(x))))


def rmse(found, v, a):
    """Return the root mean squared errors of velocities and of accelerations, found (n, 2, joints)."""
    return np.array([rms(found[:, 0] - v), rms(found[:, 1] - a)])
