"""A setting names a class by its import path: the class is found, or the error says why not."""

from copy import deepcopy

import numpy as np
import pytest
from helpers.small_arm import SmallArm
from helpers.unchanged import unchanged

from icub_learning.dynamics.own_learner import OwnLearner
from icub_learning.dynamics.settings import Settings
from icub_learning.errors import IcubLearningError, ParameterError, StateError
from icub_learning.recognition.own_classifier import KEPT, OwnClassifier
from icub_learning.recognition.settings import Settings as RecognitionSettings
from icub_learning.recognition.vision.cnn_features import OwnFeatures
from icub_learning.settings import settings_of
from icub_learning.testing import ClassifierAsLearner, LearnerContract, check_learner

pytestmark = pytest.mark.usefixtures("own_package")
NEAREST_MEAN = "my_package.classifier.NearestMean"
REFUSED = {
    "no_such_package_at_all.X": "'no_such_package_at_all' cannot be imported.*ModuleNotFoundError.*PYTHONPATH",
    "my_package.nothing.X": "'my_package.nothing' cannot be imported",
    "my_package.broken.X": "cannot be imported.*No module named 'no_such_package_at_all'",
    "my_package.ending.X": r"cannot be imported \(SystemExit: 3 in .*ending.py, line \d+\)$",
    "my_package.hostile.Brakes": "has no 'Brakes'; did you mean Breaks", "my_package.hostile.": "has no ''",
    "my_package.hostile.a_number": "a class, but it is a int",
    "my_package.hostile.a_function": "a class, but it is a function",
    "my_package.hostile.Lacking": "the methods predict, update, from_state, which it lacks",
    ".hostile.Breaks": "cannot be imported", "..": "cannot be imported",
}  # fmt: skip


@pytest.mark.parametrize("path", REFUSED)
def test_a_path_that_leads_to_no_class_is_refused_with_the_reason(path):
    with pytest.raises(ParameterError, match=REFUSED[path]) as caught:
        Settings(estimator=path)
    assert (caught.value.name, caught.value.value) == ("estimator", path)


def test_a_word_that_is_neither_a_shipped_name_nor_a_path_is_told_both_and_settings_say_so():
    with pytest.raises(ParameterError, match="one of semiparametric, parametric, nonparametric, or the import path"):
        Settings(estimator="magic")
    declared = {one.name: one for one in settings_of(Settings, RecognitionSettings)}
    for name in ("estimator", "classifier"):
        assert "or the import path of a class with" in declared[name].bound


@pytest.mark.parametrize(("adapter", "name", "said"), [
    (OwnLearner, "Breaks", r"ValueError: no such calibration file in .*hostile\.py, line \d+"),
    (OwnClassifier, "Breaks", "classifier is.*no such calibration file"),
    (OwnFeatures, "Breaks", "features is.*no such calibration file"),
    (OwnLearner, "TakesNothing", "made with 1 argument.*TypeError"),
])  # fmt: skip
def test_a_constructor_that_fails_is_told_with_its_line(adapter, name, said):
    made, arguments = adapter.of(f"my_package.hostile.{name}"), () if adapter is OwnFeatures else (SmallArm(),)
    with pytest.raises(ParameterError, match=said):
        made(*arguments)


def test_a_class_that_would_fail_later_is_refused_at_the_start(monkeypatch):
    learner, classifier = OwnLearner.of("my_package.learner.SineLearner"), OwnClassifier.of(NEAREST_MEAN)
    monkeypatch.setattr(learner.kind, "from_state", lambda state: None)  # what was saved would be lost at a restart
    with pytest.raises(ParameterError, match=r"able to read its saved state.*TypeError"):
        learner(SmallArm())
    monkeypatch.delattr(classifier.kind, "classes")
    with pytest.raises(ParameterError, match="a class whose objects have the attribute classes"):
        classifier(4)


def test_a_learner_that_cannot_be_copied_is_told_what_to_define():
    learner = OwnLearner.of("my_package.hostile.Locked")(SmallArm())
    with pytest.raises(ParameterError, match=r"copy\.deepcopy can copy, or with the method predictor"):
        learner.predictor()


def test_features_that_are_no_vector_are_refused_at_the_start():
    with pytest.raises(IcubLearningError, match=r"shape \(480, 640\)"):
        OwnFeatures.of("my_package.hostile.Several")()


def test_a_learner_keeps_the_contract_of_the_shipped_ones():
    kind, regressor = OwnLearner.of("my_package.learner.SineLearner"), SmallArm()

    def swing(rng):
        q, v, a = rng.normal(size=(3, 1))
        return (q, v, a), np.array([3.0 * np.sin(q[0]) + a[0]]) + 0.01 * rng.normal(size=1)

    numbers = lambda made: np.concatenate([made.total, made.parametric, made.residual, made.variance])  # noqa: E731
    check_learner(lambda: kind(regressor), swing, restore=lambda one: kind.from_state(one, regressor), answer=numbers)


