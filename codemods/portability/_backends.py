"""The literal NCCL backend of process groups."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.portability._accelerator_counts import is_count, spawned_counts
from codemods.portability._declared_device import torch_import
from codemods.portability._guards import is_guarded
from codemods.portability._torch_names import (
    must_ask_late,
    named,
    others_prepare_devices,
    own_names,
    selects_devices_later,
)
from devfix.model import Fix, ReplaceExpression
from devfix.syntax.tree import SourceTree

__all__ = ["Backend", "nccl_backends"]

_OPTION = re.compile(r"-{0,2}(?:\w+[-_])?backend")
_CHOICE = '{literal} if torch.cuda.is_available() else "gloo"'


@dataclass(frozen=True, eq=False)
class Backend:
    """A literal ``"nccl"``; ``reason`` says why it stays."""

    tree: SourceTree
    node: ast.Constant
    fix: Fix | None = None
    reason: str = ""


def nccl_backends(tree: SourceTree) -> Iterator[Backend]:
    """Yield the literals of a file that choose NCCL whatever the device is."""
    if "nccl" not in tree.text:
        return
    spawned = list(spawned_counts(tree))
    for node in sorted(_literals(tree), key=tree.span):
        if is_guarded(tree, node):
            continue
        reason, added = "", [] if own_names(tree).get("torch") == "torch" else torch_import(tree)
        if own_names(tree).get("torch") != "torch" and not added:
            reason = "torch has another name in the file"
        elif _sets_devices_later(tree, node):
            reason = "the program selects devices or forks later, which must precede the first query for CUDA"
        code = _CHOICE.format(literal=tree.source(node))
        counts = [*_counts_of_group(tree, node), *spawned]
        edits = (
            *added,
            ReplaceExpression(tree.path, tree.span(node), code),
            *(ReplaceExpression(tree.path, tree.span(each), f"max({tree.source(each)}, 1)") for each in counts),
        )
        spawned = [] if not reason else spawned
        fix = Fix("use Gloo without CUDA", edits)
        yield Backend(tree, node, None if reason else fix, reason)


def _literals(tree: SourceTree) -> Iterator[ast.Constant]:
    for node in tree.nodes:
        if not isinstance(node, ast.Call):
            continue
        keywords = {each.arg: each.value for each in node.keywords}
        value: ast.expr | None = None
        if named(tree, node.func) in ("torch.distributed.init_process_group", "torch.distributed.new_group"):
            is_first = named(tree, node.func).endswith("init_process_group")
            value = keywords.get("backend", node.args[0] if node.args and is_first else None)
        elif isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            names = [each.value for each in node.args if isinstance(each, ast.Constant)]
            if any(isinstance(name, str) and _OPTION.fullmatch(name) for name in names):
                value = keywords.get("default")
        if isinstance(value, ast.Constant) and value.value == "nccl":
            yield value
    for node in tree.nodes:
        if isinstance(node, ast.Constant) and node.value == "nccl" and _OPTION.fullmatch(_kept_as(tree, node)):
            yield node


def _kept_as(tree: SourceTree, node: ast.Constant) -> str:
    """Return the name or attribute that a literal is assigned to, or the parameter whose default it is."""
    match tree.parents[node]:
        case ast.Assign(targets=[ast.Name(id=name) | ast.Attribute(attr=name)]):
            return name
        case ast.arguments() as spec:
            positional = [*spec.posonlyargs, *spec.args]
            names = [*positional[len(positional) - len(spec.defaults) :], *spec.kwonlyargs]
            defaults = [*spec.defaults, *spec.kw_defaults]
            return next(name.arg for name, default in zip(names, defaults, strict=True) if default is node)
    return ""


def _counts_of_group(tree: SourceTree, node: ast.Constant) -> Iterator[ast.expr]:
    """Yield the size of a group that has as many processes as there are accelerators: without any, it has one."""
    call = next((outer for outer in tree.ancestors(node) if isinstance(outer, ast.Call)), None)
    for keyword in call.keywords if call is not None else ():
        value = keyword.value
        if keyword.arg == "world_size" and is_count(value, tree):
            yield value


def _sets_devices_later(tree: SourceTree, node: ast.Constant) -> bool:
    """Return whether an assignment below, or anywhere for an option, selects the devices that are visible."""
    call = tree.parents[tree.parents[node]] if isinstance(tree.parents[node], ast.keyword) else tree.parents[node]
    is_option = isinstance(tree.parents[node], ast.arguments) or (
        isinstance(call, ast.Call) and not named(tree, call.func)
    )
    if isinstance(tree.parents[node], ast.arguments) and others_prepare_devices(tree, is_library=True):
        return True
    return must_ask_late(tree) if is_option else selects_devices_later(tree, node)
