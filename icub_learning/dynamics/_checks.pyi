from typing import Any

from numpy import intp
from numpy.typing import NDArray

from icub_learning.arrays import Array

def select(out: Array, values: Array | memoryview, indices: NDArray[intp], largest: float, /) -> bool: ...
def finite_vectors(vectors: tuple[Any, ...], size: int, largest: Array, /) -> bool: ...
def sensor(
    state: Array,
    reached: Array,
    measured: Array,
    position: Array,
    m: int,
    n: int,
    now: float,
    frozen_after: float,
    moved: float,
    saturated_after: float,
    lively_from: float,
    share: float,
    /,
) -> int: ...
