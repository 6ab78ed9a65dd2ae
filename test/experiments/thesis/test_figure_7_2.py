"""Accuracy over the recoding, beside a classifier trained and judged for one alpha at a time."""

import numpy as np

from icub_learning.experiments.thesis import figure_7_2, late_class
from icub_learning.recognition.classifiers.incremental_classifier import IncrementalClassifier


def examples():
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(4, 12))
    return {
        str(k): np.hstack([center + 1.6 * rng.normal(size=(300, 12)), np.ones((300, 1))])
        for k, center in enumerate(centers)
    }


def test_one_alpha_at_a_time():
    sizes = late_class.Sizes(100, 60, (2, 20))
    drawn = late_class.split(examples(), sizes, np.random.default_rng(0))
    found = figure_7_2.sweep(drawn, (2, 20), (1.0,))
    for place, n in enumerate((2, 20)):
        for a in (0, 10, 20):
            classifier = IncrementalClassifier(13, 1.0, recoding=float(late_class.RECODINGS[a]))
            for k, rows in enumerate([*drawn.train[:-1], drawn.train[-1][:n]]):
                classifier.learn(rows, str(k))
            right = np.array(classifier.predict(drawn.test)).astype(int) == drawn.test_classes
            late = drawn.test_classes == 3
            # Where no score is positive the two may differ.
            assert abs(found[0, place, a] - right[late].mean()) < 0.02
            assert abs(found[1, place, a] - right[~late].mean()) < 0.02
    assert (found[0, :, -1] > found[0, :, 0] + 0.2).all() and (found[1, :, -1] < found[1, :, 0]).all()


def test_figure_7_2(monkeypatch, run, cells):
    monkeypatch.setattr(figure_7_2, "load_examples", lambda name, given, n_views, out: examples())
    out, found = run("figure-7.2", "--quick", "--draws", "2")
    assert "Published" in out
    late, others = np.array(found["mnist"]["late"]), np.array(found["mnist"]["others"])
    assert found["mnist"]["n_imb"] == [1, 5, 10, 50] and late.shape == (4, 21)
    assert (late[:3, -1] > late[:3, 0] + 0.2).all() and (others[:3, -1] < others[:3, 0]).all()
    row = cells(out, "5")
    assert row[:2] == [f"{100 * late[1, 0]:.1f}", f"{100 * others[1, 0]:.1f}"]
    assert row[-2:] == [f"{100 * late[1, -1]:.1f}", f"{100 * others[1, -1]:.1f}"]
