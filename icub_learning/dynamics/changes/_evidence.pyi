from icub_learning.arrays import Array

def remember(
    past: Array,
    mean: Array,
    moments: Array,
    work: Array,
    error: Array,
    m: int,
    near: int,
    far: int,
    mean_way: float,
    way: float,
    /,
) -> None: ...
def predict(
    covariance: Array,
    gain: Array,
    whole: Array,
    root: Array,
    kept: Array,
    fast: Array,
    slow: Array,
    noise: Array,
    added: Array,
    m: int,
    scale: float,
    /,
) -> None: ...
def factor(root: Array, matrix: Array, variance: Array, m: int, /) -> None: ...
def step(
    state: Array, white: Array, columns: Array, kept: Array, gain: Array, root: Array, m: int, count: int, /
) -> None: ...
def add(
    evidence: tuple[tuple[Array, ...], ...],
    columns: Array,
    innovation: Array,
    kept: Array,
    gain: Array,
    root: Array,
    m: int,
    sizes: tuple[int, ...],
    /,
) -> None: ...
def explain(root: Array, mean: Array, information: Array, vector: Array, deviations: Array, n: int, /) -> float: ...
