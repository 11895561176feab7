"""Reads the weights of a file that PyTorch wrote in its first format, without PyTorch.

Such a file is a row of pickles: a mark, a version, facts about the machine, the objects, the names of their storages; then
the storages' bytes. A pickle can call anything, so only what rebuilds a tensor is let through here.
"""

from __future__ import annotations

import io
import pickle
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from towpath.core.errors import ConfigurationError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Weights = dict[str, NDArray[np.float32]]

_MARK = 0x1950A86A20F9469CFC6C
_BYTES = 4  # of a float
_COUNT = 8  # bytes that say how many there are


@dataclass(slots=True)
class _Storage:
    """Numbers that tensors are parts of. They come at the end of the file."""

    key: str
    is_float: bool
    values: Any = None


@dataclass(frozen=True, slots=True)
class _Tensor:
    storage: _Storage
    offset: int
    size: tuple[int, ...]


class _Unpickler(pickle.Unpickler):
    def __init__(self, source: BinaryIO) -> None:
        super().__init__(source)
        self.storages: dict[str, _Storage] = {}

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuilt
        if module == "torch" and name.endswith("Storage"):
            return name
        raise pickle.UnpicklingError(f"{module}.{name} is no part of a tensor")

    def persistent_load(self, pid: Any) -> _Storage:
        _, kind, key = pid[:3]
        return self.storages.setdefault(str(key), _Storage(str(key), kind == "FloatStorage"))


def weights_in(path: Path, part: str) -> Weights:
    """The tensors of one of the objects, `part`, by name."""
    try:
        with path.open("rb") as source:
            return _read(source, part)
    except (OSError, pickle.UnpicklingError, EOFError, KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ConfigurationError(f"{path} holds no weights that can be read ({type(error).__name__}: {error})") from None


def _read(source: BinaryIO, part: str) -> Weights:
    if _Unpickler(source).load() != _MARK:
        raise ValueError("it does not begin like such a file")
    for _ in ("version", "machine"):
        _Unpickler(source).load()
    objects = _Unpickler(source)
    found = objects.load()[part]
    _fill(source, objects.storages, _Unpickler(source).load())
    return {name: _values(tensor) for name, tensor in found.items() if isinstance(tensor, _Tensor)}


def _fill(source: BinaryIO, storages: dict[str, _Storage], keys: list[str]) -> None:
    import numpy as np

    for key in keys:
        storage = storages[str(key)]
        count = int.from_bytes(source.read(_COUNT), "little")
        if not storage.is_float:
            raise ValueError("it has numbers of another kind than float")
        data = io.BytesIO(source.read(count * _BYTES)).getbuffer()
        storage.values = np.frombuffer(data, dtype="<f4", count=count)


def _rebuilt(storage: _Storage, offset: int, size: tuple[int, ...], *_: Any) -> _Tensor:
    return _Tensor(storage, offset, tuple(size))


def _values(tensor: _Tensor) -> Any:
    """Tensors in such files lie row by row."""
    import math

    count = math.prod(tensor.size)
    return tensor.storage.values[tensor.offset : tensor.offset + count].reshape(tensor.size)
