from icub_learning.arrays import Array

def waves(out: Array, phase: Array, rows: int, half: int, scale: float, /) -> bool: ...
def row(
    out: Array,
    work: Array,
    x: Array,
    mean: Array,
    scale: Array,
    frequencies: Array,
    half: int,
    inputs: int,
    amplitude: float,
    /,
) -> bool: ...
def available() -> list[str]: ...
def use(name: str, /) -> str: ...
