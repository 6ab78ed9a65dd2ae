"""What figures are measured on, in words that name no computer and no person."""

import os
import platform
from pathlib import Path

import numpy as np
import scipy
import sklearn


def describe_machine() -> dict[str, str]:
    """Return processor, number of cores, system and versions, by name."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.is_file() else []
    processors = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "processor": next(iter(processors), platform.processor() or platform.machine()),
        "cores": str(cores),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__},"
        f" scikit-learn {sklearn.__version__}",
    }
