"""The joint process against the batch formulas of Rasmussen and Williams (2006), eq. 2.41-2.42."""

import numpy as np
import pytest
from helpers.batch_solution import batch_solution, faded
from helpers.robots import ICUB, RIGHT_ARM, UR10, UR10_JOINTS
from helpers.unchanged import unchanged
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import solve_triangular

from icub_learning.dynamics import TorqueRegressor, WrenchRegressor
from icub_learning.dynamics.estimators.noise.noise_variance import NoiseVariance
from icub_learning.dynamics.joint.columns import BaseColumns
from icub_learning.dynamics.joint.process import JointProcess
from icub_learning.dynamics.regressors.regressor import base_projection
from icub_learning.errors import StateError
from icub_learning.models import part

D, T, REGULARIZATION = 17, 3, 0.05
EQUAL, OTHER = np.ones(T), np.array([1.0, 0.3, 4.0])
ZERO, START = np.zeros(6), np.array([1.0, 0.5, 0.0, -1.0, 0.2, 3.0])


class MadeUpRegressor:
    """A regressor with entries that are always zero, and with columns that depend on others."""

    n_joints, n_outputs, n_parameters = 2, T, 6

    def __call__(self, q, v, a):
        one, two = np.sin(q)
        return np.array([[one, 0.0, 2.0 * one, 0.0, 1.0, 0.0], [0.0, v[0], v[0], a[1], 0.0, 0.0],
                         [two, a[0], 2.0 * two + a[0], 0.0, 0.0, 0.0]])  # fmt: skip

    @property
    def base_projection(self):
        return base_projection(self, self.n_joints, self.n_parameters)


PRECISION = 0.7 * np.array([1.0, 1.0, 0.3, 1.0, 2.0, 1.0])
COLUMNS = {start.any(): BaseColumns(MadeUpRegressor(), PRECISION, start) for start in (ZERO, START)}


def stream(n, seed, noise=0.1, effect=1.0):
    """Return features (n, D), rows (n, T, 6) of the regressor and outputs (n, T) of a motion."""
    rng = np.random.default_rng(seed)
    frequencies, x = rng.normal(size=(D, 6)), np.cumsum(rng.normal(scale=0.3, size=(n, 6)), axis=0)
    phi, rows = np.cos(x @ frequencies.T) / np.sqrt(D), np.array([MadeUpRegressor()(*np.split(one, 3)) for one in x])
    y = rows @ np.array([1.0, -0.5, 0.2, 2.0, 0.7, 0.0]) + effect * np.sin(x[:, :T])
    return phi, rows, y + noise * rng.normal(size=(n, T))


def made(start=ZERO, weights=EQUAL):
    """Return a process whose outputs have constant weights."""
    process = JointProcess(COLUMNS[start.any()], T, D, REGULARIZATION, "equal")
    return process.restored({**process.state(), "weights": weights})


def learn(process, samples, factors=1.0):
    phi, rows, y = samples
    for f, r, o, factor in zip(phi, rows, y, np.broadcast_to(factors, len(phi)), strict=True):
        process.learn(f, process.columns.of(r), o, float(factor))
    return process


def chosen(samples, part):
    return tuple(each[part] for each in samples)


def batch(process, samples, faded, probe, precision=None):
    """Return the most probable parameters, SP (T,) of a probe, and its variance over the noise variance of each output.
    Solves one weighted least squares problem over gamma and the features' weights of every output, in extended
    precision: minimizes sum_i faded_i |weights (y_i - Y_i pi - W phi_i)|^2 under the priors in force, pi a function of
    gamma. Where nothing has faded, `precision` may be that of pi: the problem is then over pi, with all its columns."""
    columns, state = process.columns, process.state()
    weights, of_features = state["weights"], part(state, "features")["prior"]
    of_rigid = part(state, "rigid")["prior"] if precision is None else precision
    back = columns.back if precision is None else np.eye(len(precision))

    def rows_of(phi, rows):
        """Return rows of the problem, one for each output, and the predictions of the prior mean of the parameters."""
        own = columns.of(rows) @ columns.root if precision is None else rows
        return np.hstack([own, np.kron(np.eye(len(rows)), phi)]), rows @ columns.start

    z, before = map(np.concatenate, zip(*map(rows_of, *samples[:2]), strict=True))
    prior = np.concatenate([of_rigid, *(weight**2 * of_features for weight in weights)])
    targets, sample_weights = samples[2].reshape(-1) - before, np.outer(faded, weights**2).reshape(-1)
    factor, solution = batch_solution(z, targets[:, None], prior, sample_weights)
    solution = solution[:, 0].astype(float)
    own, offset = rows_of(*probe)
    spread = solve_triangular(factor.astype(float), own.T, trans="T")
    found = columns.start + back @ solution[: len(of_rigid)]
    return found, offset + own @ solution, weights**2 * (spread**2).sum(axis=0)


