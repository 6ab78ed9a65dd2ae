"""How long a call takes, how times grow with sizes, and errors along a path of solutions."""

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array
from icub_learning.evaluation.metrics import group_rmse


def seconds(work: Callable[..., object], *arguments: Any) -> float:
    """Call `work` with the arguments and return how long it took [s]."""
    start = perf_counter()
    work(*arguments)
    return perf_counter() - start


def slope(x: ArrayLike, y: ArrayLike) -> float:
    """Return the exponent of the power law y ~ x^e that fits positive points best (least squares of logarithms)."""
    return float(np.polyfit(np.log(np.asarray(x, float)), np.log(np.asarray(y, float)), 1)[0])


def path_errors(model: Any, x: Array, y: Array) -> list[float]:
    """Return the RMSE on samples x (n, d), y (n,) of each solution on the path of a fitted model."""
    return [group_rmse(predicted[:, 0] - y) for predicted in model.predict_path(x)]


def gathered(draws: Sequence[Any]) -> Any:
    """Return the figures of several draws, numbers in nested tables, as one table with a list in place of a number."""
    if not isinstance(draws[0], Mapping):
        return list(draws)
    return {name: gathered([one[name] for one in draws]) for name in draws[0]}
