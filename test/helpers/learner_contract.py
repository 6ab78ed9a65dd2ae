"""What every learner of the package promises, whatever it learns; a test class per learner inherits it."""

import inspect
from typing import Any

import numpy as np
import pytest

from icub_learning.errors import IcubLearningError

N_SAMPLES = 60


def same_arrays(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Bit for bit."""
    return first.keys() == second.keys() and all(
        np.asarray(first[key]).dtype == np.asarray(second[key]).dtype
        and np.array_equal(first[key], second[key], equal_nan=np.asarray(first[key]).dtype.kind == "f")
        for key in first
    )


class LearnerContract:
    """Inherit, and say how to make the learner and its samples."""

    learner_class: type

    def make(self) -> Any:
        """A new learner; equal settings and seed at each call."""
        raise NotImplementedError

    def restore(self, state: dict[str, Any]) -> Any:
        """A learner from a saved state."""
        return self.learner_class.from_state(state)

    def sample(self, rng: np.random.Generator) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        """The inputs of one prediction, and what is then measured."""
        raise NotImplementedError

    def answer(self, prediction: Any) -> np.ndarray:
        """All numbers of a prediction in one array."""
        return np.asarray(prediction)

    # What follows is promised.

    def samples(self, n: int = N_SAMPLES, seed: int = 0) -> list[tuple[tuple[np.ndarray, ...], np.ndarray]]:
        rng = np.random.default_rng(seed)
        return [self.sample(rng) for _ in range(n)]

    def taught(self) -> Any:
        learner = self.make()
        for inputs, measured in self.samples():
            learner.update(*inputs, measured)
        return learner

    def answers(self, learner: Any) -> np.ndarray:
        return np.array([self.answer(learner.predict(*inputs)) for inputs, _ in self.samples(10, seed=1)])

    def test_it_learns(self):
        learner = self.make()
        errors = []
        for inputs, measured in self.samples(300):
            errors.append(np.abs(np.ravel(self.answer(learner.predict(*inputs)))[: measured.size] - measured).mean())
            learner.update(*inputs, measured)
        assert np.mean(errors[-50:]) < 0.5 * np.mean(errors[:5])

    def test_inputs_are_never_written_to(self):
        learner = self.make()
        for inputs, measured in self.samples():
            copies = [array.copy() for array in (*inputs, measured)]
            for array in (*inputs, measured):
                array.flags.writeable = False
            learner.predict(*inputs)
            learner.update(*inputs, measured)
            for array, copy in zip((*inputs, measured), copies, strict=True):
                np.testing.assert_array_equal(array, copy)

    def test_inputs_may_be_changed_afterwards(self):
        learner, other = self.make(), self.make()
        for inputs, measured in self.samples():
            learner.update(*inputs, measured)
            handed_over = [array.copy() for array in (*inputs, measured)]
            other.update(*handed_over)
            for array in handed_over:
                array[...] = 1e9
        assert same_arrays(learner.state(), other.state())

    def test_lists_are_as_good_as_arrays(self):
        learner, other = self.make(), self.make()
        for inputs, measured in self.samples():
            learner.update(*inputs, measured)
            other.update(*(array.tolist() for array in inputs), measured.tolist())
        assert same_arrays(learner.state(), other.state())

    def test_predicting_changes_nothing(self):
        learner = self.taught()
        before = learner.state()
        first, second = self.answers(learner), self.answers(learner)
        np.testing.assert_array_equal(first, second)
        assert same_arrays(before, learner.state())

    def test_results_are_the_callers_own(self):
        learner = self.taught()
        before, expected = learner.state(), self.answers(learner)
        for inputs, _ in self.samples(3, seed=2):
            prediction = learner.predict(*inputs)
            for array in [prediction] if isinstance(prediction, np.ndarray) else vars(prediction).values():
                array[...] = 1e9
        for array in learner.state().values():
            if array.dtype.kind in "fiu":
                array[...] = 1
        assert same_arrays(before, learner.state())
        np.testing.assert_array_equal(self.answers(learner), expected)

    def test_a_state_holds_arrays_only_and_does_not_follow_the_learner(self):
        learner = self.taught()
        state = learner.state()
        assert all(isinstance(key, str) and isinstance(value, np.ndarray) for key, value in state.items())
        assert all(value.dtype != object for value in state.values())  # so it needs no pickle
        copy = {key: value.copy() for key, value in state.items()}
        for inputs, measured in self.samples(5, seed=3):
            learner.update(*inputs, measured)
        assert same_arrays(state, copy)

    @pytest.mark.parametrize("n", [0, 1, N_SAMPLES])
    def test_a_restored_learner_predicts_and_learns_on_bit_for_bit(self, n, tmp_path):
        learner = self.make()
        for inputs, measured in self.samples(n):
            learner.update(*inputs, measured)
        np.savez(tmp_path / "state.npz", allow_pickle=False, **learner.state())
        with np.load(tmp_path / "state.npz", allow_pickle=False) as file:
            restored = self.restore(dict(file))
        assert same_arrays(learner.state(), restored.state())
        np.testing.assert_array_equal(self.answers(learner), self.answers(restored))
        for inputs, measured in self.samples(seed=4):
            learner.update(*inputs, measured)
            restored.update(*inputs, measured)
        assert same_arrays(learner.state(), restored.state())
        np.testing.assert_array_equal(self.answers(learner), self.answers(restored))

    def test_equal_settings_and_samples_give_equal_learners(self):
        assert same_arrays(self.taught().state(), self.taught().state())

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_a_refused_number_is_named_and_changes_nothing(self, bad):
        learner = self.taught()
        before = learner.state()
        inputs, measured = self.samples(1, seed=5)[0]
        for position in range(len(inputs) + 1):
            arguments = [array.copy() for array in (*inputs, measured)]
            for index in range(arguments[position].size):
                spoiled = list(arguments)
                spoiled[position] = arguments[position].copy()
                spoiled[position].flat[index] = bad
                with pytest.raises(IcubLearningError) as caught:
                    learner.update(*spoiled)
                assert caught.value.name
                assert same_arrays(before, learner.state())
        learner.update(*inputs, measured)
        twin = self.restore(before)
        twin.update(*inputs, measured)
        assert same_arrays(twin.state(), learner.state())  # nor does a refused sample linger

    @pytest.mark.parametrize("huge", [1e60, 1e200, -1e300])
    def test_a_huge_number_is_refused_or_does_no_harm(self, huge):
        inputs, measured = self.samples(1, seed=5)[0]
        for position in range(len(inputs) + 1):
            learner = self.taught()
            before = learner.state()
            arguments = [array.copy() for array in (*inputs, measured)]
            arguments[position][0] = huge
            try:
                learner.update(*arguments)
            except IcubLearningError as error:
                assert error.name
                assert same_arrays(before, learner.state())
            state = learner.state().values()
            assert all(np.isfinite(value).all() for value in state if value.dtype.kind == "f")

    def test_a_wrong_size_is_refused_and_changes_nothing(self):
        learner = self.taught()
        before = learner.state()
        inputs, measured = self.samples(1, seed=5)[0]
        for position in range(len(inputs) + 1):
            for spoil in (lambda a: a[:-1], lambda a: np.append(a, 0.0), lambda a: np.empty(0), lambda a: 0.0):
                arguments = [*inputs, measured]
                arguments[position] = spoil(arguments[position])
                with pytest.raises(IcubLearningError):
                    learner.update(*arguments)
                if position < len(inputs):
                    with pytest.raises(IcubLearningError):
                        learner.predict(*arguments[:-1])
        assert same_arrays(before, learner.state())

    def test_a_state_with_an_entry_missing_or_wrong_is_refused(self):
        state = self.taught().state()
        for entry in state:
            for spoiled in ({key: value for key, value in state.items() if key != entry},
                            {**state, entry: np.full((2, 2, 2), np.nan)}):  # fmt: skip
                with pytest.raises(IcubLearningError):
                    self.restore(spoiled)

    def test_what_it_keeps_does_not_grow(self):
        learner = self.taught()
        before = {key: value.nbytes for key, value in learner.state().items()}
        for inputs, measured in self.samples(3 * N_SAMPLES, seed=6):
            learner.update(*inputs, measured)
        assert before == {key: value.nbytes for key, value in learner.state().items()}

    def test_no_default_can_be_changed_from_outside(self):
        for _, method in inspect.getmembers(self.learner_class, inspect.isfunction):
            for parameter in inspect.signature(method).parameters.values():
                assert not isinstance(parameter.default, (list, dict, set, np.ndarray)), f"{method}: {parameter}"
