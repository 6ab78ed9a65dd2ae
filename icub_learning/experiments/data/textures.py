"""Textures made by formulas, in place of the Brodatz album, and what patches of them look like as texton histograms."""

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, map_coordinates, uniform_filter
from sklearn.cluster import MiniBatchKMeans

from icub_learning.arrays import Array

SIZE, PATCH = 256, 24  # side of an image, and of a patch [pixels]
SCALES, ANGLES = (1.0, 2.0), 4  # scales of the filters [pixels], and number of their directions
TEXTONS = 40  # clusters of filter responses


def textures(seed: int) -> dict[str, Array]:
    """Return 13 grey images (SIZE, SIZE) of mean 0 and deviation 1, each with bends and noise of its own, by name."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:SIZE, 0:SIZE].astype(float)

    def noise(*sigma: float) -> Array:
        return np.asarray(gaussian_filter(random.normal(size=(SIZE, SIZE)), sigma, mode="wrap"))

    def waves(angle: float, period: float) -> Array:
        return np.asarray(np.sin(2 * np.pi * (x * np.cos(angle) + y * np.sin(angle)) / period))

    points = np.zeros((SIZE, SIZE))
    points[tuple(random.integers(SIZE, size=(2, 600)))] = 1.0
    made = {
        "fine grain": noise(1, 1), "coarse grain": noise(3, 3),
        "clouds": noise(8, 8) / noise(8, 8).std() + 0.5 * noise(3, 3) / noise(3, 3).std(),
        "wood": noise(1, 8), "grass": noise(6, 1), "cloth": waves(0, 6) * waves(np.pi / 2, 6),
        "canvas": np.maximum(waves(0, 9), waves(np.pi / 2, 9)), "stripes": waves(0.3, 11),
        "ripples": np.sin(2 * np.pi * (x / 13 + 1.5 * noise(10, 10) / noise(10, 10).std())),
        "bricks": np.minimum(np.abs((x + 12 * (y // 12 % 2)) % 24 - 12), np.abs(y % 12 - 6)).clip(0, 2),
        "pebbles": gaussian_filter(points, 2.5, mode="wrap"), "sand": gaussian_filter(points, 1.0, mode="wrap"),
        "marble": np.abs(noise(5, 5)) ** 0.5,
    }  # fmt: skip
    for name, image in made.items():
        bend = [2.0 * noise(12, 12) / noise(12, 12).std() for _ in range(2)]
        image = map_coordinates(image, [y + bend[0], x + bend[1]], order=1, mode="wrap")
        image = (image - image.mean()) / image.std() + 0.25 * random.normal(size=image.shape)
        made[name] = (image - image.mean()) / image.std()
    return made


def texton_histograms(n: int, seed: int) -> tuple[Array, NDArray[np.intp]]:
    """Return n patches as square roots of their texton histograms (n, TEXTONS), and the numbers of their textures (n,).

    Textons are the cluster centres of filter responses of pixels (Leung and Malik 1999): derivatives of Gaussians in
    ANGLES directions and differences of Gaussians at SCALES, of images whose brightness is evened out.
    """
    random = np.random.default_rng(seed)
    responses = [_responses(image) for image in textures(seed).values()]
    clusters = MiniBatchKMeans(TEXTONS, random_state=seed, n_init=1, batch_size=2048)
    pixels = np.concatenate(responses)
    clusters.fit(pixels[random.permutation(len(pixels))[:40_000]])  # indices are permuted: the pixels fill megabytes
    maps = [clusters.predict(some).reshape(SIZE, SIZE) for some in responses]
    labels = random.integers(len(maps), size=n)
    corners = random.integers(SIZE - PATCH, size=(n, 2))
    patches = [
        maps[label][top : top + PATCH, left : left + PATCH] for label, (top, left) in zip(labels, corners, strict=True)
    ]
    return np.sqrt([np.bincount(patch.ravel(), minlength=TEXTONS) / PATCH**2 for patch in patches]), labels


def _responses(image: Array) -> Array:
    """Return filter responses (SIZE * SIZE, k) of the pixels of an image."""
    local = image - uniform_filter(image, 33, mode="wrap")
    found = []
    for scale in SCALES:
        dx, dy = (gaussian_filter(local, scale, order=order, mode="wrap") for order in ((0, 1), (1, 0)))
        found += [np.abs(np.cos(angle) * dx + np.sin(angle) * dy) for angle in np.pi * np.arange(ANGLES) / ANGLES]
        found.append(gaussian_filter(local, scale, mode="wrap") - gaussian_filter(local, 1.6 * scale, mode="wrap"))
    return np.stack(found, axis=-1).reshape(-1, len(found))
