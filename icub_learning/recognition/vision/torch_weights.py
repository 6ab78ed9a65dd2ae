"""Reader of weights in the older format of `torch.save`, without PyTorch and without running code of the file."""

import os
import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from icub_learning.errors import ModelError

MAGIC = 0x1950A86A20F9469CFC6C  # number with which PyTorch's files begin
PROTOCOL = 1001  # protocol version of these files
STORAGES = {"FloatStorage": np.dtype("<f4"), "DoubleStorage": np.dtype("<f8"), "LongStorage": np.dtype("<i8")}


def read_torch_weights(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """Return the arrays of a state dict by name. A pickle may call any function; this reader knows ordered
    dictionaries, tensors and storages alone. Raises ModelError: the file is missing, damaged, or refers to more than
    arrays."""
    source = Path(path)
    try:
        with source.open("rb") as file:
            return _read(file)
    except OSError as error:
        raise ModelError(f"cannot read weights {source}: {error}", name="weights", value=str(source)) from error
    except Exception as error:  # a damaged pickle can raise any exception
        raise ModelError(f"{source} holds no readable weights: {error}", name="weights", value=str(source)) from error


class _Storage:
    """Numbers of one storage; the pickle gives its type and size, the values follow it in the file."""

    def __init__(self, dtype: np.dtype[Any], size: int) -> None:
        self.dtype, self.size = dtype, size
        self.values: NDArray[Any] = np.empty(0, dtype)


class _Tensor:
    """A view of a storage, with the arguments of `torch._utils._rebuild_tensor_v2`."""

    def __init__(self, storage: _Storage, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *_: Any):
        self._storage, self._offset, self._shape, self._strides = storage, offset, shape, strides

    def array(self) -> NDArray[Any]:
        values = self._storage.values
        last = self._offset + sum((n - 1) * step for n, step in zip(self._shape, self._strides, strict=True))
        if min((self._offset, *self._shape, *self._strides)) < 0 or last >= values.size:
            raise ValueError(f"a tensor of shape {self._shape} reaches beyond its {values.size} numbers")
        strides = [step * values.itemsize for step in self._strides]
        return np.array(np.lib.stride_tricks.as_strided(values[self._offset :], self._shape, strides))


class _Unpickler(pickle.Unpickler):
    """An unpickler that builds ordered dictionaries and tensors only."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        self.storages: dict[str, _Storage] = {}

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _Tensor
        if module == "torch" and name in STORAGES:
            return STORAGES[name]
        raise pickle.UnpicklingError(f"it refers to {module}.{name}, which no weights need")

    def persistent_load(self, identity: Any) -> _Storage:
        _kind, dtype, key, _device, size, view = identity
        if view is not None:
            raise pickle.UnpicklingError("views of storages are not supported")
        return self.storages.setdefault(key, _Storage(dtype, size))


def _read(file: BinaryIO) -> dict[str, NDArray[Any]]:
    if _Unpickler(file).load() != MAGIC or _Unpickler(file).load() != PROTOCOL:
        raise ValueError("it was not written by torch.save, or by a newer one")
    if not _Unpickler(file).load()["little_endian"]:
        raise ValueError("its numbers are big-endian")
    reader = _Unpickler(file)
    tensors = reader.load()
    for key in _Unpickler(file).load():
        storage, size = reader.storages[key], int.from_bytes(file.read(8), "little")
        if size != storage.size:
            raise ValueError(f"a storage of {storage.size} numbers holds {size}")
        storage.values = np.frombuffer(file.read(size * storage.dtype.itemsize), storage.dtype)
        if storage.values.size != size:
            raise ValueError("it ends early")
    return {name: tensor.array() for name, tensor in tensors.items()}
