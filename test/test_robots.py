"""Robots are found by name, path, text and package; the error for any other one names it."""

import pytest
from helpers.robots import ICUB, PANDA, UR10

from icub_learning.errors import ModelError
from icub_learning.robots import find_urdf


def test_robots_are_found_by_name_path_text_and_package(tmp_path, monkeypatch):
    assert find_urdf("icub") == str(ICUB) and find_urdf("ur10") == str(UR10.resolve())
    assert find_urdf("panda") == str(PANDA.resolve()) and find_urdf(UR10) == str(UR10)
    assert find_urdf("<robot/>") == "<robot/>"
    file = tmp_path / "share" / "my_robot" / "urdf" / "arm.urdf"
    file.parent.mkdir(parents=True)
    file.write_text("<robot/>")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    assert find_urdf("package://my_robot/urdf/arm.urdf") == str(file)
    for name in ("package://my_robot/none.urdf", "no_such_robot", "/no/such/file.urdf"):
        with pytest.raises(ModelError, match=name):
            find_urdf(name)
