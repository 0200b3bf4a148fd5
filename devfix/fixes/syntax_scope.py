"""Expressions for a device at a node, by syntax alone: an edit that uses one is verified by a run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from devfix.fixes.device_expression import Query, Source
from devfix.fixes.replicas import names_replication
from devfix.syntax.bindings import bound_names, in_scope, is_chain, iterated_names, root_name
from devfix.syntax.tree import SourceTree

__all__ = ["SyntaxScope", "cuda_guard", "movers"]

_DEVICE_NAME = re.compile(r"(^|_)(device|dev)(_|$|s$)", re.IGNORECASE)
_OF_TENSORS = frozenset(
    "shape size dtype numel dim device ndim grad data view reshape unsqueeze squeeze mean sum float long detach clone "
    "transpose permute new_zeros new_ones new_full new_tensor backward requires_grad t T to cuda".split()
)
_READS_SHAPE = ("shape", "size", "dtype", "numel", "dim")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class SyntaxScope:
    """A node of a file: a :class:`devfix.fixes.device_expression.Scope`."""

    def __init__(self, tree: SourceTree, node: ast.AST) -> None:
        self.tree = tree
        self.node = node

    def expressions(self, source: Source, query: Query) -> Iterable[str]:
        """Return the expressions of one source, best first; sources that need values have none."""
        tree, node = self.tree, self.node
        match source:
            case Source.LIVE:
                return [text for text in _named(tree, node) if in_scope(tree, node, text)]
            case Source.MOVES:
                return [text for text in _spoken(tree, node) if in_scope(tree, node, text)]
            case Source.OPERAND:
                return self._operands(query.partners)
            case Source.PARAMETERS:
                is_usable = _in_module_method(tree, node) and not names_replication(tree)
                return ["next(self.parameters()).device"] if is_usable else []
            case _:
                return ()

    def _operands(self, partners: Iterable[str]) -> Iterator[str]:
        tree, node = self.tree, self.node
        named = [name for name in _shaping(node) if in_scope(tree, node, name)]
        named += [name for name in partners if in_scope(tree, node, name) and is_chain(name)]
        lists = iterated_names(tree.function(node))
        for name in (*named, *_tensor_parameters(tree, node), *_loop_targets(tree, node)):
            if name not in lists:
                yield f"{name}.device"


def movers(tree: SourceTree, node: ast.AST) -> Iterator[ast.Call]:
    """Yield calls of ``.to`` and ``.cuda`` in the function of ``node``, nearest first."""
    line = getattr(node, "lineno", 0)
    calls = [each for each in ast.walk(tree.function(node)) if isinstance(each, ast.Call) and _moves(each)]
    yield from sorted(calls, key=lambda call: abs(call.lineno - line))


def _moves(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in ("to", "cuda")


def cuda_guard(tree: SourceTree, node: ast.AST, inside: bool = False) -> str | None:
    """Return the condition around the file's ``.cuda()`` calls if it does not enclose ``node`` already, else None.

    Args:
        tree: the file.
        node: the position of another call.
        inside: the call is to be inserted in the body of ``node``.
    """
    calls = [each for each in ast.walk(tree.tree) if isinstance(each, ast.Call) and _moves(each)]
    tests = [_condition(tree, call) for call in calls if ast.unparse(call.func).endswith(".cuda")]
    if not tests or None in tests:
        return None
    around = [node, *tree.ancestors(node)] if inside else list(tree.ancestors(node))
    held = {ast.unparse(each.test) for each in around if isinstance(each, ast.If)}
    texts = [text for text in dict.fromkeys(filter(None, tests)) if in_scope(tree, node, text)]
    return None if not texts or held & set(texts) else texts[0]


def _condition(tree: SourceTree, call: ast.Call) -> str | None:
    """Return the test of the ``if`` whose body contains a call, if it is on the accelerator."""
    child: ast.AST = call
    for parent in tree.ancestors(call):
        body = parent.body if isinstance(parent, ast.If) else [parent.body] if isinstance(parent, ast.IfExp) else []
        if isinstance(parent, (ast.If, ast.IfExp)) and child in body:
            test = ast.unparse(parent.test)
            if re.search("cuda|gpu", test):
                return test
        if isinstance(parent, _FUNCTIONS):
            return None
        child = parent
    return None


def _spoken(tree: SourceTree, node: ast.AST) -> Iterator[str]:
    """Yield destinations of moves and ``device=`` in the same function, then of moves in the rest of the file."""
    for call in movers(tree, node):
        yield from _destination(tree, call)
    for each in ast.walk(tree.function(node)):
        if isinstance(each, ast.keyword) and each.arg == "device" and _names_device(each.value):
            yield tree.source(each.value)
    for each in ast.walk(tree.tree):
        if isinstance(each, ast.Call) and _moves(each):
            yield from _destination(tree, each)


def _destination(tree: SourceTree, call: ast.Call) -> Iterator[str]:
    given = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "device")]
    assert isinstance(call.func, ast.Attribute)
    if call.func.attr == "to":
        yield from (tree.source(value) for value in given if _names_device(value))


def _names_device(node: ast.expr) -> bool:
    """Return whether an argument can be a device chosen by the program: not a dtype, ``"cpu"`` or another tensor."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value not in ("cpu", "meta") and not node.value.startswith("torch")
    text = ast.unparse(node)
    if re.search(r"(^|\.)(dtype|(b?float|int|u?int|half|double|long|bool|complex)\d*)$", text) or "cpu" in text:
        return False
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.JoinedStr))


