"""check_learner accepts a learner that keeps the contract, and names each promise that another one breaks."""

import numpy as np
import pytest

from icub_learning.arrays import vector
from icub_learning.errors import StateError
from icub_learning.testing import ClassifierAsLearner, ContractError, LearnerContract, assert_same, check_learner

WEIGHTS = np.array([2.0, -1.0, 0.5])


class Gradient:
    """Least mean squares with three inputs and one output, normalized: small, and keeps every promise."""

    def __init__(self, rate=0.5):
        self.rate, self.weights = rate, np.zeros(3)

    def predict(self, x):
        return np.array([vector("x", x, 3) @ self.weights])

    def update(self, x, y):
        x, y = vector("x", x, 3), vector("y", y, 1)
        self.weights = self.weights + self.rate * (y[0] - x @ self.weights) * x / (1.0 + x @ x)
        if not np.isfinite(self.weights).all():
            raise StateError("an update overflows", name="x")

    def state(self):
        return {"rate": np.array(self.rate), "weights": self.weights.copy()}

    @classmethod
    def from_state(cls, state):
        if {"rate", "weights"} - state.keys():
            raise StateError("rate or weights are missing", name="state")
        if np.shape(state["rate"]) != () or np.shape(state["weights"]) != (3,):
            raise StateError("rate or weights have a wrong shape", name="state")
        learner = cls(float(state["rate"]))
        learner.weights = np.array(state["weights"])
        return learner


class Careful(Gradient):
    """Undoes an update that overflows."""

    def update(self, x, y):
        before = self.weights
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                super().update(x, y)
        except StateError:
            self.weights = before
            raise


def sample(rng):
    x = rng.normal(size=3)
    return (x,), np.array([x @ WEIGHTS]) + 0.01 * rng.normal(size=1)


def test_a_learner_that_keeps_the_contract_passes():
    check_learner(Careful, sample)
    check_learner(lambda: Careful(0.3), sample, restore=Careful.from_state, answer=lambda prediction: prediction)


class LearnsNothing(Careful):
    def update(self, x, y):
        vector("x", x, 3), vector("y", y, 1)


class ScalesItsInput(Careful):
    def predict(self, x):
        prediction = super().predict(x)
        if isinstance(x, np.ndarray):
            x *= 2.0
        return prediction


class KeepsAReference(Careful):
    newest = np.zeros(3)

    def update(self, x, y):
        super().update(x, y)
        self.newest = x if isinstance(x, np.ndarray) else np.array(x)

    def state(self):
        return {**super().state(), "newest": np.array(self.newest)}


class KeepsTheFirstNumberOfLists(Careful):
    def update(self, x, y):
        super().update(x, [1.001 * y[0]] if isinstance(y, list) else y)


class LearnsFromPredictions(Careful):
    def predict(self, x):
        prediction = super().predict(x)
        self.weights = self.weights * 0.999
        return prediction


class HandsOutItsWeights(Careful):
    def state(self):
        return {"rate": np.array(self.rate), "weights": self.weights}


class StateFollows(Careful):
    def update(self, x, y):
        weights = self.weights
        super().update(x, y)
        weights[:] = self.weights
        self.weights = weights

    def state(self):
        return {"rate": np.array(self.rate), "weights": self.weights}


class StateOfObjects(Careful):
    def state(self):
        return {**super().state(), "notes": np.array([None])}


class ForgetsItsRate(Careful):
    @classmethod
    def from_state(cls, state):
        learner = super().from_state(state)
        learner.rate = 0.9
        return learner


class Random(Careful):
    def __init__(self, rate=0.5):
        super().__init__(rate)
        self.weights = 0.01 * np.random.default_rng().normal(size=3)


class TakesInfinity(Careful):
    def update(self, x, y):
        super().update(np.nan_to_num(x), y)


class RefusesWithoutAName(Careful):
    def update(self, x, y):
        if not np.isfinite(x).all():
            raise StateError("bad")
        super().update(x, y)


class RefusesByIndexError(Careful):
    def update(self, x, y):
        if np.size(x) < 3:
            raise IndexError("x is too short")
        super().update(x, y)


class LearnsHalfOfWhatItRefuses(Careful):
    def update(self, x, y):
        if np.isfinite(x).all():
            self.weights = self.weights * 0.99
        super().update(x, y)


class Overflows(Careful):
    def update(self, x, y):
        with np.errstate(all="ignore"):
            self.weights = self.weights + (vector("y", y, 1)[0] - x @ self.weights) * vector("x", x, 3) / 4.0


