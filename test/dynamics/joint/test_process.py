"""The joint process beside the batch formulas of Rasmussen and Williams (2006), eq. 2.41-2.42."""

import numpy as np
import pytest

from icub_learning.dynamics.joint.columns import BaseColumns
from icub_learning.dynamics.joint.process import JointProcess
from icub_learning.models import part

D, T = 17, 3


class MadeUpRegressor:
    """A regressor with structural zeros, dependent columns, and different priors of its parameters."""

    n_joints, n_outputs, n_parameters = 2, T, 6
    relative_regularization = np.array([1.0, 1.0, 0.3, 1.0, 2.0, 1.0])

    def __call__(self, q, v, a):
        one, two = np.sin(q)
        rows = np.array(
            [
                [one, 0.0, 2.0 * one, 0.0, 1.0, 0.0],
                [0.0, v[0], v[0], a[1], 0.0, 0.0],
                [two, a[0], 2.0 * two + a[0], 0.0, 0.0, 0.0],
            ]
        )
        return rows

    @property
    def base_projection(self):
        from icub_learning.dynamics.regressors.base_parameters import base_projection

        return base_projection(self, self.n_joints, self.n_parameters)


def stream(n, seed):
    """Features, rows of the regressor and outputs of n samples."""
    rng = np.random.default_rng(seed)
    frequencies = rng.normal(size=(D, 6))
    x = np.cumsum(rng.normal(scale=0.3, size=(n, 6)), axis=0)
    phi = np.cos(x @ frequencies.T) / np.sqrt(D)
    rows = np.array([MadeUpRegressor()(*np.split(one, 3)) for one in x])
    truth = np.array([1.0, -0.5, 0.2, 2.0, 0.7, 0.0])
    y = rows @ truth + np.sin(x[:, :T]) + 0.1 * rng.normal(size=(n, T))
    return phi, rows, y


def batch(phi, rows, y, weights, prior, regularization, start):
    """Mean of pi and w by one weighted least squares problem over both, for outputs of equal noise; and its moment.

    Minimizes sum_i weights_i |y_i - rows_i pi - W' phi_i|^2 + W' prior W + (pi - start)' D (pi - start).
    """
    n, p = len(phi), rows.shape[2]
    moment, target = np.zeros((p + T * D, p + T * D)), np.zeros(p + T * D)
    for t in range(T):
        z = np.zeros((n, p + T * D))
        z[:, :p], z[:, p + t * D : p + (t + 1) * D] = rows[:, t], phi
        moment += z.T @ (weights[:, None] * z)
        target += z.T @ (weights * y[:, t])
    own = np.concatenate([regularization * MadeUpRegressor.relative_regularization, np.tile(prior, T)])
    moment += np.diag(own)
    target[:p] += own[:p] * start
    return np.linalg.solve(moment, target), moment


def learned(phi, rows, y, memory, start, elapsed=0.01):
    columns = BaseColumns(MadeUpRegressor(), 0.7, start)
    process = JointProcess(columns, T, D, 0.05, "equal")
    for f, r, o in zip(phi, rows, y, strict=True):
        process.learn(f, columns.of(r), o, np.exp(-elapsed / memory))
    return process


def predictions(process, phi, rows):
    alone, beside = process.maps() @ phi
    return alone, beside + rows @ process.parameters


@pytest.mark.parametrize("start", [np.zeros(6), np.array([1.0, 0.5, 0.0, -1.0, 0.2, 3.0])])
@pytest.mark.parametrize("memory", [np.inf, 2.0, 0.05])
def test_equals_the_weighted_batch(memory, start):
    n = 1000
    phi, rows, y = stream(n + 1, 3)
    process = learned(phi[:n], rows[:n], y[:n], memory, start)
    faded = np.exp(-0.01 * np.arange(n - 1, -1, -1) / memory)
    prior = part(process.state(), "features")["prior"]
    rigid_prior = part(process.state(), "rigid")["prior"]
    if memory < np.inf:
        assert (prior <= 0.05).all()
        assert (prior >= 0.5 * np.exp(-0.01 / memory) * 0.05 - 1e-12).all()
    if np.ptp(rigid_prior):  # refilled in turns, in coordinates of their own
        process_prior = process.columns.root
        inverse = np.linalg.inv(process_prior)
        assert inverse.shape == (4, 4)
        return compare_in_base(process, phi, rows, y, faded, prior, rigid_prior, n)
    solution, moment = batch(phi[:n], rows[:n], y[:n], faded, prior, 0.7 * rigid_prior[0], start)
    pi, w = solution[:6], solution[6:].reshape(T, D)
    alone, both = predictions(process, phi[n], rows[n])
    np.testing.assert_allclose(both, rows[n] @ pi + w @ phi[n], rtol=0.0, atol=1e-9)
    a = phi[:n].T @ (faded[:, None] * phi[:n]) + np.diag(prior)
    np.testing.assert_allclose(alone, phi[n] @ np.linalg.solve(a, phi[:n].T @ (faded[:, None] * y[:n])), atol=1e-9)
    # Eq. 2.42: the variance of the prediction over that of the noise.
    leverage, of_rigid = process.deviations(phi[n], process.columns.of(rows[n]))
    covariance = np.linalg.inv(moment)
    for t in range(T):
        z = np.zeros(6 + T * D)
        z[:6], z[6 + t * D : 6 + (t + 1) * D] = rows[n, t], phi[n]
        assert leverage + of_rigid[t] == pytest.approx(z @ covariance @ z, rel=1e-9)
    np.testing.assert_allclose(process.columns.projection @ process.parameters, process.columns.projection @ pi, atol=1e-9)


