"""Random backgrounds for the wall behind an object: blurred shapes in random colours."""

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

SIZE = 128  # [px] width and height of a background
MAX_SHAPES = 24
MAX_BLUR = 3.0  # [px] largest standard deviation of the blur


def background(rng: np.random.Generator) -> NDArray[np.uint8]:
    """Return an RGB picture (SIZE, SIZE, 3): a gradient with rectangles, discs and stripes, blurred at random."""
    y, x = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32) / SIZE
    corners = rng.uniform(0.05, 0.95, (4, 3)).astype(np.float32)
    picture = sum(
        weight[..., None] * colour
        for weight, colour in zip(((1 - x) * (1 - y), x * (1 - y), (1 - x) * y, x * y), corners, strict=True)
    )
    for _ in range(rng.integers(MAX_SHAPES // 4, MAX_SHAPES)):
        inside = _shape(rng, x, y)
        picture[inside] = np.clip(rng.uniform() + 0.25 * rng.uniform(-1.0, 1.0, 3), 0.0, 1.0)  # low saturation
    blur = rng.uniform(0.5, MAX_BLUR)
    picture = gaussian_filter(picture, (blur, blur, 0))
    return np.clip(255 * picture, 0, 255).astype(np.uint8)


def _shape(rng: np.random.Generator, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the mask of a random rectangle, disc or field of stripes."""
    (u, v), (width, height) = rng.uniform(0.0, 1.0, 2), rng.uniform(0.03, 0.25, 2)
    angle = rng.normal(0.0, 0.3)
    along = (x - u) * np.cos(angle) + (y - v) * np.sin(angle)
    across = (y - v) * np.cos(angle) - (x - u) * np.sin(angle)
    kind = rng.integers(3)
    if kind == 0:
        return (along / width) ** 2 + (across / height) ** 2 < 1
    inside = (np.abs(along) < width) & (np.abs(across) < height)
    return inside if kind == 1 else inside & (np.sin(2 * np.pi * along / rng.uniform(0.02, 0.1)) > 0)
