"""Robots of a fleet pool what they learned: the result is that of one robot that saw every sample once."""

import threading
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from helpers import point_mass_arm
from helpers.unchanged import unchanged
from helpers.waiting import PATIENCE

from icub_learning.dynamics import ParametricEstimator, assembly
from icub_learning.dynamics.fleet import Fleet, keep_tare
from icub_learning.dynamics.saved_model import ModelDescription, estimator_of
from icub_learning.dynamics.settings import Settings
from icub_learning.errors import ParameterError, StateError
from icub_learning.models import read_model, write_model
from icub_learning.models.ledger import accounted, held_by, read_holdings
from icub_learning.simulation.zoo import ZOO
from icub_learning.testing import assert_same

ROBOT = {"urdf": point_mass_arm.urdf(), "joints": point_mass_arm.JOINTS, "sensor": point_mass_arm.SENSOR}
N = 60  # samples of each robot and round


@pytest.fixture(scope="module")
def motions():
    """Return samples (q, v, a, wrench) of four robots of one kind: rigid bodies, and an effect that they lack."""
    regressor = assembly.make_regressor(Settings(**ROBOT))
    states, true = np.random.default_rng(0).normal(size=(4, 3 * N, 3, regressor.n_joints)), regressor.nominal_parameters
    return [[(*x, regressor(*x) @ true + np.sin(2.0 * np.tile(x[0], 2))) for x in own] for own in states]


# All samples and outputs count alike: otherwise each robot would use the noise that it has found itself.
OWN = {"forgetting": 1.0, "output_weights": "equal", "n_random_features": 60}


class Robots:
    """Robots that learn, save and load, and `all`, one robot that sees everything."""

    def __init__(self, kind, folder, n=3, robot=ROBOT):
        self.settings = Settings(estimator=kind, **robot, **OWN)
        self.regressor = assembly.make_regressor(self.settings)
        self.description, self.folder = ModelDescription(self.settings, self.regressor), folder
        self.robots, self.all = [self.new() for _ in range(n)], self.new()
        self.fleet = Fleet(folder / "fleet")

    def new(self):
        return assembly.make_estimator(self.settings, self.regressor)

    def learn(self, number, samples):
        for sample in samples:
            self.robots[number].update(*sample)
            self.all.update(*sample)

    def save(self, number):
        header = self.description.header(self.robots[number].n_samples)
        return write_model(self.folder / f"robot_{number}.npz", accounted(self.robots[number]), header)

    def gather(self, *numbers):
        return [one.new for one in self.fleet.gather([(f"robot_{number}", self.save(number)) for number in numbers])]

    def load(self, number, path):
        self.robots[number] = type(self.all).from_state(read_model(path)[0], self.regressor)

    def go_on_from_pooled(self, *numbers):
        for number in numbers:
            self.fleet.spread([self.folder / "spread.npz"])
            self.load(number, self.folder / "spread.npz")

    def pooled(self):
        return estimator_of(read_model(self.fleet.pooled)[0])

    def difference(self, samples):
        """Return the largest difference of the pooled model from the one that saw all, relative to the latter."""
        mine, expected = (known(model, samples) for model in (self.pooled(), self.all))
        return float(np.abs(mine - expected).max() / np.abs(expected).max())


def known(model, samples):
    """Return the predictions of each expert with a long memory, or the parameters of rigid bodies alone. The weights of
    the experts are each robot's own, and so are the experts that forget within seconds."""
    if isinstance(model, ParametricEstimator):
        return model.parameters
    slow = [not name.endswith(" s") for name in model.expert_weights]
    assert 0 < sum(slow) < len(slow)
    return np.array([model.predict(*motion).experts.values[slow] for *motion, _ in samples[::10]])


@pytest.mark.parametrize("kind", ["parametric", "nonparametric", "semiparametric"])
def test_three_robots_know_what_one_that_saw_all_knows_and_so_twice(kind, motions, tmp_path):
    robots = Robots(kind, tmp_path)
    rounds = [  # (robots that load the pooled model while the others keep their own, order of gathering)
        ((), (0, 1, 2)),
        ((0, 1), (0, 1, 2)),
        ((2,), (2, 1, 0)),  # robot 2 loads the second pooled model; the others go on from the first
    ]
    for number, (loading, order) in enumerate(rounds):
        robots.go_on_from_pooled(*loading)
        for robot in range(3):
            robots.learn(robot, motions[robot][number * N : (number + 1) * N])
        assert robots.gather(*order) == [N, N, N] and robots.pooled().n_samples == robots.all.n_samples
        assert robots.difference(motions[3]) < 1e-8
        before = read_model(robots.fleet.pooled)[0]
        assert robots.gather(2, 0, 1) == [0, 0, 0]
        assert_same(read_model(robots.fleet.pooled)[0], before, "before all were gathered again")


