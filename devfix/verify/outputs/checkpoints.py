"""Leaves of pickles and of PyTorch's checkpoints, whose tensors lie in storages beside the pickle.

https://docs.pytorch.org/docs/stable/notes/serialization.html and ``torch/serialization.py`` describe the formats.
"""

from __future__ import annotations

import io
import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from devfix.verify.outputs.leaves import flatten
from devfix.verify.outputs.pickles import Global, Object, Pairs, PickleError, load
from devfix.verify.outputs.values import Array, Value, array_of, array_of_bytes

__all__ = ["is_legacy_checkpoint", "read_checkpoint", "read_pickle"]

#: The first pickle of a checkpoint in the format before PyTorch 1.6.
_LEGACY_MAGIC = 0x1950A86A20F9469CFC6C

_LEGACY_START = b"\x8a\x0a" + _LEGACY_MAGIC.to_bytes(10, "little")

#: Size and dtype of the elements of typed storages and of dtypes, by name.
_DTYPES = {
    **dict.fromkeys(("DoubleStorage", "float64", "double"), ("float64", 8)),
    **dict.fromkeys(("FloatStorage", "float32", "float"), ("float32", 4)),
    **dict.fromkeys(("HalfStorage", "float16", "half"), ("float16", 2)),
    **dict.fromkeys(("BFloat16Storage", "bfloat16"), ("bfloat16", 2)),
    **dict.fromkeys(("LongStorage", "int64", "long"), ("int64", 8)),
    **dict.fromkeys(("IntStorage", "int32", "int"), ("int32", 4)),
    **dict.fromkeys(("ShortStorage", "int16", "short"), ("int16", 2)),
    **dict.fromkeys(("CharStorage", "int8"), ("int8", 1)),
    **dict.fromkeys(("ByteStorage", "UntypedStorage", "uint8"), ("uint8", 1)),
    **dict.fromkeys(("BoolStorage", "bool"), ("bool", 1)),
    **dict.fromkeys(("ComplexDoubleStorage", "complex128"), ("complex128", 16)),
    **dict.fromkeys(("ComplexFloatStorage", "complex64"), ("complex64", 8)),
}

_NUMPY_KINDS = {"f": "float", "i": "int", "u": "uint", "c": "complex", "b": "bool"}

#: Rows that are gathered one by one of a tensor that is not contiguous.
_MOST_ROWS = 50_000

Storage = Callable[[str], "bytes | None"]


def is_legacy_checkpoint(data: bytes) -> bool:
    """Whether these bytes start a checkpoint in the format before PyTorch 1.6."""
    return _LEGACY_START in data[:32]


def read_checkpoint(pickle: bytes, storage: Storage) -> dict[str, Value]:
    """Return the leaves of a checkpoint.

    Args:
        pickle: its ``data.pkl``.
        storage: returns a storage's bytes by its key; None if there is none, or it is too large.

    Raises:
        PickleError, TooManyLeaves: it cannot be read.

    """
    return flatten(load(io.BytesIO(pickle)), _Expander(storage))


def read_pickle(data: bytes) -> dict[str, Value]:
    """Return the leaves of a file of one or more pickles, or of a checkpoint in the format before PyTorch 1.6.

    Raises:
        PickleError, TooManyLeaves: it cannot be read.

    """
    if is_legacy_checkpoint(data):
        return _read_legacy(data)
    stream = io.BytesIO(data)
    found = [load(stream)]
    while stream.tell() < len(data) and len(found) < 1000:
        found.append(load(stream))
    return flatten(found[0] if len(found) == 1 else found, _Expander(lambda key: None))


def _read_legacy(data: bytes) -> dict[str, Value]:
    return flatten(*_legacy_parts(data))


def _legacy_parts(data: bytes) -> tuple[Any, Callable[[Object], Any]]:
    stream = io.BytesIO(data)
    _, _, _, value, keys = (load(stream) for _ in range(5))
    if not isinstance(keys, list):
        raise PickleError("its list of storages is damaged")
    sizes = _element_sizes(value)
    storages: dict[str, bytes] = {}
    for key in map(str, keys):
        length = stream.read(8)
        if len(length) < 8:
            raise PickleError("a storage is missing")
        storages[key] = stream.read(max(0, struct.unpack("<q", length)[0]) * sizes.get(key, 1))
    return value, _Expander(storages.get)


