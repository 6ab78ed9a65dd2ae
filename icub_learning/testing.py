"""The contract of a learner, as checks for people who write their own; nothing here needs pytest.

`check_learner` runs every check and reports all that fail. A pytest class that inherits `LearnerContract` runs each
check as a test of its own; the learners of this package are tested that way. See docs/add_a_learner.md.
"""

import inspect
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icub_learning.arrays import Array, vector
from icub_learning.errors import IcubLearningError

N_SAMPLES = 60  # samples that a learner has seen before most checks
PREFIX = "test_"  # prefix of the names of checks, by which pytest finds them too

State = Mapping[str, NDArray[Any]]
Sample = tuple[tuple[Array, ...], Array]  # the inputs of one prediction, and what is measured afterwards


class ContractError(IcubLearningError, AssertionError):
    """A learner breaks its contract; the message, and `value` by check, say which checks failed and how."""


class Contract:
    """Promises of a kind of object; each method `test_...` of a subclass checks one of them."""

    whose = ""  # owner of the contract, as messages call it

    def make(self) -> Any:
        """Return a new object; each call returns an equal one, with equal settings and seed."""
        raise NotImplementedError

    def classes(self) -> tuple[type, ...]:
        """Return the classes that are checked."""
        return (type(self.make()),)

    def check(self) -> None:
        """Run all checks. Raises ContractError with every failure."""
        failures = {}
        for name in (name for name in dir(self) if name.startswith(PREFIX)):
            try:
                getattr(self, name)()
            except Exception as error:  # whatever a learner raises is a finding
                found = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
                failures[name.removeprefix(PREFIX).replace("_", " ")] = found
        if failures:
            learner = " and ".join(kind.__name__ for kind in self.classes())
            report = "".join(f"\n- {check}\n    {found}" for check, found in failures.items())
            message = f"{learner} fails {len(failures)} checks of {self.whose} contract:{report}"
            raise ContractError(message, name=learner, value=failures, bound="every check of the contract")