def test_a_file_is_smaller_than_its_limit_which_is_wide_for_the_class_of_a_user(own_package, tmp_path):
    robots = Robots("semiparametric", tmp_path, n=1)
    assert robots.save(0).stat().st_size < robots.description.largest() < 2**25
    own = replace(robots.settings, estimator="my_package.learner.SineLearner")
    assert ModelDescription(own, robots.regressor).largest() == 2**30
    few = ModelDescription(replace(robots.settings, n_random_features=12), robots.regressor)
    stated = [few.largest({"n_random_features": n}) for n in (60, 12, 10**6, "60")]
    assert stated == [robots.description.largest(), *[few.largest()] * 3]


CHANGED = {"n_random_features": 12, "seed": 3, "parametric_regularization": 5.0, "prior": "nominal"}
CHANGED |= {"output_weights": "noise", "offset_forgetting": 0.5}


@pytest.mark.parametrize(("kind", "first", "last", "forgetting"), [
    ("parametric", 2, 6, "auto"), ("nonparametric", 0, 2, 0.99), ("semiparametric", 0, 6, "auto"),
])  # fmt: skip
def test_a_restored_model_forgets_by_the_settings_and_says_what_else_it_keeps(kind, first, last, forgetting, tmp_path):
    robots, names = Robots(kind, tmp_path, n=1), list(CHANGED)[first:last]
    other = ModelDescription(replace(robots.settings, forgetting=forgetting, **CHANGED), robots.regressor)
    made, note = other.restored(type(robots.all), robots.all.state(), robots.regressor)
    found = CHANGED | {name: getattr(robots.settings, name) for name in names} | {"forgetting": forgetting}
    assert other.header(0, made.state()).settings.items() >= found.items()
    assert [name for name in CHANGED if f" {name} " in note] == names
    gains = Robots(kind, tmp_path, robot=ROBOT | {"sensor_gain": True})  # more columns of the sensor than of bodies
    assert gains.description.restored(type(gains.all), gains.all.state(), gains.regressor)[1] == ""


def test_a_robot_that_was_restarted_goes_on(motions, tmp_path):
    robots = Robots("parametric", tmp_path, n=1)
    robots.learn(0, motions[0][:N])
    robots.gather(0)
    robots.load(0, robots.save(0))
    robots.learn(0, motions[0][N : N + 50])
    assert robots.gather(0) == [50] and len(held_by(robots.pooled())) == 2 and robots.difference(motions[3]) < 1e-8


@pytest.mark.parametrize("kind", ["parametric", "semiparametric"])
def test_each_robot_keeps_its_tare_where_it_goes_on_from_what_all_know(kind, motions, tmp_path):
    robots, jump = Robots(kind, tmp_path, n=2), np.outer([0.0, 1.0], np.arange(10.0, 70.0, 10.0))
    for start in (0, N):  # then the sensor of robot 1 jumps
        for number in range(2):
            robots.learn(number, [(*x, y + (start > 0) * jump[number]) for *x, y in motions[number][start : start + N]])
        robots.gather(0, 1)
        before = robots.robots[1]
        robots.go_on_from_pooled(0, 1)
        untared, loaded = robots.robots
        assert [keep_tare(one, loaded) for one in (robots.new(), loaded, before)] == [False, False, start == N]
        loaded.tare(jump[1] * (start == 0))
    difference = loaded.predict(*motions[2][0][:3]).total - untared.predict(*motions[2][0][:3]).total
    np.testing.assert_allclose(difference, jump[1], atol=1e-9)


def test_a_gathering_that_was_interrupted_is_done_again(motions, tmp_path, monkeypatch):
    def fails(path, *rest):
        if "spread" in str(path):
            raise KeyboardInterrupt
        return write_model(path, *rest)

    robots = Robots("parametric", tmp_path)
    assert robots.gather(0) == [0] and robots.pooled().n_samples == 0  # it has learned nothing yet
    for robot, samples in ((0, motions[0][:30]), (1, motions[1][:30]), (0, motions[0][30:N])):
        robots.learn(robot, samples)
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr("icub_learning.dynamics.fleet.write_model", fails)
            robots.gather(0, 1)
        assert sum(robots.gather(0, 1)) == 30
    assert robots.difference(motions[3]) < 1e-8 and len(list((tmp_path / "fleet" / "robots").iterdir())) == 2
    with pytest.raises(ParameterError, match="another one for each model; name it as NAME=FILE"):
        robots.fleet.gather([("arm", robots.save(0)), ("arm", robots.save(1))])
    with pytest.raises(ParameterError, match="robot"):
        robots.fleet.gather([("../robot", robots.save(0))])


