"""A tare shifts measurements and predictions alike, whatever has been learned, and survives saving."""

import numpy as np
import pytest
from helpers.unchanged import unchanged

from icub_learning.dynamics import NonparametricEstimator, ParametricEstimator, SemiparametricEstimator, WrenchRegressor
from icub_learning.dynamics.motion.motion import Motion
from icub_learning.dynamics.stream.records import RecentMeasurements, mean_error
from icub_learning.errors import NotFiniteError, ParameterError, ShapeError
from icub_learning.robots import find_urdf

ICUB, SENSOR, JOINTS = find_urdf("icub"), "r_arm_ft_sensor", ("r_shoulder_pitch", "r_shoulder_roll", "r_elbow")
CHANGE = np.array([-70.0, 20.0, 5.0, 1.0, -2.0, 0.5])


@pytest.fixture(scope="module")
def regressor():
    return WrenchRegressor.from_urdf(ICUB, JOINTS, SENSOR)


def samples(regressor, n, seed=0):
    rng = np.random.default_rng(seed)
    motions = rng.normal(size=(n, 3, regressor.n_joints))
    return [(*one, regressor(*one) @ regressor.nominal_parameters + 0.1 * rng.normal(size=6)) for one in motions]


def small(kind, regressor, **settings):
    return kind(regressor, **settings | ({} if kind is ParametricEstimator else {"n_random_features": 40}))


@pytest.mark.parametrize("kind", [ParametricEstimator, SemiparametricEstimator, NonparametricEstimator])
@pytest.mark.parametrize("forgetting", ["auto", 0.99])
def test_learning_goes_on_as_if_the_offset_had_not_changed(regressor, kind, forgetting):
    """One estimator never sees the jump of the sensor; the other is tared, and its predictions differ by it alone."""
    calm, tared, other = (small(kind, regressor, forgetting=forgetting) for _ in range(3))
    for k, (q, v, a, y) in enumerate(samples(regressor, 80)):
        for _ in range(2 * (k == 40)):
            tared.tare(0.5 * CHANGE)
        calm.update(q, v, a, y)
        tared.update(q, v, a, y + (k >= 40) * CHANGE)
        other.update(-q, v, a, y)
    for one in (calm, tared):  # each keeps its own tare
        one.merge(other)
    if kind is not NonparametricEstimator:  # the offset columns show the tare, and no others do
        moved = tared.predictor(regressor).parameters - calm.predictor(regressor).parameters
        np.testing.assert_allclose(moved, [*np.zeros(len(moved) - 6), *CHANGE], rtol=1e-9, atol=1e-9)
    again, saved = kind.from_state(tared.state(), regressor), tared.state()
    made = [tared, tared.predictor(regressor), again, again.predictor(regressor)]
    if kind is ParametricEstimator:  # a tare of version 2 had shifted weights and prior
        for key in ("rls.weights", "rls.initial_weights"):
            saved[key][:6, 0] += saved["tare"]
        made.append(kind.from_state({key: saved[key] for key in saved if key != "tare"} | {"version": 2}, regressor))
        np.testing.assert_allclose(made[-1].state()["tare"], CHANGE)
    q, v, a, _ = samples(regressor, 1, seed=1)[0]
    expected = calm.predict(q, v, a)
    for predictor in made:
        found = predictor.predict(q, v, a)
        np.testing.assert_allclose(found.total, expected.total + CHANGE, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found.parametric + found.residual, found.total, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found.variance, expected.variance, rtol=1e-6)


@pytest.mark.parametrize("kind", [ParametricEstimator, SemiparametricEstimator])
def test_bad_changes_are_refused(kind, regressor):
    estimator = small(kind, regressor)
    for change, error in ((CHANGE[:3], ShapeError), ([np.nan] * 6, NotFiniteError), ([1e101] * 6, ParameterError)):
        with unchanged(estimator), pytest.raises(error, match="change"):
            estimator.tare(change)
    with pytest.raises(ParameterError, match="sensor_offset"):
        ParametricEstimator(WrenchRegressor.from_urdf(ICUB, JOINTS, SENSOR, offset=False)).tare(CHANGE)


def test_recent_measurements_are_those_of_the_last_half_second(regressor):
    estimator = SemiparametricEstimator(regressor, n_random_features=40)
    recent, still = RecentMeasurements(), np.zeros(3)
    for k in range(100):
        recent.add(0.1 * k, Motion(k, still, still, still), np.full(6, float(k)))
    assert [known.stamp for known, _ in recent.within(9.9)] == [94, 95, 96, 97, 98, 99]
    np.testing.assert_allclose(mean_error(estimator, recent.within(9.9)), 96.5)
    with pytest.raises(ParameterError, match="at least 5"):
        mean_error(estimator, recent.within(10.1))
