"""Name bindings: the names that are bound at a node, by syntax alone."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

from devfix.syntax.node_caches import node_cache
from devfix.syntax.tree import SourceTree, called_name, walk

__all__ = [
    "assigned_names",
    "binds",
    "blocks",
    "bound_before",
    "bound_names",
    "defaults",
    "in_scope",
    "is_chain",
    "iterated_names",
    "names_bound_in",
    "parameters",
    "root_name",
    "source_names",
]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def parameters(function: ast.AST) -> list[str]:
    """Return the names of a function's parameters, without ``*args`` and ``**kwargs``."""
    arguments = getattr(function, "args", None)
    if not isinstance(arguments, ast.arguments):
        return []
    return [argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def defaults(spec: ast.arguments) -> dict[ast.arg, ast.expr]:
    """Return the defaults of the parameters that have one."""
    positional = [*spec.posonlyargs, *spec.args]
    optional = positional[len(positional) - len(spec.defaults) :]
    named = {name: value for name, value in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if value is not None}
    return dict(zip(optional, spec.defaults, strict=True)) | named


def bound_before(tree: SourceTree, function: ast.AST, statement: ast.stmt, name: str) -> bool:
    """Return whether a name is bound on every path to a statement: a parameter, or assigned before it.

    A name that the function does not bind belongs to an enclosing scope and counts as bound.
    """
    if name in parameters(function) or name not in assigned_names(function):
        return True
    inner: ast.AST = statement
    while inner is not function and inner in tree.parents:
        owner = tree.parents[inner]
        for block in blocks(owner):
            if any(item is inner for item in block):
                preceding = block[: next(i for i, item in enumerate(block) if item is inner)]
                if any(binds(item, name) for item in preceding):
                    return True
        if isinstance(owner, (ast.For, ast.AsyncFor)) and inner in owner.body and _stores(owner.target, name):
            return True
        if isinstance(owner, (ast.With, ast.AsyncWith)) and _header_stores(owner, name):
            return True
        inner = owner
    return False


def blocks(owner: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of a compound statement or a definition."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(owner, field, None)
        if isinstance(block, list):
            yield block
    for part in (*getattr(owner, "handlers", ()), *getattr(owner, "cases", ())):
        yield part.body


def binds(statement: ast.stmt, name: str) -> bool:
    """Return whether a statement binds a name on every path to the next statement."""
    if isinstance(statement, ast.If):
        blocks = [statement.body, statement.orelse]
        return all(_exits(block) or any(binds(item, name) for item in block) for block in blocks)
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return _header_stores(statement, name) or any(binds(item, name) for item in statement.body)
    if isinstance(statement, ast.Try):
        blocks = [statement.body, *(handler.body for handler in statement.handlers)]
        return all(_exits(block) or any(binds(item, name) for item in block) for block in blocks)
    if isinstance(statement, (ast.For, ast.AsyncFor, ast.While, ast.Match)):
        return False
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return statement.name == name
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return any((alias.asname or alias.name.split(".")[0]) == name for alias in statement.names)
    return _stores(statement, name)


def _exits(block: list[ast.stmt]) -> bool:
    return bool(block) and isinstance(block[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))


def _header_stores(statement: ast.With | ast.AsyncWith, name: str) -> bool:
    return any(item.optional_vars is not None and _stores(item.optional_vars, name) for item in statement.items)


def _stores(node: ast.AST, name: str) -> bool:
    return any(
        isinstance(inner, ast.Name) and inner.id == name and isinstance(inner.ctx, ast.Store)
        for inner in ast.walk(node)
    )


@node_cache(4096)
def assigned_names(function: ast.AST) -> frozenset[str]:
    """Return the names that a function or module body binds, without its parameters."""
    found: set[str] = set()
    stack: list[ast.AST] = list(ast.iter_child_nodes(function))
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).split(".")[0])
        stack.extend(ast.iter_child_nodes(node))
    return frozenset(found)


