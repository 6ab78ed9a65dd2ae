from typing import Any

from icub_learning.arrays import Array

Memory = tuple[Any, ...]  # arrays: RecursiveLeastSquares.memory, BaseColumns.memory
Ahead = tuple[Memory, int, int, float]  # RecursiveLeastSquares.ahead

def learn(
    features: Ahead, rigid: Ahead, columns: Memory, estimates: Array, maps: Array, phi: Array, rows: Array, y: Array,
    weights: Array, root: float, /,
) -> None: ...  # fmt: skip
def learn_recent(
    estimates: Array, features: Ahead, places: Memory, bodies: tuple[Ahead, ...], columns: Memory | None, phi: Array,
    rows: Array | None, y: Array, weights: Array, scale: float, root: float, /,
) -> None: ...  # fmt: skip
def unlearned(
    out: Array, phi: Array, rows: Array, maps: Array, columns: Memory, bodies: tuple[tuple[Array, Array, Array], ...], /
) -> None: ...  # fmt: skip
def parameters(out: Array, start: Array, back: Array, gammas: tuple[Array, ...], /) -> None: ...
def rows(z: Array, target: Array, left: Array, columns: Memory, weights: Array, /) -> None: ...
def combine(
    out: Array, weights: Array, values: Array, unlearned: Array, noise: Array, experts: int, /
) -> None: ...  # fmt: skip
def maps(both: Array, work: Array, learned: Array, columns: Memory, gamma: Array, /) -> None: ...
def predict(
    values: Array, work: Array, phi: Array, tare: Array, maps: Array, recent: Memory, scale: float, rows: Array | None,
    parameters: Array | None, /,
) -> None: ...  # fmt: skip
def available() -> list[str]: ...
def use(name: str, /) -> str: ...
