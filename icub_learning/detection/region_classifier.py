"""What is learned of one object: a score and a refinement of regions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array, finite
from icub_learning.errors import StateError

BOX_REGULARIZATION = 1000.0  # lambda of the refinement, on features of mean length 20
Rows = NDArray[np.float32]


@dataclass(frozen=True)
class RegionClassifier:
    """One object."""

    centers: Rows  # (m, d) centres of the Gaussian kernel
    coefficients: Rows  # (m,)
    refinement: Array  # (d + 1, 4) weights of the offsets that move a region onto the object; the last row is constant
    positives: Rows  # (p, d) regions of the object, for training others and itself again
    steps: Array  # (p, 4) offsets from these regions to the object
    negatives: Rows  # (k, d) hard negatives of the last training

    def state(self) -> dict[str, NDArray[Any]]:
        """Return everything as a dict of arrays."""
        return {name: np.array(value) for name, value in vars(self).items()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any], n_features: int) -> "RegionClassifier":
        """Rebuild from `state`. Raises StateError, KeyError, NotFiniteError."""
        read = {name: finite(name, state[name]) for name in cls.__dataclass_fields__}
        m, p, k = (len(np.atleast_1d(read[name])) for name in ("centers", "positives", "negatives"))
        small = {"centers": (m, n_features), "coefficients": (m,), "positives": (p, n_features)}
        small["negatives"] = (k, n_features)
        for name, shape in {**small, "refinement": (n_features + 1, 4), "steps": (p, 4)}.items():
            if read[name].shape != shape:
                raise StateError(f"{name} has shape {read[name].shape}, not {shape}", name=name)
        return cls(**{**read, **{name: read[name].astype(np.float32) for name in small}})  # type: ignore[arg-type]


def fit_refinement(positives: Array, steps: Array) -> Array:
    """Return the weights (d + 1, 4) of ridge regression of offsets (p, 4) on regions (p, d), without penalty on 1."""
    mean, middle = positives.mean(axis=0), steps.mean(axis=0)
    centred = positives - mean
    n, d = centred.shape
    if n < d:  # the same solution from the smaller of two matrices
        dual = np.linalg.solve(centred @ centred.T + BOX_REGULARIZATION * np.eye(n), steps - middle)
        weights = centred.T @ dual
    else:
        gram = centred.T @ centred + BOX_REGULARIZATION * np.eye(d)
        weights = np.linalg.solve(gram, centred.T @ (steps - middle))
    return np.concatenate([weights, (middle - mean @ weights)[None]])


class ClassifierBank:
    """All classifiers side by side, to score regions in one product with a Gaussian kernel."""

    def __init__(self, classifiers: list[RegionClassifier], length_scale: float) -> None:
        self._centers = np.concatenate([one.centers for one in classifiers])
        self._squares = np.einsum("ij,ij->i", self._centers, self._centers)
        self._coefficients = np.concatenate([one.coefficients for one in classifiers])
        self._ends = np.cumsum([len(one.centers) for one in classifiers]).tolist()
        self._factor = np.float32(0.5 / length_scale**2)

    def scores(self, regions: Rows) -> Array:
        """Return the scores (n, T) of regions (n, d)."""
        kernel = regions @ self._centers.T
        kernel *= 2.0
        kernel -= self._squares
        kernel -= np.einsum("ij,ij->i", regions, regions)[:, None]
        kernel *= self._factor
        np.exp(kernel, out=kernel)
        first, columns = 0, []
        for end in self._ends:
            columns.append(kernel[:, first:end] @ self._coefficients[first:end])
            first = end
        return np.stack(columns, axis=1).astype(np.float64)
