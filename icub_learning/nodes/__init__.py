"""ROS 2 nodes; each package here holds one."""

import os

# Libraries read this when they are loaded, some of them late; see `run` in nodes/common/spinning.py.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"
