"""The comparison: all learners see what ours sees and nothing before it is due; kept results are those asked for."""

from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest
from helpers import records

from icub_learning.cli.main import main
from icub_learning.dynamics import assembly
from icub_learning.dynamics.settings import Settings
from icub_learning.errors import IcubLearningError
from icub_learning.evaluation.predict_then_learn import evaluate
from icub_learning.experiments.peers import cases, experiment, page, rivals, trial
from icub_learning.experiments.peers.tape import Tape, record
from icub_learning.simulation.zoo import ZOO


@pytest.fixture(scope="module")
def case():
    found = ZOO["icub_wrench_50hz"].record(6.0, 0)
    settings = Settings(**found.settings)
    return found.recording, settings, record(found.recording, settings)


def test_ours_is_what_evaluate_says_of_the_same_recording(case):
    recording, settings, tape = case
    regressor = assembly.make_regressor(settings)
    stream = assembly.make_stream(settings, regressor, assembly.make_estimator(settings, regressor))
    expected, known = evaluate(stream, recording.events()), np.isfinite(tape.measured).all(axis=1)
    np.testing.assert_allclose(tape.ours[known], expected.predicted, rtol=1e-9)
    np.testing.assert_allclose(tape.rigid[known], expected.parametric, rtol=1e-9)
    np.testing.assert_array_equal(tape.measured[known], expected.measured)
    assert int((tape.order < 0).sum()) == expected.n_learned


class Last:
    """Predicts the output learned last, plus a bias."""

    def __init__(self, n_outputs, bias=0.0):
        self.value, self.bias = np.zeros(n_outputs), bias

    def predict(self, motion):
        return self.value + self.bias

    def learn(self, motion, y):
        self.value = y


def test_a_sample_is_predicted_before_it_is_learned_once_from_what_was_learned_by_then(case, monkeypatch):
    tape = case[2]
    monkeypatch.setattr(trial, "thread_time", iter((1.0, 4.0, 0.0, 0.0)).__next__)
    places = {step: place for place, step in enumerate(tape.order.tolist())}
    assert len(places) == len(tape.order) and set(range(len(tape.times))) <= set(places)
    learned = [-1 - step for step in places if step < 0]
    assert len(learned) > 200 and all(places[step] < places[-1 - step] for step in learned)
    (made, microseconds), value = trial.predictions(tape, Last(6), None, len(tape.times)), np.zeros(6)
    for step in tape.order:
        if step >= 0:
            np.testing.assert_array_equal(made[step], value)
        else:
            value = tape.measured[-1 - step]
    assert microseconds == pytest.approx(3e6 / len(tape.times))
    on_top, _ = trial.predictions(tape, Last(6), tape.rigid, len(tape.times), wait=100.0)
    np.testing.assert_array_equal(on_top, tape.rigid)  # nothing is learned before the wait is over


def stretched(tape):
    """Return a tape, slowed down so that the part for choosing settings does not end within the first seconds."""
    return replace(tape, times=tape.times * 4.0)


def test_the_search_finds_the_settings_with_the_least_error(case):
    tape, choices = stretched(case[2]), {"bias": (3.0, 0.5, 0.0), "other": (1, 2)}
    rival = rivals.Rival("last", "", Last, choices, lambda told, bias, other: Last(6, bias))
    told = rivals.Told(None, (), tape.motions, tape.measured, 0)
    chosen, tried = trial.search(tape, rival, told, None, quick=False)
    assert chosen["bias"] == 0.0 and tried == 4 and trial.search(tape, rival, told, None, quick=True)[0]["bias"] == 0.5
    # Errors are nMSE, and what diverges is worst.
    tape = case[2]
    rows, made = (tape.times >= 2.0) & np.isfinite(tape.measured).all(axis=1), tape.measured + 0.1
    expected = 0.01 / tape.measured[rows].var(axis=0)
    np.testing.assert_allclose(trial.errors_between(tape, made, 2.0, 100.0), expected, rtol=1e-9)
    assert trial.mean_between(tape, made, 2.0, 100.0) == pytest.approx(np.exp(np.log(expected).mean()))
    assert np.isnan(trial.errors_between(tape, made, 50.0, 100.0)).all()
    made[np.flatnonzero(rows)[-1]] = np.nan
    assert trial.mean_between(tape, made, 2.0, 100.0) == pytest.approx(trial.WORST)
    np.testing.assert_allclose(trial.score(tape, tape.measured + 0.1, changes_at=2.0)["windows"], 0.1, rtol=1e-9)


