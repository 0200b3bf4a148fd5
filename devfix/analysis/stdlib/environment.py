"""Settings that choose the device, of which only the default is known: ``os.environ.get("DEVICE", "cuda")``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.device_parsing import parse_device
from devfix.analysis.domain.values import ACCELERATOR, NONE, Const, DeviceValue, Keywords, Unknown, Value
from devfix.analysis.scenarios import configured_device

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS", "chosen_by"]


def _variable(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Return what a variable names; like an option, it is the accelerator where that is its default."""
    default = args[1] if len(args) > 1 else keywords.get("default", NONE)
    return chosen_by(interp, default) or Unknown(f"{name}()")


def chosen_by(interp: Interpreter, default: Value) -> DeviceValue | None:
    """Return the device of a setting of which only the default is known; ``None`` if that is not the accelerator."""
    text = default.value if isinstance(default, Const) else None
    if isinstance(text, str) and parse_device(text) == ACCELERATOR:
        return DeviceValue(configured_device(interp), text=True)
    return None


OVERLAYS: dict[str, TransferFunction] = {"os.environ.get": _variable, "os.getenv": _variable}
