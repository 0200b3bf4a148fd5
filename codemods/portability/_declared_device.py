"""The name of the device at each place of a file, and the declaration that gives it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from codemods.portability._torch_names import others_prepare_devices, own_names, replaced_names
from codemods.portability.places.cuda_place import CudaPlace, Kind
from devfix.model import Edit, InsertStatement, Where
from devfix.syntax.device_literals import is_cuda_literal
from devfix.syntax.tree import SourceTree, walk

__all__ = ["Declarations", "declare", "torch_import"]

_NAMES = ("device", "torch_device", "compute_device")  # of a declaration, the first that is free
_EARLY_WORDS = ("CUDA_VISIBLE_DEVICES", "multiprocessing")  # settings and forks that must precede the first query

_Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Declarations:
    """The names of the devices of places, and the statements that declare them; ``reason`` says why there are none."""

    names: dict[CudaPlace, str]
    edits: tuple[Edit, ...]
    reason: str = ""


def declare(
    tree: SourceTree, places: Sequence[CudaPlace], choice: str, trees: Sequence[SourceTree], *, is_library: bool
) -> Declarations:
    """Return a name for the device at each place.

    A program declares its device once, after its imports. A library, and a program that selects visible devices or
    forks, declares it in each function, directly before the first use: the query must not come earlier than the call
    that it replaces.

    Args:
        tree: the file.
        places: those that need a name.
        choice: the expression of the device.
        trees: all files of the program.
        is_library: no program imports the file.

    """
    names: dict[CudaPlace, str] = {}
    edits: list[Edit] = []
    if not places:
        return Declarations(names, ())
    edits += torch_import(tree)
    if own_names(tree).get("torch") != "torch" and not edits:
        return Declarations({}, (), "the file does not import torch, and the name is taken")
    if not edits and not any(_imports_torch(stmt) or _imports_all(stmt) for stmt in tree.tree.body):
        return Declarations({}, (), "only a function imports torch")
    waiting = []
    for place in places:
        known = place.name or _known_name(tree, place)
        if known:
            names[place] = known
        elif place.literal == "cuda":
            waiting.append(place)  # an index becomes a choice where it is
    by_scope: dict[_Scope, list[CudaPlace]] = {}
    for place in waiting:
        by_scope.setdefault(_scope(tree, place.node), []).append(place)
    is_early = any(word in other.text for other in trees if other is not tree for word in _EARLY_WORDS)
    is_early |= others_prepare_devices(tree, is_library=is_library)
    if waiting and not is_library and not is_early and not _is_all_main(tree, by_scope):
        anchor = _anchor(tree)
        name = _free_name(tree, [tree.tree])
        if anchor is not None and name and all(_follows(tree, anchor, place) for place in waiting):
            edits.append(_declaration(tree, anchor, Where.AFTER, name, choice))
            return Declarations({**names, **dict.fromkeys(waiting, name)}, tuple(edits))
    for scope, here in by_scope.items():
        name = _free_name(tree, [scope])
        if not name:
            return Declarations({}, (), "no name is free for the device")
        first = min((_statement_in(tree, scope, place.node) for place in here), key=tree.span)
        if _imports_torch_later(tree, scope, first):
            edits.append(InsertStatement(tree.path, tree.span(first), Where.BEFORE, "import torch"))
        edits.append(_declaration(tree, first, Where.BEFORE, name, choice))
        names.update(dict.fromkeys(here, name))
    return Declarations(names, tuple(edits))


def _imports_torch_later(tree: SourceTree, scope: _Scope, stmt: ast.stmt) -> bool:
    """Return whether a function imports torch itself, but not before a statement: there, the name is not bound."""
    if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    imports = [
        node
        for node in walk(scope)
        if isinstance(node, ast.Import)
        and any(each.name.partition(".")[0] == "torch" and not each.asname for each in node.names)
    ]
    return bool(imports) and not any(
        tree.parents[node] is scope and tree.span(node) < tree.span(stmt) for node in imports
    )


def _declaration(tree: SourceTree, anchor: ast.stmt, where: Where, name: str, choice: str) -> Edit:
    return InsertStatement(tree.path, tree.span(anchor), where, f"{name} = torch.device({choice})")


def torch_import(tree: SourceTree) -> list[Edit]:
    """Return the import of torch before the first import of one of its modules, or else before the first statement.

    None if torch is imported, or if its name is taken.
    """
    place = _place_of_import(tree)
    return [] if place is None else [InsertStatement(tree.path, tree.span(place), Where.BEFORE, "import torch")]


def _place_of_import(tree: SourceTree) -> ast.stmt | None:
    """Return the statement above which torch is imported; ``None`` if it is, or if its name is taken."""
    if "torch" in own_names(tree) or "torch" in replaced_names(tree):
        return None
    imports = [stmt for stmt in tree.tree.body if isinstance(stmt, (ast.Import, ast.ImportFrom))]
    imports = [stmt for stmt in imports if getattr(stmt, "module", "") != "__future__"]
    first = next((stmt for stmt in imports if "torch" in tree.source(stmt)), next(iter(imports), None))
    others = (stmt for stmt in tree.tree.body if not isinstance(stmt, ast.ImportFrom) and not _is_text(stmt))
    return first or next(others, None)


def _is_text(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant)


# --- names that are there -------------------------------------------------------------------------------------------
def _known_name(tree: SourceTree, place: CudaPlace) -> str:
    """Return the name that the file already has for the same device where the place is; empty if there is none."""
    is_object = isinstance(place.node, ast.Call) and getattr(place.node.func, "attr", "") == "device"
    for stmt in _assignments(tree):
        target = stmt.targets[0]
        assert isinstance(target, ast.Name)
        scope = _scope(tree, stmt)
        if tree.parents[stmt] is not scope or _bindings(scope, target.id) != 1:
            continue
        if _cuda_of(stmt.value, _tests(tree, place)) != place.literal or (
            is_object and not isinstance(stmt.value, ast.Call)
        ):
            continue
        here = _scope(tree, place.node)
        if here is scope:
            if tree.span(_statement_in(tree, scope, place.node)) > tree.span(stmt):
                return target.id
        elif scope is tree.tree and not _bindings(here, target.id) and replaced_names(tree).get(target.id) == 1:
            return target.id
    return ""


def _assignments(tree: SourceTree) -> list[ast.Assign]:
    """Return the assignments of a CUDA device to one name, with a choice or without."""
    return tree.derived(_find_assignments)


def _find_assignments(tree: SourceTree) -> list[ast.Assign]:
    return [
        node
        for node in tree.nodes
        if isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
        and _cuda_of(node.value)
    ]


def _tests(tree: SourceTree, place: CudaPlace) -> frozenset[str]:
    """Return the conditions that hold at a place."""
    chain = [place.node, *tree.ancestors(place.node)]
    return frozenset(
        ast.unparse(outer.test)
        for inner, outer in pairwise(chain)
        if (isinstance(outer, ast.If) and inner in outer.body) or (isinstance(outer, ast.IfExp) and inner is outer.body)
    )


def _cuda_of(value: ast.expr, holding: frozenset[str] | None = None) -> str:
    """Return the device of ``torch.device("cuda")``, ``"cuda:0"``, or of one of these if CUDA is available.

    ``holding`` are further conditions that hold; any condition is taken to hold if it is ``None``.
    """
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr="device"), args=[argument]):
            return _cuda_of(argument, holding)
        case ast.IfExp(test=test, body=body, orelse=ast.Constant(value="cpu")):
            text = ast.unparse(test)
            is_known = holding is None or text == "torch.cuda.is_available()" or text in holding
            return _cuda_of(body, holding) if is_known else ""
        case ast.Constant(value=str(text)) if is_cuda_literal(value):
            return text
    return ""


def _bindings(scope: ast.AST, name: str) -> int:
    """Return how often a name is bound anywhere in a scope, parameters and nested functions included."""
    count = 0
    for node in walk(scope):
        match node:
            case ast.Name(id=bound, ctx=ast.Store() | ast.Del()) | ast.arg(arg=bound):
                count += bound == name
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                count += 2 * (name in names)
    return count


# --- new names ------------------------------------------------------------------------------------------------------
def _free_name(tree: SourceTree, scopes: Sequence[ast.AST]) -> str:
    """Return a name that nothing in the scopes uses; empty if all are taken."""
    used = {each.id for scope in scopes for each in walk(scope) if isinstance(each, ast.Name)}
    used |= {each.arg for scope in scopes for each in walk(scope) if isinstance(each, ast.arg)}
    if any(isinstance(scope, ast.Module) for scope in scopes):
        used |= replaced_names(tree).keys() | own_names(tree).keys()
        used |= {alias.asname or alias.name for n in tree.nodes if isinstance(n, ast.ImportFrom) for alias in n.names}
    return next((name for name in _NAMES if name not in used), "")


def _scope(tree: SourceTree, node: ast.AST) -> _Scope:
    """Return the function in whose body a node is, or the module; defaults and decorators belong outside."""
    inner = node
    for outer in tree.ancestors(node):
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)) and inner in outer.body:
            return outer
        inner = outer
    return tree.tree


def _statement_in(tree: SourceTree, scope: _Scope, node: ast.AST) -> ast.stmt:
    """Return the statement of a scope's own block that contains a node; inside the main block of a module."""
    body = _body(scope, tree, node)
    chain = [node, *tree.ancestors(node)]
    return next(stmt for stmt in body if stmt in chain)


