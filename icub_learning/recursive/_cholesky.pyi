from typing import Any

from numpy import intp
from numpy.typing import NDArray

from icub_learning.arrays import Array

BLOCK: int
MAX_RANK: int
LENT_PRIORITY: int

def plain(values: Any, width: int, limit: float, /) -> bool: ...
def update(
    triangle: Array, weights: Array, work: Array, left: Array | None, z: Any, y: Any, size: int, features: int,
    outputs: int, forgetting: float, limit: float, /,
) -> int | None: ...  # fmt: skip
def observe(
    learner: tuple[tuple[Array, ...], int, int, float], errors: Array, leverages: Array, estimates: Array, rows: Array,
    y: Array, weights: Array, order: NDArray[intp], root: float, /,
) -> None: ...  # fmt: skip
def predict(weights: Array, z: Any, size: int, features: int, outputs: int, /) -> Array | None: ...
def leverage(triangle: Array, z: Any, size: int, features: int, /) -> Array | float | None: ...
def solve(out: Array, leverages: Array, triangle: Array, z: Array, size: int, features: int, /) -> None: ...
def available() -> list[str]: ...
def use(name: str, /) -> str: ...
