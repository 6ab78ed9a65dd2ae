"""Models of the iCub's right arm that have learned random samples."""

from functools import cache

import numpy as np
from helpers.robots import RIGHT_ARM

from icub_learning.dynamics import assembly
from icub_learning.dynamics.saved_model import ModelDescription
from icub_learning.dynamics.settings import Settings
from icub_learning.robots import find_urdf

make_regressor = cache(assembly.make_regressor)


def taught(n_samples, seed=0, estimator="parametric", **changes):
    """Return an estimator that has learned some samples, and its description."""
    settings = Settings(urdf=find_urdf("icub"), joints=tuple(RIGHT_ARM), estimator=estimator, **changes)
    regressor = make_regressor(settings)
    estimator, rng = assembly.make_estimator(settings, regressor), np.random.default_rng(seed)
    for _ in range(n_samples):
        estimator.update(*rng.normal(size=(3, 7)), rng.normal(size=6))
    return estimator, ModelDescription(settings, regressor)
