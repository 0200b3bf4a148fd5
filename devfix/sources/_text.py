"""Decoding and encoding of source files, byte for byte."""

from __future__ import annotations

import codecs
import os
import re
import stat

from devfix.model import Problem
from devfix.sources._source_file import SourceError, SourceFile

__all__ = ["NOTEBOOK", "decode", "encode", "read"]

NOTEBOOK = ".ipynb"  #: The suffix of notebooks.
_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK_OR_COMMENT = re.compile(rb"[ \t\f]*(?:#|\Z)")
_NEWLINE = re.compile(rb"\r\n?|\n")
_FOR_HOST_NAMES = frozenset({"idna", "punycode"})  # decoding takes quadratic time
_HEAD = 4096  # bytes in which the first two lines end, or hold no cookie that Python would read


def read(path: str) -> SourceFile:
    """Read and decode the file at ``path``; raise :class:`SourceError` if that fails."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # opening a pipe would wait for its other end
            raise SourceError(Problem(path, "not a regular file", hint="name a Python file"))
        with open(path, "rb") as file:
            raw = file.read()
    except OSError as error:
        raise SourceError(_unreadable(path, error)) from error
    return decode(path, raw)


def decode(path: str, raw: bytes) -> SourceFile:
    """Decode ``raw`` as Python does (byte-order mark, PEP 263 cookie, else UTF-8), or raise :class:`SourceError`.

    A path with the suffix of notebooks is read as a notebook.
    """
    if path.endswith(NOTEBOOK):
        from devfix.sources.notebooks import decode_notebook

        return decode_notebook(path, raw)
    if b"\0" in raw:
        line = raw.count(b"\n", 0, raw.index(b"\0")) + 1
        utf16 = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        hint = "save it as UTF-8" if utf16 else "is it really a Python file?"
        raise SourceError(Problem(path, "holds NUL bytes" + (" (UTF-16?)" if utf16 else ""), line, hint))
    bom = raw.startswith(codecs.BOM_UTF8)
    body = raw[len(codecs.BOM_UTF8) :] if bom else raw
    encoding = _encoding(path, body, bom)
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        message = f"not valid {encoding}: byte 0x{body[error.start]:02x}"
        raise SourceError(Problem(path, message, line, "correct the encoding cookie, or save it as UTF-8")) from error
    except (UnicodeError, LookupError) as error:
        raise SourceError(Problem(path, f"not valid {encoding}", 1, "save it as UTF-8")) from error
    file = SourceFile(path, raw, text, encoding, bom)
    if encoding != "utf-8" and encode(file, text) != raw:  # such as iso-2022-jp, utf-7: several spellings, one text
        raise SourceError(Problem(path, f"{encoding} cannot be written back byte for byte", 1, "save it as UTF-8"))
    return file


def encode(source: SourceFile, new_text: str) -> bytes:
    """Return ``new_text`` in the file's encoding, with its byte-order mark.

    Raise :class:`SourceError` if the encoding cannot represent a character, or if the text of a notebook cannot be
    split into its cells.
    """
    if source.cells is not None:
        from devfix.sources.notebooks import encode_notebook

        return encode_notebook(source, new_text)
    try:
        body = new_text.encode(source.encoding)
    except UnicodeEncodeError as error:
        message = f"{source.encoding} has no bytes for {new_text[error.start]!r}"
        raise SourceError(Problem(source.path, message, hint="save it as UTF-8")) from error
    return codecs.BOM_UTF8 + body if source.bom else body


def _encoding(path: str, body: bytes, bom: bool) -> str:
    """Return the codec that Python would use, by PEP 263."""
    cookie = _cookie(body)
    if cookie is None:
        return "utf-8"
    hint = "correct the encoding cookie, or save it as UTF-8"
    try:
        encoding = codecs.lookup(cookie).name
        if encoding in _FOR_HOST_NAMES:
            raise LookupError(encoding)
    except LookupError as error:
        raise SourceError(Problem(path, f"unknown encoding {cookie!r}", 1, hint)) from error
    if bom and encoding != "utf-8":
        raise SourceError(Problem(path, f"has a UTF-8 byte-order mark and a cookie for {cookie}", 1, hint))
    return "utf-8" if encoding == "utf-8-sig" else encoding


def _cookie(body: bytes) -> str | None:
    for line in _NEWLINE.split(body[:_HEAD], maxsplit=2)[:2]:
        found = _COOKIE.match(line)
        if found:
            return found[1].decode("ascii")
        if not _BLANK_OR_COMMENT.match(line):
            break
    return None


def _unreadable(path: str, error: OSError) -> Problem:
    if isinstance(error, FileNotFoundError):
        if os.path.islink(path):
            return Problem(path, "is a link to a file that does not exist", hint="remove or correct the link")
        return Problem(path, "no such file or folder", hint="check the spelling")
    if isinstance(error, PermissionError):
        return Problem(path, "cannot be read: permission denied", hint="check the file's permissions")
    if isinstance(error, IsADirectoryError):
        return Problem(path, "is a folder", hint="name a Python file")
    return Problem(path, f"cannot be read: {error.strerror or error}")
