"""The edits that let the places of a file follow a device that it chooses."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codemods.portability._cuda_calls import conditional_edits
from codemods.portability._declared_device import Declarations, declare, torch_import
from codemods.portability._device_choice import accelerator_query, choice_without_cuda, device_choice
from codemods.portability._torch_names import imports_torch, indentation, stands_alone
from codemods.portability.places.cuda_place import CudaPlace, Kind
from codemods.portability.places.literals import is_computed_cuda
from devfix.analysis import Observations
from devfix.model import Edit, InsertStatement, ReplaceExpression, ReplaceStatement, Where
from devfix.syntax.tree import SourceTree

__all__ = ["Ported", "port_edits"]


@dataclass(frozen=True)
class Ported:
    """The places that can be ported, and the edits of their file; ``reason`` says why there are none."""

    places: tuple[CudaPlace, ...] = ()
    edits: tuple[Edit, ...] = ()
    reason: str = ""


def port_edits(observations: Observations, places: Sequence[CudaPlace]) -> Ported:
    """Return the edits of a file, all of its places together."""
    if not places:
        return Ported()
    tree, targets = observations.trees[0], observations.targets
    choice, certain = device_choice(targets), device_choice(targets, is_certain=True)
    is_library = observations.is_library
    moves = [place for place in places if place.kind == Kind.MOVE]
    declared = declare(tree, moves, choice, observations.trees, is_library=is_library)
    if declared.reason:
        return Ported(reason=declared.reason)
    edits = [*declared.edits]
    if len(moves) < len(places) and not imports_torch(tree) and not edits:
        edits = torch_import(tree)
        if not edits:
            return Ported(reason="the file does not import torch by its name")
    inner = {place for place in places if any(_contains(tree, other, place) for other in places)}
    calls = [place.node for place in places if place.kind == Kind.CALL and isinstance(place.node, ast.Call)]
    edits += conditional_edits(tree, calls, targets)
    for place in places:
        if place not in inner and place.kind != Kind.CALL:
            nested = [other for other in places if other is place or _contains(tree, place, other)]
            if place.kind == Kind.QUERY:
                edits.append(_asked(tree, place, accelerator_query(targets)))
            else:
                edits += _edits(tree, place, nested, declared, certain if place.is_certain else choice)
    return Ported(tuple(places), tuple(edits))


def _contains(tree: SourceTree, outer: CudaPlace, inner: CudaPlace) -> bool:
    return outer is not inner and outer.node in tree.ancestors(inner.node)


def _edits(
    tree: SourceTree, place: CudaPlace, nested: Sequence[CudaPlace], declared: Declarations, choice: str
) -> Iterator[Edit]:
    """Yield the edit of a place with those inside of it."""
    if place.kind == Kind.CONDITION:
        yield _conditional(tree, place, choice)
        return
    if place.kind == Kind.PARAMETER:
        function = tree.function(tree.parents[place.node])
        assert isinstance(function, ast.FunctionDef)
        test = f"if {place.name} == {tree.source(place.node)} and not torch.cuda.is_available():"
        lines = (test, f"{indentation(tree)}{place.name} = {choice_without_cuda(choice)}")
        yield InsertStatement(tree.path, tree.span(function), Where.BODY_START, "\n".join(lines))
        return
    if place.kind == Kind.FALLBACK:
        yield ReplaceExpression(tree.path, tree.span(place.node), _fallback(tree, place, choice))
        return
    if place.kind == Kind.TEST:
        text = tree.source(place.node)
        is_loose = isinstance(place.node, (ast.IfExp, ast.Lambda, ast.NamedExpr)) or (
            isinstance(place.node, ast.BoolOp) and isinstance(place.node.op, ast.Or)
        )
        asked = f"({text})" if is_loose else text
        yield ReplaceExpression(tree.path, tree.span(place.node), f"{asked} and torch.cuda.is_available()")
        return
    pieces = [piece for each in nested for piece in _texts(tree, each, declared, choice)]
    span = tree.span(place.node)
    yield ReplaceExpression(
        tree.path, span, _composed(tree, (span.line, span.column), (span.end_line, span.end_column), pieces)
    )


def _fallback(tree: SourceTree, place: CudaPlace, choice: str) -> str:
    """Return the value with CUDA, and the one without; a device is another accelerator's if the port is for one."""
    otherwise = choice_without_cuda(choice) if place.otherwise == '"cpu"' else place.otherwise
    text = f"{tree.source(place.node)} if torch.cuda.is_available() else {otherwise}"
    is_argument = isinstance(tree.parents[place.node], (ast.Assign, ast.Return, ast.keyword, ast.Call))
    return text if is_argument else f"({text})"


