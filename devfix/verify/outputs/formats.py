"""Recognition of file formats by content, and their reading: numbers, texts and arrays."""

from __future__ import annotations

import ast
import csv
import json
import math
import struct
from collections.abc import Callable
from typing import Any

from devfix.verify.outputs.archives import LARGEST_EXPANSION, Member, decompress_gzip, read_tar, zip_members
from devfix.verify.outputs.checkpoints import is_legacy_checkpoint, read_checkpoint, read_pickle
from devfix.verify.outputs.events import is_event_file, read_events
from devfix.verify.outputs.files import Content, Unreadable
from devfix.verify.outputs.leaves import TooManyLeaves, flatten
from devfix.verify.outputs.pickles import PickleError
from devfix.verify.outputs.text import split_lines
from devfix.verify.outputs.values import Value, array_of, array_of_bytes, digest
from devfix.verify.outputs.vocabulary import is_number

__all__ = ["Parsed", "parse", "parse_bytes"]

#: Larger files are read in parts, if their format allows it.
LARGEST_WHOLE = 64 << 20
LARGEST_TEXT = 8 << 20

#: Returns the name of the project's file with these bytes; None if there is none.
Original = Callable[[bytes], "str | None"]

_LARGEST_TABLE = 1 << 20

_NESTED = 3  # archives within archives

_IMAGES = (
    b"\x89PNG\r\n",
    b"\xff\xd8\xff",
    b"GIF8",
    b"BM",
    b"RIFF",
    b"II*\0",
    b"MM\0*",
    b"%PDF-",
    b"\0\0\1\0",
    b"\x1aE\xdf\xa3",
)
_MARKED_UP = (b"<svg", b"<?xml", b"<!DOCTYPE html", b"<html")

#: Members of TorchScript archives with line numbers of the source.
_IGNORED_MEMBERS = (".debug_pkl", ".data/serialization_id", "byteorder", ".data/.format_version")

_SAFETENSORS_DTYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U8": "uint8",
    "BOOL": "bool",
}

_NUMPY_KINDS = {"f": "float", "i": "int", "u": "uint", "c": "complex", "b": "bool"}


class Parsed:
    """The content of a file.

    Attributes:
        kind: ``text``, ``values``, ``image`` or ``binary``.
        lines: of a text.
        values: of anything else, by path.

    """

    __slots__ = ("kind", "lines", "values")

    def __init__(self, kind: str, lines: tuple[str, ...] = (), values: dict[str, Value] | None = None) -> None:
        self.kind = kind
        self.lines = lines
        self.values = values or {}


def parse(content: Content, original: Original = lambda data: None) -> Parsed:
    """Return the content of a file.

    Args:
        content: its bytes.
        original: returns the name of the project's file that a member of an archive is a copy of; None: of none.

    Raises:
        Unreadable: it cannot be compared.

    """
    start = content.read(0, 512)
    if start.startswith(b"PK\3\4"):
        return _guarded(lambda: _parse_zip(zip_members(content), original))
    if content.size > LARGEST_WHOLE:
        return _parse_large(content, start)
    return parse_bytes(start if content.size <= len(start) else content.read(), original)


def parse_bytes(data: bytes, original: Original = lambda data: None, depth: int = 0) -> Parsed:
    """Return the content of a file or of an archive's member.

    Raises:
        Unreadable: it cannot be compared.

    """
    return _guarded(lambda: _parse_known(data, original, depth))


def _guarded(read: Callable[[], Parsed]) -> Parsed:
    try:
        return read()
    except (PickleError, TooManyLeaves) as error:
        raise Unreadable(str(error)) from error
    except (RecursionError, MemoryError, OverflowError) as error:
        raise Unreadable("it is nested too deeply, or too large") from error
    except Unreadable:
        raise
    except Exception as error:  # a file that nobody thought of must not end the proof
        raise Unreadable(f"it is damaged ({type(error).__name__})") from error


