"""The experiment of thesis 8.4.3 on the simulated arm: its bookkeeping against brute force, and its result."""

from unittest.mock import Mock

import numpy as np
import pytest

from icub_learning.dynamics import assembly
from icub_learning.dynamics.settings import Settings
from icub_learning.errors import ParameterError
from icub_learning.evaluation.predict_then_learn import evaluate
from icub_learning.experiments.thesis.change_of_task import protocol
from icub_learning.robots import find_urdf

N = 40  # samples recorded in each plane
ARM = ("r_shoulder_pitch", "r_shoulder_roll", "r_shoulder_yaw", "r_elbow")


def settings(**changes):
    return Settings(urdf=find_urdf("icub"), joints=ARM, velocity_delay=protocol.VELOCITY_DELAY, **changes)


@pytest.fixture(scope="module")
def planes():
    return {plane: protocol.record(plane, N, seed=1) for plane in protocol.PLANES}


def test_every_part_starts_from_what_was_learned_in_the_first_plane(planes):
    chosen = settings(estimator="semiparametric", n_random_features=60)
    outcome, regressor = protocol.learn_and_transfer(planes, chosen), assembly.make_regressor(chosen)

    def errors(estimator, recording):
        return evaluate(assembly.make_stream(chosen, regressor, estimator), recording.events()).errors

    learner = assembly.make_estimator(chosen, regressor)
    np.testing.assert_array_equal(outcome.first, errors(learner, planes["circle_xy"]))
    saved = learner.state()
    for part, recording in zip(outcome.parts, protocol.cut(planes["circle_xz"]), strict=True):
        np.testing.assert_array_equal(part, errors(type(learner).from_state(saved, regressor), recording))


def of_components(errors):
    """Return the mean over the columns of their RMSE, computed in a loop, as the text of the thesis defines it."""
    return sum(np.sqrt(sum(e * e for e in column) / len(column)) for column in errors.T) / errors.shape[1]


def test_figures_are_means_over_components_and_over_parts_that_hold_all_samples_once(planes):
    random = np.random.default_rng(0)
    axes = np.array([1.0, 5.0, 0.1, 2.0, 0.01, 1.0])  # scale of each axis: pooling the axes gives another figure
    outcome = protocol.Outcome(axes * random.normal(size=(300, 6)), axes * random.normal(size=(4, 90, 6)))
    expected = np.mean([of_components(part[:30, 3:]) for part in outcome.parts])
    assert outcome.rmse("torque")["first 30"] == pytest.approx(expected)
    expected = np.mean([of_components(part[60:, :3]) for part in outcome.parts])
    assert outcome.rmse("force")["steady"] == pytest.approx(expected)
    assert outcome.rmse("force")["first plane, steady"] == pytest.approx(of_components(outcome.first[200:, :3]))
    np.testing.assert_allclose(outcome.curves("force")[2, 59], of_components(outcome.parts[2, 30:60, :3]))
    parts = protocol.cut(planes["circle_xz"], 5)
    assert [len(part.wrench_stamps) for part in parts] == [N // 5] * 5
    np.testing.assert_array_equal(np.concatenate([part.wrench for part in parts]), planes["circle_xz"].wrench)
    np.testing.assert_array_equal(np.concatenate([part.position for part in parts]), planes["circle_xz"].position)
    with pytest.raises(ParameterError, match=str(N)):
        protocol.cut(planes["circle_xz"], 7)


def test_command(planes, run, monkeypatch):
    """Its figures equal the errors of the experiment, averaged here; all estimators beat a prediction of zero."""
    outcomes = protocol.compare(planes, settings(seed=1))
    monkeypatch.setattr(protocol, "compare", compare := Mock(return_value=outcomes))
    monkeypatch.setattr(protocol, "record", lambda plane, n, seed: planes[plane] if (n, seed) == (N, 1) else None)
    words, figures = run("figure-8.4", "--samples", N, "--seed", 1)
    assert f"XZ first {N // 10}" in words  # as many as a part has
    compare.assert_called_once_with(planes, settings(seed=1))
    for group, axes in (("force", slice(3)), ("torque", slice(3, 6))):
        found = {short: figures["rmse"][short][group] for short in ("P", "NP", "SP", protocol.THESIS)}
        measured = of_components(planes["circle_xy"].wrench[27:, axes])
        for short, errors in found.items():
            assert errors == pytest.approx(outcomes[short].rmse(group))
            assert errors["first plane, steady"] < 0.9 * measured


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_ratios_of_the_thesis(run, monkeypatch):
    """All 10 000 samples of each plane are used; with fewer a part of the second plane ends before its steady state."""
    monkeypatch.setattr("helpers.records.check", lambda *_: None)
    _, figures = run("figure-8.4")
    for kind in ("ratios, SP of the thesis", "ratios"):
        for name, ratios in figures[kind].items():
            assert max(ratios.values()) <= figures["expected_at_most"][name], (kind, name)
