from icub_learning.arrays import Array

def fill(
    out: Array, samples: Array, columns: Array, weights: Array, work: Array, n: int, d: int, order: int, /
) -> None: ...
def contract(
    entries: Array, vector: Array, gradients: Array, hessian: Array | None, n: int, order: int, /
) -> float: ...