class LearnerContract(Contract):
    """Promises of a learner: predict(*inputs), update(*inputs, measurement), and state(), which returns arrays by name.

    Inherit, and define `make` and `sample`; define `restore` and `answer` too where the defaults do not fit.
    """

    n_until_full = N_SAMPLES  # samples after which the state must not grow: the capacity of a memory, if any
    n_until_learned = 300  # samples within which the error must halve; set it lower for a slow learner
    whose = "the learner's"

    def sample(self, rng: np.random.Generator) -> Sample:
        """Draw one sample: the inputs of a prediction as a tuple of arrays, and the measurement as an array."""
        raise NotImplementedError

    def restore(self, state: dict[str, NDArray[Any]]) -> Any:
        """Return a learner made from a saved state; by default, by the class method `from_state`."""
        return type(self.make()).from_state(state)

    def answer(self, prediction: Any) -> Array:
        """Return all numbers of a prediction as one array, those that predict the measurement first."""
        return np.asarray(prediction)

    def samples(self, n: int = N_SAMPLES, seed: int = 0) -> list[Sample]:
        """Draw `n` samples; the same ones for the same seed."""
        rng = np.random.default_rng(seed)
        return [self.sample(rng) for _ in range(n)]

    def taught(self, n: int = N_SAMPLES) -> Any:
        """Return a learner that has learned `n` samples."""
        return _teach(self.make(), self.samples(n))

    def test_it_learns(self) -> None:
        """The error on new samples falls below half of what it was at first; predictions have the right size."""
        learner, plain = self.make(), type(self).answer is LearnerContract.answer
        errors = []
        for inputs, measured in self.samples(self.n_until_learned):
            predicted = np.ravel(self.answer(learner.predict(*inputs)))
            fits = predicted.size == measured.size or not plain
            assert fits, f"a prediction has {predicted.size} numbers, the measurement {measured.size}"
            errors.append(np.abs(predicted[: measured.size] - measured).mean())
            learner.update(*inputs, measured)
        first, last = np.mean(errors[:5]), np.mean(errors[-50:])
        assert last < 0.5 * first, (
            f"the mean absolute error is {first:.3g} over the first 5 samples and {last:.3g} over the last 50 of "
            f"{self.n_until_learned}"
        )

    def test_inputs_are_never_written_to(self) -> None:
        """predict and update accept read-only arrays and leave them as they are."""
        learner = self.make()
        for inputs, measured in self.samples():
            given = (*inputs, measured)
            copies = [array.copy() for array in given]
            for array in given:
                array.flags.writeable = False
            learner.predict(*inputs)
            learner.update(*given)
            for place, (array, copy) in enumerate(zip(given, copies, strict=True)):
                assert np.array_equal(array, copy), f"{_name(place, inputs)} was {copy} and has become {array}"

    def test_inputs_may_be_changed_afterwards(self) -> None:
        """The learner keeps no reference to an array that it was given."""
        learner = self.make()
        for inputs, measured in self.samples():
            handed_over = [array.copy() for array in (*inputs, measured)]
            learner.update(*handed_over)
            for array in handed_over:
                array[...] = 1e9
        assert_same(self.taught().state(), learner.state(), "a learner whose inputs were overwritten after each update")

    def test_lists_are_as_good_as_arrays(self) -> None:
        """A sample given as lists of numbers is learned exactly as one given as arrays."""
        learner = self.make()
        for inputs, measured in self.samples():
            learner.update(*(array.tolist() for array in inputs), measured.tolist())
        assert_same(self.taught().state(), learner.state(), "a learner that was given lists")

    def test_predicting_changes_nothing(self) -> None:
        """Two predictions from the same inputs are equal; earlier ones and the state stay as they were."""
        learner = self.taught()
        before = learner.state()
        earlier = learner.predict(*self.samples(1)[0][0])
        said = np.array(self.answer(earlier))
        assert_same(self._answers(learner), self._answers(learner), "the second time")
        assert_same({"prediction": said}, {"prediction": np.array(self.answer(earlier))}, "after further ones")
        assert_same(before, learner.state(), "the learner after it predicted")

    def test_results_are_the_callers_own(self) -> None:
        """Whoever overwrites a prediction or a state does not change the learner."""
        learner = self.taught()
        before, expected = deepcopy(learner.state()), self._answers(learner)
        for inputs, _ in self.samples(3, seed=1):  # of those whose answers are compared
            for array in _arrays_of(learner.predict(*inputs)):
                array[...] = 1e9
        for array in learner.state().values():
            if array.dtype.kind in "fiu":
                array[...] = 1
        assert_same(before, learner.state(), "the learner after its results were overwritten")
        assert_same(expected, self._answers(learner), "after its results were overwritten")

    def test_a_state_holds_arrays_only_and_does_not_follow_the_learner(self) -> None:
        """A state maps names to arrays of numbers or text, which later updates do not change."""
        learner = self.taught()
        state = learner.state()
        for key, value in state.items():
            assert isinstance(key, str), f"the key {key!r} of the state is not a str"
            assert isinstance(value, np.ndarray), f"state[{key!r}] is a {type(value).__name__}, not an array"
            assert value.dtype != object, f"state[{key!r}] has dtype object, which needs pickle"
        copy = deepcopy(state)
        _teach(learner, self.samples(5, seed=3))
        assert_same(copy, state, "the state that was returned before more was learned")

    def test_a_restored_learner_predicts_and_learns_on_bit_for_bit(self) -> None:
        """A learner saved as .npz and restored, new or taught, cannot be told from the one that was saved."""
        for n in (0, 1, N_SAMPLES):
            learner = self.taught(n)
            file = io.BytesIO()
            np.savez(file, allow_pickle=False, **learner.state())
            file.seek(0)
            with np.load(file, allow_pickle=False) as content:
                given = dict(content)
            before = deepcopy(given)
            restored = self.restore(given)
            who = f"the learner restored after {n} samples"
            for said in (who, f"{who}, after {N_SAMPLES} more"):
                assert_same(learner.state(), restored.state(), said)
                assert_same(self._answers(learner), self._answers(restored), said)
                _teach(learner, self.samples(seed=4))
                _teach(restored, self.samples(seed=4))
            assert_same(before, given, f"the state that was given, after {who} learned more")

    def test_equal_settings_and_samples_give_equal_learners(self) -> None:
        """Learning is deterministic: randomness comes from a seed among the settings."""
        assert_same(self.taught().state(), self.taught().state(), "a second learner taught the same samples")

    def test_a_refused_number_is_named_and_changes_nothing(self) -> None:
        """update and predict refuse NaN and infinity with an IcubLearningError that has a name; nothing changes."""
        inputs, measured = self.samples(1, seed=5)[0]
        given = (*inputs, measured)
        for bad in (np.nan, np.inf, -np.inf):
            learner = self.taught()
            before = learner.state()
            for place, index in ((place, index) for place, one in enumerate(given) for index in range(one.size)):
                what = f"{bad} in entry {index} of {_name(place, inputs)}"
                spoiled = _spoiled(given, place, index, bad)
                errors = [_refusal(learner.update, spoiled, what)]
                if place < len(inputs):
                    errors.append(_refusal(learner.predict, spoiled[:-1], what))
                for error in errors:
                    assert error.name, f"the error for {what} has no name: {error!r}"
                assert_same(before, learner.state(), f"the learner after it refused {what}")
            learner.update(*given)
            twin = self.restore(dict(before))
            twin.update(*given)
            assert_same(twin.state(), learner.state(), f"the learner that has refused {bad}, after one more sample")

    def test_a_huge_number_is_refused_or_does_no_harm(self) -> None:
        """After an update with a finite but absurd number, all numbers of the state are finite."""
        inputs, measured = self.samples(1, seed=5)[0]
        for huge, place in product((1e60, 1e200, -1e300), range(len(inputs) + 1)):
            learner = self.taught()
            before = learner.state()
            what = f"{huge:g} in {_name(place, inputs)}"
            try:
                learner.update(*_spoiled((*inputs, measured), place, 0, huge))
            except IcubLearningError as error:
                assert error.name, f"the error for {what} has no name: {error!r}"
                assert_same(before, learner.state(), f"the learner after it refused {what}")
            for key, value in learner.state().items():
                finite = value.dtype.kind != "f" or bool(np.isfinite(value).all())
                assert finite, f"after {what}, state[{key!r}] is not finite"

    def test_a_wrong_size_is_refused_and_changes_nothing(self) -> None:
        """update and predict refuse arrays that are too short, too long, empty, or single numbers."""
        learner = self.taught()
        before = learner.state()
        inputs, measured = self.samples(1, seed=5)[0]
        for place, right in enumerate((*inputs, measured)):
            for wrong in (right[:-1], np.append(right, 0.0), np.empty(0), 0.0):
                arguments: list[Any] = [*inputs, measured]
                arguments[place] = wrong
                what = f"shape {np.shape(wrong)} of {_name(place, inputs)}, which has shape {right.shape}"
                _refusal(learner.update, arguments, what)
                if place < len(inputs):
                    _refusal(learner.predict, arguments[:-1], what)
        assert_same(before, learner.state(), "the learner after it refused arrays of a wrong size")

    def test_a_state_with_an_entry_missing_or_wrong_is_refused(self) -> None:
        """Restoring raises an IcubLearningError if an entry of the state is missing or of another shape."""
        state = self.taught().state()
        for entry in state:
            missing = {key: value for key, value in state.items() if key != entry}
            _refusal(self.restore, [missing], f"a state without {entry!r}")
            wrong = {**state, entry: np.full((2, 2, 2), np.nan)}
            _refusal(self.restore, [wrong], f"a state whose {entry!r} is a (2, 2, 2) array of NaN")

    def test_what_it_keeps_does_not_grow(self) -> None:
        """The state of a learner that has learned `n_until_full` samples has a fixed size, whatever it learns then."""
        learner = _teach(self.taught(), self.samples(max(0, self.n_until_full - N_SAMPLES), seed=7))
        before = {key: value.nbytes for key, value in learner.state().items()}
        _teach(learner, self.samples(3 * N_SAMPLES, seed=6))
        after = {key: value.nbytes for key, value in learner.state().items()}
        grown = {key: (before.get(key), size) for key, size in after.items() if size != before.get(key)}
        assert before == after, f"{3 * N_SAMPLES} samples after n_until_full these sizes [bytes] changed: {grown}"

    def test_no_default_can_be_changed_from_outside(self) -> None:
        """No method has a list, dict, set or array as a default argument."""
        for kind in self.classes():
            for name, method in inspect.getmembers(kind, lambda one: inspect.isfunction(one) or inspect.ismethod(one)):
                for parameter in inspect.signature(method).parameters.values():
                    mutable = isinstance(parameter.default, (list, dict, set, np.ndarray))
                    assert not mutable, f"{kind.__name__}.{name} has a default that can be changed: {parameter}"

    def _answers(self, learner: Any) -> State:
        answers = [self.answer(learner.predict(*inputs)) for inputs, _ in self.samples(10, seed=1)]
        return {"prediction": np.array(answers)}