def _element_sizes(value: Any) -> dict[str, int]:
    """Return the element size of each storage that a legacy checkpoint refers to, by its key."""
    found: dict[str, int] = {}
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, Object) and each.name == "persistent":
            arguments = each.arguments
            if isinstance(arguments, tuple) and len(arguments) > 2 and isinstance(arguments[1], Global):
                found[str(arguments[2])] = _dtype(arguments[1])[1]
        elif isinstance(each, Object):
            waiting += [each.arguments, each.state, *each.contents, *(item for pair in each.pairs for item in pair)]
        elif isinstance(each, Pairs):
            waiting += [item for pair in each.items for item in pair]
        elif isinstance(each, (list, tuple)):
            waiting += each
    return found


def _dtype(named: Any) -> tuple[str, int]:
    """Return name and element size of a storage's class or a dtype."""
    name = named.name.rpartition(".")[2] if isinstance(named, Global) else ""
    return _DTYPES.get(name, ("uint8" if "8" in name else "bytes", 1))


class _Expander:
    """Tensors, arrays and a few other classes as values; the rest stays an object."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._whole: set[tuple[str, tuple[int, ...]]] = set()

    def __call__(self, found: Object) -> Any:
        expand = _KNOWN.get(found.name)
        if expand is None:
            return found
        try:
            return expand(self, found)
        except (TypeError, ValueError, IndexError, KeyError, struct.error, OverflowError):
            return found  # the arguments are not those of this class

    def tensor(self, found: Object) -> Any:
        storage, offset, size, stride, *more = found.arguments
        dtype, width = _dtype(more[2] if len(more) > 2 and isinstance(more[2], Global) else None)
        if isinstance(storage, Object) and storage.name == "persistent":
            _, kind, key, _, _ = storage.arguments[:5]
            if not (len(more) > 2 and isinstance(more[2], Global)):
                dtype, width = _dtype(kind)
            data = self._storage(str(key))
        else:
            data, dtype, width = _storage_in_pickle(storage)
            key = None
        shape = tuple(map(int, _items(size)))
        if data is None:
            return f"{dtype} {list(shape)}, not read"
        array = array_of(dtype, shape, _gathered(data, width, int(offset), shape, tuple(map(int, _items(stride)))))
        excess = len(data) - math.prod(shape) * width
        if key is None or excess:
            return replace(array, excess=excess)  # a view of a part may become a tensor of its own when it is moved
        is_shared = (str(key), shape) in self._whole
        self._whole.add((str(key), shape))
        return Pairs([("", array), ("is_shared", True)]) if is_shared else array

    def parameter(self, found: Object) -> Any:
        inner, requires_grad = found.arguments[:2]
        value = self(inner) if isinstance(inner, Object) else inner
        return Pairs([("", value), ("requires_grad", bool(requires_grad))])

    def subclass(self, found: Object) -> Any:
        _, _, arguments, state = found.arguments
        return self.tensor(Object("", arguments)) if state in (None, ()) else Object("", (arguments, state))

    def storage(self, found: Object) -> Any:
        _, kind, key, _, _ = found.arguments[:5]
        data = self._storage(str(key))
        dtype, width = _dtype(kind)
        return "a storage, not read" if data is None else array_of(dtype, (len(data) // width,), data)

    def numpy_array(self, found: Object) -> Any:
        _, shape, dtype, is_fortran, data = found.state
        return _numpy_array(dtype, _items(shape), data, bool(is_fortran))

    def numpy_buffer(self, found: Object) -> Any:
        data, dtype, shape, order = found.arguments[:4]
        return _numpy_array(dtype, _items(shape), data, order == "F")

    def numpy_scalar(self, found: Object) -> Any:
        dtype, data = found.arguments
        array = _numpy_array(dtype, (), data, False)
        return array.samples[0] if isinstance(array, Array) and len(array.samples) == 1 else array

    def encoded(self, found: Object) -> Any:
        text, encoding = found.arguments
        return array_of_bytes(text.encode(encoding)) if encoding == "latin1" else found

    def path(self, found: Object) -> Any:
        return "/".join(map(str, found.arguments))

    def device(self, found: Object) -> Any:
        return "a device"

    def moment(self, found: Object) -> Any:
        return "a moment"


def _items(value: Any) -> tuple[Any, ...]:
    """Return the elements of a tuple, or of a ``torch.Size``."""
    if isinstance(value, Object):
        value = value.arguments[0] if value.arguments else ()
    return tuple(value)


def _bytes(value: Any) -> bytes:
    if isinstance(value, Object) and value.name == "_codecs.encode":
        value = value.arguments[0].encode("latin1")
    elif isinstance(value, Object) and value.name in ("builtins.bytearray", "builtins.bytes"):
        value = _bytes(value.arguments[0]) if value.arguments else b""
    if not isinstance(value, (bytes, bytearray)):
        raise TypeError
    return bytes(value)


def _storage_in_pickle(storage: Any) -> tuple[bytes | None, str, int]:
    """Return bytes, dtype and element size of a storage that lies in the pickle, as a checkpoint in itself."""
    if not isinstance(storage, Object) or storage.name != "torch.storage._load_from_bytes":
        raise TypeError
    try:
        value, expander = _legacy_parts(_bytes(storage.arguments[0]))
    except PickleError:
        return None, "bytes", 1
    if not isinstance(value, Object) or not isinstance(expander, _Expander):
        raise TypeError
    _, kind, key, _, _ = value.arguments[:5]
    return expander._storage(str(key)), *_dtype(kind)


def _numpy_array(dtype: Any, shape: tuple[Any, ...], data: Any, is_fortran: bool) -> Any:
    if not isinstance(dtype, Object) or dtype.name != "numpy.dtype":
        raise TypeError
    if isinstance(data, list):
        return data  # an array of objects
    code = str(dtype.arguments[0]).lstrip("<>=|")
    order = dtype.state[1] if isinstance(dtype.state, tuple) and len(dtype.state) > 1 else "="
    name = _NUMPY_KINDS.get(code[:1], "")
    name = "bool" if name == "bool" else f"{name}{8 * int(code[1:])}" if name else f"numpy {code}"
    dimensions = tuple(map(int, shape))
    if code.startswith("M"):
        return f"moments {list(dimensions)}"
    if is_fortran:
        name += ", Fortran order"
    return array_of(name, dimensions, _bytes(data), order if order in ("<", ">") else "=")


def _gathered(data: bytes, width: int, offset: int, shape: tuple[int, ...], stride: tuple[int, ...]) -> bytes:
    """Return the bytes of a strided tensor in the order of its elements.

    Raises:
        ValueError: the storage is too small.

    """
    count = math.prod(shape)
    if count == 0:
        return b""
    last = offset + sum((size - 1) * step for size, step in zip(shape, stride))
    if offset < 0 or min(stride, default=0) < 0 or len(shape) != len(stride) or (last + 1) * width > len(data):
        raise ValueError
    contiguous, expected = True, 1
    for size, step in zip(reversed(shape), reversed(stride)):
        contiguous = contiguous and (size == 1 or step == expected)
        expected *= size
    if contiguous:
        return data[offset * width : (offset + count) * width]
    if count // shape[-1] > _MOST_ROWS or count * width > 1 << 28:
        return data[offset * width : (last + 1) * width] + repr(stride).encode()
    return _rows(data, width, offset, shape, stride)


def _rows(data: bytes, width: int, offset: int, shape: tuple[int, ...], stride: tuple[int, ...]) -> bytes:
    starts = [offset]
    for size, step in zip(shape[:-1], stride[:-1]):
        starts = [start + index * step for start in starts for index in range(size)]
    size, step = shape[-1], stride[-1]
    if step == 1:
        return b"".join(data[start * width : (start + size) * width] for start in starts)
    if step == 0:
        return b"".join(data[start * width : (start + 1) * width] * size for start in starts)
    columns = [memoryview(data)[byte::width] for byte in range(width)]
    rows = []
    for start in starts:
        row = bytearray(size * width)
        for byte, column in enumerate(columns):
            row[byte::width] = column[start : start + (size - 1) * step + 1 : step]
        rows.append(bytes(row))
    return b"".join(rows)


_KNOWN: Mapping[str, Callable[[_Expander, Object], Any]] = {
    **dict.fromkeys(
        ("torch._utils._rebuild_tensor", "torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_tensor_v3"),
        _Expander.tensor,
    ),
    **dict.fromkeys(
        ("torch._utils._rebuild_parameter", "torch._utils._rebuild_parameter_with_state"), _Expander.parameter
    ),
    "torch._tensor._rebuild_from_type_v2": _Expander.subclass,
    "persistent": _Expander.storage,
    "numpy.core.multiarray._reconstruct": _Expander.numpy_array,
    "numpy._core.multiarray._reconstruct": _Expander.numpy_array,
    "numpy.core.numeric._frombuffer": _Expander.numpy_buffer,
    "numpy._core.numeric._frombuffer": _Expander.numpy_buffer,
    "numpy.core.multiarray.scalar": _Expander.numpy_scalar,
    "numpy._core.multiarray.scalar": _Expander.numpy_scalar,
    "_codecs.encode": _Expander.encoded,
    "pathlib.PosixPath": _Expander.path,
    "pathlib._local.PosixPath": _Expander.path,
    "torch.device": _Expander.device,
    "datetime.datetime": _Expander.moment,
    "pandas._libs.tslibs.timestamps._unpickle_timestamp": _Expander.moment,
}
