"""Credentials in URLs are never shown, logged or kept."""

from __future__ import annotations

import re

__all__ = ["hide", "redacted"]

_USER = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)(?P<user>[^\s/?#'\"]+)@")
_PARAMETER = re.compile(
    r"(?P<name>[?&][^=&#\s]*(?:token|secret|password|passwd|api_?key|auth|signature)[^=&#\s]*=)[^&#\s'\"]+",
    re.IGNORECASE,
)
_HEADER = re.compile(r"(?P<name>authorization:\s*(?:basic|bearer|token)\s+)\S+", re.IGNORECASE)
_KNOWN = re.compile(  # as the hosts make them: https://github.blog/2021-04-05-behind-githubs-new-authentication-token-formats
    r"\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|hf_[A-Za-z0-9]{16,}|ATBB\w{16,})"
)
_HIDDEN = "***"
#: A name that a person logs in with, and that is no secret.
_PLAIN_USERS = frozenset({"git", "hg", "ssh"})


_secrets: set[str] = set()
_SHORTEST = 6  # characters: what is shorter is no secret, and hiding it would make holes into ordinary words


def hide(secret: str) -> None:
    """Never show this text from now on."""
    if len(secret) >= _SHORTEST:
        _secrets.add(secret)


def redacted(text: str) -> str:
    """``text`` without user names, passwords and tokens in its URLs, and without tokens that are known or look so."""
    for secret in sorted(_secrets, key=len, reverse=True):
        text = text.replace(secret, _HIDDEN)
    text = _USER.sub(_user, text)
    text = _PARAMETER.sub(rf"\g<name>{_HIDDEN}", text)
    text = _HEADER.sub(rf"\g<name>{_HIDDEN}", text)
    return _KNOWN.sub(_HIDDEN, text)


def _user(found: re.Match[str]) -> str:
    kept = found["user"] if found["user"] in _PLAIN_USERS else _HIDDEN
    return f"{found['scheme']}{kept}@"
