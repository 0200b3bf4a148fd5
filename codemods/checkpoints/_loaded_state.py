"""Loaded values that are a checkpoint: the text of a function shows that they fill a module or are one.

The analysis follows a loaded value through calls, but loses it in dictionaries that are rebuilt key by key. Here names
are followed instead, within the function of the load.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from devfix.syntax.bindings import assigned_names, parameters
from devfix.syntax.tree import SourceTree, text_of

__all__ = ["is_checkpoint"]

_FILLS = "load_state_dict"
_STATES = frozenset({"state_dict", "named_parameters", "named_buffers"})
_MODULE_METHODS = frozenset("eval train parameters named_parameters state_dict modules children".split())
_SAME_CONTENTS = frozenset("items keys values get copy pop to cuda cpu float half double eval train".split())
_REBUILDS = frozenset({"dict", "OrderedDict", "list", "deepcopy", "copy"})


def is_checkpoint(tree: SourceTree, load: ast.Call) -> bool:
    """Return whether the result of a load fills a module, is combined with a module's state, is called, or is saved."""
    function = tree.function(load)
    nodes = list(_own_nodes(function))
    loaded = _names_of(nodes, lambda node: node is load)
    states = _names_of(nodes, _reads_state)
    others = _names_of(nodes, lambda node: node is not load and _is_same_function(node, load)) - loaded

    def is_loaded(node: ast.AST) -> bool:
        return node is load or _base(node, loaded, lambda inner: inner is load)

    keys = _keys_of_loops(nodes)
    has_keys = any(_reads_by_key(node, keys) and is_loaded(node) for node in nodes)
    for node in (*nodes, *_reads_of_globals(tree, function, loaded)):
        match node:
            case ast.Call(func=ast.Attribute(attr=name), args=args) if name == _FILLS or name.endswith(_FILLS):
                if any(is_loaded(argument) for argument in args):
                    return True
            case ast.Call(func=ast.Attribute(value=receiver, attr=name)) if name in _MODULE_METHODS:
                if is_loaded(receiver):
                    return True
            case ast.Call(func=ast.Attribute(attr="save"), args=[first, file]) if has_keys and is_loaded(first):
                if [text_of(file)] != [text_of(argument) for argument in load.args[:1]]:
                    return True  # a cache is saved to the file that it is loaded from
            case ast.Call(func=ast.Attribute(value=ast.Subscript() as entry, attr="items")) if is_loaded(entry):
                return True  # the weights by name
            case ast.Call(func=ast.Name() | ast.Attribute() as func) if text_of(func) in loaded:
                return True
            case ast.DictComp() if _mentions(node, loaded) and _mentions(node, others):
                return True  # two checkpoints are averaged, and must lie on one device
            case ast.Assign() | ast.Compare() | ast.DictComp() if _mentions(node, loaded) and _mentions(node, states):
                return True
            case _:
                pass
    return False


def _is_same_function(node: ast.AST, load: ast.Call) -> bool:
    return isinstance(node, ast.Call) and text_of(node.func) == text_of(load.func)


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function or module, without those of the functions in it."""
    for child in ast.iter_child_nodes(function):
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from _own_nodes(child)


def _reads_of_globals(tree: SourceTree, function: ast.AST, names: set[str]) -> Iterator[ast.AST]:
    """Yield the nodes of functions that read a module's names and bind none of them."""
    if not isinstance(function, ast.Module):
        return
    for node in tree.nodes:
        is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        if is_function and names.isdisjoint(assigned_names(node) | set(parameters(node))):
            yield from _own_nodes(node)


def _names_of(nodes: Iterable[ast.AST], is_source: Callable[[ast.AST], bool]) -> set[str]:
    """Return the names and attributes that hold what ``is_source`` finds, or a part of it."""
    bindings = [pair for node in nodes for pair in _bindings(node)]
    names: set[str] = set()
    while True:
        found = {
            text_of(target)
            for target, value in bindings
            if text_of(target) not in names and _base(value, names, is_source)
        }
        if not found:
            return names
        names |= found


def _bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the pairs of a target and the value from which a statement fills it."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from ((part, value) for part in _parts(target))
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
            yield target, value
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
            yield from ((part, value) for part in _parts(target))
        case ast.Call(func=ast.Attribute(value=receiver, attr="update"), args=[value]):
            yield receiver, value


def _parts(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for inner in target.elts:
            yield from _parts(inner)
    elif isinstance(target, (ast.Subscript, ast.Starred)):
        yield from _parts(target.value)
    else:
        yield target


def _base(node: ast.AST, names: set[str], is_source: Callable[[ast.AST], bool]) -> bool:
    """Return whether an expression is a source, a name that holds one, a part of it, or a container made of it."""
    if is_source(node):
        return True
    match node:
        case ast.Name() | ast.Attribute() if text_of(node) in names:
            return True
        case ast.Subscript(value=value) | ast.Attribute(value=value) | ast.Starred(value=value):
            return _base(value, names, is_source)
        case ast.Call(func=ast.Attribute(value=receiver, attr=name)) if name in _SAME_CONTENTS:
            return _base(receiver, names, is_source)
        case ast.Call(func=func, args=[first, *_]) if text_of(func).split(".")[-1] in _REBUILDS:
            return _base(first, names, is_source)
        case ast.DictComp(generators=generators) | ast.ListComp(generators=generators):
            return any(_base(each.iter, names, is_source) for each in generators)
        case ast.IfExp(body=body, orelse=orelse) | ast.BinOp(left=body, right=orelse):
            return _base(body, names, is_source) or _base(orelse, names, is_source)
        case _:
            return False


def _reads_state(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _STATES


def _keys_of_loops(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names of keys: ``k`` of ``for k, v in state.items()``."""
    return {
        text_of(target.elts[0])
        for node in nodes
        for target, value in _loops(node)
        if isinstance(target, ast.Tuple) and target.elts and text_of(value).endswith(".items()")
    }


def _loops(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(node, (ast.For, ast.comprehension)):
        yield node.target, node.iter


def _reads_by_key(node: ast.AST, keys: set[str]) -> bool:
    """Return whether a node is ``state["model"]``, ``state[key]`` or ``state.items()``."""
    if isinstance(node, ast.Subscript):
        return text_of(node.slice) in keys or (
            isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
        )
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("items", "keys")


def _mentions(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(inner, (ast.Name, ast.Attribute)) and text_of(inner) in names for inner in ast.walk(node))
