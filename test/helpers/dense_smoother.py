"""Motion of one joint as one Gaussian vector over all samples, solved densely, without a filter or smoother."""

import numpy as np
from scipy.linalg import block_diag, toeplitz


def passage(d, leak):
    """Return F and unit Q of (position, velocity, acceleration, jerk) over d seconds, as in the motion filter."""
    u = leak * d
    f = toeplitz([1.0, 0.0, 0.0, 0.0], [1.0, d, d**2 / 2, d**3 / 6])
    f[:, 3] /= [1 + u / 4, 1 + u / 3, 1 + u / 2, 1 + u + u**2 / 2]
    factorial = [1.0, 1.0, 2.0, 6.0]
    q = np.array(
        [[d ** (7 - i - j) / ((7 - i - j) * factorial[3 - i] * factorial[3 - j]) for j in range(4)] for i in range(4)]
    )
    return f, q


def estimates(times, position, velocity, levels, prior, upto):
    """Return the mean (4,) and covariance (4, 4) of the state at each sample, given the samples with index <= upto(k).

    levels: snap density, variance of positions, variance of velocities, delay of velocities, leak.
    """
    snap, r_q, r_v, delay, leak = levels
    n = len(times)
    # States are linear in the stacked first state and disturbances: their covariance is built from F and Q alone.
    maps, noises = np.zeros((n, 4, 4 * n)), [np.diag([r_q, *np.square(prior)])]
    maps[0, :, :4] = np.eye(4)
    for k in range(1, n):
        f, q = passage(times[k] - times[k - 1], leak)
        maps[k] = f @ maps[k - 1]
        maps[k, :, 4 * k : 4 * k + 4] = np.eye(4)
        noises.append(snap * q)
    stacked = maps.reshape(4 * n, 4 * n)
    covariance = stacked @ block_diag(*noises) @ stacked.T
    mean = stacked[:, :4] @ np.array([position[0], 0.0, 0.0, 0.0])
    # The first position is already the mean of the prior.
    observed = [(k, [1.0, 0.0, 0.0, 0.0], position[k], r_q) for k in range(1, n)]
    if velocity is not None:
        observed += [(k, [0.0, 1.0, -delay, delay**2 / 2], velocity[k], r_v) for k in range(n)]
    of, coefficients, measured, variances = map(np.array, zip(*observed, strict=True))
    rows = np.einsum("oi,ok->oki", coefficients, of[:, None] == np.arange(n)).reshape(len(of), 4 * n)
    out = []
    for k in range(n):
        use = of <= upto(k)
        h = rows[use]
        here = slice(4 * k, 4 * k + 4)
        gain = np.linalg.solve(h @ covariance @ h.T + np.diag(variances[use]), h @ covariance[:, here]).T
        out.append(
            (mean[here] + gain @ (measured[use] - h @ mean), covariance[here, here] - gain @ h @ covariance[:, here])
        )
    return out