def test_a_snapshot_of_a_learner_does_not_follow_it_and_tare_moves_both(monkeypatch):
    learner, taken = OwnLearner.of("my_package.learner.SineLearner")(SmallArm()), []
    motions = np.random.default_rng(0).normal(size=(100, 3, 1))
    for q, v, a in motions:
        learner.update(q, v, a, [3.0 * np.sin(q[0])])
    snapshot, asked = learner.predictor(SmallArm()), motions[0]
    before = snapshot.predict(*asked).total
    assert before == learner.predict(*asked).total == pytest.approx(3.0 * np.sin(asked[0, 0]), abs=0.1)
    learner.tare([2.0])
    assert learner.predict(*asked).total == pytest.approx(before + 2.0)
    for q, v, a in motions:
        learner.update(q, v, a, [3.0 * np.sin(q[0]) + 2.0])
    assert learner.predict(*asked).total == pytest.approx(before + 2.0, abs=0.02)  # what was learned still holds
    assert snapshot.predict(*asked).total == before and learner.n_samples == 200
    restored = OwnLearner.of("my_package.learner.SineLearner").from_state(learner.state(), SmallArm())
    assert type(restored) is type(learner)  # one class has one adapter
    with pytest.raises(ParameterError, match="the method merge for this, which it lacks"):
        learner.merge(restored)
    monkeypatch.setattr(type(learner.learner), "merge", lambda _, *others: taken.append(others), raising=False)
    learner.merge(restored)
    (twin := deepcopy(learner)).update(*asked, [0.0])  # shares all but one of its samples
    for merge, said in (
        (lambda self, other: None, r"merge\(other, common\), as they share.*takes 2 positional arguments but 3"),
        (lambda self, other, common: self.rls.merge(other.rls) and 1 / 0, "ZeroDivisionError.*test_own_class"),
    ):
        monkeypatch.setattr(type(learner.learner), "merge", merge)
        with unchanged(learner), pytest.raises(ParameterError, match=said):
            learner.merge(twin)
    shown = lambda self, other, common=None: self.rls.merge(other.rls, common and common.rls)  # noqa: E731
    monkeypatch.setattr(type(learner.learner), "merge", shown)
    learner.merge(twin)
    assert learner.predict(*asked).total == pytest.approx(twin.predict(*asked).total) and learner.n_samples == 401
    learner.body_changed(7.0)  # a learner without this method is not told
    monkeypatch.setattr(type(learner.learner), "body_changed", lambda _, ratio: taken.append(ratio), raising=False)
    learner.body_changed(7.0)
    assert taken == [(restored.learner,), 7.0]
    assert learner.ledger.holdings(500).keys() != deepcopy(learner).ledger.holdings(500).keys()  # own sources


def test_a_classifier_keeps_the_contract_of_the_shipped_ones():
    kind = OwnClassifier.of(NEAREST_MEAN)

    class Kept(LearnerContract):
        n_until_full = KEPT + 3

        def make(self):
            return ClassifierAsLearner(kind(6))

        def restore(self, state):
            return ClassifierAsLearner(kind.from_state(state))

        def sample(self, rng):
            place = rng.integers(3)
            return (2.0 * np.eye(6)[place] + 0.1 * rng.normal(size=6),), np.eye(3)[place]

    Kept().check()
    made = kind(2)
    for x, label in (([1.0, 0.0], "b"), ([0.0, 1.0], "a"), ([1.0, 0.0], "a"), ([0.0, 1.0], "a")):
        made.learn(np.array(x), label)
    assert made.state()["outcomes"][:, 2].tolist() == [1.0, 0.0]  # only the first view of a known class was named wrong
    with pytest.raises(StateError):
        kind.from_state(made.state() | {"outcomes": np.ones((2, 2))})


def test_confidence_of_a_classifier_whose_scores_are_negative():
    """Such as distances with their sign changed, or log-likelihoods."""

    class Distances(OwnClassifier.of(NEAREST_MEAN).kind):
        def scores(self, x):
            return -np.array([np.linalg.norm(x - total / self.counts[label]) for label, total in self.sums.items()])

    kind, rng = OwnClassifier.of(NEAREST_MEAN), np.random.default_rng(0)
    made, made.classifier = kind(2), Distances(2)
    for label, place in (("a", 0.0), ("b", 4.0)):
        for _ in range(60):
            made.learn(place + 0.3 * rng.normal(size=2), label)
        assert made.judge(np.full(2, place)).confidence > 0.9
    assert made.judge(np.full(2, 2.0)).confidence < made.judge(np.zeros(2)).confidence
