from icub_learning.arrays import Array

def learn(
    weights: Array,
    exponents: Array,
    scales: Array,
    squares: Array,
    losses: Array,
    errors: Array,
    work: Array,
    ages: int,
    experts: int,
    outputs: int,
    fade: float,
    spread: float,
    /,
) -> None: ...