def _asked(tree: SourceTree, place: CudaPlace, query: str) -> Edit:
    """Return the edit of a question for CUDA: one for any accelerator, or for the type of a value's device."""
    if isinstance(place.node, ast.Attribute):
        query = f'{tree.source(place.node.value)}.device.type != "cpu"'
    elif " or " in query and isinstance(tree.parents[place.node], (ast.BoolOp, ast.UnaryOp)):
        query = f"({query})"
    return ReplaceExpression(tree.path, tree.span(place.node), query)


_Text = tuple[tuple[int, int], tuple[int, int], str]


def _texts(tree: SourceTree, place: CudaPlace, declared: Declarations, choice: str) -> Iterator[_Text]:
    if place.kind == Kind.CHOICE:
        span = tree.span(place.node)
        chosen = place.name or _choice(tree, place, choice)
        if " if " in chosen and isinstance(tree.parents[place.node], ast.IfExp):
            chosen = f"({chosen})"
        yield (span.line, span.column), (span.end_line, span.end_column), chosen
        return
    if place.kind == Kind.FALLBACK:
        span = tree.span(place.node)
        yield (span.line, span.column), (span.end_line, span.end_column), _fallback(tree, place, choice)
        return
    name = declared.names.get(place) or _choice(tree, place, choice)
    for start, end, text in place.pieces:
        yield start, end, text(name)


def _choice(tree: SourceTree, place: CudaPlace, choice: str) -> str:
    """Return the choice with the index of a place, or its expression, where CUDA is available."""
    if place.literal == "cuda":
        return choice
    is_text = isinstance(place.node, (ast.Constant, ast.JoinedStr, ast.BinOp)) or is_computed_cuda(place.node)
    prefix = "f" if "{" in place.literal else ""
    cuda = tree.source(place.node) if is_text else f'{prefix}"{place.literal}"'
    return f"{cuda} if torch.cuda.is_available() else {choice_without_cuda(choice)}"


def _composed(tree: SourceTree, start: tuple[int, int], end: tuple[int, int], pieces: Sequence[_Text]) -> str:
    """Return the text between two positions with its pieces replaced."""
    parts, at = list[str](), start
    for begin, stop, text in sorted(pieces, key=lambda piece: piece[:2]):
        parts += [_between(tree, at, begin), text]
        at = stop
    return "".join([*parts, _between(tree, at, end)])


def _between(tree: SourceTree, start: tuple[int, int], end: tuple[int, int]) -> str:
    lines = tree.lines[start[0] - 1 : end[0]]
    if not lines:
        return ""
    lines[-1] = lines[-1][: end[1]]
    lines[0] = lines[0][start[1] :]
    return "\n".join(lines)


def _conditional(tree: SourceTree, place: CudaPlace, choice: str) -> Edit:
    """Return the edit that makes a call with CUDA only: ``x.cuda(index) if … else x``."""
    if isinstance(place.node, ast.Attribute):
        code = tree.source(place.node)
        text = f"{code} if torch.cuda.is_available() else {code.replace('.cuda', '', 1)}"
        return ReplaceExpression(tree.path, tree.span(place.node), text)
    assert isinstance(place.node, ast.Call)
    assert isinstance(place.node.func, ast.Attribute)
    code, receiver = tree.source(place.node), tree.source(place.node.func.value)
    if place.node.func.attr != "cuda":  # torch.cuda.LongTensor(x): torch.LongTensor(x)
        receiver = f"{receiver.removesuffix('.cuda')}.{code[len(receiver) + 1 :]}"
    outer, others = tree.parents[place.node], choice_without_cuda(choice)
    if (
        isinstance(outer, ast.Expr)
        and place.node.func.attr == "cuda"
        and others == '"cpu"'
        and stands_alone(tree, outer)
    ):
        lines = ("if torch.cuda.is_available():", f"{indentation(tree)}{code}")
        return ReplaceStatement(tree.path, tree.span(outer), lines)
    if isinstance(outer, ast.Assign) and isinstance(place.node.func.value, ast.Call):
        target = tree.source(outer.targets[0])
        moved = f"{target} = {target}{code[len(receiver) :]}"
        condition = ["if torch.cuda.is_available():", f"{indentation(tree)}{moved}"]
        if others != '"cpu"' and not place.is_ambiguous:
            condition = [f"{moved} if torch.cuda.is_available() else {target}.to({others})"]
        return ReplaceStatement(tree.path, tree.span(outer), (f"{target} = {receiver}", *condition))
    otherwise = receiver if others == '"cpu"' or isinstance(outer, ast.Lambda) else f"{receiver}.to({others})"
    text = f"{code} if torch.cuda.is_available() else {otherwise}"
    needs_none = (ast.Assign, ast.Return, ast.Lambda, ast.Expr)
    if not isinstance(outer, needs_none) and not (isinstance(outer, ast.Call) and place.node in outer.args):
        text = f"({text})"
    return ReplaceExpression(tree.path, tree.span(place.node), text)
