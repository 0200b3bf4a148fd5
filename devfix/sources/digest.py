"""Digests of contents."""

from __future__ import annotations

import hashlib

__all__ = ["digest"]


def digest(*parts: bytes | str) -> str:
    """Return a digest of contents: 128 bits of BLAKE2b, in hexadecimal."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        raw = part if isinstance(part, bytes) else part.encode("utf-8", "surrogateescape")
        state.update(len(raw).to_bytes(8, "little") + raw)
    return state.hexdigest()
