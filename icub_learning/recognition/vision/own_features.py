"""Features of images computed by a class from outside this package, as the node needs them."""

import numpy as np
from numpy.typing import NDArray

from icub_learning.own_class import OwnClass, running_own
from icub_learning.recognition.feature_window import check_features

OWN_FEATURES = ("transform",)  # methods of the class
TRIED = (480, 640, 3)  # shape of the grey image on which it is tried before any comes: that of most cameras


class OwnFeatures(OwnClass):
    """Computes features with a class from outside this package, which has `transform(image)`; see OwnClass.of.

    The class is made without arguments; `n_features` is the length of its vector of a grey image, and `source` its own
    attribute, or else its import path (see CNNFeatures). Raises ParameterError, SampleError: it cannot be made, or
    makes no vector.
    """

    SETTING, METHODS = "features", OWN_FEATURES

    def __init__(self) -> None:
        self._own = self.made()
        self.source = str(getattr(self._own, "source", self.path))
        with running_own(self.SETTING, self.path, f"able to transform an image {TRIED} of uint8"):
            self.n_features = len(self.transform(np.full(TRIED, 127, np.uint8)))

    def transform(self, image: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return the features (d,) of an RGB image (height, width, 3). Raises SampleError."""
        return check_features(self._own.transform(image)).astype(np.float32)
