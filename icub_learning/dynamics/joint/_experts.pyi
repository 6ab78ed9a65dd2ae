from typing import Any

from icub_learning.arrays import Array

Memory = tuple[Any, ...]  # arrays: BaseColumns.memory, and others

def predict(
    values: Array, work: Array, phi: Array, tare: Array, maps: Array, recent: Memory, scale: float, rows: Array | None,
    parameters: Array | None, /,
) -> None: ...  # fmt: skip
def unlearned(
    out: Array, phi: Array, rows: Array, maps: Array, columns: Memory, bodies: tuple[tuple[Array, Array, Array], ...], /
) -> None: ...  # fmt: skip
def parameters(out: Array, start: Array, back: Array, gammas: tuple[Array, ...], /) -> None: ...
def combine(
    out: Array, weights: Array, values: Array, unlearned: Array, noise: Array, experts: int, /
) -> None: ...  # fmt: skip
def available() -> list[str]: ...
def use(name: str, /) -> str: ...
