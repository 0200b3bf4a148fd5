"""Branches that choose the device of a program and keep it in an attribute."""

from __future__ import annotations

import ast

from devfix.analysis.domain.device_parsing import parse_device
from devfix.analysis.domain.values import ACCELERATOR, CPU, Device
from devfix.syntax.node_caches import node_cache
from devfix.syntax.tree import text_of

__all__ = ["branch_of_accelerator"]


@node_cache(4096)
def branch_of_accelerator(stmt: ast.If) -> bool | None:
    """Return the outcome with which an attribute becomes the accelerator, and the CPU with the other one.

    ``if opt.gpus[0] >= 0: opt.device = torch.device("cuda")``: the program is followed with its accelerator, as after
    ``"cuda" if … else "cpu"``.
    """
    one, other = _devices_stored(stmt.body), _devices_stored(stmt.orelse)
    for target, device in one.items():
        if {device, other.get(target)} == {ACCELERATOR, CPU}:
            return device == ACCELERATOR
    return None


def _devices_stored(block: list[ast.stmt]) -> dict[str, Device]:
    """Return the devices that statements of a block store in attributes, named by literals."""
    found = {}
    for stmt in block:
        match stmt:
            case ast.Assign(targets=[ast.Attribute() as target], value=value):
                while isinstance(value, ast.Call) and len(value.args) == 1 and text_of(value.func).endswith("device"):
                    value = value.args[0]
                text = value.value if isinstance(value, ast.Constant) else None
                device = parse_device(text) if isinstance(text, str) else None
                if device is not None:
                    found[text_of(target)] = device
    return found
