"""The thesis' semiparametric method against batch solutions with features written out."""

import numpy as np
import pytest

from icub_learning.dynamics import WrenchRegressor
from icub_learning.errors import NotFiniteError, ShapeError
from icub_learning.experiments.thesis.change_of_task.thesis_method import SCALING_SAMPLES, ThesisMethod
from icub_learning.robots import find_urdf

ARM = ["r_shoulder_pitch", "r_shoulder_roll", "r_shoulder_yaw", "r_elbow"]
STILL = 30  # number of first samples, all of one motion
N, N_FEATURES, SEED = SCALING_SAMPLES + STILL + 60, 40, 3


def test_equals_batch_solutions_also_after_bad_samples():
    regressor = WrenchRegressor.from_urdf(find_urdf("icub"), ARM, "r_arm_ft_sensor", offset=False)
    # Motions (n, 12), exact and as known to predict, and outputs (n, 6) that rigid bodies explain in part.
    random = np.random.default_rng(0)
    exact = random.normal(size=(N + 5, 12)) * np.repeat([0.4, 1.0, 3.0], 4)
    exact[:, 3], exact[:, 7] = 0.5, 0.0  # a joint that does not move: its scale is that of the least motion
    exact[: STILL + 1] = exact[0]
    exact[STILL, 0] += 0.01  # a joint that hardly moves, yet moves
    known = exact + 0.01 * random.normal(size=exact.shape)
    known[: STILL + 1] = exact[: STILL + 1]
    rigid = np.array([regressor(*np.split(x, 3)) @ regressor.nominal_parameters for x in exact])
    y = rigid + 3.0 * np.sin(2.0 * exact[:, :6]) + 0.1 * random.normal(size=rigid.shape)
    learned = ThesisMethod(regressor, N_FEATURES, SEED)
    precision = learned.parametric.prior[0]
    a, b = np.diag(precision), np.zeros(len(precision))
    parametric = np.empty_like(y)  # prediction for each sample with the parameters learned by then
    for place, (motion, inputs, measured) in enumerate(zip(exact[:N], known, y, strict=False)):
        learned.update(*np.split(motion, 3), measured, known=np.split(inputs, 3))
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
    q, v, acceleration = np.split(exact[-1], 3)
    before = learned.predict(q, v, acceleration).total
    for error, position, wrench in ((NotFiniteError, q, np.full(6, np.nan)), (ShapeError, q[:2], np.zeros(6))):
        with pytest.raises(error):
            learned.update(position, v, acceleration, wrench)
    np.testing.assert_array_equal(learned.predict(q, v, acceleration).total, before)
    method = ThesisMethod(regressor, N_FEATURES)
    for motion, measured in zip(exact[STILL : STILL + SCALING_SAMPLES - 1], y[STILL:], strict=False):
        method.update(*np.split(motion, 3), measured)
    made = method.predict(*np.split(exact[-1], 3))
    assert not made.residual.any() and made.parametric.any()
    np.testing.assert_array_equal(made.total, made.parametric)
