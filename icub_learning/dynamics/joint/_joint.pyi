from numpy import intp
from numpy.typing import NDArray

from icub_learning.arrays import Array

def rows(
    z: Array, target: Array, left: Array, output: NDArray[intp], place: NDArray[intp], root: Array, offset: Array,
    weights: Array, /,
) -> None: ...  # fmt: skip
def combine(
    out: Array, weights: Array, values: Array, unlearned: Array, noise: Array, experts: int, /
) -> None: ...  # fmt: skip
def maps(both: Array, learned: Array, output: NDArray[intp], place: NDArray[intp], beta: Array, /) -> None: ...
