"""The places that make a program require CUDA, and the edits that let it run without."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from devfix.analysis import Observations
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.values import ACCELERATOR, CPU
from devfix.analysis.scenarios import device_argument_of, literal_device
from devfix.fixes.devices.conflicting_devices import is_intended
from devfix.fixes.vendored_code import foreign_part
from devfix.model import Edit, InsertStatement, ReplaceExpression, Where
from devfix.syntax.tree import SourceTree

__all__ = ["CudaPlace", "cuda_places", "port_edits"]

_NAMES = ("device", "torch_device")  # of the declaration, the first that the file does not use
_CHOICE = '"cuda" if torch.cuda.is_available() else "cpu"'
_EARLY_WORDS = ("CUDA_VISIBLE_DEVICES", "multiprocessing")  # settings and forks that must precede the first query


@dataclass(frozen=True, eq=False)
class CudaPlace:
    """A hard-coded CUDA device.

    ``node`` is the call that places a value, or the assignment that gives the device a name. ``point`` is a program
    point of the call; for an assignment, of a call that uses the name. ``reason``: why it cannot be ported.
    """

    tree: SourceTree
    node: ast.Call | ast.Assign
    point: ProgramPoint
    reason: str = ""

    @property
    def expression(self) -> ast.expr:
        """The expression that names the device."""
        return self.node.value if isinstance(self.node, ast.Assign) else self.node


def cuda_places(observations: Observations) -> list[CudaPlace]:
    """Return the places of a program that require CUDA, each once, in order."""
    found: dict[ast.AST, CudaPlace] = {}
    for call, by_device in observations.device_assignments.items():
        placed = [each for device, each in by_device.items() if device != CPU]
        assignment = by_device.get(ACCELERATOR) or next(iter(placed), None)
        if assignment is None or is_intended(assignment) or foreign_part(assignment.point.tree.path):
            continue
        place = _place(call, assignment.point)
        if place is not None and (place.reason or ACCELERATOR in by_device):
            found.setdefault(place.node, place)
    return sorted(found.values(), key=lambda place: (place.tree.path, place.tree.span(place.node)))


def _place(call: ast.Call, point: ProgramPoint) -> CudaPlace | None:
    """Return the place that decides the device of a call; ``None`` if it is not hard-coded."""
    tree, func, argument = point.tree, call.func, device_argument_of(call)
    if isinstance(func, ast.Attribute) and func.attr == "cuda":
        named = argument or (call.args[0] if call.args else None)
        reason = "" if named is None else "the accelerator is named by its index"
        if isinstance(func.value, ast.Call) and isinstance(func.value.func, ast.Name) and func.value.func.id == "super":
            reason = "the class overrides how it is moved"
        return CudaPlace(tree, call, point, reason)
    if argument is None:
        is_typed = literal_device(func) is not None
        return CudaPlace(tree, call, point, "a typed constructor names CUDA") if is_typed else None
    if isinstance(argument, ast.Name):
        return _binding(tree, argument.id, point)
    text = literal_device(argument)
    if text is None or text.partition(":")[0] != "cuda":
        return None
    if isinstance(argument, ast.Attribute):
        return CudaPlace(tree, call, point, "a typed constructor names CUDA")
    return CudaPlace(tree, call, point, "" if text == "cuda" else "the accelerator is named by its index")


def _binding(tree: SourceTree, name: str, point: ProgramPoint) -> CudaPlace | None:
    """Return the only assignment of a name in a file if it is a literal CUDA device."""
    bound = [node for node in tree.nodes if _binds(node, name)]
    if len(bound) != 1 or not isinstance(bound[0], ast.Name):
        return None
    assigned = tree.parents[bound[0]]
    if not isinstance(assigned, ast.Assign) or len(assigned.targets) != 1 or assigned.targets[0] is not bound[0]:
        return None
    text = literal_device(assigned.value)
    if text is None or text.partition(":")[0] != "cuda" or tree.parents[assigned] is not tree.tree:
        return None
    return CudaPlace(tree, assigned, point, "" if text == "cuda" else "the accelerator is named by its index")


def _binds(node: ast.AST, name: str) -> bool:
    """Return whether a node binds a name in some scope of the file."""
    match node:
        case ast.Name(id=bound, ctx=ast.Store() | ast.Del()):
            return bound == name
        case ast.arg(arg=bound) | ast.FunctionDef(name=bound) | ast.AsyncFunctionDef(name=bound):
            return bound == name
        case ast.ClassDef(name=bound) | ast.ExceptHandler(name=bound):
            return bound == name
        case ast.alias(name=imported, asname=bound):
            return (bound or imported.split(".")[0]) == name
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return name in names
    return False


# --- edits ----------------------------------------------------------------------------------------------------------
def port_edits(places: list[CudaPlace]) -> tuple[Edit, ...]:
    """Return the edits that let all places follow one device per file; empty if a file has no room for it."""
    trees = {place.tree.path: place.tree for place in places}
    everything = [frame.tree for place in places for frame in place.point.call_stack] + list(trees.values())
    edits: list[Edit] = []
    for path, tree in trees.items():
        here = [place for place in places if place.tree.path == path]
        if any(_sets_early(other) for other in everything if other.path != path):
            return ()
        found = list(_edits_in(tree, here))
        if not found:
            return ()
        edits += found
    return tuple(edits)


def _sets_early(tree: SourceTree) -> bool:
    return any(word in tree.text for word in _EARLY_WORDS)


def _edits_in(tree: SourceTree, places: list[CudaPlace]) -> Iterator[Edit]:
    body = tree.tree.body
    anchor = _anchor(tree)
    if anchor is None or any(index <= anchor for place in places for index in _top_level(tree, place)):
        return
    bindings = [place for place in places if isinstance(place.node, ast.Assign)]
    calls = [place for place in places if isinstance(place.node, ast.Call)]
    name = _declared(tree, bindings, calls)
    if calls and name is None:
        free = [name for name in _NAMES if not any(_binds(node, name) for node in tree.nodes)]
        if not free:
            return
        name = free[0]
        yield InsertStatement(tree.path, tree.span(body[anchor]), Where.AFTER, f"{name} = torch.device({_CHOICE})")
    for place in bindings:
        value = place.expression
        literal = value.args[0] if isinstance(value, ast.Call) else value
        yield ReplaceExpression(tree.path, tree.span(literal), _CHOICE)
    for place in calls:
        assert isinstance(place.node, ast.Call)
        assert name is not None
        yield _with_device(tree, place.node, name)


def _declared(tree: SourceTree, bindings: list[CudaPlace], calls: list[CudaPlace]) -> str | None:
    """Return the name that the file already has for the device, if it is bound before all calls."""
    if len(bindings) != 1 or not isinstance(bindings[0].node, ast.Assign):
        return None
    bound, target = tree.tree.body.index(bindings[0].node), bindings[0].node.targets[0]
    if any(index <= bound for place in calls for index in _top_level(tree, place)):
        return None
    return tree.source(target)


def _anchor(tree: SourceTree) -> int | None:
    """Return the index of the statement after which the device can be declared; ``None`` if there is none."""
    body = tree.tree.body
    starts = [index for index, stmt in enumerate(body) if isinstance(stmt, ast.Import) and _imports_torch(stmt)]
    if not starts or len([node for node in tree.nodes if _binds(node, "torch")]) != sum(
        alias.name.split(".")[0] == "torch" and alias.asname is None
        for stmt in body
        if isinstance(stmt, ast.Import)
        for alias in stmt.names
    ):
        return None
    anchor = starts[0]
    while anchor + 1 < len(body) and isinstance(body[anchor + 1], (ast.Import, ast.ImportFrom)):
        anchor += 1
    for index, stmt in enumerate(body):
        if any(word in tree.source(stmt) for word in _EARLY_WORDS):
            if not isinstance(stmt, (ast.Assign, ast.Expr)) or _EARLY_WORDS[1] in tree.source(stmt):
                return None
            anchor = max(anchor, index)
    return anchor


def _imports_torch(stmt: ast.Import) -> bool:
    return any(alias.name == "torch" and alias.asname is None for alias in stmt.names)


def _top_level(tree: SourceTree, place: CudaPlace) -> Iterator[int]:
    """Yield the indices of the file's top-level statements that contain a place or lead to it."""
    nodes = [place.node, *(frame.stmt for frame in place.point.call_stack if frame.tree.path == tree.path)]
    for node in nodes:
        chain = [node, *tree.ancestors(node)]
        top = next((each for each in chain if tree.parents.get(each) is tree.tree), None)
        if isinstance(top, ast.stmt):
            yield tree.tree.body.index(top)


def _with_device(tree: SourceTree, call: ast.Call, device: str) -> Edit:
    func, argument = call.func, device_argument_of(call)
    if argument is not None:
        return ReplaceExpression(tree.path, tree.span(argument), device)
    assert isinstance(func, ast.Attribute)
    others = [f"{keyword.arg}={tree.source(keyword.value)}" for keyword in call.keywords]
    code = f"{tree.source(func.value)}.to({', '.join([device, *others])})"
    return ReplaceExpression(tree.path, tree.span(call), code)
