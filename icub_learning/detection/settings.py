"""Settings of object detection, shared by Python classes, node and command line."""

from dataclasses import dataclass

from icub_learning.settings import Validated, setting

OWN_BOXES = ("update",)  # methods that a user's box source must have


@dataclass(frozen=True)
class Settings(Validated):
    """All settings of object detection. Raises ParameterError for a value outside its range."""

    n_centers: int = setting(1000, "largest number of centres of each object's classifier", low=1, high=20000)
    n_proposals: int = setting(300, "regions of each image that are looked at", low=10, high=2000)
    n_batches: int = setting(4, "batches of negatives that an object is trained on", low=1, high=1000)
    batch_size: int = setting(2500, "negatives in a batch", low=10, high=100000)
    threshold: float = setting(
        -0.5, "smallest score of a detection, about -1 (background) to 1", low=-2.0, high=2.0, live=True
    )
    seed: int = setting(0, "seed of what is drawn: equal lessons give equal detectors", low=0, high=2**31 - 1)
    n_threads: int = setting(1, "number of threads that work on one image", low=1, high=64)


DEFAULTS = Settings()
