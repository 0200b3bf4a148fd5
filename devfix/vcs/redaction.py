"""Redaction of credentials in anything that is shown, logged or stored."""

from __future__ import annotations

import re

__all__ = ["hide", "redacted"]

# Each pattern is linear in the text, which may be a stranger's: a repetition begins where no other one can run.
_USER_INFO = re.compile(r"(?P<scheme>(?<![A-Za-z0-9+.-])[A-Za-z0-9+.-]+://)(?P<user>[^\s/?#'\"]+)@")
_PARAMETER = re.compile(
    r"(?P<name>[?&](?=[^?=&#\s]*(?:token|secret|password|passwd|api_?key|auth|signature))[^?=&#\s]*=)[^&#\s'\"]+",
    re.IGNORECASE,
)
_HEADER = re.compile(r"(?P<name>authorization:\s*(?:basic|bearer|token)\s+)\S+", re.IGNORECASE)
_TOKENS = re.compile(  # token formats: https://github.blog/2021-04-05-behind-githubs-new-authentication-token-formats
    r"\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|hf_[A-Za-z0-9]{16,}|ATBB\w{16,})"
)
_HIDDEN = "***"
#: User names that are not secret.
_PLAIN_USERS = frozenset({"git", "hg", "ssh"})


_secrets: set[str] = set()
_MIN_LENGTH = 6  # characters; hiding shorter texts would damage ordinary words


def hide(secret: str) -> None:
    """Redact a text from now on."""
    if len(secret) >= _MIN_LENGTH:
        _secrets.add(secret)


def redacted(text: str) -> str:
    """Return ``text`` without user names, passwords and tokens in URLs, and without known or likely tokens."""
    for secret in sorted(_secrets, key=len, reverse=True):
        text = text.replace(secret, _HIDDEN)
    if "@" in text:  # the checks before the patterns are for plans of a million URLs
        text = _USER_INFO.sub(_user, text)
    if "=" in text:
        text = _PARAMETER.sub(rf"\g<name>{_HIDDEN}", text)
    if ":" in text and "authorization" in text.lower():
        text = _HEADER.sub(rf"\g<name>{_HIDDEN}", text)
    return _TOKENS.sub(_HIDDEN, text) if "_" in text or "glpat-" in text or "ATBB" in text else text


def _user(found: re.Match[str]) -> str:
    shown = found["user"] if found["user"] in _PLAIN_USERS else _HIDDEN
    return f"{found['scheme']}{shown}@"
