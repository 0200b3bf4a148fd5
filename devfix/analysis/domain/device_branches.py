"""Branches that choose the device of a program: what is stored in an attribute, and what replaces a failed move."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TypeVar

from devfix.analysis.domain.device_parsing import parse_device
from devfix.analysis.domain.values import ACCELERATOR, CPU, Device
from devfix.syntax.node_caches import node_cache
from devfix.syntax.tree import text_of

__all__ = ["branch_of_accelerator", "calls_cuda", "does_without_accelerator"]


# What a move raises where there is no accelerator, and what catches that
_FAILED_MOVES = frozenset({"RuntimeError", "AssertionError", "Exception", "BaseException"})
_Node = TypeVar("_Node", bound=ast.AST)


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


@node_cache(4096)
def does_without_accelerator(stmt: ast.Try, handler: ast.ExceptHandler) -> bool:
    """Return whether a handler is for machines without an accelerator: it binds what the body moves there.

    ``try: x = x.cuda()``, ``except RuntimeError: x = x.float()``.  If it moves something, too, it is for those where
    the move fails, and binds nothing else: ``try: net = DataParallel(net).cuda()``, ``except: net = net.cuda()``.
    """
    if handler.type is not None and _FAILED_MOVES.isdisjoint(node.id for node in _nodes([handler.type], ast.Name)):
        return False
    bound = {node.id for node in _nodes(stmt.body, ast.Name) if isinstance(node.ctx, ast.Store)}
    again = {node.id for node in _nodes(handler.body, ast.Name) if isinstance(node.ctx, ast.Store)}
    if bound.isdisjoint(again):
        return False
    if _loads(stmt.body, mapped=False) and _loads(handler.body, mapped=True):
        return True  # ``except: state = torch.load(path, map_location="cpu")``
    return calls_cuda(stmt.body) and (not calls_cuda(handler.body) or again <= bound)


def _loads(block: Sequence[ast.stmt], mapped: bool) -> bool:
    """Return whether a block loads a checkpoint, with or without ``map_location``."""
    loads = [call for call in _nodes(block, ast.Call) if text_of(call.func) == "torch.load"]
    return any(
        (len(call.args) > 1 or any(each.arg == "map_location" for each in call.keywords)) is mapped for call in loads
    )


def calls_cuda(block: Sequence[ast.stmt]) -> bool:
    """Return whether something is called that is named after the accelerator, or is given its name."""
    for call in _nodes(block, ast.Call):
        texts = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        if "cuda" in text_of(call.func).split(".") or ACCELERATOR in map(parse_device, texts):
            return True
    return False


def _nodes(block: Sequence[ast.AST], kind: type[_Node]) -> Iterator[_Node]:
    return (node for each in block for node in ast.walk(each) if isinstance(node, kind))
