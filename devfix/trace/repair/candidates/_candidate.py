"""What a candidate is, and what all of them are made with."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from devfix.fixes.syntax_scope import cuda_guard, movers
from devfix.model import AddKeyword, AppendCode, Applicability, Edit, InsertStatement, ReplaceExpression, Where
from devfix.syntax.bindings import bound_names, in_scope
from devfix.syntax.tree import SourceTree
from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.failure_trace import Position, Value, ValueEvent, ValueName
from devfix.trace.repair.edited_sources import Texts

__all__ = [
    "Candidate",
    "Spot",
    "appended",
    "can_bind",
    "inserted",
    "made_there",
    "made_there_or_moved",
    "names_in",
    "outside_loops",
    "redirected",
    "spots_of",
    "trailers",
    "usable",
    "words_at",
]

#: Factories that give the same numbers everywhere; random ones keep the numbers that the CPU draws.
#: https://docs.pytorch.org/docs/stable/torch.html#creation-ops
_DETERMINISTIC = frozenset(
    "zeros ones full empty arange linspace logspace eye tensor as_tensor tril_indices triu_indices "
    "hann_window hamming_window zeros_like ones_like full_like empty_like".split()
)
MOST_WORDS = 3


@dataclass(frozen=True)
class Candidate:
    """Edits that belong together, an imperative title for them, and whether they change more than the device."""

    title: str
    edits: tuple[Edit, ...]
    applicability: Applicability = Applicability.SAFE


@dataclass(frozen=True)
class Spot:
    """A node of the program at a position of the failure."""

    tree: SourceTree
    node: ast.expr | ast.stmt
    position: Position

    @property
    def statement(self) -> ast.stmt:
        return self.tree.statement(self.node)

    @property
    def in_loader(self) -> bool:
        """Whether it is code of a data set: moves do not belong there."""
        function = self.tree.function(self.node)
        return getattr(function, "name", "") in ("__getitem__", "__getitems__", "__iter__", "__next__") or any(
            word in getattr(function, "name", "") for word in ("collate",)
        )

    @property
    def value_is_used(self) -> bool:
        """Whether the expression's value goes somewhere."""
        return isinstance(self.node, ast.expr) and not isinstance(self.tree.parents.get(self.node), ast.Expr)


def spots_of(happening: ValueEvent, texts: Texts) -> Iterator[Spot]:
    """The nodes on the way to an event, the innermost first."""
    for position in happening.stack:
        found = texts.node_at(position)
        if found is not None:
            yield Spot(*found, position)


def names_in(value: Value, frame: int) -> list[ValueName]:
    """What one frame of the failure calls a value."""
    return [name for name in value.names if name.frame == frame]


def trailers(diagnosis: Diagnosis, spot: Spot, at: ast.AST | None = None) -> list[str]:
    """What to append to a tensor or module at a spot so that it goes to the accelerator, the best first."""
    node = at or spot.node
    found = [f".to({word})" for word in _words(diagnosis, spot, node)[:MOST_WORDS]]
    if _says_cuda(movers(spot.tree, node)):
        found.insert(0, ".cuda()")
    elif not found and _says_cuda(each for each in ast.walk(spot.tree.tree) if isinstance(each, ast.Call)):
        found.append(".cuda()")
    return found


def _says_cuda(calls: Iterable[ast.Call]) -> bool:
    return any(isinstance(call.func, ast.Attribute) and call.func.attr == "cuda" for call in calls)


def _words(diagnosis: Diagnosis, spot: Spot, node: ast.AST) -> list[str]:
    """Expressions for the device; in a function of the failure, those that its run showed to be it."""
    failure, peer = diagnosis.failure, diagnosis.peer
    frames = [number for number, frame in enumerate(failure.frames) if _same_code(frame, spot.position)]
    peers = tuple(name.text for frame in frames for name in names_in(peer, frame)) if peer is not None else ()
    guessed = list(device_expressions(SyntaxScope(spot.tree, node), FOR_TRIAL, Query(partners=peers)))
    if peer is None:
        return guessed
    there = [name for name in failure.devices if name.is_on(peer.device) and "._" not in name.text]
    tails = {_tail(name.text) for name in there if not name.text.endswith(".device")}
    if not frames:
        known = [word for word in guessed if _tail(word) in tails]
        return [*known, *(word for word in guessed if word not in known)]
    shown = [name.text for name in there if name.frame in frames and in_scope(spot.tree, node, name.text)]
    said = [word for word in guessed if word in shown]
    named = [text for text in shown if not text.endswith(".device")]
    weights = [word for frame in frames for word in _of_weights(peer, frame)]
    own = [word for word in guessed if word.startswith("next(")]
    of_values = [f"{text}.device" for text in peers if in_scope(spot.tree, node, text) and not _is_weight(peer, text)]
    others = [text for text in shown if text.endswith(".device")][:2]
    found = list(dict.fromkeys([*said, *named[:2], *of_values, *own, *weights, *others]))
    return [text for text in found if in_scope(spot.tree, node, text)]


def _is_weight(value: Value, text: str) -> bool:
    return any(name.text == text and name.kind == "parameter" and "." in text for name in value.names)


def _of_weights(peer: Value, frame: int) -> Iterator[str]:
    """The device of the module whose weights the culprit met."""
    for name in names_in(peer, frame):
        root = re.split(r"[.\[]", name.text)[0]
        if name.kind == "parameter" and root != name.text:
            yield f"next({root}.parameters()).device"


