"""Values of outputs: numbers, texts, and arrays by digest and samples."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Union

__all__ = ["SAMPLES", "Array", "Value", "array_of", "array_of_bytes", "array_of_numbers", "digest"]

#: Number of evenly spaced elements that are kept of an array.
SAMPLES = 256

#: struct formats of the dtypes; complex numbers are pairs.
_FORMATS = {
    "float64": "d",
    "float32": "f",
    "float16": "e",
    "complex128": "d",
    "complex64": "f",
    "int64": "q",
    "int32": "i",
    "int16": "h",
    "int8": "b",
    "uint64": "Q",
    "uint32": "I",
    "uint16": "H",
    "uint8": "B",
    "bool": "?",
    "bytes": "B",
}


@dataclass(frozen=True)
class Array:
    """An array, too large to keep.

    Attributes:
        dtype: as PyTorch names it; ``bytes`` for anything that is not an array of numbers.
        shape: its dimensions.
        digest: of its bytes.
        samples: evenly spaced elements, all of them if there are few; empty if the dtype is not known.
        excess: bytes that the file keeps with it, of the storage that it is a view of.  Not compared by ``==``.

    """

    dtype: str
    shape: tuple[int, ...]
    digest: str
    samples: tuple[float, ...] = ()
    excess: int = field(default=0, compare=False)

    @property
    def is_floating(self) -> bool:
        """Whether its elements are floating-point or complex numbers."""
        return self.dtype.startswith(("float", "bfloat", "complex")) or self.dtype == "numbers"

    def __str__(self) -> str:
        return f"{self.dtype} [{', '.join(map(str, self.shape))}]"


Value = Union[Array, str, bool, int, float, None]


def digest(parts: Iterable[bytes | memoryview]) -> str:
    """Return a digest of concatenated bytes."""
    hashed = hashlib.blake2b(digest_size=16)
    for part in parts:
        hashed.update(part)
    return hashed.hexdigest()


def array_of(dtype: str, shape: Sequence[int], data: bytes | memoryview, order: str = "=") -> Array:
    """Return the array with these bytes; ``order`` is the byte order as :mod:`struct` marks it."""
    return Array(dtype, tuple(shape), digest([data]), tuple(_samples(dtype, memoryview(data), order)))


def array_of_bytes(data: bytes | memoryview) -> Array:
    """Return bytes of unknown meaning as an array."""
    return array_of("bytes", (len(data),), data)


def array_of_numbers(numbers: Sequence[float]) -> Array:
    """Return a long list of numbers as an array."""
    step = -(-len(numbers) // SAMPLES)
    text = ",".join(map(repr, numbers)).encode()
    return Array("numbers", (len(numbers),), digest([text]), tuple(map(_to_float, numbers[::step])))


def _to_float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf")


def _samples(dtype: str, data: memoryview, order: str) -> list[float]:
    if dtype == "bfloat16":
        return [_from_bfloat16(bits) for bits in _spaced("H", data, order)]
    found = _FORMATS.get(dtype)
    return [] if found is None else [float(each) for each in _spaced(found, data, order)]


def _spaced(kind: str, data: memoryview, order: str) -> list[float]:
    size = struct.calcsize(f"={kind}")
    count = len(data) // size
    if not count:
        return []
    step = -(-count // SAMPLES)
    joined = b"".join(data[at : at + size] for at in range(0, count * size, step * size))
    return list(struct.unpack(f"{order}{len(joined) // size}{kind}", joined))


def _from_bfloat16(bits: float) -> float:
    return float(struct.unpack("=f", struct.pack("=I", int(bits) << 16))[0])