def compare_in_base(process, phi, rows, y, faded, prior, rigid_prior, n):
    """As above with the prior of gamma instead of that of all parameters."""
    columns = process.columns
    offset = rows @ columns.start
    z_rows = rows[:, :, columns.kept] @ columns.root
    p = z_rows.shape[2]
    moment, target = np.zeros((p + T * D, p + T * D)), np.zeros(p + T * D)
    for t in range(T):
        z = np.zeros((n, p + T * D))
        z[:, :p], z[:, p + t * D : p + (t + 1) * D] = z_rows[:n, t], phi[:n]
        moment += z.T @ (faded[:, None] * z)
        target += z.T @ (faded * (y[:n, t] - offset[:n, t]))
    moment += np.diag(np.concatenate([rigid_prior, np.tile(prior, T)]))
    solution = np.linalg.solve(moment, target)
    _, both = predictions(process, phi[n], rows[n])
    expected = offset[n] + z_rows[n] @ solution[:p] + solution[p:].reshape(T, D) @ phi[n]
    np.testing.assert_allclose(both, expected, rtol=0.0, atol=1e-9)


def test_pools_exactly():
    phi, rows, y = stream(900, 5)
    start = np.zeros(6)
    common = learned(phi[:200], rows[:200], y[:200], np.inf, start)
    one = learned(phi[:500], rows[:500], y[:500], np.inf, start)
    both = slice(0, 200), slice(500, 900)
    other = learned(*(np.concatenate([x[s] for s in both]) for x in (phi, rows, y)), np.inf, start)
    every = learned(phi, rows, y, np.inf, start)
    one.merge(other, common)
    assert one.n_samples == 900
    for got, expected in zip(predictions(one, phi[0], rows[0]), predictions(every, phi[0], rows[0]), strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-9)
    np.testing.assert_allclose(one.parameters, every.parameters, atol=1e-9)
    got, expected = (each.deviations(phi[1], each.columns.of(rows[1])) for each in (one, every))
    assert got[0] == pytest.approx(expected[0], rel=1e-9)
    np.testing.assert_allclose(got[1], expected[1], rtol=1e-8)


def test_pools_two_that_share_nothing():
    phi, rows, y = stream(700, 8)
    one = learned(phi[:300], rows[:300], y[:300], np.inf, np.ones(6))
    other = learned(phi[300:], rows[300:], y[300:], np.inf, np.ones(6))
    every = learned(phi, rows, y, np.inf, np.ones(6))
    one.merge(other)
    np.testing.assert_allclose(one.parameters, every.parameters, atol=1e-9)
    for got, expected in zip(predictions(one, phi[0], rows[0]), predictions(every, phi[0], rows[0]), strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-9)


def test_goes_on_to_the_bit_after_saving():
    phi, rows, y = stream(400, 9)
    first = learned(phi[:300], rows[:300], y[:300], 3.0, np.zeros(6))
    second = JointProcess(first.columns, T, D, 0.05, "equal").restored(first.state())
    for process in (first, second):
        for f, r, o in zip(phi[300:], rows[300:], y[300:], strict=True):
            process.learn(f, process.columns.of(r), o, np.exp(-0.01 / 3.0))
    for got, expected in zip(predictions(second, phi[0], rows[0]), predictions(first, phi[0], rows[0]), strict=True):
        assert (got == expected).all()


def test_features_alone():
    phi, _, y = stream(300, 2)
    process = JointProcess(None, T, D, 0.05)
    for f, o in zip(phi, y, strict=True):
        process.learn(f, None, o)
    expected = np.linalg.solve(phi.T @ phi + 0.05 * np.eye(D), phi.T @ y).T
    np.testing.assert_allclose(process.maps()[0], expected, atol=1e-10)
    assert process.parameters is None