def root_name(text: str) -> str | None:
    """Return the name at the start of a chain of attributes, subscripts and calls; ``None`` for other expressions."""
    try:
        node: ast.expr = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def in_scope(tree: SourceTree, node: ast.AST, text: str) -> bool:
    """Return whether all names of an expression are bound at ``node``, by its enclosing scopes."""
    try:
        names = {each.id for each in ast.walk(ast.parse(text, mode="eval")) if isinstance(each, ast.Name)}
    except SyntaxError:
        return False
    names -= vars(builtins).keys()
    for parent in tree.ancestors(node):
        for part in getattr(parent, "generators", ()):
            names -= {each.id for each in ast.walk(part.target) if isinstance(each, ast.Name)}
    line = getattr(node, "lineno", 0)
    function = tree.function(node)
    while True:
        if isinstance(function, ast.Module):
            in_function = tree.function(node) is not function
            uncertain = tree.main_block_names if in_function else frozenset()
            names -= bound_names(function, None if in_function else line) - uncertain
            return not names
        names -= bound_names(function, line if tree.function(node) is function else None)
        function = tree.function(function)


def bound_names(function: ast.AST, before: int | None) -> set[str]:
    """Return the names that a function or module binds, parameters included; with ``before``, above that line only."""
    found: set[str] = set()
    if isinstance(function, _FUNCTIONS):
        args = function.args
        found |= {arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
        found |= {arg.arg for arg in (args.vararg, args.kwarg) if arg is not None}
    for node in _own_nodes(function):
        if before is not None and getattr(node, "lineno", 0) >= before and not isinstance(node, _FUNCTIONS):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
    return found


def names_bound_in(tree: SourceTree) -> frozenset[str]:
    """Return the names that any scope of a file binds; ``*`` if it imports what another file may bind."""
    found: set[str] = set()
    for node in tree.nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.alias(asname=str() as name):
                found.add(name)
            case ast.alias(name=name):
                found.add(name.split(".")[0])
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.ExceptHandler(name=str() as name) | ast.MatchAs(name=str() as name):
                found.add(name)
            case ast.MatchStar(name=str() as name) | ast.MatchMapping(rest=str() as name):
                found.add(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                found.update(names)
    return frozenset(found)


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function outside nested functions and classes, whose own nodes are included."""
    pending = list(ast.iter_child_nodes(function))
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, ast.comprehension):  # its target has a scope of its own
            pending += [node.iter, *node.ifs]
        elif not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            pending.extend(ast.iter_child_nodes(node))


def source_names(function: ast.AST, expression: ast.expr) -> set[str]:
    """Return the names that an expression is made of, with those that a function assigns replaced by their sources."""
    sources: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=targets, value=value):
                assigned = targets
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.AugAssign(target=target, value=value):
                assigned = [target]
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                assigned = [target]
            case _:
                continue
        for name in (each for target in assigned for each in ast.walk(target) if isinstance(each, ast.Name)):
            sources.setdefault(name.id, []).append(value)
    found: set[str] = set()
    seen: set[str] = set()
    pending = [expression]
    while pending:
        for node in ast.walk(pending.pop()):
            if isinstance(node, ast.Name) and node.id not in seen:
                seen.add(node.id)
                given = sources.get(node.id, [])
                pending += given
                if not given or node.id in parameters(function):
                    found.add(node.id)
    return found


def is_chain(text: str) -> bool:
    """Return whether an expression is a name with attributes and subscripts only."""
    return bool(re.fullmatch(r"[A-Za-z_]\w*(\.\w+|\[[^\[\]]*\])*", text))


@node_cache(4096)
def iterated_names(function: ast.AST) -> frozenset[str]:
    """Return the names whose items a function reads in loops, also by ``enumerate`` or ``zip``: most hold lists."""
    iterables = [node.iter for node in walk(function) if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension))]
    counted = [each for each in iterables if isinstance(each, ast.Call) and called_name(each) in ("enumerate", "zip")]
    given = [*iterables, *(argument for each in counted for argument in each.args)]
    return frozenset(each.id for each in given if isinstance(each, ast.Name))
