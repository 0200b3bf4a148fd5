"""Proof by running: the original fails on the accelerator, the patched script does not, and it trains the same."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["Failure", "Run", "RunError", "Verdict", "judge", "prove", "run"]

_HOMES = {
    **dict.fromkeys(("Failure", "Run", "RunError"), "records"),
    **dict.fromkeys(("Verdict", "judge"), "verdict"),
    "prove": "proof",
    "run": "runs",
}


def __getattr__(name: str) -> Any:
    """Import on first use, so that ``python -m devfix.verify.runs`` loads its module once."""
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(name)
