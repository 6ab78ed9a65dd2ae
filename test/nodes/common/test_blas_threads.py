"""Linear algebra in nodes runs in one thread, whatever the environment says and however late a library is loaded. The
node that predicts imports at its start what it needs, and nothing else."""

import json
import os
import subprocess
import sys

import pytest

SCRIPT = """
import json, sys
from importlib import import_module
import_module("icub_learning.nodes.{node}.node")
modules = list(sys.modules)
import scipy.linalg, threadpoolctl
print(json.dumps([modules, [library["num_threads"] for library in threadpoolctl.threadpool_info()]]))
"""
# Packages whose import costs a tenth of a second of processor time or more.
HEAVY = {"scipy.stats", "sklearn", "matplotlib", "mujoco", "onnxruntime", "onnx", "cv2", "rosbags", "trimesh"}


@pytest.mark.parametrize(("node", "unused"), [("inverse_dynamics", HEAVY), ("object_recognition", set())])
def test_libraries_have_one_thread(node, unused):
    environment = {**os.environ, "OMP_NUM_THREADS": "4", "OPENBLAS_NUM_THREADS": "4", "MKL_NUM_THREADS": "4"}
    line = [sys.executable, "-c", SCRIPT.format(node=node)]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=True)
    modules, threads = json.loads(done.stdout)
    assert threads and set(threads) == {1} and not unused & set(modules)
