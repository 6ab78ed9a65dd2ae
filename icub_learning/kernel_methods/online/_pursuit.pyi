from icub_learning.arrays import Array

def extend(
    gram: Array, factor: Array, weights: Array, cross: Array, added: Array, accepted: Array, work: Array, capacity: int,
    n: int, columns: int, outputs: int, count: int, tolerance: float, /,
) -> tuple[int, float, float]: ...  # fmt: skip
def prune(
    gram: Array, factor: Array, weights: Array, order: Array, work: Array, capacity: int, n: int, columns: int,
    outputs: int, budget: float, limit: int, /,
) -> tuple[int, float]: ...  # fmt: skip
def available() -> list[str]: ...
def use(name: str, /) -> str: ...
