"""`icub-learning model`, `fleet` and `export-urdf` on files of all kinds, good and bad."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers import records
from helpers.arm_models import taught
from helpers.robots import RIGHT_ARM

from icub_learning import __version__
from icub_learning.cli.main import main
from icub_learning.detection import saved_model as detection
from icub_learning.dynamics import ParametricEstimator, WrenchRegressor
from icub_learning.dynamics.changes.consistency import bodies_of, is_consistent
from icub_learning.dynamics.saved_model import estimator_of
from icub_learning.models import load_state, read_model, save_state, write_model
from icub_learning.models.ledger import accounted
from icub_learning.recognition import assembly as objects


def arm_file(path, n_samples, seed=0, estimator="parametric", **header):
    estimator, description = taught(n_samples, seed, estimator)
    return str(write_model(path, estimator.state(), replace(description.header(n_samples), **header)))


def object_file(path, label, recognizer=None):
    recognizer, rng = recognizer or objects.make_recognizer(objects.Settings()), np.random.default_rng(0)
    recognizer.start_lesson(label, 3)
    for k in range(3):
        recognizer.recognize(k, "net/features", rng.normal(size=8))
        recognizer.learn()
    recognizer.end_lesson()
    header = replace(objects.describe(objects.Settings(), recognizer, "net/features"), saved_at=1.0)
    return str(write_model(path, objects.state_of(recognizer), header))


def test_info_of_all_kinds(tmp_path, capsys):
    files = [arm_file(tmp_path / "arm", 5, saved_at=86461.0), object_file(tmp_path / "objects", "mug")]
    detector, empty = detection.OnlineDetector(), objects.make_recognizer(objects.Settings())
    header = replace(detection.describe(detection.Settings(n_proposals=70), detector), saved_at=1.0)
    for name, *model in (
        ("boxes", detection.state_of(detector), header), ("plain", load_state(files[0])),
        ("empty", objects.state_of(empty), replace(objects.describe(objects.Settings(), empty, ""), saved_at=1.0)),
        ("bare", objects.state_of(empty)),
    ):  # fmt: skip
        files.append(str(write_model(tmp_path / name, *model)))
    assert main(["model", "info", *files, "--json", str(tmp_path / "info.json")]) == 0
    texts = capsys.readouterr().out, (tmp_path / "info.json").read_text()
    out, found = (re.sub(rf"{tmp_path}/|─|20\d\d-.* UTC|{__version__}", "", text) for text in texts)
    records.check(__file__, "info", [out.splitlines(), json.loads(found)])
    assert re.search(f"release  .*{__version__}", texts[0])
    assert main(["model", "merge", files[2], files[2], "--to", str(tmp_path / "none")]) == 2
    assert "detectors are not pooled" in capsys.readouterr().err


def test_models_of_an_own_class_are_read_where_it_is_named(own_package, tmp_path, capsys, monkeypatch):
    learner, classifier, arms = "my_package.learner.SineLearner", "my_package.classifier.NearestMean", []
    for seed, name in enumerate(("monday", "friday")):
        estimator, description = taught(20, seed, learner)
        arms.append(str(write_model(tmp_path / name, accounted(estimator), description.header(20))))
    own = objects.make_recognizer(objects.Settings(classifier=classifier))
    for kind, file in {learner: arms[0], classifier: object_file(tmp_path / "objects", "mug", own)}.items():
        assert main(["model", "check", file]) == 1 and "no file makes" in capsys.readouterr().out
        assert main(["model", "check", file, "--own", kind]) == 0 and main(["model", "info", file, "--own", kind]) == 0
        capsys.readouterr()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    write_model(tmp_path / "icub_learning" / "models" / "kept_arm.npz", *read_model(Path(arms[0])))
    assert main(["model", "check", "kept_arm", "--own", learner]) == 0 and "kept_arm" in capsys.readouterr().out
    assert main(["model", "diff", *arms, "--own", learner]) == 0 and "learner.weights" in capsys.readouterr().out
    assert main(["fleet", "gather", str(tmp_path / "fleet"), arms[0], "--own", learner]) == 0
    assert main(["fleet", "gather", str(tmp_path / "fleet"), arms[1], "--own", learner]) == 2
    assert "a class with the method merge" in capsys.readouterr().err
    assert main(["fleet", "gather", str(tmp_path / "fleet"), arms[1]]) == 2


def test_diff(tmp_path, capsys):
    def diff(*files):
        assert main(["model", "diff", *files, "--json", str(tmp_path / "diff.json")]) == 0
        return json.loads((tmp_path / "diff.json").read_text())

    one, other = arm_file(tmp_path / "one", 5, saved_at=1.0), arm_file(tmp_path / "other", 9, seed=1, saved_at=1.0)
    found, (first, second) = diff(one, other), (load_state(file)["rls.weights"] for file in (one, other))
    change = np.linalg.norm(first - second) / max(map(np.linalg.norm, (first, second)))
    assert found["arrays"]["rls.weights"] == pytest.approx(change)
    mug = object_file(tmp_path / "mug", "mug", recognizer := objects.make_recognizer(objects.Settings()))
    both, apart = object_file(tmp_path / "both", "duck", recognizer), diff(one, mug)
    more, out = diff(mug, both), capsys.readouterr().out.replace(str(tmp_path), "")
    records.check(__file__, "diff", [found, apart, more, *out.splitlines()])
    assert diff(one, one) == {"facts": {}, "arrays": {}} and "all arrays are equal" in capsys.readouterr().out
    *_, many = (object_file(tmp_path / "many", f"cup {k}", recognizer) for k in range(12))
    assert diff(both, many)["facts"]["known objects"][1].endswith("cup 11 (3)")
    assert re.search(r"14, 12 of them only here: cup 0 \(3\), .*cup 9 \(3\) and 2 more", capsys.readouterr().out)


def test_merge_pools_what_both_have_seen(tmp_path, capsys):
    one, other = arm_file(tmp_path / "one", 30, saved_at=1.0), arm_file(tmp_path / "other", 40, seed=1)
    both, figures = str(tmp_path / "both"), tmp_path / "merged.json"
    assert main(["model", "merge", one, other, "--to", both, "--json", str(figures)]) == 0
    assert (text := capsys.readouterr()).out == f"{both}.npz: 70 samples\nfigures: {figures}\n"
    assert [line.split()[0] for line in text.err.splitlines() if "counted twice" in line] == [one, other]
    assert json.loads(figures.read_text()) == {"file": f"{both}.npz", "statistics": {"samples": 70}}
    state, header = read_model(tmp_path / "both.npz")
    assert header.statistics == {"samples": 70} and header.saved_at > 1.0
    expected = taught(30)[0]
    expected.merge(taught(40, 1)[0])
    np.testing.assert_allclose(estimator_of(state).parameters, expected.parameters, rtol=1e-8, atol=1e-12)
    assert main(["model", "merge", both, both, "--to", both]) == 0 and not capsys.readouterr().err
    mug, duck = object_file(tmp_path / "mug", "mug"), object_file(tmp_path / "duck", "duck")
    assert main(["model", "merge", mug, duck, "--to", str(tmp_path / "objects")]) == 0
    assert read_model(tmp_path / "objects.npz")[1].statistics == {"objects": 2, "examples": 6}
    assert (text := capsys.readouterr()).out.endswith("objects.npz: 2 objects, 6 examples\n")
    assert text.err.startswith("3 of the views kept are in both models")  # the duck looks like the mug


@pytest.mark.parametrize("change", [{"robot": "other"}, {"sensor": "other"}, {"urdf_digest": "other"}])
def test_models_of_others_are_not_merged(tmp_path, change, capsys):
    one, other = arm_file(tmp_path / "one", 5), arm_file(tmp_path / "other", 5, **change)
    assert main(["model", "merge", one, other, "--to", str(tmp_path / "both")]) == 2
    assert "other" in capsys.readouterr().err and not (tmp_path / "both.npz").exists()
    allowed = main(["model", "merge", one, other, "--to", str(tmp_path / "both"), "--any-urdf"])
    assert allowed == (0 if "urdf_digest" in change else 2)


def test_check_finds_what_is_not_whole(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    good = arm_file(tmp_path / "good", 5)
    assert main(["model", "check", good]) == 0 and capsys.readouterr().out == f"{good}: whole\n"
    (cut := Path("whole_arm.npz")).write_bytes((tmp_path / "good.npz").read_bytes()[:-500])
    state = load_state(good)
    infinite = {name: np.full_like(state.get(name, 0.0), np.inf) for name in ("rls.weights", "unknown")}
    broken = [write_model(tmp_path / name, {**state, name: value}) for name, value in infinite.items()]
    plain, other = str(write_model(tmp_path / "plain", state)), write_model(tmp_path / "other", {"a": np.ones(2)})
    bad = [*map(str, (cut, *broken, other, tmp_path / "none.npz"))]
    assert main(["model", "check", good, plain, *bad, "--json", str(tmp_path / "check.json")]) == 1
    found = json.loads((tmp_path / "check.json").read_text())
    shown = *capsys.readouterr().out.splitlines(), *found["files"].values()
    assert main(["model", "info", good, str(cut), plain]) == 2 and capsys.readouterr().out.count("\nkind") == 2
    records.check(__file__, "check", [found["not whole"], *(text.replace(str(tmp_path), "") for text in shown)])


def robot_file(path, seed):
    estimator, description = taught(30, seed, output_weights="equal")
    return str(write_model(path, accounted(estimator), description.header(30)))


def test_gather_and_spread(tmp_path, capsys):
    files = [robot_file(tmp_path / f"robot_{seed}", seed) for seed in range(2)]
    folder, figures = str(tmp_path / "fleet"), str(tmp_path / "fleet.json")
    assert main(["fleet", "gather", folder, files[0], f"other={files[1]}", "--json", figures]) == 0
    found = json.loads((tmp_path / "fleet.json").read_text())
    out = capsys.readouterr().out.replace(f"in {found.pop('seconds'):.2g} s", "").replace(str(tmp_path), "")
    records.check(__file__, "gathered", [*out.splitlines(), found["robots"], Path(found["file"]).name])
    assert main(["fleet", "gather", folder, *files]) == 0
    out = capsys.readouterr().out
    assert "0 samples more" in out and "tare" not in out
    targets = [str(tmp_path / f"to_{number}.npz") for number in range(2)]
    assert main(["fleet", "spread", folder, *targets, "--json", figures]) == 0
    size = Path(targets[1]).stat().st_size
    assert json.loads((tmp_path / "fleet.json").read_text()) == {"bytes": size, "files": targets}
    assert capsys.readouterr().out.startswith(f"{size / 1e6:.3g} MB written to each of 2 files\n")
    assert [read_model(target)[1].statistics["samples"] for target in targets] == [60, 60]
    for place, target, said in ((files[0], targets[0], "fleet gather"), (folder, folder, "not a folder")):
        assert main(["fleet", "spread", place, target]) == 2 and said in capsys.readouterr().err


def test_merging_two_that_share_samples_names_the_remedy(tmp_path, capsys):
    one, other = (robot_file(tmp_path / f"robot_{seed}", seed) for seed in range(2))
    both = str(tmp_path / "both.npz")
    assert main(["model", "merge", one, other, "--to", both]) == 0
    assert main(["model", "merge", both, one, "--to", both]) == 0  # `one` adds no samples
    assert "60 samples" in capsys.readouterr().out.splitlines()[-1]
    more = str(tmp_path / "more.npz")
    assert main(["model", "merge", one, robot_file(tmp_path / "robot_2", 2), "--to", more]) == 0
    assert main(["model", "merge", both, more, "--to", both]) == 2
    assert "30 of its 60 samples are here already" in capsys.readouterr().err


def test_the_whole_robot_is_written(regressor, tmp_path, capsys):
    estimator, rng = ParametricEstimator(regressor), np.random.default_rng(0)
    for _ in range(50):
        motion = rng.uniform(-1, 1, 7), rng.normal(size=7), 3 * rng.normal(size=7)
        estimator.update(*motion, regressor(*motion) @ (1.2 * regressor.nominal_parameters))
    model, path = save_state(tmp_path / "arm.npz", estimator.state()), tmp_path / "learned.urdf"
    assert main(["export-urdf", str(model), str(path), "--urdf", "icub"]) == 0
    assert capsys.readouterr().out.endswith(f"{path}: 5 links as learned from 50 samples\n")
    assert main(["export-urdf", arm_file(tmp_path / "np", 2, estimator="nonparametric"), str(path)]) == 2
    assert "np.npz is a nonparametric model: it has no rigid bodies" in capsys.readouterr().err
    again = WrenchRegressor.from_urdf(path, RIGHT_ARM, "r_arm_ft_sensor")
    assert all(is_consistent(again.nominal_parameters[body]) for body in bodies_of(again.parameter_names))
    masses = [index for index, name in enumerate(again.parameter_names) if name.endswith(".m")]
    expected = 1.2 * regressor.nominal_parameters[masses].sum()
    assert again.nominal_parameters[masses].sum() == pytest.approx(expected, rel=0.15) and "<mesh" in path.read_text()
