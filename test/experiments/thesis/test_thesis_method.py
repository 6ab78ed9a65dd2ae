"""The thesis' semiparametric method against batch solutions with features written out."""

import numpy as np
import pytest

from icub_learning.dynamics import WrenchRegressor
from icub_learning.errors import NotFiniteError, ShapeError
from icub_learning.experiments.thesis.thesis_method import SCALING_SAMPLES, ThesisMethod
from icub_learning.robots import find_urdf

ARM = ["r_shoulder_pitch", "r_shoulder_roll", "r_shoulder_yaw", "r_elbow"]
STILL = 30  # number of first samples, all of one motion
N, N_FEATURES, SEED = SCALING_SAMPLES + STILL + 60, 40, 3


@pytest.fixture(scope="module")
def regressor():
    return WrenchRegressor.from_urdf(find_urdf("icub"), ARM, "r_arm_ft_sensor", offset=False)


@pytest.fixture(scope="module")
def samples(regressor):
    """Return motions (n, 12), exact and as known to predict, and outputs (n, 6) that rigid bodies explain in part."""
    random = np.random.default_rng(0)
    exact = random.normal(size=(N + 5, 12)) * np.repeat([0.4, 1.0, 3.0], 4)
    exact[:, 3], exact[:, 7] = 0.5, 0.0  # a joint that does not move: its scale is that of the least motion
    exact[:STILL] = exact[0]
    known = exact + 0.01 * random.normal(size=exact.shape)
    known[:STILL] = exact[0]
    rigid = np.array([regressor(*np.split(x, 3)) @ regressor.nominal_parameters for x in exact])
    y = rigid + 3.0 * np.sin(2.0 * exact[:, :6]) + 0.1 * random.normal(size=rigid.shape)
    return exact, known, y


@pytest.fixture(scope="module")
def learned(regressor, samples):
    method = ThesisMethod(regressor, N_FEATURES, SEED)
    for exact, known, y in list(zip(*samples, strict=True))[:N]:
        method.update(*np.split(exact, 3), y, known=np.split(known, 3))
    return method


def test_equals_batch_solutions(regressor, samples, learned):
    (exact, known, y), precision = samples, learned.parametric.prior[0]
    a, b = np.diag(precision), np.zeros(len(precision))
    parametric = np.empty_like(y)  # prediction for each sample with the parameters learned by then
    for place, (motion, inputs, measured) in enumerate(zip(exact[:N], known, y, strict=False)):
        parametric[place] = regressor(*np.split(inputs, 3)) @ np.linalg.solve(a, b)
        rows = regressor(*np.split(motion, 3))
        a, b = a + rows.T @ rows, b + rows.T @ measured
    parameters = np.linalg.solve(a, b)
    parametric[N:] = [regressor(*np.split(x, 3)) @ parameters for x in known[N:]]
    x = np.hstack([known, parametric])
    first = np.concatenate([x[:1], x[STILL : STILL + SCALING_SAMPLES - 1]])  # standing still counts once
    scale = np.maximum(first.std(axis=0), [0.05] * 8 + [0.5] * 4 + [0.0] * 6)
    frequencies = np.random.default_rng(SEED).standard_normal((N_FEATURES // 2, 18)) / 5.0
    phases = (x - first.mean(axis=0)) / scale @ frequencies.T
    z = np.hstack([np.cos(phases), np.sin(phases)]) / np.sqrt(N_FEATURES / 2)
    used = slice(STILL + SCALING_SAMPLES - 1, N)
    gram = z[used].T @ z[used] + 0.003 * np.eye(N_FEATURES)
    residual = z[N:] @ np.linalg.solve(gram, z[used].T @ (y - parametric)[used])
    for place, motion in enumerate(known[N:]):
        made = learned.predict(*np.split(motion, 3))
        np.testing.assert_allclose(made.parametric, parametric[N + place], rtol=1e-8)
        np.testing.assert_allclose(made.residual, residual[place], rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(made.total, made.parametric + made.residual)
    assert np.abs(residual).mean() > 0.3


def test_predicts_rigid_bodies_alone_until_the_scale_is_set(regressor, samples):
    (exact, _, y), method = samples, ThesisMethod(regressor, N_FEATURES)
    for motion, measured in zip(exact[STILL : STILL + SCALING_SAMPLES - 1], y[STILL:], strict=False):
        method.update(*np.split(motion, 3), measured)
    made = method.predict(*np.split(exact[-1], 3))
    assert not made.residual.any() and made.parametric.any()
    np.testing.assert_array_equal(made.total, made.parametric)


def test_bad_samples_change_nothing(learned, samples):
    q, v, a = np.split(samples[0][-1], 3)
    before = learned.predict(q, v, a).total
    for error, position, wrench in ((NotFiniteError, q, np.full(6, np.nan)), (ShapeError, q[:2], np.zeros(6))):
        with pytest.raises(error):
            learned.update(position, v, a, wrench)
    np.testing.assert_array_equal(learned.predict(q, v, a).total, before)
