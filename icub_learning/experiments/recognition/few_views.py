"""Accuracy after 1 to 20 taught views a class, of our classifiers and their rivals."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from icub_learning.experiments.recognition.contenders import OURS, name_with_ours, name_with_rival, rivals
from icub_learning.experiments.recognition.views import Pools, draw

N_VIEWS = (1, 3, 5, 10, 20)
DEFAULT = next(iter(OURS))


def names() -> list[str]:
    """Return the names of all contenders, ours first."""
    return [*OURS, *rivals()]


def compare(
    pools: Pools, n_classes: int, seeds: Sequence[int], n_views: Sequence[int]
) -> dict[str, NDArray[np.float64]]:
    """Return the accuracy of every contender on views that were not taught, shares (len(n_views), len(seeds)).

    Each seed draws its own `n_classes`, see `views.draw`. Raises ParameterError: too few classes have enough views.
    """
    others = rivals()
    found = {name: np.zeros((len(n_views), len(seeds))) for name in names()}
    for column, seed in enumerate(tqdm(seeds, "draws", disable=None, leave=False)):
        most = draw(pools, n_classes, max(n_views), seed)
        for row, n in enumerate(n_views):
            taught = {name: rows[:n] for name, rows in most.taught.items()}
            for name in found:
                if name in OURS:
                    named = name_with_ours(OURS[name], taught, most.asked)
                else:
                    named = name_with_rival(others[name], taught, most.asked)
                found[name][row, column] = accuracy(named, most.targets)
    return found


def accuracy(named: NDArray[np.intp], targets: NDArray[np.intp]) -> float:
    """Return the share of views that are `named` (m,) as their `targets` (m,), the mean over the classes."""
    right = named == targets
    return float(np.mean([right[targets == index].mean() for index in np.unique(targets)]))
