"""Painted things on painted backgrounds, with their boxes."""

import numpy as np

HEIGHT, WIDTH = 160, 224  # [px]
COLOURS = {"plum": (90, 20, 120), "lime": (90, 210, 40), "brick": (200, 60, 30)}


def paint(image, name, cx, cy, r):
    """Paint a thing with its centre (cx, cy) and radius r [px] into an image; return its box (4,)."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    inside = (x - cx) ** 2 + (y - cy) ** 2 < r**2 if name != "brick" else (abs(x - cx) < r) & (abs(y - cy) < r)
    stripes = 0.75 + 0.25 * np.sign(np.sin((x if name == "lime" else y) / 3.0))
    image[inside] = (np.array(COLOURS[name]) * stripes[:, :, None])[inside]
    return np.array([cx - r, cy - r, cx + r, cy + r], dtype=float)


def scene(rng, things):
    """Return an image of noise about one colour with things at random places, and their boxes by name."""
    image, boxes = np.clip(rng.uniform(60, 200, 3) + rng.normal(0, 6, (HEIGHT, WIDTH, 3)), 0, 255), {}
    for slot, name in zip(rng.permutation(3), things, strict=False):
        cx, cy, r = 40 + 72 * slot + rng.integers(-5, 6), rng.integers(45, 115), rng.integers(20, 30)
        boxes[name] = paint(image, name, cx, cy, r)
    return image.astype(np.uint8), boxes
