"""Model files: whole or not at all, and a clear answer to whatever else is found under the name."""

import numpy as np
import pytest
from helpers.robots import ICUB, PANDA, UR10

from icub_learning.errors import ModelError, StateError
from icub_learning.models import load_state, save_state
from icub_learning.robots import find_urdf


def test_what_is_no_model_is_named(tmp_path):
    (tmp_path / "text.npz").write_text("hello")
    np.savez(tmp_path / "pickled.npz", a=np.array([{"code": 1}], dtype=object))
    for name in ("text.npz", "pickled.npz", "absent.npz", ""):
        with pytest.raises(StateError, match=name or "empty"):
            load_state(tmp_path / name if name else "")
    with pytest.raises(StateError):
        load_state(tmp_path)
    with pytest.raises(StateError, match="empty"):
        save_state("", {})
    with pytest.raises(StateError, match="cannot write"):
        save_state(tmp_path / "text.npz" / "below", {"a": np.ones(1)})


def test_robots_are_found_by_name_path_text_and_package(tmp_path, monkeypatch):
    assert find_urdf("icub") == str(ICUB)
    assert find_urdf("ur10") == str(UR10.resolve())
    assert find_urdf("panda") == str(PANDA.resolve())
    assert find_urdf(UR10) == str(UR10)
    assert find_urdf("<robot/>") == "<robot/>"
    file = tmp_path / "share" / "my_robot" / "urdf" / "arm.urdf"
    file.parent.mkdir(parents=True)
    file.write_text("<robot/>")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    assert find_urdf("package://my_robot/urdf/arm.urdf") == str(file)
    for name in ("package://my_robot/none.urdf", "no_such_robot", "/no/such/file.urdf"):
        with pytest.raises(ModelError, match=name):
            find_urdf(name)
