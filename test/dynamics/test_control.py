"""Efforts for controllers: rigid bodies alone where features are unsure, limits, and completed trajectories."""

from dataclasses import replace

import numpy as np
import pinocchio
import pytest

from icub_learning.dynamics import Motion, Prediction
from icub_learning.dynamics.control import FeedForward, complete, effort_limits
from icub_learning.dynamics.joint.experts import ExpertPredictor
from icub_learning.errors import NotFiniteError, ParameterError, ShapeError

TIMES, MOTION = np.array([0.0, 0.4, 1.0, 1.7, 2.0]), Motion(0, np.zeros(2), np.zeros(2), np.zeros(2))


class Known:
    def __init__(self, variance):
        self.variance = np.full(2, variance)

    def predict(self, q, v, a):
        return Prediction(np.array([3.0, -4.0]), np.array([2.0, -3.0]), np.array([1.0, -1.0]), self.variance)


def test_features_are_left_out_where_they_know_little_and_limits_hold():
    feed_forward = FeedForward(np.array([2.5, 3.5]))
    assert feed_forward.effort(Known(1.0), None, MOTION).rigid  # no variance is usual yet
    feed_forward.follow(np.ones(2))
    usual, strange = (feed_forward.effort(Known(variance), None, MOTION) for variance in (1.5, 9.0))
    assert (usual.rigid, usual.limited, strange.rigid, strange.limited) == (False, True, True, False)
    np.testing.assert_array_equal(usual.values, [2.5, -3.5])  # the total, 3 and -4, within the limits
    np.testing.assert_array_equal([strange.values, strange.deviation], [[2.0, -3.0], [3.0, 3.0]])


def test_a_motion_that_is_planned_for_later_is_predicted_as_such():
    class Planned(Known, ExpertPredictor):
        def predict(self, q, v, a, ahead=0.0):
            return replace(super().predict(q, v, a), parametric=np.full(2, ahead))

    effort = FeedForward(np.full(2, np.inf)).effort(Planned(1.0), None, MOTION, ahead=1.5)
    np.testing.assert_array_equal(effort.values, [1.5, 1.5])
    with pytest.raises(ParameterError, match=r"ahead.*at least 0 s"):
        ExpertPredictor().predict(*MOTION[1:], ahead=np.nan)


def test_rigid_bodies_alone_answer_what_a_feedback_adds():
    """A correction of the acceleration adds the mass matrix times it, whatever the features say of the sum."""
    robot = pinocchio.buildSampleModelManipulator()
    data, rng = robot.createData(), np.random.default_rng(0)
    q, v, a, correction = rng.uniform(-1.0, 1.0, (4, robot.nv))

    class Learned:
        def predict(self, q, v, a):
            rigid, features = pinocchio.rnea(robot, data, q, v, a).copy(), 0.1 * a**3
            return Prediction(rigid + features, rigid, features, np.ones(robot.nv))

    feed_forward = FeedForward(np.full(robot.nv, np.inf))
    feed_forward.follow(np.ones(robot.nv))
    plain, corrected = (feed_forward.effort(Learned(), None, Motion(0, q, v, a), u).values for u in (None, correction))
    mass = pinocchio.crba(robot, data, q)
    np.testing.assert_allclose(corrected - plain, (np.triu(mass) + np.triu(mass, 1).T) @ correction, atol=1e-10)


def test_limits_come_from_the_urdf():
    urdf = """<robot name="r"><joint name="a" type="revolute"><limit effort="7" velocity="1"/></joint>
        <joint name="b" type="revolute"><limit effort="0" velocity="1"/></joint><joint name="c" type="continuous"/>
        </robot>"""
    np.testing.assert_array_equal(effort_limits(urdf, ["c", "a", "b"]), [np.inf, 7.0, np.inf])


@pytest.mark.parametrize("n", [5, 20, 200])
def test_positions_alone_become_a_spline_that_is_at_rest_at_its_ends_only_where_they_are(n):
    t = np.linspace(0.0, 1.0, n)[:, None]
    from_rest = np.hstack([10 * t**3 - 15 * t**4 + 6 * t**5, 0 * t]), np.hstack([15 * t - 45 * t**2 + 30 * t**3, 0 * t])
    sines = np.sin(2 * t * [0.5, 1.0] + 0.3), -np.sin(2 * t * [0.5, 1.0] + 0.3) * [0.25, 1.0]
    for positions, accelerations in (from_rest, sines):  # of least jerk, and cut out of a motion
        np.testing.assert_allclose(complete(2 * t[:, 0], positions)[1], accelerations, atol=4.0 / n)
    np.testing.assert_allclose(complete(2 * t[:, 0], from_rest[0])[0][[0, -1]], 0.0, atol=1e-12)
    assert not np.any(complete(np.ones(1), np.ones((1, 2))))


def test_accelerations_of_a_cubic_are_exact_where_velocities_are_given():
    t = TIMES[:, None]
    np.testing.assert_allclose(complete(TIMES, t**3, 3 * t**2)[1], 6 * t, rtol=1e-12, atol=1e-12)
    s = np.arange(9.0)[:, None]
    np.testing.assert_allclose(complete(s[:, 0] + 2.0**50, s**3, 3 * s**2)[1], 6 * s, atol=1e-9)
    np.testing.assert_array_equal(complete(TIMES, t**3, 3 * t**2, np.ones_like(t))[1], 1.0)


@pytest.mark.parametrize("times, positions, velocities, error", [
    ([0.0, 0.0], np.zeros((2, 1)), None, ParameterError), ([], np.zeros((0, 1)), None, ParameterError),
    ([-0.5, 0.0], np.zeros((2, 1)), None, ParameterError), ([0.0, 1e-7], np.zeros((2, 1)), None, ParameterError),
    ([0.0, np.nan], np.zeros((2, 1)), None, NotFiniteError), (TIMES, np.zeros((5, 2)), np.zeros((5, 3)), ShapeError),
])  # fmt: skip
def test_bad_trajectories_are_refused(times, positions, velocities, error):
    with pytest.raises(error):
        complete(np.array(times), positions, velocities)