def parameters(process):
    """Return the most probable parameters of the regressor."""
    return process.columns.start + process.columns.back @ process.gamma


def predictions(process, phi, rows):
    """Return NP and SP (T,), and the variance of SP over that of the noise."""
    alone, beside = process.maps() @ phi
    certainty, noise = process.certainty(), part(process.state(), "noise")["value"]
    of_rigid = certainty.of_rigid_bodies(phi, process.columns.of(rows))[0] / noise
    return alone, beside + rows @ parameters(process), certainty.of_features(phi) + of_rigid


def assert_batch(process, samples, weights_of_samples, probe, atol=1e-9, precision=None):
    found, expected, spread = batch(process, samples, weights_of_samples, probe, precision)
    alone, both, variance = predictions(process, *probe)
    np.testing.assert_allclose(both, expected, rtol=0.0, atol=atol)
    np.testing.assert_allclose(variance, spread, rtol=1e-8)
    np.testing.assert_allclose(parameters(process), found, rtol=0.0, atol=atol)
    _, w = batch_solution(samples[0], samples[2], part(process.state(), "features")["prior"], weights_of_samples)
    np.testing.assert_allclose(alone, probe[0] @ w.astype(float), rtol=0.0, atol=atol)


@pytest.mark.parametrize("factor", [1.0, 0.98])
@pytest.mark.parametrize("regressor", [
    pytest.param(WrenchRegressor.from_urdf(ICUB, RIGHT_ARM, "r_arm_ft_sensor", gain=True), id="wrench"),
    pytest.param(TorqueRegressor.from_urdf(UR10, UR10_JOINTS), id="torques"),
])  # fmt: skip
def test_wrench_and_torques_of_real_robots_equal_the_batch(regressor, factor):
    rng, n = np.random.default_rng(11), regressor.n_joints
    x = np.cumsum(rng.normal(scale=0.2, size=(201, 3 * n)), axis=0)
    rows = np.array([regressor(*np.split(one, 3)) for one in x])
    phi = np.cos(x @ rng.normal(size=(3 * n, 12))) / np.sqrt(12)
    y = rows @ regressor.nominal_parameters + np.sin(x[:, : regressor.n_outputs])
    precision = 10.0 * regressor.relative_regularization * rng.uniform(0.1, 10.0, regressor.n_parameters)
    columns = BaseColumns(regressor, precision, rng.normal(size=regressor.n_parameters))
    process = JointProcess(columns, regressor.n_outputs, 12, REGULARIZATION, "equal")
    samples, probe, atol = (phi[:200], rows[:200], y[:200]), (phi[200], rows[200]), np.abs(y).max() * 1e-9
    learn(process, samples, factor)
    assert_batch(process, samples, factor ** np.arange(200)[::-1], probe, atol, precision if factor == 1.0 else None)


@given(
    st.integers(0, 2**32 - 1), st.lists(st.sampled_from([0.135, 0.2, 0.7, 0.99, 0.9999, 1.0]), min_size=1, max_size=40),
    st.lists(st.floats(0.05, 20.0), min_size=T, max_size=T), st.sampled_from([ZERO, START]),
)  # fmt: skip
@settings(deadline=None, max_examples=40)
def test_equals_the_batch_whatever_factors_follow_one_another(seed, factors, weights, start):
    phi, rows, y = stream(len(factors) + 1, seed)
    samples = phi[:-1], rows[:-1], y[:-1]
    process = learn(made(start, np.array(weights)), samples, factors)
    assert_batch(process, samples, faded(np.array(factors)), (phi[-1], rows[-1]), atol=1e-8)
    assert process.n_samples == len(factors)


