from typing import Any

from icub_learning.arrays import Array

BLOCK: int
MAX_RANK: int

def plain(values: Any, width: int, limit: float, /) -> bool: ...
def update(
    triangle: Array,
    weights: Array,
    work: Array,
    z: Array,
    y: Array,
    size: int,
    features: int,
    outputs: int,
    forgetting: float,
    /,
) -> None: ...
def predict(out: Array, work: Array, weights: Array, z: Array, size: int, features: int, outputs: int, /) -> None: ...
def leverage(out: Array, work: Array, triangle: Array, z: Array, size: int, features: int, /) -> None: ...
def available() -> list[str]: ...
def use(name: str, /) -> str: ...