class TakesAnyState(Careful):
    @classmethod
    def from_state(cls, state):
        return super().from_state({"rate": np.array(0.5), "weights": np.zeros(3)} | state)


class Remembers(Careful):
    def __init__(self, rate=0.5):
        super().__init__(rate)
        self.seen = []

    def update(self, x, y):
        super().update(x, y)
        self.seen.append(y[0])

    def state(self):
        return {**super().state(), "seen": np.array(self.seen)}


class MutableDefault(Careful):
    def predict(self, x, cache={}):  # noqa: B006
        return super().predict(x)


@pytest.mark.parametrize(
    ("learner", "check", "finding"),
    [
        (LearnsNothing, "it learns", "mean absolute error"),
        (ScalesItsInput, "inputs are never written to", "read-only"),
        (KeepsAReference, "inputs may be changed afterwards", "'newest'"),
        (KeepsTheFirstNumberOfLists, "lists are as good as arrays", "'weights'"),
        (LearnsFromPredictions, "predicting changes nothing", "the second time differs"),
        (HandsOutItsWeights, "results are the callers own", "'weights'"),
        (StateFollows, "a state holds arrays only and does not follow the learner", "'weights'"),
        (StateOfObjects, "a state holds arrays only and does not follow the learner", "needs pickle"),
        (ForgetsItsRate, "a restored learner predicts and learns on bit for bit", "'rate' is"),
        (Random, "equal settings and samples give equal learners", "'weights'"),
        (TakesInfinity, "a refused number is named and changes nothing", "is accepted by update"),
        (RefusesWithoutAName, "a refused number is named and changes nothing", "has no name"),
        (LearnsHalfOfWhatItRefuses, "a refused number is named and changes nothing", "the measurement differs"),
        (Overflows, "a huge number is refused or does no harm", "state['weights'] is not finite"),
        (RefusesByIndexError, "a wrong size is refused and changes nothing", "IndexError('x is too short') instead"),
        (TakesAnyState, "a state with an entry missing or wrong is refused", "a state without 'rate' is accepted"),
        (Remembers, "what it keeps does not grow", "'seen'"),
        (MutableDefault, "no default can be changed from outside", "cache={}"),
    ],
)
def test_a_broken_promise_is_named(learner, check, finding):
    with pytest.raises(ContractError) as caught:
        check_learner(learner, sample)
    assert finding in caught.value.value[check]
    assert check in str(caught.value) and learner.__name__ in str(caught.value)


def test_every_promise_can_be_broken():
    names = {name for name in dir(LearnerContract) if name.startswith("test_")}
    (mark,) = test_a_broken_promise_is_named.pytestmark
    assert {f"test_{check.replace(' ', '_')}" for _, check, _ in mark.args[1]} == names


def test_an_error_inside_a_learner_is_a_finding_not_a_crash():
    class Unfinished(Careful):
        def predict(self, x):
            raise KeyError("weights")

    with pytest.raises(ContractError) as caught:
        check_learner(Unfinished, sample)
    assert caught.value.value["it learns"] == "KeyError: 'weights'"
    assert "equal settings and samples give equal learners" not in caught.value.value


def test_a_classifier_learns_the_class_of_the_largest_target():
    class Counts:
        classes = ("2", "0")

        def __init__(self):
            self.learned = []

        def learn(self, x, label):
            self.learned.append(label)

        def scores(self, x):
            return np.array([0.7, 0.3])

    learner = ClassifierAsLearner(Counts(), n_classes=4)
    learner.update([1.0], [0.0, 0.0, 1.0, 0.0])
    assert learner.classifier.learned == ["2"]
    np.testing.assert_array_equal(learner.predict([1.0]), [0.3, 0.0, 0.7, 0.0])


def test_states_are_compared_bit_for_bit():
    same = {"a": np.array([1.0, np.nan]), "b": np.array("text"), "c": np.array(3)}
    assert_same(same, {key: value.copy() for key, value in same.items()}, "a copy")
    for other, finding in (
        ({**same, "a": np.array([1.0, 2.0])}, r"'a' is .*nan.* and .*2.0.* at \(1,\)"),
        ({**same, "b": np.array("other")}, "'b'"),
        ({**same, "c": np.array(3.0)}, r"'c' is int64 \(\) and float64 \(\)"),
        ({**same, "d": np.array(3)}, "'d' is in one of the two only"),
    ):
        with pytest.raises(AssertionError, match=finding):
            assert_same(same, other, "it")
