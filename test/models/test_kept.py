"""Names of models stay inside their folder; each name always has a whole model, and no refused file is lost."""

import os
import subprocess
import sys
import time
from unittest.mock import Mock

import numpy as np
import pytest

from benchmarks.endurance import kills
from icub_learning.errors import ParameterError, StateError
from icub_learning.models import ModelHeader, read_model
from icub_learning.models import kept as kept_models
from icub_learning.models.kept import KeptModels, ModelsFolder, default_folder, surplus

HEADER = ModelHeader("test")


def save(kept, *numbers):
    for number in numbers:
        kept.save({"number": np.asarray(number)}, HEADER)
        time.sleep(0.002)


def number_in(path):
    return int(read_model(path)[0]["number"])


def loaded(kept):
    state, path, refusals = kept.load(lambda state, _header: state)
    return None if state is None else int(state["number"]), path, refusals


@pytest.fixture
def kept(tmp_path):
    made = KeptModels(tmp_path / "state" / "models" / "arm.npz", 3)
    yield made
    made.close()


@pytest.mark.parametrize("links", [True, False])  # whether the file system has hard links
def test_the_last_two_and_the_first_are_kept_by_time(kept, links, monkeypatch):
    monkeypatch.setattr(os, "link", os.link if links else Mock(side_effect=OSError(1, "Operation not permitted")))
    if links:  # a model that lies elsewhere
        kept.path.symlink_to(kept.path.parents[1] / "elsewhere.npz")
    assert loaded(kept) == (None, None, [])
    save(kept, 1, 2, 3, 4, 5)
    assert [number_in(path) for path in kept.files()] == [5, 4, 1] and kept.files()[0] == kept.path
    assert loaded(kept)[:2] == (5, kept.path)
    assert not [path for path in kept.path.parent.iterdir() if path not in kept.files() and path.name != ".arm.lock"]


def test_five_of_a_model_a_minute_reach_back_for_days():
    ages = [0.0, 1.0, 2.0, 3.0, 4.0]
    for _ in range(5000):
        ages = [0.0, *(age + 1.0 for age in ages)]
        del ages[surplus(ages)]
    assert [*ages[:2], ages[-1]] == [0.0, 1.0, 5004.0] and np.diff(np.log(ages[1:])).max() < np.log(100.0)


def test_one_alone_may_be_kept_and_models_of_other_names_are_left_alone(tmp_path):
    other, kept = KeptModels(tmp_path / "arm_2.npz", 2), KeptModels(tmp_path / "arm.npz", 1)
    save(other, 6, 7)
    save(kept, 1, 2, 3)
    assert [number_in(path) for path in (*kept.files(), *other.files())] == [3, 7, 6]
    kept.path.write_bytes(b"damaged")
    assert loaded(kept)[0] is None
    save(kept, 4, 5)
    assert [path.read_bytes() for path in tmp_path.glob("arm.*.refused.npz")] == [b"damaged"]
    kept.close()
    other.close()
    with pytest.raises(ParameterError):
        KeptModels(tmp_path / "arm.npz", 0)


