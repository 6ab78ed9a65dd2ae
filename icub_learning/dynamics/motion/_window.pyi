from icub_learning.arrays import Array

def push(
    samples: Array, place: int, window: int, joints: int, position: Array, velocity: Array | None, weight: float, /
) -> None: ...
def combine(
    out: Array, coefficients: Array, samples: Array, first: int, count: int, joints: int, moving: bool, /
) -> None: ...
