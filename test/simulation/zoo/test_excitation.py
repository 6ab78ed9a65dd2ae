"""Random motions of the zoo: derivatives against finite differences, bounds, rest."""

import numpy as np
import pytest
from scipy.integrate import cumulative_trapezoid

from icub_learning.simulation.zoo.excitation import PointToPoint, SumOfSines, Trapezoids

LOW, HIGH = np.array([-1.0, 0.2, 0.5]), np.array([1.0, 1.4, 0.5])
KINDS = {
    "sines": SumOfSines(1.0, frequencies=(0.1, 1.0)), "points": PointToPoint(0.8), "trapezoids": Trapezoids(0.8, 3.0),
    "triangles": Trapezoids(5.0, 3.0, pause=0.0),  # ways too short to reach the full speed
}  # fmt: skip
SMOOTH = ("sines", "points")


def draw(name, seed):
    return KINDS[name].path(LOW, HIGH, 20.0, np.random.default_rng(seed))


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_velocities_and_accelerations_integrate_to_the_motion(name, seed):
    times = np.linspace(0.0, 10.0, 100_001)
    q, v, a = draw(name, seed)(times)
    for values, rates, smooth, rough in ((q, v, 2e-6, 3e-3), (v, a, 2e-5, 2e-2)):
        gain = cumulative_trapezoid(rates, times, axis=0, initial=0)
        np.testing.assert_allclose(values[0] + gain, values, atol=smooth if name in SMOOTH else rough)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_motions_follow_their_seed_within_range_and_speed_and_start_at_rest(name, seed):
    times = np.linspace(0.0, 20.0, 20_001)
    q, v, a = draw(name, seed)(times)
    np.testing.assert_array_equal(draw(name, seed)(times)[0], q)
    assert np.abs(draw(name, seed + 5)(times)[0] - q).max() > 0.1
    assert (q >= LOW - 1e-9).all() and (q <= HIGH + 1e-9).all() and np.abs(v[0]).max() < 1e-9
    assert 0.2 < np.abs(v[2001:]).max() <= KINDS[name].speed + 1e-9  # after the motion has faded in
    assert not v[:, 2].any(), "a joint without range stands still"
    assert name in SMOOTH or set(np.round(np.abs(a).max(axis=1), 9)) == {0.0, 3.0}
