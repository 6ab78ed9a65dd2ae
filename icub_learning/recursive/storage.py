"""Memory layout that the compiled kernel expects: 64-byte aligned, sizes padded to whole tiles, the triangle packed."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array, finite
from icub_learning.errors import StateError
from icub_learning.recursive import _kernel

ALIGNMENT = 64  # bytes: a cache line, and the widest vector
BLOCK = _kernel.BLOCK


def padded_size(n_features: int) -> int:
    """The next multiple of the side of a tile."""
    return -(-n_features // BLOCK) * BLOCK


def aligned_zeros(*shape: int) -> Array:
    """Zeros of the given shape, float64, C-contiguous, whose first element lies on a cache line."""
    count = int(np.prod(shape))
    buffer = np.zeros(count + ALIGNMENT // 8)
    offset = (-buffer.ctypes.data % ALIGNMENT) // 8
    return buffer[offset : offset + count].reshape(shape)


def pack(triangle: Array) -> Array:
    """The tiles on and above the diagonal of a square array whose side is a whole number of tiles."""
    size = len(triangle)
    packed = aligned_zeros(size * (size + BLOCK) // 2)
    for first, tiles in _rows_of_tiles(packed, size):
        tiles[...] = triangle[first : first + BLOCK, first:].reshape(tiles.shape)
    return packed


def unpack(packed: Array, size: int) -> Array:
    """The square array that `pack` was given, zero below the diagonal tiles."""
    triangle = np.zeros((size, size))
    for first, tiles in _rows_of_tiles(packed, size):
        triangle[first : first + BLOCK, first:] = tiles.reshape(BLOCK, size - first)
    return triangle


def pack_factor(unit: Array, pivots: Array) -> Array:
    """U^T D U as the kernel keeps it: U (d, d) unit upper triangular, the pivots D (d,) on its diagonal."""
    d, square = len(pivots), np.eye(padded_size(len(pivots)))
    square[:d, :d] = unit
    np.fill_diagonal(square[:d, :d], pivots)
    return pack(square)


def unpack_factor(packed: Array, d: int) -> tuple[Array, Array]:
    """U (d, d) and D (d,), what `pack_factor` was given."""
    unit = unpack(packed, padded_size(d))[:d, :d].copy()
    pivots = np.diag(unit).copy()
    np.fill_diagonal(unit, 1.0)
    return unit, pivots


def pivot_positions(d: int, count: int) -> NDArray[np.intp]:
    """Where the first `count` of the d pivots lie in the packed triangle."""
    size, index = padded_size(d), np.arange(count)
    row, inside = index // BLOCK, index % BLOCK
    start = row * BLOCK * (2 * size - (row - 1) * BLOCK) // 2  # of the row of tiles; its first tile is on the diagonal
    return start + inside * (BLOCK + 1)


def read_factor(state: Mapping[str, Any], d: int) -> Array:
    """The factor in a saved state, packed. Raises StateError, KeyError, ShapeError, NotFiniteError."""
    unit, pivots = finite("unit_factor", state["unit_factor"]), finite("pivots", state["pivots"])
    if unit.shape != (d, d) or np.tril(unit, -1).any() or (np.diag(unit) != 1.0).any():
        raise StateError(f"unit_factor {unit.shape} is not unit upper triangular {(d, d)}", name="unit_factor")
    if pivots.shape != (d,) or not (pivots > 0).all():
        raise StateError(f"pivots {pivots.shape} are not {(d,)} positive numbers", name="pivots")
    return pack_factor(unit, pivots)


def _rows_of_tiles(packed: Array, size: int) -> Iterator[tuple[int, Array]]:
    """First row, and a view (BLOCK, tiles, BLOCK) of the tiles from the diagonal to the right, of each row of tiles."""
    start = 0
    for first in range(0, size, BLOCK):
        stop = start + (size - first) * BLOCK
        yield first, packed[start:stop].reshape(-1, BLOCK, BLOCK).transpose(1, 0, 2)
        start = stop
