"""Loads and pushes on a rigid arm whose body is known exactly, with noise that lasts for a while."""

import numpy as np
import pytest
from helpers.robots import RIGHT_ARM

from icub_learning.dynamics.changes.monitor import ChangeMonitor
from icub_learning.dynamics.estimators.prediction import Prediction
from icub_learning.dynamics.motion.motion import Motion
from icub_learning.dynamics.regressors.link_effects import LinkEffects
from icub_learning.dynamics.regressors.torque_regressor import TorqueRegressor
from icub_learning.dynamics.regressors.wrench_regressor import WrenchRegressor
from icub_learning.robots import find_urdf

PERIOD = 0.01  # [s]
USUAL = 14.0  # [s] without change
LOAD = np.array([0.5, 0.0, 0.01, 0.02, 1e-3, 0.0, 1e-3, 0.0, 0.0, 1e-3])  # inertial parameters
PUSH = np.array([4.0, 3.0, 0.0, 0.0, 0.0, 0.0])  # force [N] and moment [N m]
WRENCH = WrenchRegressor.from_urdf(find_urdf("icub"), RIGHT_ARM, "r_arm_ft_sensor")
PANDA = TorqueRegressor.from_urdf(find_urdf("panda"), [f"panda_joint{i}" for i in range(1, 8)])


class Hand:
    """Feeds a monitor with the errors of a body that is known but for noise."""

    def __init__(self, seed=0, torque=False, **settings):
        self.effects = LinkEffects(PANDA) if torque else LinkEffects(WRENCH, "r_hand_dh_frame")
        self.monitor = ChangeMonitor(self.effects, **settings)
        self._rng, self._k = np.random.default_rng(seed), 0
        m = self.effects.n_outputs
        self._noise = np.full(m, 0.1) if torque else np.array([0.4, 0.4, 0.4, 0.01, 0.01, 0.01])
        self._lasting = np.zeros(m)

    @property
    def stamp(self):
        return 1 + round(self._k * PERIOD * 1e9)

    def motion(self):
        t, w = self._k * PERIOD, np.linspace(2.0, 5.0, 7)
        middle = np.array([0.0, -0.5, 0.0, -1.8, 0.0, 1.5, 0.0]) if self.effects.n_outputs == 7 else np.zeros(7)
        position = middle + 0.3 * np.sin(w * t)
        return Motion(self.stamp, position, 0.3 * w * np.cos(w * t), -0.3 * w**2 * np.sin(w * t))

    def run(self, seconds, load=None, push=None, variance=None, at_once=1, measured=0.0):
        """Return what the monitor saw after each block of `at_once` samples, whose errors have the block's mean."""
        phases = []
        for _ in range(round(seconds / PERIOD)):
            self._k += 1
            motion = self.motion()
            normals = self._rng.standard_normal((2, self.effects.n_outputs)) * self._noise
            self._lasting = 0.9 * self._lasting + 0.2 * normals[0]
            error = self._lasting + normals[1] + measured
            added, pushed = self.effects(motion.position, motion.velocity, motion.acceleration)
            error += added @ load if load is not None else 0.0
            error += pushed @ push if push is not None else 0.0
            told = None if variance is None else variance * np.array([0.16] * 3 + [1e-4] * 3)
            spread = np.linspace(-30.0, 30.0, at_once)[:, None] * self._noise if at_once > 1 else np.zeros((1, 1))
            for sample, off in enumerate(spread, 1 - at_once):
                own = Motion(self.stamp + sample * round(PERIOD / at_once * 1e9), *motion[1:])
                self.monitor.observe(own.stamp, own, error + off, told)
            phases.append(self.monitor.phase)
        return phases


@pytest.fixture
def hand():
    made = Hand()
    made.run(USUAL)
    return made


def test_nothing_is_seen_where_nothing_is():
    hand = Hand(1)
    assert hand.run(5.0)[-1] == "getting used to the errors"
    assert set(hand.run(110.0)[1000:]) == {"nothing"}
    assert not hand.monitor.counts and hand.monitor.may_learn(hand.stamp)


def test_load_is_identified_and_its_release_is_seen(hand):
    grasped = hand.stamp
    phases = hand.run(4.0, load=LOAD)
    assert "load" in phases[:40] and phases[-1] == "load"
    load = hand.monitor.load
    assert abs(load.mass - LOAD[0]) < 3 * load.mass_deviation < 0.15
    assert (np.abs(load.centre - LOAD[1:4] / LOAD[0]) < 4 * load.centre_deviation).all()
    assert not hand.monitor.may_learn(hand.stamp) and not hand.monitor.may_learn(grasped + 10**8)
    assert hand.monitor.may_learn(grasped - 10**8)
    phases = hand.run(1.0)
    assert "nothing" in phases[:30] and phases[-1] == "nothing"
    assert hand.monitor.load is None
    assert hand.monitor.may_learn(hand.stamp) and not hand.monitor.may_learn(grasped + 10**9)


def test_push_is_a_contact_and_nothing_else(hand):
    phases = hand.run(1.0, push=PUSH)
    assert phases.index("contact") < 5 and set(phases) <= {"nothing", "contact"}
    phases = hand.run(1.0)
    assert phases.index("nothing") <= 10 and phases[-1] == "nothing"
    assert hand.monitor.counts == {"contacts": 1}


