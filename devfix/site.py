"""Addresses of the documentation."""

from __future__ import annotations

__all__ = ["page_url"]

_SITE = "https://devfix.readthedocs.io/en/latest/"


def page_url(name: str) -> str:
    """Return the address of a page, by its path in ``docs`` without the suffix, such as ``how-to/bot``."""
    return f"{_SITE}{name}.html"