def _body(scope: _Scope, tree: SourceTree, node: ast.AST) -> list[ast.stmt]:
    if isinstance(scope, ast.Module):
        for stmt in scope.body:
            if _is_main(stmt, tree) and isinstance(stmt, ast.If):
                for inner in stmt.body:
                    if inner is node or inner in tree.ancestors(node):
                        return stmt.body
    return scope.body


def _is_main(stmt: ast.stmt, tree: SourceTree) -> bool:
    return isinstance(stmt, ast.If) and "__name__" in tree.source(stmt.test)


def _is_all_main(tree: SourceTree, by_scope: dict[_Scope, list[CudaPlace]]) -> bool:
    """Return whether all places are in the main block of a module that others may import."""
    if list(by_scope) != [tree.tree]:
        return False
    main = [stmt for stmt in tree.tree.body if _is_main(stmt, tree)]
    return all(any(stmt in tree.ancestors(place.node) for stmt in main) for place in by_scope[tree.tree])


def _anchor(tree: SourceTree) -> ast.stmt | None:
    """Return the last statement of the first block of imports, or of the settings that must precede the query.

    ``None`` if a function makes such a setting, or if the file forks.
    """
    found: ast.stmt | None = None
    for stmt in tree.tree.body:
        if isinstance(stmt, (ast.Import, ast.ImportFrom)):
            found = stmt
        elif found is not None:
            break
    if found is None:
        return None
    added = _place_of_import(tree)
    imports = [stmt for stmt in tree.tree.body if stmt is added or _imports_torch(stmt)]
    for stmt in imports or [stmt for stmt in tree.tree.body if _imports_all(stmt)]:
        found = max(found, stmt, key=tree.span)
    for stmt in tree.tree.body:
        if any(word in tree.source(stmt) for word in _EARLY_WORDS):
            if not isinstance(stmt, (ast.Assign, ast.Expr)) or _EARLY_WORDS[1] in tree.source(stmt):
                return None
            found = max(found, stmt, key=tree.span)
    return found


def _imports_torch(stmt: ast.stmt) -> bool:
    """Return whether a statement of the module imports torch, itself or in a block: ``try: import torch``."""
    if isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    imports = (node for node in walk(stmt) if isinstance(node, (ast.Import, ast.ImportFrom)))
    return any((alias.asname or alias.name.partition(".")[0]) == "torch" for node in imports for alias in node.names)


def _imports_all(stmt: ast.stmt) -> bool:
    """Return whether a statement imports all names of another module, which may be those that it imports itself."""
    return isinstance(stmt, ast.ImportFrom) and any(alias.name == "*" for alias in stmt.names)


def _follows(tree: SourceTree, anchor: ast.stmt, place: CudaPlace) -> bool:
    return place.kind != Kind.MOVE or tree.span(place.node) > tree.span(anchor)