def test_two_that_gather_at_once_lose_nothing(motions, tmp_path, monkeypatch):
    robots, reads = Robots("parametric", tmp_path), Fleet._read
    second = threading.Thread(target=lambda: robots.gather(1))
    robots.learn(0, motions[0])
    robots.learn(1, motions[1])
    robots.gather(0)
    robots.learn(0, motions[2])

    def read_while_another_gathers(self, path):
        if second.ident is None:
            second.start()
            second.join(0.5)  # it would end within this time if it did not wait
        return reads(self, path)

    monkeypatch.setattr(Fleet, "_read", read_while_another_gathers)
    robots.gather(0)
    second.join(PATIENCE)
    assert robots.pooled().n_samples == sum(map(len, motions[:3]))


def test_shared_samples_that_nobody_can_take_out_are_refused(motions, tmp_path):
    """Two robots went on from a model that the fleet never saw."""
    robots = Robots("parametric", tmp_path, n=2)
    robots.learn(0, motions[0][:N])
    seed = robots.save(0).rename(tmp_path / "seed.npz")
    for number in range(2):
        robots.load(number, seed)
        robots.learn(number, motions[number][N : N + 20])
    with pytest.raises(ParameterError, match=f"{N} of the {N + 20} samples of robot_1"):
        robots.gather(0, 1)
    assert not robots.fleet.pooled.exists()
    robots.fleet.gather([("seed", seed)])
    assert robots.gather(0, 1) == [20, 20] and robots.difference(motions[3]) < 1e-8


@pytest.mark.parametrize("kind", ["parametric", "semiparametric"])
def test_without_a_common_model_estimators_refuse_to_count_twice(motions, tmp_path, kind):
    robots = Robots(kind, tmp_path)
    robots.learn(0, motions[0][:N])
    copies = [estimator_of(accounted(robots.robots[0])), *(deepcopy(robots.robots[0]) for _ in range(2))]
    for copy, motion in zip(copies[:2], motions, strict=False):
        copy.update(*motion[N])
    with unchanged(copies[0]), pytest.raises(ParameterError, match=f"{N} of its {N + 1} samples"):
        copies[0].merge(copies[1])
    with unchanged(copies[0]), pytest.raises(ParameterError, match="common"):
        copies[0].merge(copies[1], robots.new())
    copies[0].merge(copies[1], copies[2])
    assert copies[0].n_samples == N + 2


@pytest.mark.parametrize("kind, name, told", [
    ("parametric", "forgetting", r"what is not forgotten .* set `forgetting: 1\.0`"),
    *((kind, "offset_forgetting", r"offset_forgetting is 0\.99, but") for kind in ("parametric", "semiparametric")),
])  # fmt: skip
def test_what_was_forgotten_cannot_be_taken_out(motions, tmp_path, kind, name, told):
    robots = Robots(kind, tmp_path)
    robots.settings = replace(robots.settings, **{name: 0.99})
    robots.robots = [robots.new() for _ in range(2)]
    for number in range(2):
        robots.learn(number, motions[number][:N])
    robots.gather(0, 1)
    robots.learn(0, motions[0][N : N + 100])
    with pytest.raises(StateError, match=rf"robot_0 cannot be pooled: {told}"):
        robots.gather(0)


@pytest.mark.parametrize("counts", [[1, 1], [0, 3], [2]])
def test_ledgers_that_do_not_add_up_are_refused(counts):
    with pytest.raises(StateError):
        read_holdings({"ledger.sources": np.array(["a", "b"]), "ledger.counts": np.array(counts)}, 3)


def test_robots_whose_regressor_is_large_beside_the_prior_pool_as_exactly_as_rounding_lets_them(tmp_path):
    """With the currents of a UR10, singular values that should be 1 come out up to 8e-5 too small."""
    zoo = ZOO["ur10_currents_125hz"]
    robots, samples = Robots("semiparametric", tmp_path, robot=zoo.settings), []
    for seed in range(3):
        one = zoo.record(6.0, seed)
        rows = zip(one.position, one.velocity, one.acceleration, one.recording.effort, strict=True)
        samples.append(list(rows)[100::5])
        robots.learn(seed, samples[seed][:60])
    robots.gather(0, 1, 2)
    robots.go_on_from_pooled(1, 2)
    for number in (1, 2):
        robots.learn(number, samples[number][60:120])
    assert robots.gather(1, 2) == [60, 60] and robots.difference(samples[0][60:]) < 1e-3
