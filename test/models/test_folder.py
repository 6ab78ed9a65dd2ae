"""Names of models stay inside their folder."""

import os

import pytest

from icub_learning.errors import StateError
from icub_learning.models.folder import ModelsFolder, default_folder


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "outside").mkdir()
    return ModelsFolder(tmp_path / "models")


def test_names_become_paths_inside(folder, tmp_path):
    assert folder.path("arm") == tmp_path / "models" / "arm.npz"
    assert folder.path("arm.npz") == tmp_path / "models" / "arm.npz"
    assert folder.path("left/arm") == tmp_path / "models" / "left" / "arm.npz"
    assert folder.path(str(tmp_path / "models" / "arm")) == tmp_path / "models" / "arm.npz"  # it lies inside
    assert folder.path("v1.2") == tmp_path / "models" / "v1.2.npz"
    assert folder.path("~/x").parent == tmp_path / "models" / "~"  # no home folder here: it is a folder of that name


@pytest.mark.parametrize(
    "name",
    [
        "", " ", "..", "../x", "a/../../x", "a/../x", "/etc/passwd", "/tmp/x", "a/", ".", "a\0b", "a\nb",
        "x" * 300, "../models_2/x",
    ],
)  # fmt: skip
def test_what_leads_out_is_refused(folder, name):
    with pytest.raises(StateError) as caught:
        folder.path(name)
    assert "path" in str(caught.value)
    assert len(str(caught.value)) < 400


def test_symbolic_links_do_not_lead_out(folder, tmp_path):
    os.symlink(tmp_path / "outside", tmp_path / "models" / "link")
    os.symlink(tmp_path / "outside" / "x.npz", tmp_path / "models" / "file.npz")
    os.symlink(tmp_path / "models", tmp_path / "models" / "itself")
    for name in ("link/x", "file"):
        with pytest.raises(StateError, match="not inside"):
            folder.path(name)
    assert folder.path("itself/x")


def test_a_folder_that_is_a_link_itself_is_the_owners_choice(tmp_path):
    (tmp_path / "disk").mkdir()
    os.symlink(tmp_path / "disk", tmp_path / "models")
    assert ModelsFolder(tmp_path / "models").path("arm") == tmp_path / "models" / "arm.npz"


def test_a_parameter_opens_it(tmp_path):
    folder = ModelsFolder(tmp_path / "models", anywhere=True)
    assert folder.path("/tmp/x").as_posix() == "/tmp/x.npz"
    assert folder.path("../x")
    with pytest.raises(StateError):
        folder.path("")


def test_the_default_is_in_the_users_state(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "icub_learning" / "models"
    monkeypatch.delenv("XDG_STATE_HOME")
    assert default_folder().parts[-4:] == (".local", "state", "icub_learning", "models")
