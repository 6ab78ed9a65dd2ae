"""What is to run without ROS, and the contract of learners without pytest, import neither."""

import subprocess
import sys

LAUNCHING = ("table", "commands", "supervisor")
FORBIDDEN = {"rclpy", "launch", "launch_ros", "sensor_msgs", "icub_learning_msgs", "pytest"}


def test_only_live_parts_and_tests_need_ros_or_pytest(checkout):
    rooms = [path for room in ("page", "shown") for path in (checkout / "icub_learning/view" / room).glob("*.py")]
    names = [f"icub_learning.view.{path.parent.name}.{path.stem}" for path in rooms if path.stem != "__init__"]
    assert {"icub_learning.view.page.page", "icub_learning.view.shown.state"} <= set(names)
    names += ["icub_learning.view.played", "icub_learning.testing"]
    names += [f"icub_learning.launching.{name}" for name in LAUNCHING]
    script = f"import importlib, sys\nfor name in {names}: importlib.import_module(name)\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=checkout, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not FORBIDDEN & set(done.stdout.split())
