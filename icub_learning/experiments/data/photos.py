"""Features of real photographs: half of the classes of the Grocery Store Dataset, through the bundled network."""

import zipfile
from pathlib import Path

import numpy as np

from icub_learning.arrays import Array
from icub_learning.experiments.data.fetching import find_file, unreadable

GROCERY = "photos/grocery_half_features.npz"
TAUGHT_FROM = "train"  # the part of the data set that views are taught from; the others are asked for


def load_grocery(given: Path | None) -> dict[str, tuple[Array, Array]]:
    """Return the features (n, 1280) of each class of groceries: photographs to teach, and photographs to ask for.

    Klasson, Zhang and Kjellström, "A Hierarchical Grocery Store Image Dataset with Visual and Semantic Labels", WACV
    2019: photographs taken in shops by a telephone. The division is that of the data set.

    Args:
        given: the file, its folder, or a folder that holds GROCERY; None: $ICUB_LEARNING_DATA.

    Raises:
        RecordingError: there is no such file, or it is another one.
    """
    path = find_file(given, GROCERY)
    try:
        with np.load(path, allow_pickle=False) as archive:
            x, labels, split = np.asarray(archive["X"], dtype=float), archive["y"].astype(str), archive["split"]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise unreadable(path, error) from error
    taught = split.astype(str) == TAUGHT_FROM
    if x.ndim != 2 or labels.shape != (len(x),) or taught.shape != (len(x),):
        raise unreadable(path, f"X has shape {x.shape}, y {labels.shape} and split {taught.shape}")
    return {name: (x[taught & (labels == name)], x[~taught & (labels == name)]) for name in np.unique(labels).tolist()}
