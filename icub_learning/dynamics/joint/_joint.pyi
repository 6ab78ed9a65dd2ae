from typing import Any

from icub_learning.arrays import Array

Memory = tuple[Any, ...]  # arrays: RecursiveLeastSquares.memory, BaseColumns.memory

def learn(
    features: Memory, rigid: Memory, columns: Memory, estimates: Array, maps: Array, phi: Array, rows: Array, y: Array,
    weights: Array, first: int, due: int, first_rigid: int, due_rigid: int, forgetting: float, root: float, /,
) -> None: ...  # fmt: skip
def rows(z: Array, target: Array, left: Array, columns: Memory, weights: Array, /) -> None: ...
def combine(
    out: Array, weights: Array, values: Array, unlearned: Array, noise: Array, experts: int, /
) -> None: ...  # fmt: skip
def maps(both: Array, work: Array, learned: Array, columns: Memory, gamma: Array, /) -> None: ...
def predict(
    values: Array, work: Array, phi: Array, tare: Array, rows: Array | None, parameters: Array | None,
    members: Memory, /,
) -> None: ...  # fmt: skip
def available() -> list[str]: ...
def use(name: str, /) -> str: ...
