"""Few views, unknown objects and late classes on clouds whose answers are known, and the command on all of them."""

import warnings
from dataclasses import replace
from pathlib import Path
from unittest.mock import MagicMock, Mock

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from icub_learning.cli.main import main
from icub_learning.errors import ParameterError, RecordingError
from icub_learning.experiments.data import images
from icub_learning.experiments.recognition import contenders, experiment, late, many, unknown, views
from icub_learning.recognition import AdaptiveClassifier, IncrementalClassifier
from icub_learning.recognition.settings import DEFAULTS

D, CONTENDERS = 12, {**contenders.OURS, **contenders.RIVALS}


def clouds(n_classes=6, n=40, noise=0.25, seed=0):
    """Return views to teach and query views of each class, around unit vectors that are far apart."""
    rng = np.random.default_rng(seed)
    centres = np.linalg.qr(rng.normal(size=(D, D)))[0][:n_classes]
    return {f"c{k}": tuple(centres[k] + noise * rng.normal(size=(2, n, D))) for k in range(n_classes)}


def nearest_mean(drawn):
    """Return the class with the nearest mean of its taught views, which is nearly the best rule on these clouds."""
    means = np.array([rows.mean(axis=0) for rows in drawn.taught.values()])
    return ((drawn.asked[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)


def test_draws_are_disjoint_and_repeat():
    numbered = {name: (a + 1e3 * k, b + 1e3 * k) for k, (name, (a, b)) in enumerate(clouds().items())}
    few, many = views.draw(numbered, 3, 4, 7, n_unknown=2), views.draw(numbered, 3, 9, 7, n_unknown=2)
    assert list(few.taught) == list(many.taught) and [len(rows) for rows in few.taught.values()] == [4] * 3
    for name in few.taught:
        np.testing.assert_array_equal(few.taught[name], many.taught[name][:4])
    np.testing.assert_array_equal(few.asked, many.asked)
    drawn = np.round(few.asked.mean(axis=1) / 1e3)  # class of each query view
    names = [list(numbered).index(name) for name in few.taught]
    assert all((drawn[few.targets == place] == index).all() for place, index in enumerate(names))
    assert not set(drawn[few.targets < 0]) & set(names) and len(set(drawn[few.targets < 0])) == 2
    everything = np.concatenate([*many.taught.values(), many.asked])
    assert len(np.unique(everything, axis=0)) == len(everything)
    assert list(views.draw(numbered, 3, 4, 8).taught) != list(few.taught)
    with pytest.raises(ParameterError, match="and 2 others"):
        views.draw(numbered, 5, 4, 0, n_unknown=2)
    numbered["c0"] = (numbered["c0"][0][:2], numbered["c0"][1])  # too few views to be taught
    assert all("c0" not in views.draw(numbered, 3, 4, seed, n_unknown=2).taught for seed in range(5))
    assert any((np.round(views.draw(numbered, 3, 4, seed, n_unknown=2).asked.mean(axis=1)) < 500).any()
               for seed in range(5))  # fmt: skip
    with pytest.raises(ParameterError):
        views.draw(numbered, 1, 41, 0)


@pytest.mark.parametrize("name", CONTENDERS)
def test_every_contender_is_near_the_best_rule(name):
    drawn = views.draw(clouds(noise=0.15), 6, 20, 1)
    best = views.accuracy(nearest_mean(drawn), drawn.targets)
    assert best > 0.95
    for n in (1, 3, 20):
        taught = {label: rows[:n] for label, rows in drawn.taught.items()}
        right = views.accuracy(contenders.named_by(CONTENDERS[name], taught, drawn.asked), drawn.targets)
        assert right > (0.6 if n == 1 else best - 0.12)  # chance is 0.17


def test_rivals_get_the_setting_that_serves_them():
    # One direction has most of the variance and carries no information: an LDA shrunk to the identity fails.
    loud, rng = np.linalg.qr(np.random.default_rng(3).normal(size=(D, D)))[0][0], np.random.default_rng(4)
    pools = {name: tuple(rows + 2.0 * rng.normal(size=(len(rows), 1)) * loud for rows in pair)
             for name, pair in clouds(noise=0.05).items()}  # fmt: skip
    drawn, lda = views.draw(pools, 6, 20, 0), contenders.RIVALS["shrunk LDA"]
    chosen = contenders.named_by(lda, drawn.taught, drawn.asked)
    spoiled = contenders.named_by(replace(lda, settings=(0.999999,)), drawn.taught, drawn.asked)
    named, targets = np.array([0, 0, 1, 1, 1, 0]), np.array([0, 0, 0, 1, 1, 2])
    assert views.accuracy(named, targets) == pytest.approx((2 / 3 + 1 + 0) / 3)
    assert all(list(one.settings) == sorted(one.settings) for one in contenders.RIVALS.values())
    fixed = {name: (rows * (np.arange(D) > 0), other) for name, (rows, other) in clouds().items()}
    without = views.draw(fixed, 6, 5, 1)
    with warnings.catch_warnings(action="error"):  # features that do not vary are no reason to warn
        contenders.named_by(contenders.RIVALS["class mean"], without.taught, without.asked)
    assert views.accuracy(chosen, drawn.targets) > 0.9 > views.accuracy(spoiled, drawn.targets) + 0.1


def test_unknown_objects_after_lessons(monkeypatch, capsys):
    pools = clouds(noise=0.12)
    one = unknown.judge(pools, 4, 2, 15, 0)
    assert one.largest > 0.95 and one.label > 0.85 and one.auroc > 0.95 and one.rejected > 0.8
    assert one.calibration < 0.15 and one.label <= one.largest + 1e-12
    every = unknown.judge(pools, 4, 2, 15, 0, replace(DEFAULTS, reject_known=1.0))
    assert every.label == 0.0 and every.false_rejections == every.true_rejections == 1.0
    none = unknown.judge(pools, 4, 2, 15, 0, replace(DEFAULTS, reject_known=0.0))
    assert none.label == none.largest == one.largest and none.true_rejections == 0.0
    assert abs(unknown.judge(dict.fromkeys("abcdef", pools["c0"]), 3, 3, 15, 0).auroc - 0.5) < 0.1
    monkeypatch.setattr(unknown, "judge", judge := Mock(return_value=replace(one, auroc=0.98, rejected=0.849)))
    monkeypatch.setitem(views.SETS, "objects", lambda *_: pools)
    assert main(["reproduce", "recognition", "--on", "objects", "--parts", "unknown", "--seeds", "4"]) == 0
    assert [asked.args for asked in judge.call_args_list] == [(pools, n, 24 - n, 20, 4) for n in (2, 5, 12, 18)]
    rows = [line for line in capsys.readouterr().out.splitlines() if "AUROC" in line or "unknown rejected" in line]
    assert [row.split()[-1] for row in rows] == ["NO", "NO", "NO", "NO", "yes", "NO", "yes", "NO"]
    right = np.array([True, True, False, False])
    assert unknown.calibration_error(np.array([1.0, 1.0, 0.0, 0.0]), right) == 0.0
    assert unknown.calibration_error(np.array([0.0, 0.0, 1.0, 1.0]), right) == 1.0
    # Half of the labels with confidence 0.75 are right, and all with 0.45: (2 * 0.25 + 2 * 0.55) / 4.
    found = unknown.calibration_error(np.array([0.75, 0.75, 0.45, 0.45]), np.array([True, False, True, True]))
    assert found == pytest.approx(0.4)
    assert unknown.auroc(np.array([0.9, 0.5]), np.array([0.5, 0.1])) == pytest.approx(3.5 / 4)
    assert unknown.auroc(np.array([0.1, 0.2]), np.array([0.8])) == 0.0


def test_late_class_by_hand():
    pools = clouds(noise=0.4)
    found = late.judge(pools, 3, 2, 4, few=2, many=(10, 15))
    assert set(found) == set(late.WEIGHTINGS)
    known = views.draw(pools, 3, 10, 4)
    lately, right = views.draw({name: pair for name, pair in pools.items() if name not in known.taught}, 2, 2, 4), []
    for place, (name, rows) in enumerate(lately.taught.items()):
        classifier = IncrementalClassifier(D, recoding=0.0)
        for k, label in enumerate(known.taught):
            classifier.learn(pools[label][0][np.random.default_rng([4, k]).permutation(40)[:15]], label)
        classifier.learn(rows, name)
        right.append(np.mean([one == name for one in classifier.predict(lately.asked[lately.targets == place])]))
    assert found["least squares, none"]["late"] == pytest.approx(np.mean(right))
    assert found[late.RECODED]["late"] > found["least squares, none"]["late"]
    assert min(one["others"] for one in found.values()) > 0.5  # chance is 0.25


def test_orders_and_numbers_of_many_views_and_the_closed_forms_of_rivals():
    targets = np.repeat(np.arange(3), 4)
    one, rounds, mixed = (many.ordered(order, targets, 0) for order in many.ORDERS)
    assert one.tolist() == list(range(12))
    assert targets[rounds].tolist() == [0, 1, 2] * 4 and rounds[::3].tolist() == [0, 1, 2, 3]
    assert sorted(mixed) == list(range(12)) and mixed.tolist() != one.tolist()
    pools = clouds(10, 40)
    assert list(many.cells(pools)) == [(10, 3), (10, 10), (10, 30)]
    pools["c0"] = (pools["c0"][0][:5], pools["c0"][1])
    assert list(many.cells(pools)) == [(10, 3), (9, 10), (9, 30)]
    rng = np.random.default_rng(0)
    x, asked, targets = rng.normal(size=(10, 30)), rng.normal(size=(4, 30)), np.arange(10) % 3
    wide, rows = list(many.ridge(x, targets, asked)), x / np.linalg.norm(x, axis=1, keepdims=True)
    others = asked / np.linalg.norm(asked, axis=1, keepdims=True)
    for power, scores in zip(range(-4, 2), wide, strict=True):
        weights = np.linalg.solve(rows.T @ rows + 10.0**power * np.eye(30), rows.T @ np.eye(3)[targets])
        np.testing.assert_allclose(scores, others @ weights, rtol=1e-6, atol=1e-8)
    rng, targets = np.random.default_rng(0), np.repeat(np.arange(4), 10)
    x, asked = rng.normal(size=(40, 6)) + 0.3 * targets[:, None], rng.normal(size=(9, 6))
    rows, others = (part / np.linalg.norm(part, axis=1, keepdims=True) for part in (x, asked))
    for share, scores in zip((1e-4, 1e-2, 0.05, 0.2, 0.5, 0.9), many.streaming_lda(x, targets, asked), strict=True):
        exact = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=share).fit(rows, targets).decision_function(others)
        np.testing.assert_allclose(np.diff(scores), np.diff(exact), atol=1e-10)  # but for the chance of a class


@pytest.mark.parametrize("name", many.RIVALS)
def test_rivals_on_many_views_are_near_the_best_rule(name, monkeypatch):
    monkeypatch.setattr(many, "N_RANDOM", 300)
    drawn = views.draw(clouds(noise=0.15), 6, 20, 1)
    x, targets = np.concatenate(list(drawn.taught.values())), np.repeat(np.arange(6), 20)
    best = max(views.accuracy(s.argmax(axis=1), drawn.targets) for s in many.RIVALS[name](x, targets, drawn.asked))
    assert best > views.accuracy(nearest_mean(drawn), drawn.targets) - 0.05


def test_photographs_are_read_and_damage_is_refused(tmp_path):
    x, labels = np.random.default_rng(0).normal(size=(6, 3)), np.array(["pear", "apple"] * 3)
    split = np.array(["train", "train", "test", "val", "train", "test"])
    np.savez(tmp_path / Path(images.GROCERY).name, X=x.astype(np.float16), y=labels, split=split)
    found = images.load_grocery(tmp_path)
    assert list(found) == ["apple", "pear"]
    np.testing.assert_allclose(found["pear"][0], x[[0, 4]], rtol=1e-3)
    np.testing.assert_allclose(found["apple"][1], x[[3, 5]], rtol=1e-3)
    np.savez(tmp_path / "other.npz", X=x, y=labels[:2], split=split)
    for path in (tmp_path / "nowhere", tmp_path / "other.npz", tmp_path / "text.npz"):
        (tmp_path / "text.npz").write_text("no archive")
        with pytest.raises(RecordingError):
            images.load_grocery(path)


def test_rendered_objects_are_kept_and_another_file_is_refused(tmp_path, monkeypatch):
    scene = MagicMock()
    monkeypatch.setattr("icub_learning.simulation.ObjectScene", scene)
    monkeypatch.setattr("icub_learning.recognition.CNNFeatures", lambda: Mock(transform=lambda view: np.full(3, view)))
    made = scene.return_value.__enter__.return_value
    made.names, made.render = ["cup", "ball"], lambda view: getattr(view, "turn", view)
    for turntable, turns in ((False, [0, 1, 2, 3]), (True, 0.5 * np.pi * np.arange(4))):
        for _ in range(2):  # rendered, then read
            found = images.rendered_objects(4, tmp_path / f"{turntable}.npz", turntable)
            assert list(found) == ["cup", "ball"] and scene.call_count == turntable + 1
            np.testing.assert_allclose([found["cup"], found["ball"]], [np.outer(turns, np.ones(3))] * 2)
    np.savez(tmp_path / "flat.npz", a=np.zeros(3))
    with pytest.raises(RecordingError, match="holds no features"):
        images.load_features(tmp_path / "flat.npz")


def test_command(tmp_path, monkeypatch, run):
    sets = {"grocery": clouds(10, 40, 0.12), "mnist": clouds(10, 40, 0.1), "textures": clouds(10, 40, 0.1, 1)}
    sets = {title: {name: (taught, asked[:15]) for name, (taught, asked) in one.items()} for title, one in sets.items()}
    for name, some in sets.items():
        monkeypatch.setitem(views.SETS, name, lambda data, out, some=some: some)
    monkeypatch.setitem(views.SETS, "objects", lambda data, out: images.load_grocery(tmp_path / "nowhere"))
    monkeypatch.setattr(contenders, "RIVALS", dict(list(contenders.RIVALS.items())[:2]))
    for name, value in {"KNOWN": 5, "UNKNOWN": 4, "LATE_CLASSES": 2, "CLASSES": 4, "N_VIEWS": (1, 4)}.items():
        monkeypatch.setattr(experiment, name, value)
    monkeypatch.setattr(many, "N_VIEWS", (3, 10))
    monkeypatch.setattr(many, "N_RANDOM", 100)
    _, found = run("recognition", "--on", "grocery", "objects", "mnist", "textures", "--seeds", 0, 1, folder=tmp_path)
    accuracy = found["views"]["grocery"]["accuracy"]
    assert "nowhere" in found["left out"]["objects"] and list(accuracy) == [*contenders.OURS, *contenders.RIVALS]
    drawn, classifier = views.draw(sets["grocery"], 4, 4, 1), AdaptiveClassifier(D)
    for label, rows in drawn.taught.items():
        classifier.learn(rows, label)
    right = np.array(classifier.predict(drawn.asked)) == np.array(list(drawn.taught))[drawn.targets]
    expected = np.mean([right[drawn.targets == k].mean() for k in range(4)])
    assert accuracy["adaptive (default)"][1][1] == pytest.approx(expected)
    judged = [unknown.judge(sets["grocery"], 5, 4, 20, seed) for seed in (0, 1)]
    assert found["unknown"]["grocery, 5 known, 20 views"]["auroc"] == [one.auroc for one in judged]
    others = [unknown.judge(sets["mnist"], 5, 5, 20, seed) for seed in (0, 1)]
    assert found["unknown"]["mnist, 5 known, 20 views"]["rejected"] == [one.rejected for one in others]
    for cell in found["many"].values():  # chance is 0.1
        assert set(cell) == {*many.OURS, *many.RIVALS} and min(min(one["accuracy"]) for one in cell.values()) > 0.8
    nothing = "--on", "objects", "--parts", "many", "late", "--out", str(tmp_path / "none")
    assert main(["reproduce", "recognition", *nothing]) == 2 and not (tmp_path / "none").exists()
