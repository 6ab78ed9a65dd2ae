"""Settings of object recognition, shared by Python classes, node and command line."""

from dataclasses import dataclass

from icub_learning.settings import Validated, setting

WEIGHTINGS = ("recoded", "none")
CLASSIFIERS = ("adaptive", "rlsc")
OWN_CLASSIFIER = ("learn", "scores", "state", "from_state")  # methods that a user's class must have


@dataclass(frozen=True)
class Settings(Validated):
    """All settings of object recognition. Raises ParameterError for a value outside its range."""

    classifier: str = setting(
        "adaptive",
        "adaptive: a Gaussian kernel with the mean of all views of each object and with at most 800 kept views,"
        " whitened by how objects vary, which chooses its settings by itself; rlsc: regularized least squares with"
        " recoding; or a classifier of your own", choices=CLASSIFIERS, methods=OWN_CLASSIFIER,
    )  # fmt: skip
    regularization: float = setting(
        1.0, "regularization, in squared units of the features (classifier: rlsc)", low=1e-12, high=1e12
    )
    weighting: str = setting(
        "recoded", "what is done for objects with few examples: recoded: their scores are raised; none: nothing",
        choices=WEIGHTINGS,
    )  # fmt: skip
    recoding: float = setting(
        0.9, "how far recoding raises objects with few examples: 0 not at all, 1 in full", low=0.0, high=1.0
    )
    smoothing_window: int = setting(
        5, "number of newest frames whose scores are averaged; 1 uses each frame alone", low=1, high=1000
    )
    max_age: float = setting(
        1.0, "how much older than the newest a frame in the average may be", unit="s", low=0.0, high=3600.0
    )
    reject_known: float = setting(
        0.05, "share of known objects' views that may be 'unknown'; 0: always the nearest", low=0.0, high=1.0, live=True
    )


DEFAULTS = Settings()
