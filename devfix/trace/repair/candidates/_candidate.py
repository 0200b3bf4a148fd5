"""Candidate edits, and the building blocks of all candidates."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from devfix.fixes.device_expression import FOR_TRIAL, Query, device_expressions
from devfix.fixes.syntax_scope import SyntaxScope, cuda_guard, movers
from devfix.model import AddKeyword, AppendCode, Applicability, Edit, InsertStatement, ReplaceExpression, Where
from devfix.syntax.bindings import bound_names, in_scope
from devfix.syntax.tree import SourceTree
from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.failure_trace import Position, Value, ValueEvent, ValueName
from devfix.trace.repair.edited_sources import EditedSources

__all__ = [
    "Candidate",
    "SourceLocation",
    "append_move",
    "can_bind",
    "create_on_device",
    "create_on_device_or_move",
    "hoist_out_of_loops",
    "insert_statement",
    "is_in_scope",
    "locations_of",
    "move_suffixes",
    "names_in_frame",
    "redirect",
    "untraced_device_expressions",
]

#: Factories with the same values on every device; random ones are created on the CPU to keep their values.
#: https://docs.pytorch.org/docs/stable/torch.html#creation-ops
_DETERMINISTIC = frozenset(
    "zeros ones full empty arange linspace logspace eye tensor as_tensor tril_indices triu_indices "
    "hann_window hamming_window zeros_like ones_like full_like empty_like".split()
)
MAX_DEVICE_EXPRESSIONS = 3


@dataclass(frozen=True)
class Candidate:
    """Edits that belong together, an imperative title, and their applicability."""

    title: str
    edits: tuple[Edit, ...]
    applicability: Applicability = Applicability.SAFE


@dataclass(frozen=True)
class SourceLocation:
    """A node of the program at a traced position."""

    tree: SourceTree
    node: ast.expr | ast.stmt
    position: Position

    @property
    def statement(self) -> ast.stmt:
        return self.tree.statement(self.node)

    @property
    def in_loader(self) -> bool:
        """Whether it is code of a data set or collate function, in which tensors must stay on the CPU."""
        function = self.tree.function(self.node)
        name = getattr(function, "name", "")
        return name in ("__getitem__", "__getitems__", "__iter__", "__next__") or "collate" in name

    @property
    def value_is_used(self) -> bool:
        """Whether the value of the expression is used."""
        return isinstance(self.node, ast.expr) and not isinstance(self.tree.parents.get(self.node), ast.Expr)


def locations_of(event: ValueEvent, edited: EditedSources) -> Iterator[SourceLocation]:
    """Yield the nodes on the call stack of an event, the innermost first."""
    for position in event.stack:
        found = edited.node_at(position)
        if found is not None:
            yield SourceLocation(*found, position)


def names_in_frame(value: Value, frame: int) -> list[ValueName]:
    """Return the names of a value in one frame of the failure."""
    return [name for name in value.names if name.frame == frame]


def move_suffixes(diagnosis: Diagnosis, location: SourceLocation, at: ast.AST | None = None) -> list[str]:
    """Return code to append to a tensor or module so that it moves to the accelerator, such as ``.to(device)``.

    The best comes first.
    """
    node = at or location.node
    found = [
        f".to({device})" for device in _traced_device_expressions(diagnosis, location, node)[:MAX_DEVICE_EXPRESSIONS]
    ]
    if _calls_cuda(movers(location.tree, node)):
        found.insert(0, ".cuda()")
    elif not found and _calls_cuda(each for each in ast.walk(location.tree.tree) if isinstance(each, ast.Call)):
        found.append(".cuda()")
    return found


def _calls_cuda(calls: Iterable[ast.Call]) -> bool:
    return any(isinstance(call.func, ast.Attribute) and call.func.attr == "cuda" for call in calls)


def _traced_device_expressions(diagnosis: Diagnosis, location: SourceLocation, node: ast.AST) -> list[str]:
    """Return expressions for the peer's device; in a function of the failure, those that the run evaluated to it."""
    failure, peer = diagnosis.failure, diagnosis.peer
    frames = [number for number, frame in enumerate(failure.frames) if _in_same_function(frame, location.position)]
    peers = tuple(name.text for frame in frames for name in names_in_frame(peer, frame)) if peer is not None else ()
    static = list(device_expressions(SyntaxScope(location.tree, node), FOR_TRIAL, Query(partners=peers)))
    if peer is None:
        return static
    matching = [name for name in failure.devices if name.is_on(peer.device) and "._" not in name.text]
    tails = {_tail(name.text) for name in matching if not name.text.endswith(".device")}
    if not frames:
        known = [device for device in static if _tail(device) in tails]
        return [*known, *(device for device in static if device not in known)]
    shown = [name.text for name in matching if name.frame in frames and in_scope(location.tree, node, name.text)]
    confirmed = [device for device in static if device in shown]
    named = [text for text in shown if not text.endswith(".device")]
    weights = [device for frame in frames for device in _weight_devices(peer, frame)]
    own = [device for device in static if device.startswith("next(")]
    of_values = [
        f"{text}.device" for text in peers if in_scope(location.tree, node, text) and not _is_weight(peer, text)
    ]
    others = [text for text in shown if text.endswith(".device")][:2]
    found = list(dict.fromkeys([*confirmed, *named[:2], *of_values, *own, *weights, *others]))
    return [text for text in found if in_scope(location.tree, node, text)]


def _is_weight(value: Value, text: str) -> bool:
    return any(name.text == text and name.kind == "parameter" and "." in text for name in value.names)


