"""Experiments that take minutes, cut so short that their results mean little, beside their records."""

from typing import Any

import pytest
from helpers import records
from sklearn.base import clone

from icub_learning.cli.demo import changes
from icub_learning.experiments import detection
from icub_learning.experiments.change import control, experiment, forces, live_arm, loads_and_pushes, wear
from icub_learning.experiments.peers import contacts, loads

CUT: dict[Any, dict[str, Any]] = {
    changes: {"LEARNING": 8.0, "CARRIED": 4.0, "AFTER": 2.0, "PUSHED": 1.5},
    contacts: {"LEARNED": 3.0, "QUIET": 4.0, "FORCES": (5.0, 10.0), "PUSHES": 1, "PAUSE": 0.5, "GAINS": (20.0, 40.0)},
    control: {"LEARNING": 0.5, "SETTLING": 0.1, "JUDGED": 0.3},
    detection: {
        "ROWS": {"random": detection.Bootstrap("random", 1, 200), detection.DEFAULT: detection.Bootstrap("full")},
        "PUBLISHED": {detection.DEFAULT: (40.0, 48.1)}, "TUNED_NEGATIVES": 300,
        "TUNED_FALKON": clone(detection.TUNED_FALKON).set_params(n_centers=100),
    },
    experiment: {"TO_TELL": 1, "real": lambda *_: 0.08}, wear: {"BEGUN": 1.0, "LEVEL": 2.0},
    forces: {"LEARNING": 2.0, "FORCES": (5.0,), "DRAWS": 1, "PAUSE": 1.0},
    live_arm: {"RATE": 100, "STEPS": 10}, loads: {"LEARNED": 8.0, "HORIZONS": (0.5, 1.5)},
    loads_and_pushes: {"LEARNING": 12.0, "BASE": 1.0, "HELD": 10.0, "PAUSE": 2.0, "RANDOM_HELD": 1.0},
}  # fmt: skip


@pytest.fixture(autouse=True)
def short(monkeypatch):
    for module, names in CUT.items():
        for name, value in names.items():
            monkeypatch.setattr(module, name, value)


CHANGES = [f"change --parts {part} --seeds 0 --excitations 20" for part in experiment.PARTS]


@pytest.mark.parametrize("line", [*CHANGES, *(f"peers --parts {part}" for part in ("contacts", "loads"))])
def test_beside_their_records(run, line):
    run(*line.split())


@pytest.mark.usefixtures("renderer")
def test_detection(run, monkeypatch):
    monkeypatch.setattr("helpers.records.check", lambda *_: None)  # each renderer draws in its own way
    text, found = run("detection", "--scenes", 4, "--tests", 2, "--threads", 1)
    judged = found["results"][detection.DEFAULT]
    row = f"{detection.DEFAULT} {judged['training']:.1f} s {100 * judged['mean']:.1f} 40 s 48.1 random background"
    assert row in (words := " ".join(text.split())) and "10 objects, at most 60 frames each, 2 tables" in words
    assert f"Detection: {1 / judged['detection']:.1f} images/s. An eleventh object (traffic_cone, AP " in words
    assert found["results"].keys() == {"random", detection.DEFAULT, detection.TUNED}


def test_changes_of_the_demonstration(tmp_path):
    with records.drawn() as shown:
        figures, text = changes.show(tmp_path)
    found = {"figures": figures | {"wall_s": 0.0}, "printed": text, "drawn": shown}
    records.check(__file__, "changes of the demonstration", found)