def check_learner(
    make: Callable[[], Any], sample: Callable[[np.random.Generator], Sample], *,
    restore: Callable[[dict[str, NDArray[Any]]], Any] | None = None,
    answer: Callable[[Any], ArrayLike] | None = None, n_until_full: int = N_SAMPLES,
) -> None:  # fmt: skip
    """Check that a learner keeps every promise of LearnerContract.

    Args:
        make: returns a new learner, an equal one at each call.
        sample: draws one sample: the inputs of a prediction as a tuple of arrays, and the measurement as an array.
        restore: returns a learner from a saved state; by default the class method `from_state` of what `make` returns.
        answer: returns all numbers of a prediction as one array, those that predict the measurement first; by default
            the prediction itself.
        n_until_full: samples after which the state must not grow: the capacity of a memory, if any.

    Raises ContractError: the learner fails a check; the message lists every failure.
    """
    given: dict[str, Any] = {"make": lambda _: make(), "sample": lambda _, rng: sample(rng)}
    given["n_until_full"] = n_until_full
    if restore is not None:
        given["restore"] = lambda _, state: restore(state)
    if answer is not None:
        given["answer"] = lambda _, prediction: np.asarray(answer(prediction))
    type("Given", (LearnerContract,), given)().check()


class ClassifierAsLearner:
    """A classifier (learn, scores, classes, state as IncrementalClassifier has them) as a learner of 0/1 targets.

    An example is learned as the class ("0", "1" ..., of `n_classes`) whose target is 1.
    """

    def __init__(self, classifier: Any, n_classes: int = 3) -> None:
        self.classifier, self.n_classes = classifier, n_classes

    def update(self, x: ArrayLike, target: ArrayLike) -> None:
        """Learn `x` (d,) as the class at the largest entry of `target` (n_classes,)."""
        self.classifier.learn(x, str(int(vector("target", target, self.n_classes).argmax())))

    def predict(self, x: ArrayLike) -> Array:
        """Return the scores (n_classes,) of `x` (d,); 0 for a class that has no example yet."""
        scores = dict(zip(self.classifier.classes, np.ravel(self.classifier.scores(x)), strict=True))
        return np.array([scores.get(str(place), 0.0) for place in range(self.n_classes)])

    def state(self) -> State:
        """Return the state of the classifier."""
        return self.classifier.state()