def _weight_devices(peer: Value, frame: int) -> Iterator[str]:
    """Yield the device of the module whose weights are the peer."""
    for name in names_in_frame(peer, frame):
        root = re.split(r"[.\[]", name.text)[0]
        if name.kind == "parameter" and root != name.text:
            yield f"next({root}.parameters()).device"


def untraced_device_expressions(diagnosis: Diagnosis, tree: SourceTree, node: ast.AST) -> list[str]:
    """Return expressions for the device if no operand is known; those that the run evaluated come first."""
    shown = {_tail(name.text) for name in diagnosis.failure.devices if name.device != "cpu"}
    static = list(device_expressions(SyntaxScope(tree, node), FOR_TRIAL))
    return sorted(static, key=lambda device: _tail(device) not in shown)


def _in_same_function(one: Position, other: Position) -> bool:
    return (one.file, one.function) == (other.file, other.function)


def _tail(text: str) -> str:
    return re.split(r"[.\[]", text)[-1]


def append_move(location: SourceLocation, node: ast.expr, suffix: str, name: str) -> Candidate:
    """Return the candidate that appends a move to an expression.

    If the file calls ``.cuda()`` under a condition, the move is a separate statement after an assignment; elsewhere the
    candidate has no edits.
    """
    statement = location.tree.statement(node)
    if suffix == ".cuda()" and cuda_guard(location.tree, node) is not None:
        target = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is node else None
        if not isinstance(target, (ast.Name, ast.Attribute)):
            return Candidate("", ())
        text = location.tree.source(target)
        return insert_statement(location, statement, Where.AFTER, f"{text} = {text}{suffix}")
    edit = AppendCode(location.tree.path, location.tree.span(node), suffix)
    source = _short(location.tree.source(node))
    bare = isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Tuple, ast.List))
    return Candidate(f"move {name}: `{source}{suffix}`" if bare else f"move {name}: `({source}){suffix}`", (edit,))


def create_on_device(location: SourceLocation, device: str) -> Candidate | None:
    """Return the candidate that adds ``device=`` to a factory call; None for other calls, or if it has the argument."""
    node = location.node
    if not isinstance(node, ast.Call) or ast.unparse(node.func).split(".")[-1] not in _DETERMINISTIC:
        return None
    if not isinstance(node.func, ast.Attribute) and not isinstance(node.func, ast.Name):
        return None
    if any(keyword.arg in ("device", None) for keyword in node.keywords):
        return None
    edit = AddKeyword(location.tree.path, location.tree.span(node), "device", device)
    return Candidate(f"create `{_short(location.tree.source(node))}` on `{device}`", (edit,))


def create_on_device_or_move(location: SourceLocation, suffix: str, name: str) -> Candidate | None:
    """Return ``device=`` for deterministic factories, else a move of the result; None if there is no expression."""
    if not isinstance(location.node, ast.expr):
        return None
    if suffix.startswith(".to("):
        created = create_on_device(location, suffix[len(".to(") : -1])
        if created is not None:
            return created
    return append_move(location, location.node, suffix, name)


def insert_statement(location: SourceLocation, anchor: ast.stmt, where: Where, code: str) -> Candidate:
    """Return the candidate that inserts a statement; ``.cuda()`` goes under the condition that the file uses."""
    guard = cuda_guard(location.tree, anchor, inside=where is Where.BODY_START) if code.endswith(".cuda()") else None
    if guard is not None:
        code = f"if {guard}:\n    {code}"
    edit = InsertStatement(location.tree.path, location.tree.span(anchor), where, code)
    return Candidate(f"insert `{_short(code)}`", (edit,))


def redirect(diagnosis: Diagnosis, location: SourceLocation) -> Iterator[Candidate]:
    """Yield candidates that give a transfer to the CPU, or a factory on it, another device."""
    call = location.node
    if not isinstance(call, ast.Call):
        return
    destinations = [keyword.value for keyword in call.keywords if keyword.arg == "device"]
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if method == "to":
        destinations += [each for each in call.args[:1] if not _is_type(each)]
    for suffix in move_suffixes(diagnosis, location):
        for destination in destinations if suffix.startswith(".to(") else ():
            device = suffix[len(".to(") : -1]
            if device != location.tree.source(destination):
                edit = ReplaceExpression(location.tree.path, location.tree.span(destination), device)
                yield Candidate(f"replace `{_short(location.tree.source(destination))}` with `{device}`", (edit,))
        if method == "cpu" and isinstance(call.func, ast.Attribute):
            code = f"{location.tree.source(call.func.value)}{suffix}"
            yield Candidate(
                f"use `{_short(code)}`", (ReplaceExpression(location.tree.path, location.tree.span(call), code),)
            )


def _is_type(node: ast.expr) -> bool:
    return ast.unparse(node).startswith(("torch.float", "torch.int", "torch.long", "torch.bool", "torch.double"))


def hoist_out_of_loops(location: SourceLocation, name: str) -> ast.stmt:
    """Return the outermost loop around a location that does not bind the name; else the location's statement."""
    root = re.split(r"[.\[]", name)[0]
    statement = location.statement
    for parent in location.tree.ancestors(statement):
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


def is_in_scope(location: SourceLocation, node: ast.AST, text: str) -> bool:
    """Return whether an expression can be evaluated at a node."""
    return in_scope(location.tree, node, text)


def can_bind(location: SourceLocation, node: ast.AST, text: str) -> bool:
    """Return whether an assignment at a node rebinds a name of the function, instead of shadowing an outer one."""
    function = location.tree.function(node)
    return "." in text or "[" in text or isinstance(function, ast.Module) or text in bound_names(function, None)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57] + "..."
