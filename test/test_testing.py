"""check_learner accepts the learner of docs/add_a_learner.md, and names each promise that another one breaks."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from icub_learning.arrays import vector
from icub_learning.errors import StateError
from icub_learning.testing import ClassifierAsLearner, ContractError, assert_same, check_learner

TEXT = (Path(__file__).resolve().parents[1] / "docs" / "add_a_learner.md").read_text()
PAGE: dict[str, Any] = {"__name__": "add_a_learner"}
exec("\n".join(re.findall(r"^```python\n(.*?)^```", TEXT, re.M | re.S)), PAGE)  # also runs the checks on the page
LMS, LearnerContract, sample = PAGE["NormalizedLMS"], PAGE["LearnerContract"], PAGE["sample"]


def test_the_test_class_of_the_page_is_a_contract():
    assert issubclass(PAGE["TestNormalizedLMS"], LearnerContract)
    PAGE["TestNormalizedLMS"]().check()
    check_learner(lambda: LMS(4), lambda rng: ((x := rng.integers(-3, 4, 4),), np.array([x.sum()])))


def broken(name, **methods):
    """Return a NormalizedLMS of another name, some of whose methods break a promise."""
    return type(name, (LMS,), methods)


LearnsNothing = broken("LearnsNothing", update=lambda self, x, y: None)
Unfinished = broken("Unfinished", predict=lambda self, x: {}["weights"])
Two = broken("Two", predict=lambda self, x: [*LMS.predict(self, x)] * 2)
Number = broken("Number", predict=lambda self, x: float(LMS.predict(self, x)[0]))
PredictsFromNaN = broken("PredictsFromNaN", predict=lambda self, x: LMS.predict(self, np.nan_to_num(x)))
FirstOfLists = broken("First", update=lambda self, x, y: LMS.update(self, x, [1.001 * y[0]] if type(y) is list else y))
Fades = broken("Fades", predict=lambda self, x: vars(self).update(weights=0.9 * self.weights) or LMS.predict(self, x))
StateOfObjects = broken("StateOfObjects", state=lambda self: {**LMS.state(self), "notes": np.array([None])})
IgnoresState = broken("IgnoresState", from_state=classmethod(lambda cls, state: cls(4, 0.9)))
MutableDefault = broken("MutableDefault", predict=lambda self, x, cache={}: LMS.predict(self, x))
OfTheClass = broken("OfTheClass", from_state=classmethod(lambda cls, state, cache={}: LMS.from_state(state)))


class ScalesItsInput(LMS):
    def predict(self, x):
        prediction = super().predict(x)
        x *= 2.0
        return prediction


class KeepsAReference(LMS):
    newest = np.zeros(4)

    def update(self, x, y):
        super().update(x, y)
        self.newest = x

    def state(self):
        return {**super().state(), "newest": np.array(self.newest)}


class HandsOutItsWeights(LMS):
    def update(self, x, y):
        weights = self.weights
        super().update(x, y)
        weights[:] = self.weights
        self.weights = weights

    def state(self):
        return {**super().state(), "weights": self.weights}


class Random(LMS):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.weights = 0.01 * np.random.default_rng().normal(size=4)


class RefusesWithoutAName(LMS):
    def update(self, x, y):
        if np.size(x) < 4:
            raise IndexError("x is too short")
        if not np.isfinite(x).all():
            raise StateError("bad")
        super().update(x, y)


class LearnsHalfOfWhatItRefuses(LMS):
    def update(self, x, y):
        if np.isfinite(x).all():
            self.weights = self.weights * 0.99
        super().update(x, y)


class Overflows(LMS):
    def update(self, x, y):
        with np.errstate(all="ignore"):
            self.weights = self.weights + (vector("y", y, 1)[0] - x @ self.weights) * vector("x", x, 4) / 4.0


class Remembers(LMS):
    seen = ()

    def update(self, x, y):
        super().update(x, y)
        self.seen += (y[0],)

    def state(self):
        return {**super().state(), "seen": np.array(self.seen)}


class PredictsIntoOneArray(LMS):
    def predict(self, x):
        vars(self).setdefault("made", np.zeros(1))[:] = super().predict(x)
        return self.made


class LearnsIntoTheState(HandsOutItsWeights):
    state = LMS.state

    @classmethod
    def from_state(cls, state):
        restored, restored.weights = super().from_state(state), state["weights"]
        return restored


@pytest.mark.parametrize(("learner", "check", "finding"), [
    (Unfinished, "it learns", "KeyError: 'weights'"), (LearnsNothing, "it learns", "mean absolute error"),
    (Two, "it learns", "2 numbers"), (ScalesItsInput, "inputs are never written to", "read-only"),
    (KeepsAReference, "inputs may be changed afterwards", "'newest'"),
    (FirstOfLists, "lists are as good as arrays", "'weights'"), (Remembers, "what it keeps does not grow", "'seen'"),
    (Fades, "predicting changes nothing", "the second time differs"),
    (HandsOutItsWeights, "results are the callers own", "'weights'"),
    (HandsOutItsWeights, "a state holds arrays only and does not follow the learner", "'weights'"),
    (OfTheClass, "no default can be changed from outside", "from_state"),
    (PredictsIntoOneArray, "predicting changes nothing", "after further ones"),
    (Number, "results are the callers own", "a prediction is a float; it must be an array"),
    (LearnsIntoTheState, "a restored learner predicts and learns on bit for bit", "the state that was given"),
    (StateOfObjects, "a state holds arrays only and does not follow the learner", "needs pickle"),
    (IgnoresState, "a restored learner predicts and learns on bit for bit", "'step_size' is"),
    (Random, "equal settings and samples give equal learners", "'weights'"),
    (RefusesWithoutAName, "a refused number is named and changes nothing", "has no name"),
    (PredictsFromNaN, "a refused number is named and changes nothing", "nan in entry 0 of input 0 is accepted"),
    (LearnsHalfOfWhatItRefuses, "a refused number is named and changes nothing", "the measurement differs"),
    (Overflows, "a huge number is refused or does no harm", "state['weights'] is not finite"),
    (RefusesWithoutAName, "a wrong size is refused and changes nothing", "IndexError('x is too short') instead"),
    (IgnoresState, "a state with an entry missing or wrong is refused", "a state without 'step_size' is accepted"),
    (MutableDefault, "no default can be changed from outside", "cache={}"),
])  # fmt: skip
def test_a_broken_promise_is_named(learner, check, finding):
    with pytest.raises(ContractError) as caught:
        check_learner(lambda: learner(4), sample)
    assert finding in caught.value.value[check] and check in (said := str(caught.value)) and learner.__name__ in said


def test_the_failure_that_the_page_shows_is_the_one_that_comes():
    class NormalizedLMS(PAGE["NormalizedLMS"]):
        def update(self, x, y):
            super().update(np.nan_to_num(x), y)

    with pytest.raises(ContractError) as caught:
        check_learner(lambda: NormalizedLMS(4), sample)
    assert f"```\n{caught.value}\n```" in TEXT


def test_every_promise_can_be_broken():
    names = {name for name in dir(LearnerContract) if name.startswith("test_")}
    (mark,) = test_a_broken_promise_is_named.pytestmark
    assert {f"test_{check.replace(' ', '_')}" for _, check, _ in mark.args[1]} == names


def test_a_classifier_learns_the_class_of_the_largest_target():
    learned, counts = [], SimpleNamespace(classes=("2", "0"), scores=lambda x: np.array([0.7, 0.3]))
    counts.learn, learner = lambda x, label: learned.append(label), ClassifierAsLearner(counts, n_classes=4)
    learner.update([1.0], [0.0, 0.0, 1.0, 0.0])
    assert learned == ["2"]
    np.testing.assert_array_equal(learner.predict([1.0]), [0.3, 0.0, 0.7, 0.0])


def test_states_are_compared_bit_for_bit():
    same = {"a": np.array([1.0, np.nan]), "b": np.array("text"), "c": np.array(3)}
    assert_same(same, {key: value.copy() for key, value in same.items()}, "a copy")
    for other, finding in (
        ({**same, "a": np.array([1.0, 2.0])}, r"'a' is .*nan.* and .*2.0.* at \(1,\)"),
        ({**same, "b": np.array("other")}, "'b'"), ({**same, "d": np.array(3)}, "'d' is in one of the two only"),
        ({**same, "c": np.array(3.0)}, r"'c' is int64 \(\) and float64 \(\)"),
    ):  # fmt: skip
        with pytest.raises(AssertionError, match=finding):
            assert_same(same, other, "it")