@pytest.mark.parametrize("damage", [lambda x: x[: len(x) // 2], lambda _: b"", lambda x: x[:150] + bytes(8) + x[158:]])
def test_the_newest_good_one_is_taken_and_the_damaged_one_is_put_aside(kept, damage):
    save(kept, 1, 2)
    kept.path.write_bytes(damaged := damage(kept.path.read_bytes()))
    number, path, refusals = loaded(kept)
    assert number == 1 and path != kept.path and str(kept.path) in refusals[0]
    save(kept, 3, 4, 5, 6)
    assert [path.read_bytes() for path in kept.path.parent.glob("*.refused.npz")] == [damaged] and loaded(kept)[0] == 6


def test_one_that_does_not_fit_is_refused_by_who_makes_it(kept):
    save(kept, 1, 2, 3)

    def make(state, header):
        assert header.kind == "test"
        if int(state["number"]) > 1:
            raise StateError("another robot's")
        return state

    state, _, refusals = kept.load(make)
    assert int(state["number"]) == 1 and len(refusals) == 2 and refusals[0] == f"{kept.path}: another robot's"
    save(kept, 4, 5, 6, 7)
    assert sorted(map(number_in, kept.path.parent.glob("*.refused.npz"))) == [2, 3]


def test_two_processes_do_not_save_under_one_name_and_a_killed_one_does_not_keep_it(kept, tmp_path, monkeypatch):
    monkeypatch.setattr(kept_models, "WAIT_FOR_LOCK", 0.1)
    with pytest.raises(StateError, match=f"in use by process {os.getpid()}"):
        KeptModels(kept.path, 3)
    monkeypatch.setattr(kept_models, "WAIT_FOR_LOCK", 60.0)
    monkeypatch.setattr(time, "sleep", lambda _: kept.close())  # the other process ends while this one waits
    KeptModels(kept.path, 3).close()
    code = (
        "import sys, time; from pathlib import Path; from icub_learning.models.kept import KeptModels;"
        "kept = KeptModels(Path(sys.argv[1]), 3); print('held', flush=True); time.sleep(3600)"
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "arm.npz")], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "held\n"
    (tmp_path / ".arm.npz.left").mkdir()  # left by a process killed amid a saving
    (tmp_path / ".arm.npz.file").write_text("of another program")
    child.kill()
    child.wait()
    kept = KeptModels(tmp_path / "arm.npz", 3)
    assert not (tmp_path / ".arm.npz.left").exists()
    kept.close()


def test_a_folder_that_cannot_be_written_is_loaded_from_and_a_file_removed_meanwhile_does_not_matter(kept, monkeypatch):
    """Root may write everywhere, so the refusal of the system is simulated."""
    save(kept, 2)
    kept.path.unlink()
    assert loaded(kept)[0] is None
    save(kept, 1)
    assert loaded(kept)[0] == 1
    kept.close()
    monkeypatch.setattr(kept_models, "open", Mock(side_effect=PermissionError(13, "Permission denied")), raising=False)
    assert loaded(KeptModels(kept.path, 3))[0] == 1


def test_a_full_disk_is_told_and_the_last_model_stays(kept, monkeypatch):
    save(kept, 1)
    monkeypatch.setattr("icub_learning.files.os.fsync", Mock(side_effect=OSError(28, "No space left on device")))
    with pytest.raises(StateError, match="No space left"):
        save(kept, 2)
    monkeypatch.undo()
    assert loaded(kept)[0] == 1
    save(kept, 3)
    assert loaded(kept)[0] == 3


def test_kills_at_random_moments_lose_nothing(tmp_path, monkeypatch):
    """The faster variant of `python -m benchmarks.endurance kills`."""
    monkeypatch.setattr(kills, "LONGEST", 0.1)
    found = kills.kill_savers(tmp_path / "model.npz", 25, np.random.default_rng(0))
    assert (found["kills"], found["unreadable"], found["too old"]) == (25, 0, 0)
    assert found["saved"] > 0 and found["amid a saving"] > 5


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "outside").mkdir()
    return ModelsFolder(tmp_path / "models")


def test_names_become_paths_inside(folder, tmp_path):
    inside = {"arm": "arm", "arm.npz": "arm", "left/arm": "left/arm", str(tmp_path / "models" / "arm"): "arm",
              "v1.2": "v1.2", "~/x": "~/x", "a.zip": "a.zip"}  # fmt: skip
    for name, path in {**inside, 200 * "x": 200 * "x"}.items():  # "~" is no home folder here, but a folder of that name
        assert folder.path(name) == tmp_path / "models" / f"{path}.npz"


@pytest.mark.parametrize("name", [
    "", " ", "..", "../x", "a/../../x", "a/../x", "/etc/passwd", "/tmp/x", "a/", ".", "a\0b", "a\nb",
    "x" * 201, "ä" * 101, 59 * "x" + "\n", 60 * "x" + "\n", "../models_2/x",
])  # fmt: skip
def test_what_leads_out_is_refused(folder, name):
    with pytest.raises(StateError, match="path") as caught:
        folder.path(name)
    assert len(str(caught.value)) < 400
    assert caught.value.value == name if len(name) <= 60 else caught.value.value == name[:60] + "..."


def test_links_do_not_lead_out_but_a_parameter_does_and_the_default_is_the_users(folder, tmp_path, monkeypatch):
    os.symlink(tmp_path / "outside", tmp_path / "models" / "link")
    os.symlink(tmp_path / "outside" / "x.npz", tmp_path / "models" / "file.npz")
    os.symlink(tmp_path / "models", tmp_path / "models" / "itself")
    for name in ("link/x", "file"):
        with pytest.raises(StateError, match="not inside"):
            folder.path(name)
    assert folder.path("itself/x").name == "x.npz"
    chosen = ModelsFolder(tmp_path / "models" / "link")  # a folder that is a link itself is the owner's choice
    assert chosen.path("arm") == tmp_path / "models" / "link" / "arm.npz"
    folder = ModelsFolder(tmp_path / "models", anywhere=True)
    assert folder.path("/tmp/x").as_posix() == "/tmp/x.npz" and folder.path("../x").resolve() == tmp_path / "x.npz"
    with pytest.raises(StateError):
        folder.path("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "icub_learning" / "models"
    monkeypatch.delenv("XDG_STATE_HOME")
    assert default_folder().parts[-4:] == (".local", "state", "icub_learning", "models")
