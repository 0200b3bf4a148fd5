"""Device strings, and what calls say of devices by their text alone."""

from __future__ import annotations

import ast

from devfix.analysis.domain.values import ACCELERATOR, CPU, Device
from devfix.syntax.tree import called_name

__all__ = ["UNKNOWN_INDEX", "moves_to_cpu", "names_device", "parse_device", "target_of_move"]


_ACCELERATOR_NAMES = ("cuda", "gpu", "mps", "xpu", "npu", "hpu", "mlu", "musa", "privateuseone", "tpu")


# Symbol of a device whose string ends in an unknown index: ``f"cuda:{rank}"``.
UNKNOWN_INDEX = "an index"


#: What trainers and other libraries call accelerators, but PyTorch does not.
_NAMES_OF_OTHERS = ("gpu", "tpu")


def names_device(text: str) -> bool:
    """Return whether PyTorch takes a string for a device, ``"cuda:0"``; ``"gpu"`` is one of Lightning's."""
    return parse_device(text) is not None and text.strip().lower().partition(":")[0] not in _NAMES_OF_OTHERS


def parse_device(text: str) -> Device | None:
    """Return the device that a string names (``"cuda:0"``, ``"cpu"``); ``None`` if it names none."""
    name = text.strip().lower()
    if name == "cpu" or name.startswith("cpu:"):
        return CPU
    if any(name == kind or name.startswith(kind + ":") for kind in _ACCELERATOR_NAMES):
        return ACCELERATOR
    return None


def target_of_move(call: ast.Call) -> ast.expr | None:
    """Return what ``x.to(…)`` says of a device, without ``torch.device(…)`` around it; ``None`` if it says nothing."""
    target = next((keyword.value for keyword in call.keywords if keyword.arg == "device"), None)
    target = target or (call.args[0] if call.args else None)
    if isinstance(target, ast.Call) and target.args and called_name(target) == "device":
        return target.args[0]
    return target


def moves_to_cpu(call: ast.Call) -> bool:
    """Return whether a call is a move to the CPU: ``x.cpu()``, ``x.to("cpu")``, ``x.to(torch.device("cpu"))``."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    match target_of_move(call) if name == "to" else None:
        case ast.Constant(value=str(text)) | ast.Name(id="cpu" as text):
            return parse_device(text) == CPU
    return name == "cpu"
