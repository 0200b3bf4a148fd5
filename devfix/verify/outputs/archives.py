"""Members of zip and tar files, read with limits; times and permissions of members are ignored."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from devfix.verify.outputs.files import Content, Unreadable

__all__ = ["Member", "decompress_gzip", "read_tar", "zip_members"]

#: Members of one archive, and bytes of its directory.
MOST_MEMBERS = 10_000
LARGEST_DIRECTORY = 8 << 20

#: Bytes that the members of one file may have when decompressed.
LARGEST_EXPANSION = 256 << 20

_END, _END64_LOCATOR, _END64, _ENTRY, _LOCAL = b"PK\5\6", b"PK\6\7", b"PK\6\6", b"PK\1\2", b"PK\3\4"


class Member(NamedTuple):
    """A member of a zip file."""

    content: Content
    name: str
    method: int
    compressed: int
    size: int
    offset: int

    def read(self, limit: int) -> bytes:
        """Return its bytes.

        Raises:
            Unreadable: it is damaged, compressed by an unknown method, or larger than ``limit``.

        """
        if self.size > limit or self.compressed > limit:
            raise Unreadable("a member is too large")
        header = self.content.read(self.offset, 30)
        if len(header) < 30 or not header.startswith(_LOCAL):
            raise Unreadable("a member is damaged")
        name, extra = struct.unpack_from("<HH", header, 26)
        data = self.content.read(self.offset + 30 + name + extra, self.compressed)
        if self.method == 0:
            return data
        if self.method != zlib.DEFLATED:
            raise Unreadable("it is compressed by an unknown method")
        return _inflate(data, -zlib.MAX_WBITS, limit)


def _inflate(data: bytes, bits: int, limit: int) -> bytes:
    machine = zlib.decompressobj(bits)
    try:
        found = machine.decompress(data, limit + 1)
    except zlib.error as error:
        raise Unreadable("its compressed data is damaged") from error
    if len(found) > limit:
        raise Unreadable("it is too large when decompressed")
    return found


def decompress_gzip(data: bytes) -> bytes:
    """Return the content of the first member of a gzip file.

    Raises:
        Unreadable: it is damaged or too large.

    """
    return _inflate(data, 16 + zlib.MAX_WBITS, LARGEST_EXPANSION)


def zip_members(content: Content) -> list[Member]:
    """Return the members of a zip file in the order of its directory.

    Raises:
        Unreadable: it is damaged or has too many members.

    """
    start, size, count = _directory(content)
    if size > LARGEST_DIRECTORY or count > MOST_MEMBERS:
        raise Unreadable("it has too many members")
    directory = content.read(start, size)
    found: list[Member] = []
    at = 0
    try:
        while at < len(directory) and len(found) < count:
            found.append(_entry(content, directory, at))
            at += 46 + sum(struct.unpack_from("<HHH", directory, at + 28))
    except struct.error as error:
        raise Unreadable("its directory is damaged") from error
    return found


def _directory(content: Content) -> tuple[int, int, int]:
    """Return offset, size and number of entries of the directory."""
    tail_at = max(0, content.size - 66_000)
    tail = content.read(tail_at, 66_000)
    at = tail.rfind(_END)
    if at < 0 or len(tail) < at + 22:
        raise Unreadable("it is no complete zip file")
    count, size, start = struct.unpack_from("<HII", tail, at + 10)
    locator = tail[max(0, at - 20) : at]
    if locator.startswith(_END64_LOCATOR) and len(locator) == 20:
        (end64,) = struct.unpack_from("<Q", locator, 8)
        record = content.read(end64, 56)
        if record.startswith(_END64) and len(record) == 56:
            count, size, start = struct.unpack_from("<QQQ", record, 32)
    return start, size, count


def _entry(content: Content, directory: bytes, at: int) -> Member:
    if directory[at : at + 4] != _ENTRY:
        raise Unreadable("its directory is damaged")
    (method,) = struct.unpack_from("<H", directory, at + 10)
    compressed, size, name_size, extra_size = struct.unpack_from("<IIHH", directory, at + 20)
    (offset,) = struct.unpack_from("<I", directory, at + 42)
    name = directory[at + 46 : at + 46 + name_size].decode("utf-8", "replace")
    extra = directory[at + 46 + name_size : at + 46 + name_size + extra_size]
    wide = _zip64_fields(extra)
    if size == 0xFFFFFFFF:
        size = next(wide, size)
    if compressed == 0xFFFFFFFF:
        compressed = next(wide, compressed)
    if offset == 0xFFFFFFFF:
        offset = next(wide, offset)
    return Member(content, name, method, compressed, size, offset)


def _zip64_fields(extra: bytes) -> Iterator[int]:
    at = 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<HH", extra, at)
        if kind == 1:
            body = extra[at + 4 : at + 4 + size]
            return iter(struct.unpack(f"<{len(body) // 8}Q", body[: len(body) // 8 * 8]))
        at += 4 + size
    return iter(())


def read_tar(data: bytes) -> list[tuple[str, bytes]]:
    """Return name and bytes of the regular members of a tar file.

    Raises:
        Unreadable: it is damaged or has too many members.

    """
    found: list[tuple[str, bytes]] = []
    at = 0
    while at + 512 <= len(data) and data[at : at + 512].strip(b"\0"):
        header = data[at : at + 512]
        try:
            size = int(header[124:136].strip(b" \0") or b"0", 8)
        except ValueError as error:
            raise Unreadable("it is damaged") from error
        if size < 0:
            raise Unreadable("it is damaged")
        if header[156:157] in (b"0", b"\0"):
            prefix, name = (part.rstrip(b"\0").decode("utf-8", "replace") for part in (header[345:500], header[:100]))
            found.append((f"{prefix}/{name}" if prefix else name, data[at + 512 : at + 512 + size]))
        if len(found) > MOST_MEMBERS:
            raise Unreadable("it has too many members")
        at += 512 + -(-size // 512) * 512
    return found
