"""The Wisconsin prognostic breast cancer data, from Debian's package of them or from a table."""

import bz2
import lzma
import subprocess
import tempfile
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.errors import RecordingError

FOLDER = "usr/lib/R/site-library/TH.data/data"
NAME, TARGET, LEFT_OUT = "wpbc", "time", "status"
EITHER_HEADER = 47  # zlib's or gzip's


def read_wpbc(path: Path) -> tuple[Array, Array]:
    """Features (194, 32) and times until the disease came back or was last known not to have [months].

    Four of the 198 patients lack the number of positive nodes and are left out.

    Args:
        path: Debian's r-cran-th.data as .deb or installed (the folder with Rdata.rdb), which needs the package rdata;
            or a .csv of the same columns.

    Raises:
        RecordingError: the file cannot be read, or rdata is missing.
    """
    columns = _read_csv(path) if path.suffix == ".csv" else _read_r(path)
    if TARGET not in columns:
        raise RecordingError(f"{path} has no column {TARGET!r}", name="data", value=str(path))
    names = [name for name in columns if name not in (TARGET, LEFT_OUT)]
    x, y = np.column_stack([columns[name] for name in names]), columns[TARGET]
    whole = np.isfinite(x).all(axis=1) & np.isfinite(y)
    return x[whole], y[whole]


def _read_csv(path: Path) -> dict[str, Array]:
    try:
        table = np.genfromtxt(path, delimiter=",", names=True, dtype=None, encoding="utf-8", missing_values="NA")
        names = [name for name in table.dtype.names or () if name != LEFT_OUT]
        return {name: np.asarray(table[name], dtype=np.float64) for name in names}
    except (OSError, ValueError, TypeError) as error:
        raise RecordingError(f"cannot read {path}: {error}", name="data", value=str(path)) from error


def _read_r(path: Path) -> dict[str, Array]:
    try:
        import rdata
    except ModuleNotFoundError as error:
        text = "R's data need the package rdata: pip install rdata, or give a .csv with --data"
        raise RecordingError(text, name="data", value=str(path)) from error
    try:
        with tempfile.TemporaryDirectory() as folder:
            place = path
            if path.is_file():
                subprocess.run(["dpkg-deb", "-x", str(path), folder], check=True, capture_output=True)
                place = Path(folder, FOLDER)
            index = _convert(rdata, zlib.decompress((place / "Rdata.rdx").read_bytes(), EITHER_HEADER))
            start, length = (int(one) for one in index["variables"][NAME])
            stored = (place / "Rdata.rdb").read_bytes()[start + 4 : start + length]  # 4 bytes hold the size
        frame = _convert(rdata, _decompress(stored))
        return {str(name): np.asarray(frame[name], dtype=float) for name in frame.columns if name != LEFT_OUT}
    except (OSError, KeyError, ValueError, subprocess.SubprocessError, zlib.error, lzma.LZMAError) as error:
        raise RecordingError(f"cannot read {path}: {error}", name="data", value=str(path)) from error


def _convert(rdata: Any, content: bytes) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the bytes come without a file's header
        return rdata.conversion.convert(rdata.parser.parse_data(content))


def _decompress(content: bytes) -> bytes:
    """R marks bzip2 by "2" and xz by "Z" before the data; what has no mark is zlib."""
    if content[:1] == b"2":
        return bz2.decompress(content[1:])
    if content[:1] == b"Z":
        return lzma.decompress(content[1:], format=lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2}])
    return zlib.decompress(content)
