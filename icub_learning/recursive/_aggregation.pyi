from numpy import intp
from numpy.typing import NDArray

from icub_learning.arrays import Array

def learn_layers(
    choices: Array,
    usual: Array,
    memories: tuple[Array, ...],
    second: tuple[Array, ...],
    errors: Array,
    combined: Array,
    half_lives: Array,
    direct: NDArray[intp],
    elapsed: float,
    highest: float,
    weight: float,
    /,
) -> None: ...
