from icub_learning.arrays import Array

def calibrate(
    mean_square: Array,
    factor: Array,
    errors: Array,
    added: Array,
    m: int,
    known: bool,
    weight: float,
    inside: float,
    outside: float,
    low: float,
    high: float,
    /,
) -> None: ...
def correlate(
    mean: Array,
    long_run: Array,
    variance: Array,
    errors: Array,
    m: int,
    kept: float,
    white: float,
    weight: float,
    /,
) -> None: ...
