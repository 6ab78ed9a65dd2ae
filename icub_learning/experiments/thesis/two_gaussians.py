"""Two Gaussian classes of unequal frequency: their optimal boundaries and learned ones (thesis 7.3, figure 7.1)."""

from dataclasses import dataclass

import numpy as np

from icub_learning.arrays import Array
from icub_learning.features import RandomFourierFeatures
from icub_learning.recognition.classifiers.incremental_classifier import IncrementalClassifier

MEANS = np.array([[-1.0, 0.0], [1.0, 0.0]])  # of the classes 1 and -1
DEVIATIONS = np.array([1.0, 0.3])
GAMMAS = (0.5, 0.6, 0.7, 0.8, 0.9)  # probability of class 1
BOUNDARIES = ("standard", "rebalanced", "alpha0", "alpha1")
X = np.linspace(-3.0, 3.0, 241)
Y = np.linspace(-2.0, 2.0, 161)
N_RANDOM_FEATURES, LENGTH_SCALE, REGULARIZATION = 300, 0.4, 1e-2


@dataclass(frozen=True)
class Case:
    """Boundaries for one gamma, as the zeros of functions on the grid X x Y that are positive for class 1."""

    gamma: float  # probability of class 1
    values: dict[str, Array]  # the function (len(Y), len(X)) of each of BOUNDARIES
    examples: Array  # some of the samples (n, 2); `classes` (n,) are 1 or -1
    classes: Array

    def crossing(self, name: str) -> float:
        """Return x where the boundary crosses the line between the means; NaN if it does not."""
        on_axis = self.values[name][len(Y) // 2]
        between = np.flatnonzero((X[:-1] >= -1.0) & (X[1:] <= 1.0) & (on_axis[:-1] > 0) & (on_axis[1:] <= 0))
        if not len(between):
            return float("nan")
        k = between[0]
        fraction = on_axis[k] / (on_axis[k] - on_axis[k + 1])
        return float(X[k] + fraction * (X[k + 1] - X[k]))


def log_density(points: Array, index: int) -> Array:
    """Return log rho(x | y) of the class with this index at points (..., 2)."""
    squared = ((points - MEANS[index]) ** 2).sum(axis=-1)
    return -squared / (2 * DEVIATIONS[index] ** 2) - 2 * np.log(DEVIATIONS[index]) - np.log(2 * np.pi)


def compare(gamma: float, n_samples: int, seed: int) -> Case:
    """Return the optimal boundaries of the standard and the rebalanced loss (7.6, 7.10), and learned ones."""
    grid = np.stack(np.meshgrid(X, Y), axis=-1)
    difference = log_density(grid, 0) - log_density(grid, 1)
    rng = np.random.default_rng(seed)
    first = rng.random(n_samples) < gamma
    indices = np.where(first, 0, 1)
    points = MEANS[indices] + DEVIATIONS[indices, None] * rng.standard_normal((n_samples, 2))
    features = RandomFourierFeatures(2, N_RANDOM_FEATURES, LENGTH_SCALE, seed)
    classifier = IncrementalClassifier(2, REGULARIZATION, 0.0, features)
    classifier.learn(points[first], "1")
    classifier.learn(points[~first], "-1")
    learned = {}
    for name, recoding in (("alpha0", 0.0), ("alpha1", 1.0)):
        classifier.recoding = recoding
        scores = classifier.scores(grid.reshape(-1, 2))
        learned[name] = (scores[:, 0] - scores[:, 1]).reshape(grid.shape[:2])
    standard = difference + np.log(gamma / (1.0 - gamma))
    values = {"standard": standard, "rebalanced": difference, **learned}
    return Case(gamma, values, points[:600], np.where(first, 1, -1)[:600])