def recursive_residuals(samples, k):
    """Return recursive residuals of rows (T, n_base) and outputs of sample k, by ridge regression on k samples."""
    phi, rows, y = samples
    a = phi[:k].T @ phi[:k] + REGULARIZATION * np.eye(D)
    targets = np.concatenate([rows[:, :, COLUMNS[False].kept].reshape(len(phi), -1), y], axis=1)
    left = targets[k] - phi[k] @ np.linalg.solve(a, phi[:k].T @ targets[:k])
    left /= np.sqrt(1.0 + phi[k] @ np.linalg.solve(a, phi[k]))
    return left[:-T].reshape(T, -1) @ COLUMNS[False].root, left[-T:]


def test_outputs_count_by_the_noise_that_was_found():
    """Recursive residuals come from ridge regressions on all earlier samples, weighted as at the time of each."""
    scales = np.array([0.02, 0.2, 1.0])
    phi, rows, y = samples = stream(401, 7, scales, effect=0.0)
    columns, noise = COLUMNS[False], NoiseVariance(T)
    process = JointProcess(columns, T, D, REGULARIZATION, "noise")
    a, b = np.eye(len(columns.kept)), np.zeros(len(columns.kept))
    for k in range(400):
        weights = process.state()["weights"]
        z, target = recursive_residuals(samples, k)
        noise.update(target - z @ np.linalg.solve(a, b), weights**2 * np.einsum("ti,ij,tj->t", z, np.linalg.inv(a), z))
        a, b = a + (z.T * weights**2) @ z, b + z.T @ (weights**2 * target)
        process.learn(phi[k], columns.of(rows[k]), y[k])
    np.testing.assert_allclose(process.gamma, np.linalg.solve(a, b), atol=1e-9)
    weights = process.state()["weights"]
    np.testing.assert_allclose(weights, 1.0 / scales, rtol=0.35)
    # Residuals of the rows of a motion, without the division by sqrt(1 + leverage) for the noise of a sample itself.
    z = recursive_residuals(samples, 400)[0] * np.sqrt(1.0 + process.certainty().of_features(phi[400]))
    expected = noise.value * weights**2 * np.einsum("ti,ij,tj->t", z, np.linalg.inv(a), z)
    found = process.certainty().of_rigid_bodies(phi[400], columns.of(rows[400]))[0]
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    np.testing.assert_allclose(noise.value, scales**2, rtol=0.35)  # squared unit of each output


@pytest.mark.parametrize(
    "start, factor, n_common", [(ZERO, 1.0, 0), (ZERO, 0.99, 0), (START, 1.0, 0), (START, 0.99, 0), (START, 1.0, 100)]
)
def test_pools_two_and_what_both_have_in_common_once(start, factor, n_common):
    """The result is the batch of both, each sample with the weight of its own process, under the first one's prior."""
    samples = stream(501, 8)
    common = learn(made(start, OTHER), chosen(samples, slice(0, n_common)), factor)
    one, other = (common.restored(common.state()) for _ in range(2))
    learn(one, chosen(samples, slice(n_common, 250)), factor)
    learn(other, chosen(samples, slice(250, 500)), factor)
    with unchanged(other):
        one.merge(other, common if n_common else None)
    assert (one.n_samples, common.n_samples) == (500, n_common)  # copies learn on their own
    ages = np.tile(np.arange(250)[::-1], 2)
    assert_batch(one, chosen(samples, slice(0, 500)), factor**ages, (samples[0][500], samples[1][500]))


@pytest.mark.parametrize("n", [30, 70, 120, 400])
def test_pools_two_that_found_how_much_outputs_count(n):
    """The result is as good as one that saw all, though each lost most of what it lost before it found the weights."""
    scales = np.array([1.0, 0.2, 0.01])
    samples = stream(2 * n + 200, n, scales, effect=0.1 * scales)
    one, other, both = (JointProcess(COLUMNS[False], T, D, REGULARIZATION, "noise") for _ in range(3))
    for process, learned in ((one, slice(0, n)), (other, slice(n, 2 * n)), (both, slice(0, 2 * n))):
        learn(process, chosen(samples, learned))
    one.merge(other)
    truth, rows = np.array([1.0, -0.5, 0.2, 2.0, 0.7, 0.0]), samples[1][2 * n :]
    pooled, whole = (np.mean((rows @ (parameters(process) - truth)) ** 2, axis=0) for process in (one, both))
    assert np.exp(0.5 * np.mean(np.log(pooled / whole))) < 1.3


def test_a_state_of_other_features_is_refused():
    one, other = (JointProcess(None, T, size, REGULARIZATION, "equal") for size in (D, D + 1))
    with pytest.raises(StateError):
        other.restored(one.state())
