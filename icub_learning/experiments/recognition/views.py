"""Views of objects to teach and to test with: the data sets, and draws from them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from icub_learning.arrays import Array
from icub_learning.errors import ParameterError
from icub_learning.experiments.data import images
from icub_learning.experiments.data.textures import texton_histograms

Pools = Mapping[str, tuple[Array, Array]]  # views of each class: (n, d) to teach, (m, d) to test with
OBJECT_VIEWS = 60  # rendered views of each object; the first half is taught
ANGLES = 72  # views of an object in one turn of the turntable
FEWEST_ASKED, MOST_ASKED = 12, 100  # fewest and most test views of a class
N_TEXTURES = 2600  # patches of 13 textures


@dataclass(frozen=True)
class Draw:
    """Classes and views that were drawn."""

    taught: dict[str, Array]  # views (n, d) of each class that is taught, in the order of teaching
    asked: Array  # test views (m, d)
    targets: NDArray[np.intp]  # (m,) index in `taught` of the class of each; -1 for classes that are not taught


def draw(pools: Pools, n_classes: int, n_views: int, seed: int, n_unknown: int = 0) -> Draw:
    """Draw classes, `n_views` of each to teach, and test views, which are of the other pool.

    `n_unknown` further classes have test views only; a class with fewer than FEWEST_ASKED test views takes no part.
    Raises ParameterError: too few classes have enough views.
    """
    able = sorted(name for name, (_, ask) in pools.items() if len(ask) >= FEWEST_ASKED)
    teachable = [name for name in able if len(pools[name][0]) >= n_views]
    if len(teachable) < n_classes or len(able) < n_classes + n_unknown:
        bound = f"at least {n_classes} with {n_views} views to teach, and {n_unknown} others"
        raise ParameterError("classes", len(teachable), bound)
    rng = np.random.default_rng(seed)
    names = rng.permutation(teachable)[:n_classes].tolist()
    names += rng.permutation([name for name in able if name not in names])[:n_unknown].tolist()
    orders = {name: np.random.default_rng([seed, place]) for place, name in enumerate(names)}
    taught = {name: _some(pools[name][0], n_views, orders[name]) for name in names[:n_classes]}
    asked = [_some(pools[name][1], MOST_ASKED, orders[name]) for name in names]
    indices = [place if place < n_classes else -1 for place in range(len(names))]
    return Draw(taught, np.concatenate(asked), np.repeat(indices, [len(rows) for rows in asked]))


def _some(rows: Array, count: int, rng: np.random.Generator) -> Array:
    """Return at most `count` of the rows, drawn without replacement; only these are copied."""
    return np.asarray(rows[rng.permutation(len(rows))[:count]])


def accuracy(named: NDArray[np.intp], targets: NDArray[np.intp]) -> float:
    """Return the share of views whose class is `named` (m,) as in `targets` (m,), the mean over the classes."""
    return float(np.mean([(named == targets)[targets == index].mean() for index in np.unique(targets)]))


def _turntable(out: Path) -> Pools:
    """Return every second angle to teach, and the others as test views."""
    found = images.rendered_objects(ANGLES, out / f"turntable-{ANGLES}.npz", turntable=True)
    return {name: (rows[::2], rows[1::2]) for name, rows in found.items()}


def _halves(examples: Mapping[str, Array]) -> Pools:
    """Return the first half of the examples of each class to teach, and the second as test views."""
    return {name: (rows[: len(rows) // 2], rows[len(rows) // 2 :]) for name, rows in examples.items()}


def _by_class(unit: float, x: Array, targets: NDArray[np.intp]) -> Pools:
    return _halves({str(kind): x[targets == kind] / unit for kind in np.unique(targets)})


# The first argument is where photographs are looked for, the second where features of rendered objects are kept. Each
# raises RecordingError: it is not there and cannot be fetched; ObjectError, RenderingError: nothing can be rendered.
SETS: dict[str, Callable[[Path | None, Path], Pools]] = {
    "fashion-mnist": lambda data, out: _halves(images.load_fashion_mnist(None)), "mnist": lambda data,
    out: _halves(images.load_mnist(None)), "textures": lambda data,
    out: _by_class(1.0, *texton_histograms(N_TEXTURES, 0)), "grocery": lambda data, out: images.load_grocery(data),
    "digits": lambda data, out: _by_class(16.0, *load_digits(return_X_y=True)), "objects": lambda data,
    out: _halves(images.rendered_objects(OBJECT_VIEWS, out / f"objects-{OBJECT_VIEWS}.npz")), "turntable": lambda data,
    out: _turntable(out),
}  # fmt: skip
# Data sets on which settings of the default classifier were chosen, with draws from 100 on.
CHOSEN_ON = tuple(name for name in SETS if name != "textures")
