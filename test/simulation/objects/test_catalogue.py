"""The objects that can be shown: where they are looked for, and what is fetched. Nothing is rendered here."""

import zipfile

import pytest

from icub_learning.errors import ObjectError
from icub_learning.simulation import find_objects
from icub_learning.simulation.objects import catalogue
from icub_learning.simulation.objects.catalogue import KNOWN, known_files
from icub_learning.simulation.objects.fetch import LICENCE, unpack


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


def test_unpacking_takes_only_what_is_needed(tmp_path) -> None:
    with zipfile.ZipFile(tmp_path / "some.whl", "w") as wheel:
        wheel.writestr(LICENCE, "licence")
        for file in known_files():
            wheel.writestr(f"pybullet_data/{file}", file)
        wheel.writestr("pybullet_data/other.obj", "not needed")
    unpack(tmp_path / "some.whl", tmp_path / "objects")
    found = {path for path in (tmp_path / "objects").rglob("*") if path.is_file()}
    assert found == {tmp_path / "objects" / file for file in (*known_files(), "LICENSE.txt")}
