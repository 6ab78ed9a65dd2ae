"""Figures of a judgement against numbers computed by hand."""

from collections import Counter

import numpy as np
import pytest

from icub_learning.errors import RecordingError
from icub_learning.evaluation.judgement import judge, mere_quantization
from icub_learning.evaluation.predict_then_learn import Evaluation


def evaluation(measured, error, variance=1.0):
    n, none = len(measured), np.zeros(0)
    return Evaluation(
        output_names=("a", "b"), stamps=np.arange(n), predicted=measured + error, parametric=measured,
        measured=measured, held=np.r_[[[np.nan] * 2], measured[:-1]], variance=np.full((n, 2), variance),
        predict_seconds=none, learn_seconds=none, n_joint_states=n, n_predicted=n, n_learned=n, n_unpaired=0,
        refused=Counter(), last_refusal="", faults=Counter(), n_withheld=0, seen=Counter(),
    )  # fmt: skip


def test_figures_by_hand():
    measured = (rng := np.random.default_rng(0)).normal(size=(4000, 2))
    errors = {short: rng.normal(size=(4000, 2)) * scale for short, scale in (("P", 0.4), ("NP", 0.2), ("SP", 0.1))}
    found = judge({short: evaluation(measured, error, 0.01) for short, error in errors.items()}, np.array([0.04, 0.01]))
    figures = found.figures()
    expected = {key: np.mean(error[2800:] ** 2, axis=0) / measured[2800:].var(axis=0) for key, error in errors.items()}
    assert figures["SP"] == pytest.approx(np.sqrt(expected["SP"].prod()))
    assert figures["worst SP/min(P,NP)"] == pytest.approx((expected["SP"] / expected["NP"]).max())
    assert figures["SP/off-line"] == pytest.approx(figures["SP"] / 0.02)
    every = {short: evaluation(measured, error) for short, error in errors.items()}
    inner = errors["SP"][3000:-501], measured[3000:-501]  # a stamp for each nanosecond
    ratio = judge(every, np.array([0.04, 0.01]), 0.75, 5.005e-7).figures()["SP/off-line"]
    assert ratio == pytest.approx(np.sqrt(np.prod(np.mean(inner[0] ** 2, axis=0) / inner[1].var(axis=0))) / 0.02)
    whole = judge(every, None, 0.0)
    np.testing.assert_allclose(whole.nmse["hold"] * measured[1:].var(axis=0), (np.diff(measured, axis=0) ** 2).mean(0))
    assert figures["coverage"] == pytest.approx(0.954, abs=0.01)
    for variance, worst in (([0.01, 0.004], min), ([0.01, 1.0], max)):
        found_so = judge({short: evaluation(measured, error, variance) for short, error in errors.items()}, None)
        assert found_so.figures()["worst coverage"] == worst(found_so.coverage) != np.mean(found_so.coverage)
    rough = np.std(np.diff((measured + errors["SP"])[2800:, 0])) / np.std(np.diff(measured[2800:, 0]))
    assert found.smoothness[0] == pytest.approx(rough)


def test_an_output_of_few_levels_is_named_and_left_out():
    rng = np.random.default_rng(1)
    measured = np.column_stack([np.round(rng.normal(size=1000)), np.round(3 * rng.normal(size=1000))])
    assert mere_quantization(measured).tolist() == [True, False]
    k = np.arange(100)
    levels = [np.where(k < n, k % 5, k) for n in (98, 97)]  # as many samples have one of five values
    assert mere_quantization(np.column_stack([*levels, np.ones(100), k])).tolist() == [True, False, True, False]
    errors = {"P": 1.0, "NP": 2.0, "SP": 0.5}
    found = judge({short: evaluation(measured, np.full((1000, 2), one)) for short, one in errors.items()}, None, 0.0)
    assert found.left_out == ("a",) and found.figures()["SP/min(P,NP)"] == pytest.approx(0.25)
    assert np.isnan(found.figures()["SP/off-line"])
    none = judge(dict.fromkeys(errors, evaluation(measured[:, [0, 0]], np.ones((1000, 2)))), None)
    assert np.isnan(list(none.figures().values())).all()
    with pytest.raises(RecordingError, match="part to judge"):
        judge({"SP": evaluation(np.zeros((1, 2)), np.zeros((1, 2)))}, None)
