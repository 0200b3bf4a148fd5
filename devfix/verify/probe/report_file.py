"""The file for a run's report: outside the run's folder, mapped before the run is confined.

The caller creates the file and writes a nonce into it.  The probe takes the nonce out before the script starts, and
writes it in front of the report.  A report without it was not written by the probe.  The mapping remains if the script
closes all files.

Layout: nonce, length of the report (8 bytes, big-endian), report as JSON.

Imports the standard library only.
"""

from __future__ import annotations

import json
import mmap
import os
import secrets
from collections.abc import Mapping
from typing import IO, Any

__all__ = ["ReportFile", "prepare", "read"]

_SIZE = 256 << 20  # sparse
_NONCE_BYTES = 32
_LENGTH_BYTES = 8
_START = _NONCE_BYTES + _LENGTH_BYTES

_encode = json.dumps


def prepare(file: IO[bytes]) -> bytes:
    """Make an empty file a report file, and return its nonce."""
    nonce = secrets.token_bytes(_NONCE_BYTES)
    file.write(nonce)
    file.flush()
    os.truncate(file.fileno(), _SIZE)
    return nonce


def read(file: IO[bytes], nonce: bytes) -> dict[str, Any]:
    """Return the report in a file; empty if there is none, or the probe did not write it."""
    file.seek(0)
    if file.read(_NONCE_BYTES) != nonce:
        return {}
    length = int.from_bytes(file.read(_LENGTH_BYTES), "big")
    if not 0 < length <= _SIZE - _START:
        return {}
    try:
        return dict(json.loads(file.read(length)))
    except (ValueError, TypeError):  # the script may have written into the mapping
        return {}


class ReportFile:
    """A mapped report file.

    Args:
        descriptor: its file descriptor.

    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._mapping = mmap.mmap(descriptor, _SIZE)
        self._nonce = b""

    @classmethod
    def open(cls, path: str) -> ReportFile:
        """Open the file at a path."""
        return cls(os.open(path, os.O_RDWR))

    def pass_to_new_program(self) -> int:
        """Keep the descriptor open when this process executes another program, and return it."""
        os.set_inheritable(self._descriptor, True)
        return self._descriptor

    def take_nonce(self) -> None:
        """Take the nonce out of the file, and close the descriptor; call this before the script starts."""
        self._nonce = self._mapping[:_NONCE_BYTES]
        self._mapping[:_NONCE_BYTES] = bytes(_NONCE_BYTES)
        os.close(self._descriptor)

    def write(self, report: Mapping[str, Any]) -> None:
        """Write the report.

        Raises:
            ValueError: it is larger than the file.

        """
        text = _encode(report).encode()
        if len(text) > _SIZE - _START:
            raise ValueError(f"the report has {len(text):,} bytes")
        self._mapping[_START : _START + len(text)] = text
        self._mapping[_NONCE_BYTES:_START] = len(text).to_bytes(_LENGTH_BYTES, "big")
        self._mapping[:_NONCE_BYTES] = self._nonce
        self._mapping.flush()
