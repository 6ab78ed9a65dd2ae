"""Has the C library return freed memory to the operating system."""

import ctypes
import os

LARGE = 1 << 20  # [bytes]
_M_MMAP_THRESHOLD = -3  # of glibc's mallopt
_VARIABLE = "MALLOC_MMAP_THRESHOLD_"  # glibc's own, by which a user may choose otherwise


def return_large_blocks() -> bool:
    """Have blocks of at least 1 MiB returned as soon as they are freed; return whether the C library knows how.

    By default glibc keeps ever larger freed blocks for itself, up to 32 MiB each, so that a process that saves models
    or calibrates classifiers now and then seems to grow for hours. The small blocks of a prediction stay as they are.
    """
    if _VARIABLE in os.environ:
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return bool(mallopt is not None and mallopt(_M_MMAP_THRESHOLD, LARGE))
