"""A node starts with what it needs, and nothing else."""

import subprocess
import sys

import pytest

pytest.importorskip("rclpy")

# Each costs a tenth of a second of processor time or more.
HEAVY = ("scipy.stats", "sklearn", "matplotlib", "mujoco", "onnxruntime", "onnx", "cv2", "rosbags", "trimesh")


def test_the_inverse_dynamics_node_imports_nothing_heavy():
    code = f"import sys, icub_learning.nodes.inverse_dynamics.node; print([m for m in {HEAVY!r} if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"
