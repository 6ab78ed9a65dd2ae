"""The page, what it shows, and recordings know no ROS."""

import subprocess
import sys


def test_only_live_knows_ros(checkout):
    folder = checkout / "icub_learning" / "view"
    names = [
        ".".join(path.relative_to(checkout).with_suffix("").parts)
        for room in ("page", "shown", "played")
        for path in (folder / room).glob("*.py")
        if path.name != "__init__.py"
    ]
    assert len(names) > 15
    script = f"import importlib, sys\nfor name in {names}: importlib.import_module(name)\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=checkout, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not {"rclpy", "sensor_msgs", "icub_learning_msgs"} & set(done.stdout.split())
