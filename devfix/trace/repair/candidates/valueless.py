"""Candidates for failures without conflicting tensors: a generator, a missing device, a checkpoint."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from devfix.model import AddKeyword, Edit, ReplaceExpression
from devfix.syntax.tree import SourceTree
from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.repair.candidates._candidate import (
    MAX_DEVICE_EXPRESSIONS,
    Candidate,
    SourceLocation,
    append_move,
    redirect,
    untraced_device_expressions,
)
from devfix.trace.repair.edited_sources import EditedSources

__all__ = ["FAMILIES", "without_values"]

_EXPECTED = re.compile(r"Expected an? '?(\w+)'? device type for generator")
_NUMBERED = re.compile(r"[a-z]+:[1-9]\d*")


def without_values(diagnosis: Diagnosis, edited: EditedSources) -> Iterator[Candidate]:
    """Yield the candidates of a family of failures without conflicting tensors."""
    yield from FAMILIES[diagnosis.failure.family or ""](diagnosis, edited)


def _locations(diagnosis: Diagnosis, edited: EditedSources) -> Iterator[SourceLocation]:
    for position in diagnosis.failure.frames:
        found = edited.node_at(position)
        if found is not None:
            yield SourceLocation(*found, position)


def _trees(diagnosis: Diagnosis, edited: EditedSources) -> list[SourceTree]:
    paths = dict.fromkeys(position.file for position in diagnosis.failure.frames)
    return [tree for path in paths if (tree := edited.tree(path)) is not None]


def _calls(tree: SourceTree) -> list[ast.Call]:
    found = [node for node in ast.walk(tree.tree) if isinstance(node, ast.Call)]
    return sorted(found, key=lambda call: (call.lineno, call.col_offset))


def _function_name(call: ast.Call) -> str:
    return ast.unparse(call.func).split(".")[-1]


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


# --- generators -----------------------------------------------------------------------------------------------------
def _generator(diagnosis: Diagnosis, edited: EditedSources) -> Iterator[Candidate]:
    """Yield sampling on the generator's device followed by a move; else a generator on the device of the samples."""
    expected = _EXPECTED.search(diagnosis.failure.message)
    if expected is None:
        return
    if expected[1] != "cpu":
        yield from _draw_and_move(diagnosis, edited)
    for tree in _trees(diagnosis, edited):
        for call in _calls(tree):
            if _function_name(call) != "Generator":
                continue
            func = tree.source(call.func)
            if expected[1] == "cpu" and (call.args or call.keywords):
                edit = ReplaceExpression(tree.path, tree.span(call), f"{func}()")
                yield Candidate("create the generator on the CPU", (edit,))
            elif expected[1] != "cpu" and not call.args and not call.keywords:
                for device in untraced_device_expressions(diagnosis, tree, call)[:MAX_DEVICE_EXPRESSIONS]:
                    added = AddKeyword(tree.path, tree.span(call), "device", device)
                    yield Candidate(f"create the generator on `{device}`", (added,))


def _draw_and_move(diagnosis: Diagnosis, edited: EditedSources) -> Iterator[Candidate]:
    """Yield ``torch.randn(n, generator=g).to(device)`` for calls with ``device=``, for all samples of the generator."""
    for location in _locations(diagnosis, edited):
        call = location.node
        if not isinstance(call, ast.Call) or _keyword(call, "generator") is None or _keyword(call, "device") is None:
            continue
        generator = ast.unparse(_keyword(call, "generator") or call)
        same_generator = [
            each
            for each in _calls(location.tree)
            if _keyword(each, "device") is not None and ast.unparse(_keyword(each, "generator") or each) == generator
        ]
        for group in dict.fromkeys([tuple(same_generator), (call,)]):
            edits: list[Edit] = [
                ReplaceExpression(location.tree.path, location.tree.span(each), _draw_then_move(location.tree, each))
                for each in group
            ]
            yield Candidate("sample on the generator's device, and move the samples", tuple(edits))


def _draw_then_move(tree: SourceTree, call: ast.Call) -> str:
    device = _keyword(call, "device")
    assert device is not None
    arguments = [tree.source(each) for each in call.args]
    arguments += [
        f"{keyword.arg}={tree.source(keyword.value)}" if keyword.arg else f"**{tree.source(keyword.value)}"
        for keyword in call.keywords
        if keyword.arg != "device"
    ]
    return f"{tree.source(call.func)}({', '.join(arguments)}).to({tree.source(device)})"


# --- missing devices ------------------------------------------------------------------------------------------------
def _ordinal(diagnosis: Diagnosis, edited: EditedSources) -> Iterator[Candidate]:
    """Yield the device that the program uses elsewhere; else the first device instead of a numbered one."""
    for location in _locations(diagnosis, edited):
        yield from redirect(diagnosis, location)
    for tree in _trees(diagnosis, edited):
        for node in ast.walk(tree.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _NUMBERED.fullmatch(node.value):
                source = tree.source(node)
                code = source.replace(node.value, node.value.split(":")[0])
                edit = ReplaceExpression(tree.path, tree.span(node), code)
                yield Candidate(f"replace `{source}` with `{code}`", (edit,))
        for call in _calls(tree):
            if _function_name(call) in ("cuda", "set_device") and call.args and _is_number(call.args[0]):
                edit = ReplaceExpression(tree.path, tree.span(call.args[0]), "0")
                yield Candidate("use the first accelerator", (edit,))
            ids = _keyword(call, "device_ids")
            if isinstance(ids, ast.List) and any(map(_is_number, ids.elts)):
                edit = ReplaceExpression(tree.path, tree.span(ids), "[0]")
                yield Candidate("use the first accelerator", (edit,))


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value > 0


# --- checkpoints ----------------------------------------------------------------------------------------------------
def _load(diagnosis: Diagnosis, edited: EditedSources) -> Iterator[Candidate]:
    """Yield ``map_location=`` for checkpoints that were saved on an accelerator."""
    for location in _locations(diagnosis, edited):
        call = location.node
        if not isinstance(call, ast.Call) or not _function_name(call).startswith("load"):
            continue
        keyword = _keyword(call, "map_location")
        for device in [*untraced_device_expressions(diagnosis, location.tree, call)[:MAX_DEVICE_EXPRESSIONS], '"cpu"']:
            path = location.tree.path
            edit: Edit = (
                AddKeyword(path, location.tree.span(call), "map_location", device)
                if keyword is None
                else ReplaceExpression(path, location.tree.span(keyword), device)
            )
            yield Candidate(f"load to `{device}`", (edit,))


# --- data parallelism -----------------------------------------------------------------------------------------------
def _parallel(diagnosis: Diagnosis, edited: EditedSources) -> Iterator[Candidate]:
    """Yield a move of the wrapped module before the wrapper."""
    for location in _locations(diagnosis, edited):
        call = location.node
        if isinstance(call, ast.Call) and call.args and _function_name(call)[:1].isupper():
            for device in untraced_device_expressions(diagnosis, location.tree, call)[:MAX_DEVICE_EXPRESSIONS]:
                yield append_move(location, call.args[0], f".to({device})", f"`{location.tree.source(call.args[0])}`")


#: Candidates by family of error messages.
FAMILIES: dict[str, Callable[[Diagnosis, EditedSources], Iterator[Candidate]]] = {
    "generator": _generator,
    "ordinal": _ordinal,
    "load": _load,
    "parallel": _parallel,
}
