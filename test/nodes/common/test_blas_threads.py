"""Linear algebra in nodes runs in one thread, whatever the environment says and however late a library is loaded."""

import json
import os
import subprocess
import sys

import pytest

SCRIPT = """
import json
from importlib import import_module
import_module("icub_learning.nodes.{node}.node")
import scipy.linalg, threadpoolctl
print(json.dumps([library["num_threads"] for library in threadpoolctl.threadpool_info()]))
"""


@pytest.mark.parametrize("node", ["inverse_dynamics", "object_recognition"])
def test_libraries_have_one_thread(node):
    environment = {**os.environ, "OMP_NUM_THREADS": "4", "OPENBLAS_NUM_THREADS": "4", "MKL_NUM_THREADS": "4"}
    line = [sys.executable, "-c", SCRIPT.format(node=node)]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=True)
    threads = json.loads(done.stdout)
    assert threads and set(threads) == {1}
