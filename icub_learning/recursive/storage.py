"""Memory layout that the compiled kernel expects: 64-byte aligned, sizes padded to whole blocks of rows."""

import numpy as np

from icub_learning.arrays import Array
from icub_learning.recursive import _kernel

ALIGNMENT = 64  # bytes: a cache line, and the widest vector


def padded_size(n_features: int) -> int:
    """The next multiple of the kernel's block of rows; an even number of blocks would let columns collide in cache."""
    blocks = -(-n_features // _kernel.BLOCK)
    if blocks % 2 == 0 and blocks * _kernel.BLOCK >= 512:
        blocks += 1
    return blocks * _kernel.BLOCK


def aligned_zeros(shape: tuple[int, ...]) -> Array:
    """Zeros of the given shape, float64, C-contiguous, whose first element lies on a cache line."""
    count = int(np.prod(shape))
    buffer = np.zeros(count + ALIGNMENT // 8)
    offset = (-buffer.ctypes.data % ALIGNMENT) // 8
    return buffer[offset : offset + count].reshape(shape)