class FeaturesContract(Contract):
    """Promises of an object that computes features of images: `transform(image)` returns a vector. Define `make`."""

    whose = "the features'"

    def images(self) -> list[NDArray[np.uint8]]:
        """Return RGB images (height, width, 3) of several sizes."""
        rng = np.random.default_rng(0)
        return [rng.integers(0, 256, shape, np.uint8) for shape in ((480, 640, 3), (64, 48, 3), (480, 640, 3))]

    def test_features_are_finite_vectors_of_one_length(self) -> None:
        """For all images, `transform` returns finite numbers (d,) with the same d."""
        vectors = [np.asarray(self.make().transform(image)) for image in self.images()]
        shapes = {one.shape for one in vectors}
        assert len(shapes) == 1 == vectors[0].ndim, f"the shapes of features of three images are {shapes}"
        assert all(np.isfinite(one).all() for one in vectors), "there are features that are not finite"

    def test_an_image_has_one_vector_and_is_not_written_to(self) -> None:
        """A read-only image has the same features again after other images, and from a second object."""
        features, (image, *others) = self.make(), self.images()
        image.flags.writeable = False
        first = np.array(features.transform(image))
        for other in others:
            features.transform(other)
        for made in (features, self.make()):
            assert_same({"features": first}, {"features": np.asarray(made.transform(image))}, "the same image again")


