"""Files that appear complete or not at all: after an error and after a kill the older content is there."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from icub_learning.files import cache_folder, replacing, replacing_path

HALF_WRITTEN = """
import os, signal, sys
from pathlib import Path
from icub_learning.files import replacing
with replacing(Path(sys.argv[1]), "w") as file:
    file.write("half of ")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_content_replaces_what_was_there_with_the_permissions_of_any_new_file(tmp_path):
    path = tmp_path / "below" / "file.txt"
    for content in ("first", "zweiter Inhalt: λ"):
        with replacing(path, "w") as file:
            file.write(content)
        assert path.read_text(encoding="utf-8") == content
    with replacing(path) as file:
        file.write(b"\x00")
    assert path.read_bytes() == b"\x00" and [entry.name for entry in path.parent.iterdir()] == ["file.txt"]
    (tmp_path / "ordinary").write_text("")
    assert path.stat().st_mode == (tmp_path / "ordinary").stat().st_mode


def test_links_and_pipes_stay_what_they_are(tmp_path):
    """As root, /dev/stdout and /dev/null would otherwise become files."""
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    for name in ("link", "pipe"):
        with replacing(tmp_path / name, "w") as file:
            file.write("new")
    assert (tmp_path / "file").read_text() == "new" and os.read(reader, 9) == b"new"
    assert (tmp_path / "link").is_symlink() and (tmp_path / "pipe").is_fifo()
    os.close(reader)


def test_no_file_takes_the_place_of_a_folder(tmp_path):
    (tmp_path / "out" / "kept").mkdir(parents=True)
    with pytest.raises(IsADirectoryError), replacing(tmp_path / "out", "w") as file:
        file.write("new")
    assert (tmp_path / "out" / "kept").is_dir()


@pytest.mark.parametrize("there", [True, False])
def test_an_error_changes_nothing(tmp_path, there):
    path = tmp_path / "file"
    if there:
        path.write_text("old")
    with pytest.raises(KeyboardInterrupt), replacing(path, "w") as file:
        file.write("new")
        raise KeyboardInterrupt
    assert [entry.read_text() for entry in tmp_path.iterdir()] == (["old"] if there else [])


def test_a_kill_leaves_the_older_file(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    done = subprocess.run([sys.executable, "-c", HALF_WRITTEN, path])
    assert done.returncode == -signal.SIGKILL and path.read_text() == "old"


def test_a_folder_replaces_a_folder(tmp_path):
    folder = tmp_path / "folder"
    for name in ("a", "b"):
        with replacing_path(folder) as unfinished:
            unfinished.mkdir()
            (unfinished / name).write_text(name)
        assert [entry.name for entry in folder.iterdir()] == [name]
    with pytest.raises(ValueError), replacing_path(folder) as unfinished:
        unfinished.mkdir()
        raise ValueError
    assert [str(entry.relative_to(tmp_path)) for entry in tmp_path.rglob("*")] == ["folder", "folder/b"]


def test_the_cache_follows_the_users_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "icub_learning"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", os.fspath(tmp_path))
    assert cache_folder() == Path(tmp_path, ".cache", "icub_learning")