def test_samples_of_a_block_count_by_their_mean():
    """At 1 kHz: single errors thirtyfold as large as usual are no push, and a push is seen as at 100 Hz."""
    hand = Hand()
    assert set(hand.run(USUAL, at_once=10)[1100:]) == {"nothing"}
    assert hand.monitor.steady_deviation[0] < 1.0
    assert hand.run(1.0, push=PUSH, at_once=10).index("contact") < 5
    assert hand.run(1.0, at_once=10).index("nothing") <= 10


@pytest.mark.parametrize(("seed", "axis"), [(1, 1), (3, 1), (5, 0), (0, 2)])
def test_what_keeps_its_direction_at_the_sensor_is_over_when_it_ends(seed, axis):
    """It turns in the frame of the hand, so that what was estimated of it says little of its end."""
    hand = Hand(seed)
    hand.run(USUAL)
    assert "contact" in hand.run(1.0, measured=3.0 * np.eye(6)[axis])
    assert hand.run(1.0).index("nothing") <= 30
    assert hand.monitor.changed == 0 and hand.monitor.load is None


def test_push_while_carrying_leaves_the_load(hand):
    hand.run(4.0, load=LOAD)
    mass = hand.monitor.load.mass
    assert "contact" in hand.run(0.8, load=LOAD, push=2 * PUSH)
    assert hand.run(1.5, load=LOAD)[-1] == "load"
    assert hand.monitor.load.mass == pytest.approx(mass, abs=0.1)


def test_load_is_added_to_predictions(hand):
    hand.run(4.0, load=LOAD)
    motion = hand.motion()
    body = Prediction(np.ones(6), np.full(6, 0.4), np.full(6, 0.6), np.full(6, 0.01))
    made, added = hand.monitor.compensated(body, motion)
    truth = hand.effects.load(motion.position, motion.velocity, motion.acceleration) @ LOAD
    np.testing.assert_allclose(added, truth, atol=0.15 * np.abs(truth).max())
    np.testing.assert_allclose(made.total, body.total + added)
    np.testing.assert_allclose(made.total, made.parametric + made.residual)
    assert (made.variance >= body.variance).all()
    hand.run(1.0)
    assert hand.monitor.compensated(body, motion) == (body, None)


def test_what_lasts_and_is_no_load_is_a_change_of_the_body():
    hand = Hand(2, longest_contact=2.0)
    hand.run(USUAL)
    hand.run(2.5, push=PUSH)
    assert hand.monitor.changed == 1 and hand.monitor.change_ratio > 2.0
    assert hand.monitor.may_learn(hand.stamp) and not hand.monitor.contact
    assert set(hand.run(20.0, push=PUSH)[-500:]) == {"nothing"}


def test_joint_torques_tell_loads_from_pushes_too():
    hand = Hand(3, torque=True)
    hand.run(USUAL)
    assert hand.run(3.0, load=2 * LOAD)[-1] == "load"
    assert hand.run(1.0)[-1] == "nothing"
    assert "contact" in hand.run(0.8, push=3 * PUSH)
    assert hand.run(1.0)[-1] == "nothing"


def test_a_pause_ends_what_was_suspected(hand):
    hand.run(0.1, push=PUSH)
    assert hand.monitor.contact
    hand._k += 200
    hand.run(0.02)
    assert not hand.monitor.contact


def test_errors_that_the_body_tells_itself_are_no_contacts():
    """After a rest without noise a motion is not yet learned: errors are larger by far, and said to be."""
    hand = Hand(4)
    hand._noise *= 1e-3
    hand.run(USUAL, variance=1e-6)
    hand._noise *= 1e3
    hand.run(10.0, variance=1.0)
    assert not hand.monitor.counts
    hand.run(40.0, variance=1.0)  # by now such errors are usual
    assert not hand.monitor.counts
    assert "contact" in hand.run(1.0, push=4 * PUSH, variance=1.0)


def test_what_is_never_settled_is_a_change_of_the_body():
    """Errors that are now those of a load, now those of a push, must not keep the body from learning for ever."""
    hand = Hand(5, longest_contact=3.0)
    hand.run(USUAL)
    rng = np.random.default_rng(0)
    for _ in range(12):
        hand.run(0.4, load=LOAD * rng.uniform(0.5, 3.0), push=PUSH * rng.uniform(-3.0, 3.0))
    assert hand.monitor.changed >= 1


def test_a_fourth_load_without_a_quiet_moment_is_a_change_of_the_body():
    """Where errors are those of a motion that is new, nobody waits for the longest contact."""
    hand = Hand(6)
    hand.run(USUAL)
    rng = np.random.default_rng(1)
    for _ in range(12):
        hand.run(0.5, load=LOAD * rng.uniform(-3.0, 3.0, 10))
    assert hand.monitor.changed >= 1
    assert hand.monitor.counts["loads"] <= 4


def test_three_loads_one_after_the_other_are_loads(hand):
    for mass in (0.5, 1.0, 1.5):
        phases = hand.run(1.5, load=2.0 * mass * LOAD)
        assert phases[-1] == "load"
        assert hand.monitor.load.mass == pytest.approx(mass, abs=0.15)
    assert hand.monitor.changed == 0
