"""The momentum observer and the batch estimate of loads: what they say is true of arms whose dynamics are known."""

import numpy as np

from icub_learning.dynamics.regressors.torque_regressor import TorqueRegressor
from icub_learning.experiments.peers import contacts
from icub_learning.experiments.peers.contacts import MomentumObserver, momentum_rows
from icub_learning.experiments.peers.loads import batch
from icub_learning.simulation.zoo.bodies import planar_arm_urdf

STEP, GAIN = 1e-3, 20.0
EXTERNAL = np.array([0.4, -0.2])  # [N m]


def test_the_residual_is_the_external_torque_through_a_low_pass():
    """As De Luca et al. (2006) have it, of a planar arm along sines that is pushed from half of the time on."""
    regressor = TorqueRegressor.from_urdf(planar_arm_urdf((0.4, 0.3), (2.0, 1.2)), ("joint_1", "joint_2"), True)
    nominal = regressor.nominal_parameters.copy()
    for place, name in enumerate(regressor.parameter_names):
        nominal[place] += {"viscous": 0.3, "rotor": 0.05, "offset": 0.1}.get(name.partition(".")[2], 0.0)
    observer, residuals, seconds = MomentumObserver(GAIN), [], 0.6
    rate = 2.0 * np.pi * np.array([0.8, 1.3])
    for time in np.arange(0.0, seconds, STEP):
        q, v, a = np.sin(rate * time), rate * np.cos(rate * time), -(rate**2) * np.sin(rate * time)
        torque = regressor(q, v, a) @ nominal - (EXTERNAL if time >= seconds / 2 else 0.0)
        momentum, change = momentum_rows(regressor, q, v)
        residuals.append(observer.update(momentum @ nominal, change @ nominal, torque, STEP))
    half = len(residuals) // 2
    expected = EXTERNAL * (1.0 - np.exp(-GAIN * STEP * np.arange(1, len(residuals) - half + 1)))[:, None]
    np.testing.assert_allclose(residuals[:half], 0.0, atol=0.02)
    np.testing.assert_allclose(residuals[half:], expected, atol=0.03)


def test_a_batch_finds_a_load_and_weighs_outputs_by_their_noise():
    rng = np.random.default_rng(0)
    truth = rng.uniform(0.1, 1.0, 10)
    rows = rng.standard_normal((100, 6, 10))
    noise = np.array([1.0, 1.0, 1.0, 0.01, 0.01, 0.01])
    values = rows @ truth + noise * rng.standard_normal((100, 6))
    flat, target = (rows / noise[:, None]).reshape(-1, 10), (values / noise).ravel()
    expected = np.linalg.lstsq(flat, target, rcond=None)[0]
    np.testing.assert_allclose(batch(list(rows), list(values)), expected, atol=1e-3)
    equal = np.linalg.lstsq(rows.reshape(-1, 10), values.ravel(), rcond=None)[0]
    assert np.abs(equal - truth).max() > 0.02  # what equal weights would find


def test_delays_and_alarms_are_counted():
    times = np.arange(0.0, 4.0, 0.1)
    seen = np.zeros(40, bool)
    seen[[3, 4, 13, 25]] = True
    np.testing.assert_allclose(contacts.delays(seen, times, np.array([1.05, 2.15])), [0.25, 0.35])
    assert contacts.delays(seen, times, np.array([3.0])) == np.inf
    assert contacts.count_alarms(seen) == 3
    values = np.array([0.0, 3.0, 0.0, 5.0, 5.0, 1.0, 4.0])
    assert contacts.threshold(values, 0) == 5.0
    assert contacts.threshold(values, 1) == 4.0
    assert contacts.threshold(values, 2) == 3.0
