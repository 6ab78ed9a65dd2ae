from icub_learning.arrays import Array

def learn(
    weights: Array,
    exponents: Array,
    scales: Array,
    squares: Array,
    losses: Array,
    work: Array,
    errors: Array,
    factors: Array,
    fades: Array,
    ages: int,
    experts: int,
    outputs: int,
    spread: float,
    /,
) -> None: ...
def cap(
    factors: Array, usual: Array, errors: Array, ages: int, rows: int, outputs: int, highest: float, weight: float, /
) -> None: ...
