from typing import Any

from icub_learning.arrays import Array

Memory = tuple[Any, ...]  # arrays: RecursiveLeastSquares.memory, BaseColumns.memory
Ahead = tuple[Memory, int, int, float]  # RecursiveLeastSquares.ahead

def learn(
    features: Ahead, rigid: Ahead, columns: Memory, estimates: Array, maps: Array, phi: Array, rows: Array, y: Array,
    weights: Array, root: float, /,
) -> None: ...  # fmt: skip
def learn_recent(
    estimates: Array, features: tuple[Ahead, ...], places: Memory, bodies: tuple[Ahead, ...], columns: Memory | None,
    phi: Array, rows: Array | None, y: Array, weights: Array, scale: float, root: float, /,
) -> None: ...  # fmt: skip
def rows(z: Array, target: Array, left: Array, columns: Memory, weights: Array, /) -> None: ...
def maps(both: Array, learned: Array, columns: Memory, gamma: Array, /) -> None: ...
def available() -> list[str]: ...
def use(name: str, /) -> str: ...
