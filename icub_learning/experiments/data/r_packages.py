"""Tables in Debian's packages of R: lazy-load databases and .rda files, from a .deb or from where it is installed."""

import bz2
import lzma
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from icub_learning.errors import RecordingError
from icub_learning.experiments.data.fetching import contents, readable

LIBRARY = Path("usr/lib/R/site-library")  # folder of R's packages in a .deb, and below / if installed
EITHER_HEADER = 47  # `wbits` of zlib.decompress for a header of zlib or gzip


def read_database(path: Path, name: str) -> dict[str, Any]:
    """Return the columns of one table of R's lazy-load database: an index of places, then compressed objects. `path` is
    a .deb, or the folder with Rdata.rdx and Rdata.rdb. Raises RecordingError: it, or rdata, is missing."""
    rdata = _rdata(path)
    files = {Path(one).suffix: content for one, content in contents(path, "Rdata.rd[bx]")}
    with readable(path):
        index = _convert(rdata, zlib.decompress(files[".rdx"], EITHER_HEADER))
        start, length = (int(one) for one in index["variables"][name])
        stored = files[".rdb"][start + 4 : start + length]  # 4 bytes hold the size
        frame = _convert(rdata, _decompress(stored))
        return {str(one): np.asarray(frame[one]) for one in frame.columns}


def read_rda(path: Path, file: str, name: str) -> dict[str, Any]:
    """Return the columns of the table `name` of the .rda `file`; a factor as the numbers of its levels, from 0. `path`
    is a .deb or a folder. Raises RecordingError: it cannot be read, or rdata is missing."""
    rdata = _rdata(path)
    with readable(path):
        frame = _convert(rdata, dict(contents(path, file)).popitem()[1])[name]
        return {str(one): np.asarray(values.cat.codes if hasattr(values, "cat") else values, float)
                for one, values in frame.items()}  # fmt: skip


def _rdata(path: Path) -> Any:
    try:
        import rdata
    except ModuleNotFoundError as error:
        text = "R's data need the package rdata: pip install rdata (in a checkout: make sources, or tools/setup bench)"
        raise RecordingError(text, name="data", value=str(path)) from error
    return rdata


def _convert(rdata: Any, content: bytes) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns that the bytes have no file header
        return rdata.conversion.convert(rdata.parser.parse_data(content))


def _decompress(content: bytes) -> bytes:
    """Return the data decompressed: R marks bzip2 by "2" and xz by "Z" before them; without a mark they are zlib."""
    if content[:1] == b"2":
        return bz2.decompress(content[1:])
    if content[:1] == b"Z":
        return lzma.decompress(content[1:], format=lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2}])
    return zlib.decompress(content)
