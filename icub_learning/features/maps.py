"""FeatureMap protocol, and feature maps as entries of a saved state."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, finite
from icub_learning.errors import ParameterError, StateError
from icub_learning.features.nystrom import NystromFeatures
from icub_learning.features.random_fourier import RandomFourierFeatures

KINDS = {  # kinds of maps that can be saved: class, and the attributes that are saved
    "random_fourier": (RandomFourierFeatures, ("length_scale", "seed", "frequencies")),
    "nystrom": (NystromFeatures, ("length_scale", "centers", "whitening")),
}


class FeatureMap(Protocol):
    """Maps rows of n_inputs numbers to rows of n_features numbers."""

    n_inputs: int
    n_features: int

    def transform(self, x: ArrayLike) -> Array:
        """Map (n_inputs,) to (n_features,) or (k, n_inputs) to (k, n_features)."""


def feature_map_state(feature_map: FeatureMap | None) -> dict[str, Array]:
    """Return a feature map of this package, or None, as a dict of arrays. Raises ParameterError for other maps."""
    if feature_map is None:
        return {"kind": np.asarray("none")}
    for kind, (home, names) in KINDS.items():
        if isinstance(feature_map, home):
            return {"kind": np.asarray(kind), **{name: np.array(getattr(feature_map, name)) for name in names}}
    raise ParameterError("feature_map", type(feature_map).__name__, "RandomFourierFeatures or NystromFeatures")


def feature_map_from_state(state: Mapping[str, Array]) -> FeatureMap | None:
    """Rebuild the map from `feature_map_state`. Raises StateError, KeyError, ShapeError, NotFiniteError."""
    kind = str(np.asarray(state["kind"]))
    if kind == "none":
        return None
    if kind == "nystrom":
        nystrom = NystromFeatures(state["centers"], float(state["length_scale"]))
        whitening = finite("whitening", state["whitening"])
        if whitening.ndim != 2 or len(whitening) != len(nystrom.centers) or not whitening.size:
            raise StateError(f"whitening has shape {whitening.shape}", name="whitening")
        nystrom.whitening, nystrom.n_features = whitening, whitening.shape[1]  # eigenvectors differ between machines
        return nystrom
    if kind != "random_fourier":
        raise StateError(f"feature map is of kind {kind!r}, not none, random_fourier or nystrom", name="kind")
    frequencies = finite("frequencies", state["frequencies"])
    if frequencies.ndim != 2:
        raise StateError(f"frequencies have shape {frequencies.shape}, not two dimensions", name="frequencies")
    half, n_inputs = frequencies.shape
    made = RandomFourierFeatures(n_inputs, 2 * half, float(state["length_scale"]), int(state["seed"]))
    made.frequencies = frequencies  # saved, so that another random generator cannot change a model
    return made