def test_an_interrupted_comparison_goes_on_with_what_was_not_done(run, tmp_path, monkeypatch, case):
    """Each rival, alone and on top of rigid bodies, competes once."""
    score, asked = {"start": 0.2, "last": 0.1, "curve": [0.1] * (len(trial.CURVE) - 1), "microseconds": 1.0}, []
    score["settings"] = {}

    def compete(_tape, rival, _settings, on_top, *_):
        asked.append((rival.name, on_top))
        if len(asked) == 6:
            raise IcubLearningError("interrupted")
        return score

    monkeypatch.setattr(trial, "compete", compete)
    words = "--recordings", "icub_wrench_50hz", "--parts", "learners", "--seconds", "10"
    with pytest.raises(AssertionError):
        run("peers", *words, folder=tmp_path)
    figures = run("peers", *words, folder=tmp_path)[1]
    assert figures["command"] == " ".join(["icub-learning reproduce peers", *words, "--draws 1 --seed 0"])
    found = figures["learners"]["icub_wrench_50hz"]["learners"]
    expected = [(rival.name, on_top) for rival in rivals.RIVALS for on_top in (False, True)[: 1 + rival.on_top]]
    assert asked == [*expected[:6], *expected[5:]] and len(found) == len(expected) + 3 and found["LWPR + P"] == score
    # Another recording of the same name and length is another one.
    recording, *rest = cases._simulated(words[1], 10.0, 0)
    monkeypatch.setattr(cases, "_simulated", lambda *_: (replace(recording, wrench=2.0 * recording.wrench), *rest))
    assert main(["reproduce", "peers", *words, "--out", str(tmp_path / "out")]) == 0
    assert asked[len(expected) + 1 :] == expected
    assert {"experiments/peers/trial.py", "evaluation/metrics.py"} < set(experiment._sources(experiment.COMPETED))
    work = Mock(return_value={"last": 0.5})
    for key, expected in (("a", 1), ("a", 1), ("b", 2)):
        assert trial.kept(tmp_path / "x.json", key, work) == {"last": 0.5} and work.call_count == expected
    (tmp_path / "x.json").write_text("{")
    assert trial.kept(tmp_path / "x.json", "b", work) and work.call_count == 3
    case[2].save(tmp_path / "tape.npz")
    other = replace(case[2], measured=case[2].measured + 1.0)
    assert Tape.load(tmp_path / "tape.npz").digest == case[2].digest != other.digest


def test_every_rival_learns_alone_and_on_top(case):
    settings, tape, results = case[1], stretched(case[2]), {}
    sums = [round(sum(map(sum, one.choices.values())), 3) for one in rivals.RIVALS]  # of all candidates
    assert sums == [4.999, 11.44, 326.1, 326.35, 326.35, 326.1, 240.014]
    for one in rivals.RIVALS:
        rival = replace(one, choices={name: values[:1] for name, values in one.choices.items()})
        for on_top in (False, True)[: 1 + rival.on_top]:
            found = trial.compete(tape, rival, settings, on_top, 0, True, None)
            assert 0.0 < found["last"] < 30.0, (rival.name, on_top)
            results[f"{rival.name}, {on_top}"] = found | {"microseconds": 0.0}
    records.check(__file__, "rivals", results)