def _parse_large(content: Content, start: bytes) -> Parsed:
    """Return a digest of each part of a large file of no format that can be read in parts."""
    parts = (content.read(at, 1 << 24) for at in range(0, content.size, 1 << 24))
    spaced = b"".join(content.read(at, 1) for at in range(0, content.size, max(1, content.size // 256)))
    found = array_of_bytes(spaced)
    kind = "image" if start.startswith(_IMAGES) else "binary"
    return Parsed(kind, values={"": type(found)("bytes", (content.size,), digest(parts), found.samples)})


def _parse_known(data: bytes, original: Original, depth: int) -> Parsed:
    if data.startswith(b"PK\3\4"):
        return Parsed("binary", values={"": array_of_bytes(data)})  # within another archive
    if data.startswith(b"\x1f\x8b") and depth < _NESTED:
        return parse_bytes(decompress_gzip(data), original, depth + 1)
    if data[257:262] == b"ustar" and depth < _NESTED:
        return _parse_members(read_tar(data), original, depth)
    if data.startswith(b"\x93NUMPY"):
        return Parsed("values", values=read_npy(data))
    if is_event_file(data):
        return Parsed("values", values=read_events(data))
    if (data[:1] == b"\x80" and data[1:2] <= b"\x05") or is_legacy_checkpoint(data):
        return Parsed("values", values=read_pickle(data))
    if (tensors := _read_safetensors(data)) is not None:
        return Parsed("values", values=tensors)
    if data.startswith(_IMAGES) or data.lstrip()[:20].startswith(_MARKED_UP):
        return Parsed("image", values={"": array_of_bytes(data)})
    return _parse_text(data)


def _parse_text(data: bytes) -> Parsed:
    if b"\0" in data[:8192] or len(data) > LARGEST_TEXT:
        return Parsed("binary", values={"": array_of_bytes(data)})
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        if sum(byte < 9 for byte in data[:512]):
            return Parsed("binary", values={"": array_of_bytes(data)})
        text = data.decode("latin-1")
    document = _read_json(text) if text.lstrip()[:1] in ("{", "[") else _read_table(text)
    if document is not None:
        return Parsed("values", values=document)
    return Parsed("text", lines=tuple(split_lines(text)))


def _read_json(text: str) -> dict[str, Value] | None:
    """Return the leaves of a JSON document, or of one per line; None if it is neither."""
    try:
        return flatten(json.loads(text))
    except (ValueError, RecursionError):
        pass
    records: dict[str, Any] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                records[f"line {number}"] = json.loads(line)
            except (ValueError, RecursionError):
                return None
    return flatten(records)


def _read_table(text: str) -> dict[str, Value] | None:
    """Return the cells of a table with a heading by line and column; None if the text is no table."""
    heading = text.partition("\n")[0]
    separator = max(",\t;", key=heading.count)
    if heading.count(separator) == 0 or len(text) > _LARGEST_TABLE:
        return None
    try:
        columns, *rows = list(csv.reader(text.splitlines(), delimiter=separator))
    except csv.Error:
        return None
    rows = [row for row in rows if row]
    if not rows or any(len(row) != len(columns) for row in rows) or any(map(is_number, map(str.strip, columns))):
        return None
    names = [name.strip() or f"column {number}" for number, name in enumerate(columns, 1)]
    return flatten(
        {f"line {line}": {name: _cell(cell) for name, cell in zip(names, row)} for line, row in enumerate(rows, 2)}
    )


def _cell(text: str) -> str | float:
    return float(text) if is_number(text.strip()) else text


def read_npy(data: bytes) -> dict[str, Value]:
    """Return the array of an ``.npy`` file, or the leaves of the objects in it.

    https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html

    Raises:
        Unreadable: it is damaged.

    """
    wide = data[6:7] >= b"\2"
    try:
        (length,) = struct.unpack_from("<I" if wide else "<H", data, 8)
        start = (12 if wide else 10) + length
        if length > 1 << 16:
            raise Unreadable("its header is too large")
        header = ast.literal_eval(data[start - length : start].decode("latin-1").strip())
        described, shape, is_fortran = header["descr"], header["shape"], header["fortran_order"]
    except (struct.error, ValueError, SyntaxError, KeyError, TypeError, RecursionError, MemoryError) as error:
        raise Unreadable("its header is damaged") from error
    body = data[start:]
    if described == "|O":
        return read_pickle(body)
    if not isinstance(described, str) or not isinstance(shape, tuple):
        return {"": array_of_bytes(body)}
    kind = _NUMPY_KINDS.get(described[1:2])
    size = described[2:]
    if kind is None or not size.isdigit():
        return {"": array_of(f"numpy {described}", (len(body),), body)}
    name = "bool" if kind == "bool" else f"{kind}{8 * int(size)}"
    if is_fortran and math.prod(map(int, shape)) > 1 and len(shape) > 1:
        name += ", Fortran order"
    return {"": array_of(name, tuple(map(int, shape)), body, described[0] if described[0] in "<>" else "=")}


def _read_safetensors(data: bytes) -> dict[str, Value] | None:
    """Return the tensors of a safetensors file; None if it is no such file.

    https://huggingface.co/docs/safetensors/index#format
    """
    if len(data) < 10 or data[8:9] != b"{":
        return None
    (length,) = struct.unpack_from("<Q", data)
    if length > len(data) - 8:
        return None
    try:
        header = json.loads(data[8 : 8 + length])
        body = memoryview(data)[8 + length :]
        found: dict[str, Value] = {}
        for name, described in header.items():
            if name == "__metadata__":
                found.update(flatten({name: described}))
                continue
            start, end = described["data_offsets"]
            dtype = _SAFETENSORS_DTYPES.get(described["dtype"], str(described["dtype"]))
            found[name] = array_of(dtype, tuple(map(int, described["shape"])), body[int(start) : int(end)])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return found


def _parse_zip(members: list[Member], original: Original) -> Parsed:
    pickle = next((member for member in members if member.name.rpartition("/")[2] == "data.pkl"), None)
    if pickle is not None:
        return Parsed("values", values=_read_torch(pickle, members))
    left = LARGEST_EXPANSION
    found = []
    for member in members:
        if member.name.endswith("/") or member.name.endswith(_IGNORED_MEMBERS):
            continue
        data = member.read(left)
        left -= len(data)
        found.append((member.name, data))
    return _parse_members(found, original, 0)


def _read_torch(pickle: Member, members: list[Member]) -> dict[str, Value]:
    folder = pickle.name[: -len("data.pkl")]
    storages = {member.name: member for member in members}

    def storage(key: str) -> bytes | None:
        member = storages.get(f"{folder}data/{key}")
        return None if member is None or member.size > LARGEST_EXPANSION else member.read(LARGEST_EXPANSION)

    return read_checkpoint(pickle.read(LARGEST_WHOLE), storage)


def _parse_members(members: list[tuple[str, bytes]], original: Original, depth: int) -> Parsed:
    """Return the values of all members; a text becomes one value per line."""
    values: dict[str, Value] = {}
    for name, data in members:
        copied = original(data)
        if copied is not None:
            values[name] = f"a copy of {copied}"
            continue
        inner = parse_bytes(data, original, depth + 1)
        prefix = name[: -len(".npy")] if name.endswith(".npy") else name
        for key, value in inner.values.items():
            values[f"{prefix}: {key}" if key else prefix] = value
        for number, line in enumerate(inner.lines, 1):
            values[f"{name}: line {number}"] = line
    return Parsed("values", values=values)
