"""Candidates for failures in which no two tensors met: a generator, a device that is not there, a file."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from devfix.model import AddKeyword, Edit, ReplaceExpression
from devfix.syntax.tree import SourceTree
from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.repair.candidates._candidate import MOST_WORDS, Candidate, Spot, appended, redirected, words_at
from devfix.trace.repair.edited_sources import Texts

__all__ = ["FAMILIES", "without_values"]

_WANTED = re.compile(r"Expected an? '?(\w+)'? device type for generator")
_NUMBERED = re.compile(r"[a-z]+:[1-9]\d*")


def without_values(diagnosis: Diagnosis, texts: Texts) -> Iterator[Candidate]:
    """The candidates of a family of failures in which no tensor is to blame."""
    yield from FAMILIES[diagnosis.story.family or ""](diagnosis, texts)


def _spots(diagnosis: Diagnosis, texts: Texts) -> Iterator[Spot]:
    for position in diagnosis.story.frames:
        found = texts.node_at(position)
        if found is not None:
            yield Spot(*found, position)


def _trees(diagnosis: Diagnosis, texts: Texts) -> list[SourceTree]:
    paths = dict.fromkeys(position.file for position in diagnosis.story.frames)
    return [tree for path in paths if (tree := texts.tree(path)) is not None]


def _calls(tree: SourceTree) -> list[ast.Call]:
    found = [node for node in ast.walk(tree.tree) if isinstance(node, ast.Call)]
    return sorted(found, key=lambda call: (call.lineno, call.col_offset))


def _last_name(call: ast.Call) -> str:
    return ast.unparse(call.func).split(".")[-1]


def _given(call: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


# --- generators -------------------------------------------------------------------------------------------------------
def _generator(diagnosis: Diagnosis, texts: Texts) -> Iterator[Candidate]:
    """Numbers are drawn where the generator is, and moved; else the generator is made where they are drawn."""
    wanted = _WANTED.search(diagnosis.story.message)
    if wanted is None:
        return
    if wanted[1] != "cpu":
        yield from _drawn_and_moved(diagnosis, texts)
    for tree in _trees(diagnosis, texts):
        for call in _calls(tree):
            if _last_name(call) != "Generator":
                continue
            func = tree.source(call.func)
            if wanted[1] == "cpu" and (call.args or call.keywords):
                edit = ReplaceExpression(tree.path, tree.span(call), f"{func}()")
                yield Candidate("make the generator on the CPU", (edit,))
            elif wanted[1] != "cpu" and not call.args and not call.keywords:
                for word in words_at(diagnosis, tree, call)[:MOST_WORDS]:
                    added = AddKeyword(tree.path, tree.span(call), "device", word)
                    yield Candidate(f"make the generator on `{word}`", (added,))


def _drawn_and_moved(diagnosis: Diagnosis, texts: Texts) -> Iterator[Candidate]:
    """``torch.randn(n, generator=g).to(device)`` where ``device=`` stood, for all that the generator draws."""
    for spot in _spots(diagnosis, texts):
        call = spot.node
        if not isinstance(call, ast.Call) or _given(call, "generator") is None or _given(call, "device") is None:
            continue
        same = ast.unparse(_given(call, "generator") or call)
        alike = [
            each
            for each in _calls(spot.tree)
            if _given(each, "device") is not None and ast.unparse(_given(each, "generator") or each) == same
        ]
        for group in dict.fromkeys([tuple(alike), (call,)]):
            edits: list[Edit] = [
                ReplaceExpression(spot.tree.path, spot.tree.span(each), _moved(spot.tree, each)) for each in group
            ]
            yield Candidate("draw where the generator is, and move what is drawn", tuple(edits))


def _moved(tree: SourceTree, call: ast.Call) -> str:
    device = _given(call, "device")
    assert device is not None
    kept = [tree.source(each) for each in call.args]
    kept += [
        f"{keyword.arg}={tree.source(keyword.value)}" if keyword.arg else f"**{tree.source(keyword.value)}"
        for keyword in call.keywords
        if keyword.arg != "device"
    ]
    return f"{tree.source(call.func)}({', '.join(kept)}).to({tree.source(device)})"


# --- a device that is not there ---------------------------------------------------------------------------------------
def _ordinal(diagnosis: Diagnosis, texts: Texts) -> Iterator[Candidate]:
    """The device that the program uses elsewhere; else the first one, in place of one with a number."""
    for spot in _spots(diagnosis, texts):
        yield from redirected(diagnosis, spot)
    for tree in _trees(diagnosis, texts):
        for node in ast.walk(tree.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _NUMBERED.fullmatch(node.value):
                source = tree.source(node)
                code = source.replace(node.value, node.value.split(":")[0])
                edit = ReplaceExpression(tree.path, tree.span(node), code)
                yield Candidate(f"`{code}` where `{source}` was", (edit,))
        for call in _calls(tree):
            if _last_name(call) in ("cuda", "set_device") and call.args and _is_number(call.args[0]):
                edit = ReplaceExpression(tree.path, tree.span(call.args[0]), "0")
                yield Candidate("the first accelerator", (edit,))
            ids = _given(call, "device_ids")
            if isinstance(ids, ast.List) and any(map(_is_number, ids.elts)):
                edit = ReplaceExpression(tree.path, tree.span(ids), "[0]")
                yield Candidate("the first accelerator", (edit,))


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value > 0


# --- files ------------------------------------------------------------------------------------------------------------
def _file(diagnosis: Diagnosis, texts: Texts) -> Iterator[Candidate]:
    """``map_location=`` for what was written where there was an accelerator."""
    for spot in _spots(diagnosis, texts):
        call = spot.node
        if not isinstance(call, ast.Call) or not _last_name(call).startswith("load"):
            continue
        given = _given(call, "map_location")
        for word in [*words_at(diagnosis, spot.tree, call)[:MOST_WORDS], '"cpu"']:
            path = spot.tree.path
            edit: Edit = (
                AddKeyword(path, spot.tree.span(call), "map_location", word)
                if given is None
                else ReplaceExpression(path, spot.tree.span(given), word)
            )
            yield Candidate(f"load to `{word}`", (edit,))


# --- wrappers for several devices -------------------------------------------------------------------------------------
def _parallel(diagnosis: Diagnosis, texts: Texts) -> Iterator[Candidate]:
    """The module that is wrapped is moved first."""
    for spot in _spots(diagnosis, texts):
        call = spot.node
        if isinstance(call, ast.Call) and call.args and _last_name(call)[:1].isupper():
            for word in words_at(diagnosis, spot.tree, call)[:MOST_WORDS]:
                yield appended(spot, call.args[0], f".to({word})", f"`{spot.tree.source(call.args[0])}`")


#: What is tried, by the family of the message.
FAMILIES: dict[str, Callable[[Diagnosis, Texts], Iterator[Candidate]]] = {
    "generator": _generator,
    "ordinal": _ordinal,
    "load": _file,
    "parallel": _parallel,
}
