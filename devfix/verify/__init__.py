"""Verification by running: the original script fails on the accelerator, and the patched one trains as intended."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["Failure", "Run", "RunError", "Verdict", "judge", "prove", "run"]

_MODULES = {
    **dict.fromkeys(("Failure", "Run", "RunError"), "records"),
    **dict.fromkeys(("Verdict", "judge"), "verdict"),
    "prove": "proof",
    "run": "runs",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that ``python -m devfix.verify.runs`` loads its module once."""
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(name)