def words_at(diagnosis: Diagnosis, tree: SourceTree, node: ast.AST) -> list[str]:
    """Expressions for the device where nothing is known of the values that met."""
    shown = {_tail(name.text) for name in diagnosis.failure.devices if name.device != "cpu"}
    guessed = list(device_expressions(SyntaxScope(tree, node), FOR_TRIAL))
    return sorted(guessed, key=lambda word: _tail(word) not in shown)


def _same_code(one: Position, other: Position) -> bool:
    return (one.file, one.function) == (other.file, other.function)


def _tail(text: str) -> str:
    return re.split(r"[.\[]", text)[-1]


def appended(spot: Spot, node: ast.expr, trailer: str, name: str) -> Candidate:
    """An expression with a trailer.

    Where the file says ``.cuda()`` under a condition, it is a statement of its own behind an assignment, and nowhere
    else (no edits).
    """
    statement = spot.tree.statement(node)
    if trailer == ".cuda()" and cuda_guard(spot.tree, node) is not None:
        target = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is node else None
        if not isinstance(target, (ast.Name, ast.Attribute)):
            return Candidate("", ())
        text = spot.tree.source(target)
        return inserted(spot, statement, Where.AFTER, f"{text} = {text}{trailer}")
    edit = AppendCode(spot.tree.path, spot.tree.span(node), trailer)
    source = _short(spot.tree.source(node))
    bare = isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Tuple, ast.List))
    return Candidate(f"move {name}: `{source}{trailer}`" if bare else f"move {name}: `({source}){trailer}`", (edit,))


def made_there(spot: Spot, word: str) -> Candidate | None:
    """A factory's call with ``device=``; None where it is no such call, or says where already."""
    node = spot.node
    if not isinstance(node, ast.Call) or ast.unparse(node.func).split(".")[-1] not in _DETERMINISTIC:
        return None
    if not isinstance(node.func, ast.Attribute) and not isinstance(node.func, ast.Name):
        return None
    if any(keyword.arg in ("device", None) for keyword in node.keywords):
        return None
    edit = AddKeyword(spot.tree.path, spot.tree.span(node), "device", word)
    return Candidate(f"make `{_short(spot.tree.source(node))}` on `{word}`", (edit,))


def made_there_or_moved(spot: Spot, trailer: str, name: str) -> Candidate | None:
    """``device=`` where the factory gives the same numbers everywhere, else the trailer; None for no expression."""
    if not isinstance(spot.node, ast.expr):
        return None
    if trailer.startswith(".to("):
        made = made_there(spot, trailer[len(".to(") : -1])
        if made is not None:
            return made
    return appended(spot, spot.node, trailer, name)


def inserted(spot: Spot, anchor: ast.stmt, where: Where, code: str) -> Candidate:
    """A new statement; ``.cuda()`` under the condition under which the file says it."""
    guard = cuda_guard(spot.tree, anchor, inside=where is Where.BODY_START) if code.endswith(".cuda()") else None
    if guard is not None:
        code = f"if {guard}:\n    {code}"
    edit = InsertStatement(spot.tree.path, spot.tree.span(anchor), where, code)
    return Candidate(f"insert `{_short(code)}`", (edit,))


def redirected(diagnosis: Diagnosis, spot: Spot) -> Iterator[Candidate]:
    """A transfer to the CPU, or a factory that was told it, with another destination."""
    call = spot.node
    if not isinstance(call, ast.Call):
        return
    given = [keyword.value for keyword in call.keywords if keyword.arg == "device"]
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if method == "to":
        given += [each for each in call.args[:1] if not _is_type(each)]
    for trailer in trailers(diagnosis, spot):
        for destination in given if trailer.startswith(".to(") else ():
            word = trailer[len(".to(") : -1]
            if word != spot.tree.source(destination):
                edit = ReplaceExpression(spot.tree.path, spot.tree.span(destination), word)
                yield Candidate(f"`{word}` where `{_short(spot.tree.source(destination))}` was", (edit,))
        if method == "cpu" and isinstance(call.func, ast.Attribute):
            code = f"{spot.tree.source(call.func.value)}{trailer}"
            yield Candidate(f"`{_short(code)}`", (ReplaceExpression(spot.tree.path, spot.tree.span(call), code),))


def _is_type(node: ast.expr) -> bool:
    return ast.unparse(node).startswith(("torch.float", "torch.int", "torch.long", "torch.bool", "torch.double"))


def outside_loops(spot: Spot, name: str) -> ast.stmt:
    """The outermost loop around a spot that does not bind the name, or the statement."""
    root = re.split(r"[.\[]", name)[0]
    statement = spot.statement
    for parent in spot.tree.ancestors(statement):
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)):
            break
        if isinstance(parent, (ast.For, ast.AsyncFor, ast.While)):
            stores = (each.id for each in ast.walk(parent) if isinstance(each, ast.Name) and _is_store(each))
            if root in stores:
                break
            statement = parent
    return statement


def _is_store(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def usable(spot: Spot, node: ast.AST, text: str) -> bool:
    """Whether an expression can be written at a node."""
    return in_scope(spot.tree, node, text)


def can_bind(spot: Spot, node: ast.AST, text: str) -> bool:
    """Whether an assignment to it at a node binds what the function has, and no new name in place of an outer one."""
    function = spot.tree.function(node)
    return "." in text or "[" in text or isinstance(function, ast.Module) or text in bound_names(function, None)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57] + "..."
