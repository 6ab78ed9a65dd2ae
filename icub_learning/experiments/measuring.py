"""How long a call takes, and how times grow with sizes."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def seconds(work: Callable[..., object], *arguments: Any) -> float:
    """Call `work` with the arguments and return how long it took [s]."""
    start = perf_counter()
    work(*arguments)
    return perf_counter() - start


def slope(x: ArrayLike, y: ArrayLike) -> float:
    """Return the exponent of the power law y ~ x^e that fits positive points best (least squares of logarithms)."""
    return float(np.polyfit(np.log(np.asarray(x, float)), np.log(np.asarray(y, float)), 1)[0])
