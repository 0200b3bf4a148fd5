"""TensorBoard's event files: tag, step and value of each summary.

https://github.com/tensorflow/tensorboard/blob/master/tensorboard/compat/proto/event.proto
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator

from devfix.verify.outputs.values import Value, array_of_bytes

__all__ = ["is_event_file", "read_events"]

MOST_SUMMARIES = 50_000

_VERSION = b"brain.Event:"

#: Fields of ``Event``, ``Summary``, ``Summary.Value`` and ``TensorProto``.
_STEP, _SUMMARY = 2, 5
_VALUE = 1
_TAG, _SIMPLE_VALUE, _TENSOR, _METADATA = 1, 2, 8, 9
_STRINGS = 8


def is_event_file(data: bytes) -> bool:
    """Whether these bytes start with the record that names the version of the format."""
    return _VERSION in data[12:64]


def read_events(data: bytes) -> dict[str, Value]:
    """Return the summaries of an event file by tag and step; a damaged end is ignored."""
    found: dict[str, Value] = {}
    same: Counter[str] = Counter()
    for record in _records(data):
        if len(found) >= MOST_SUMMARIES:
            break
        try:
            _add_event(found, same, record)
        except (struct.error, IndexError, ValueError):
            continue
    return found


def _records(data: bytes) -> Iterator[bytes]:
    at = 0
    while at + 12 <= len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        if at + 12 + size > len(data):
            return
        yield data[at + 12 : at + 12 + size]
        at += 16 + size


def _add_event(found: dict[str, Value], same: Counter[str], record: bytes) -> None:
    fields = list(_fields(record))
    step = next((value for number, value in fields if number == _STEP and isinstance(value, int)), 0)
    for number, summary in fields:
        if number != _SUMMARY or not isinstance(summary, bytes):
            continue
        for inner, value in _fields(summary):
            if inner == _VALUE and isinstance(value, bytes):
                tag, content = _summary(value)
                name = f"{tag} at step {step}"
                same[name] += 1
                found[name if same[name] == 1 else f"{name} ({same[name]})"] = content


def _summary(data: bytes) -> tuple[str, Value]:
    """Return the tag and the value of a summary: a number, a text, or the digest of anything else."""
    tag, rest = "", b""
    for number, value in _fields(data):
        if number == _TAG and isinstance(value, bytes):
            tag = value.decode("utf-8", "replace")
        elif number == _SIMPLE_VALUE and isinstance(value, float):
            return tag, value
        elif number == _TENSOR and isinstance(value, bytes) and (texts := _texts(value)):
            return tag, "\n".join(texts)
        elif number != _METADATA and isinstance(value, bytes):
            rest += value
    return tag, array_of_bytes(rest)


def _texts(tensor: bytes) -> list[str]:
    """Return the strings in a ``TensorProto``."""
    found = (value for number, value in _fields(tensor) if number == _STRINGS)
    return [value.decode("utf-8", "replace") for value in found if isinstance(value, bytes)]


def _fields(data: bytes) -> Iterator[tuple[int, int | float | bytes]]:
    """Yield number and value of the fields of a message.

    https://protobuf.dev/programming-guides/encoding/
    """
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = _varint(data, at)
            yield number, value
        elif kind == 1:
            yield number, struct.unpack_from("<d", data, at)[0]
            at += 8
        elif kind == 2:
            size, at = _varint(data, at)
            yield number, data[at : at + size]
            at += size
        elif kind == 5:
            yield number, struct.unpack_from("<f", data, at)[0]
            at += 4
        else:
            raise ValueError(kind)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if not byte & 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number is too long")
