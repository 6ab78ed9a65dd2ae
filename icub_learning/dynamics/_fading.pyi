from icub_learning.arrays import Array

def calibrate(
    mean_square: Array, factor: Array, errors: Array, added: Array, m: int, known: bool, weight: float, inside: float,
    outside: float, low: float, high: float, /,
) -> None: ...  # fmt: skip
def correlate(
    mean: Array, long_run: Array, variance: Array, errors: Array, m: int, kept: float, white: float, weight: float, /
) -> None: ...  # fmt: skip
def limit(wanted: Array, before: Array, rates: Array, m: int, elapsed: float, kept: float, /) -> None: ...
def smoothen(
    sums: Array, totals: Array, limited: Array, limits: Array, rates: Array, predicted: Array, before: Array,
    measured: Array, last: Array, tries: Array, numbers: Array, m: int, n: int, elapsed: float, known: bool, tracked: bool,
    /,
) -> bool: ...  # fmt: skip