def test_recordings_that_are_missing_are_left_out_and_others_are_of_the_joints_that_move(monkeypatch, tmp_path):
    monkeypatch.delenv("ICUB_LEARNING_DATA", raising=False)
    names = [case.name for case in cases.all_cases(1.0, (1.0, 1.0), 0)]
    assert not set(names) & set(cases.REAL) and "panda_1khz" in names
    assert names[-2:] == ["change XY to XZ", "change XZ to XY"]
    monkeypatch.setenv("ICUB_LEARNING_DATA", str(tmp_path))
    monkeypatch.setattr(cases, "read", lambda path: Mock(joint_names=("a", "b"), path=path))
    four = tuple(f"arm_{number}_joint" for number in (1, 2, 3, 4))
    for name, file, joints in (("ur10", cases.UR10, ("a", "b")), ("tiago", "arms/tiago.npz", four)):
        assert cases.real_recording(name) is None
        (path := tmp_path / file).parent.mkdir()
        path.touch()
        recording, settings = cases.real_recording(name)
        assert (recording.path, settings.joints, settings.output) == (path, joints, "joint_torque")
    monkeypatch.setattr(cases, "simulate", lambda parts, *_: Mock(joint_names=[*cases.JOINTS, "x"], parts=parts))
    last = cases.all_cases(1.0, (3.0, 2.0), 0)[-1]
    recording, settings, _ = last.load()
    assert settings.extra_joints == ("x",) and last.changes_at == 3.0
    assert recording.parts == [("circle_xz", 3.0), ("circle_xy", 2.0)]


def test_the_page_says_who_is_first_and_where_ours_is_behind(tmp_path, capsys):
    names = page.OURS, page.RIGID, page.LEAST_SQUARES, "I-SSGPR + P"
    same = {"curve": [0.1] * (len(trial.CURVE) - 1), "microseconds": 100.0}
    given = {"one": (0.1, 1.0, 0.2, 0.4), "two": (0.3, 1.0, 0.6, 0.2)}
    learners = {name: [{"start": one, "last": one / 2, **same} for one in errors] for name, errors in given.items()}
    plain = {name: {"kind": "real", "learners": dict(zip(names, each, strict=True))} for name, each in learners.items()}
    windows = {"windows": [[1.0, 2.0]] * 4, "after": [0.1] * (len(page.AFTER) - 1)}
    change = {"kind": "change", "learners": dict.fromkeys((page.OURS, page.RIGID, "LWPR"), windows)}
    figures = {"quick": True, "seconds": 1.0, "command": "icub", "learners": plain | {"change XY to XZ": change}}
    page.show(figures, tmp_path, tmp_path / "docs" / "peers.md")
    text = (tmp_path / "docs" / "peers.md").read_text()
    parts = "0.612 times the error of the best rival over all recordings (I-SSGPR + P)", "on 1 of 2", "1.50 (behind)"
    assert all(one in text for one in (*parts, "0.866 times that of the best on each, 1.000 in the median", "0.500 |"))
    assert all((tmp_path / "docs" / "pictures" / f"peers-{one}.png").is_file() for one in ("time", "change"))
    assert "## Change of task, XY to XZ" in text and "| ours / best rival | 1.00 1.00 |" in text
    rows = {row[0]: row for row in page.ranking(list(plain.values()))}
    assert rows[page.OURS][1:4] == ["1.00", "1.50", "1"] and rows["I-SSGPR + P"][1:4] == ["1.63", "2.00", "1"]
    assert [rows[name][-1] for name in (page.LEAST_SQUARES, "I-SSGPR + P")] == ["100", "200"]  # with the P below it
    assert "I-SSGPR + P" in capsys.readouterr().out
    groups = {row[0]: row[1:] for row in page.over_groups(plain)}
    assert groups["all but one"] == ["1", "1.50", "I-SSGPR + P", "1.50", "I-SSGPR + P"]
    assert groups["real"] == groups["all"] and "simulated" not in groups
    ended = [{"learners": {"a": {"curve": curve}}} for curve in ([1.0, 4.0], [4.0, None])]
    np.testing.assert_array_equal(page._mean_curve(ended, "a", "curve"), [2.0, np.nan])  # all recordings or none
    windows = {page.OURS: [[9.0, 9.0], [0.2, 0.3]], "LWPR": [[1.0, 4.0], [0.4, 0.5]], "NN": [[0.5, 8.0], [0.1, 0.5]]}
    found = page.after_change({"learners": {name: {"windows": one} for name, one in windows.items()} | {"P": {}}})
    assert [row[0] for row in found] == ["NN", page.OURS, "LWPR", "ours / best rival"]
    assert [row[1:] for row in found[1::2]] == [["9.00 9.00", "0.200 0.300"], ["18.0 2.25", "2.00 0.600"]]