class BoxSourceContract(Contract):
    """Promises of a source of boxes: `update(image)` returns a box [px] or None. Define `make` and `images`."""

    whose = "the source's"

    def images(self) -> list[NDArray[np.uint8]]:
        """Return a sequence of RGB images (height, width, 3) at whose end an object is visible."""
        raise NotImplementedError

    def test_boxes_are_in_the_image_which_is_not_written_to(self) -> None:
        """The source takes read-only images, and returns for each None or a box inside it; for the last one, a box."""
        source, box = self.make(), None
        for image in self.images():
            image.flags.writeable = False
            box = source.update(image)
            if box is not None:
                height, width = image.shape[:2]
                inside = np.shape(box) == (4,) and 0 <= box[0] < box[2] <= width and 0 <= box[1] < box[3] <= height
                assert inside, f"{box} is no box x1 < x2, y1 < y2 in an image of {width} x {height} px"
        assert box is not None, "no box in the last image"

    def test_a_lesson_makes_the_source_with_its_label(self) -> None:
        """The class makes another source when it is called as each lesson calls it: with the label of its object."""
        for kind in self.classes():
            kind("a label")

    def test_an_image_without_an_object_has_no_box(self) -> None:
        """A source that has seen only black images returns None for one more."""
        source = self.make()
        found = [source.update(np.zeros_like(image)) for image in self.images()]
        assert found[-1] is None, f"{found[-1]} in a black image"


def same_arrays(first: State, second: State) -> bool:
    """Return whether two states have equal names, dtypes, shapes and numbers, bit for bit."""
    return not any(_differences(first, second))


def assert_same(expected: State, found: State, who: str) -> None:
    """Raise AssertionError with the entries in which `found`, which belongs to `who`, differs from `expected`."""
    differences = list(_differences(expected, found))
    assert not differences, f"{who} differs: {'; '.join(differences)}"


def _differences(first: State, second: State) -> Iterator[str]:
    for key in sorted(first.keys() ^ second.keys()):
        yield f"{key!r} is in one of the two only"
    for key in sorted(first.keys() & second.keys()):
        a, b = np.asarray(first[key]), np.asarray(second[key])
        if (a.dtype, a.shape) != (b.dtype, b.shape):
            yield f"{key!r} is {a.dtype} {a.shape} and {b.dtype} {b.shape}"
        elif not np.array_equal(a, b, equal_nan=a.dtype.kind == "f"):
            place = tuple(int(index) for index in np.argwhere(~((a == b) | ((a != a) & (b != b))))[0])
            yield f"{key!r} is {a[place]} and {b[place]} at {place}"


def _refusal(call: Callable[..., Any], arguments: list[Any], what: str) -> IcubLearningError:
    """Return the IcubLearningError that the call raises; any other outcome is an AssertionError."""
    try:
        call(*arguments)
    except IcubLearningError as error:
        return error
    except Exception as error:
        raise AssertionError(f"{what} raises {error!r} instead of an IcubLearningError") from error
    raise AssertionError(f"{what} is accepted by {getattr(call, '__name__', call)}")


def _teach(learner: Any, samples: Iterable[Sample]) -> Any:
    for inputs, measured in samples:
        learner.update(*inputs, measured)
    return learner


def _spoiled(arrays: Iterable[Array], place: int, index: int, number: float) -> list[Array]:
    """Return copies of arrays, with a number at an index of one of them."""
    copies = [array.astype(float) for array in arrays]
    copies[place].flat[index] = number
    return copies


def _arrays_of(prediction: Any) -> list[NDArray[Any]]:
    """Return the arrays of a prediction: itself, the entries of a tuple, or the attributes of an object."""
    if isinstance(prediction, np.ndarray):
        return [prediction]
    holds = isinstance(prediction, tuple) or hasattr(prediction, "__dict__")
    assert holds, f"a prediction is a {type(prediction).__name__}; it must be an array, or a tuple or object of arrays"
    entries = prediction if isinstance(prediction, tuple) else vars(prediction).values()
    return [entry for entry in entries if isinstance(entry, np.ndarray)]


def _name(place: int, inputs: tuple[Array, ...]) -> str:
    return f"input {place}" if place < len(inputs) else "the measurement"