def _named(tree: SourceTree, node: ast.AST) -> Iterator[str]:
    """Yield names that contain "device": of the function, ``self``, settings, and the module."""
    function = tree.function(node)
    line = getattr(node, "lineno", 0)
    yield from sorted(filter(_DEVICE_NAME.search, bound_names(function, line)))
    texts = {
        ast.unparse(each)
        for each in ast.walk(tree.tree)
        if isinstance(each, (ast.Attribute, ast.Subscript))
        and _DEVICE_NAME.search(_last_part(each))
        and _means_the_same(tree, each, function)
    }
    own = [text for text in texts if root_name(text) == "self" and _same_class(tree, node, text)]
    settings = [text for text in texts if root_name(text) not in ("self", "torch", None) and ".cuda" not in text]
    yield from sorted(own, key=len)
    yield from sorted(settings, key=len)
    yield from sorted(filter(_DEVICE_NAME.search, bound_names(tree.tree, None)))


def _means_the_same(tree: SourceTree, node: ast.expr, function: ast.AST) -> bool:
    """Return whether an expression does not start with a local name of another function."""
    own, root = tree.function(node), root_name(ast.unparse(node))
    if own is function or isinstance(own, ast.Module) or root in ("self", None):
        return True
    given = isinstance(own, _FUNCTIONS) and root in {arg.arg for arg in ast.walk(own.args) if isinstance(arg, ast.arg)}
    return given or root not in bound_names(own, None)


def _last_part(node: ast.Attribute | ast.Subscript) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    key = node.slice
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""


def _same_class(tree: SourceTree, node: ast.AST, text: str) -> bool:
    """Return whether the class around ``node``, or a base class in this file, uses the attribute."""
    owner = _class_of(tree, node)
    if owner is None:
        return False
    classes = {each.name: each for each in ast.walk(tree.tree) if isinstance(each, ast.ClassDef)}
    family = [owner, *(classes[name] for name in map(ast.unparse, owner.bases) if name in classes)]
    return any(
        isinstance(each, ast.Attribute) and ast.unparse(each) == text for member in family for each in ast.walk(member)
    )


def _class_of(tree: SourceTree, node: ast.AST) -> ast.ClassDef | None:
    return next((each for each in tree.ancestors(node) if isinstance(each, ast.ClassDef)), None)


def _in_module_method(tree: SourceTree, node: ast.AST) -> bool:
    owner = _class_of(tree, node)
    function = tree.function(node)
    return (
        owner is not None
        and any(ast.unparse(base).endswith("Module") for base in owner.bases)
        and getattr(function, "name", "__init__") != "__init__"
    )


def _shaping(node: ast.AST) -> Iterator[str]:
    """Yield tensors whose shape or dtype an expression reads."""
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and each.attr in _READS_SHAPE and is_chain(ast.unparse(each.value)):
            yield ast.unparse(each.value)
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == "len":
            yield from (ast.unparse(arg) for arg in each.args if is_chain(ast.unparse(arg)))


def _tensor_parameters(tree: SourceTree, node: ast.AST) -> Iterator[str]:
    """Yield the first parameter of the enclosing function, if it can be a tensor."""
    function = tree.function(node)
    if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and function.name != "__init__":
        names = [arg.arg for arg in function.args.args if arg.arg not in ("self", "cls")]
        sizes = {arg.id for call in ast.walk(node) if isinstance(call, ast.Call) for arg in _sizes(call)}
        if names and not _DEVICE_NAME.search(names[0]) and names[0] not in sizes and _is_tensor(function, names[0]):
            yield names[0]


def _is_tensor(function: ast.AST, name: str) -> bool:
    """Return whether a function uses a name like a tensor, or is the ``forward`` of a module."""
    if getattr(function, "name", "") in ("forward", "__call__"):
        return True
    return any(
        isinstance(each, ast.Attribute)
        and isinstance(each.value, ast.Name)
        and each.value.id == name
        and each.attr in _OF_TENSORS
        for each in ast.walk(function)
    )


def _loop_targets(tree: SourceTree, node: ast.AST) -> Iterator[str]:
    """Yield the targets of the nearest enclosing loop, such as the parameters in a loop over an optimizer's state."""
    for parent in tree.ancestors(node):
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return
        if isinstance(parent, (ast.For, ast.AsyncFor)):
            names = [each.id for each in ast.walk(parent.target) if isinstance(each, ast.Name)]
            yield from (name for name in names if _is_tensor(parent, name))
            return


def _sizes(call: ast.Call) -> Iterator[ast.Name]:
    """Yield names among the arguments of a factory, alone or in a tuple."""
    for arg in call.args:
        yield from (each for each in (getattr(arg, "elts", None) or [arg]) if isinstance(each, ast.Name))
