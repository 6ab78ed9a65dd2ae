"""Memory layout of the compiled update: 64-byte alignment, sizes padded to whole tiles, packed triangles."""

from collections.abc import Iterator, Mapping
from functools import cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array, finite
from icub_learning.errors import StateError
from icub_learning.recursive import _cholesky

ALIGNMENT = 64  # [bytes] a cache line, and the widest vector register
BLOCK = _cholesky.BLOCK


def padded_size(n_features: int) -> int:
    """Return n_features rounded up to a multiple of the side of a tile."""
    return -(-n_features // BLOCK) * BLOCK


def aligned_zeros(*shape: int) -> Array:
    """Return C-contiguous float64 zeros whose first element lies on a cache line."""
    count = prod(shape)
    buffer = np.zeros(count + ALIGNMENT // 8)
    offset = (-buffer.__array_interface__["data"][0] % ALIGNMENT) // 8  # buffer.ctypes takes ten times as long
    return buffer[offset : offset + count].reshape(shape)


def pack(triangle: Array) -> Array:
    """Pack the tiles on and above the diagonal of a square array whose side is a whole number of tiles."""
    size = len(triangle)
    packed = aligned_zeros(size * (size + BLOCK) // 2)
    for first, tiles in _rows_of_tiles(packed, size):
        tiles[...] = triangle[first : first + BLOCK, first:].reshape(tiles.shape)
    return packed


def unpack(packed: Array, size: int) -> Array:
    """Return the square array that `pack` was given, zero below the diagonal tiles."""
    triangle = np.zeros((size, size))
    for first, tiles in _rows_of_tiles(packed, size):
        triangle[first : first + BLOCK, first:] = tiles.reshape(BLOCK, size - first)
    return triangle


def pack_factor(unit: Array, pivots: Array) -> Array:
    """Pack U^T D U: U (d, d) unit upper triangular, the pivots D (d,) in place of its diagonal."""
    d, square = len(pivots), np.eye(padded_size(len(pivots)))
    square[:d, :d] = unit
    np.fill_diagonal(square[:d, :d], pivots)
    return pack(square)


def unpack_factor(packed: Array, d: int) -> tuple[Array, Array]:
    """Return U (d, d) and the pivots D (d,) that `pack_factor` was given."""
    unit = unpack(packed, padded_size(d))[:d, :d].copy()
    pivots = np.diag(unit).copy()
    np.fill_diagonal(unit, 1.0)
    return unit, pivots


@cache
def pivot_positions(d: int, count: int) -> NDArray[np.intp]:
    """Return where the first `count` of the d pivots lie in the packed triangle."""
    size, index = padded_size(d), np.arange(count)
    row, inside = index // BLOCK, index % BLOCK
    start = row * BLOCK * (2 * size - (row - 1) * BLOCK) // 2  # offset of the tile row, which starts on the diagonal
    return start + inside * (BLOCK + 1)


def read_factor(state: Mapping[str, Array], d: int) -> Array:
    """Return the factor of a saved state, packed. Raises StateError, KeyError, ShapeError, NotFiniteError."""
    unit, pivots = finite("unit_factor", state["unit_factor"]), finite("pivots", state["pivots"])
    if unit.shape != (d, d) or np.tril(unit, -1).any() or (np.diag(unit) != 1.0).any():
        raise StateError(f"unit_factor {unit.shape} is not unit upper triangular {(d, d)}", name="unit_factor")
    if pivots.shape != (d,) or not (pivots > 0).all():
        raise StateError(f"pivots {pivots.shape} are not {(d,)} positive numbers", name="pivots")
    return pack_factor(unit, pivots)


def _rows_of_tiles(packed: Array, size: int) -> Iterator[tuple[int, Array]]:
    """Yield, for each row of tiles, its first row and a view (BLOCK, tiles, BLOCK) from the diagonal on."""
    start = 0
    for first in range(0, size, BLOCK):
        stop = start + (size - first) * BLOCK
        yield first, packed[start:stop].reshape(-1, BLOCK, BLOCK).transpose(1, 0, 2)
        start = stop
