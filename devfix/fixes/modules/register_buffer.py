"""Turn attributes into buffers: ``self.register_buffer("mask", ..., persistent=False)`` replaces the assignment.

https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis.domain.classes import mro
from devfix.analysis.domain.values import NONE, ClassValue, Tensor, alternatives
from devfix.fixes.modules.attribute_writes import Attribute, Write, methods_of
from devfix.fixes.reorder import reach
from devfix.model import Edit, MoveStatements, ReplaceStatement
from devfix.models.names import MODULE_METHODS
from devfix.syntax.tree import SourceTree

__all__ = ["register_buffers"]

_WIDTH = 88  # break longer lines, unless the file has longer ones


def register_buffers(attributes: list[Attribute]) -> list[Edit] | str:
    """Return the edits that register attributes of modules as buffers, or the reason why that is impossible."""
    names = frozenset(attribute.name for attribute in attributes)
    edits: dict[Edit, None] = {}
    for attribute in attributes:
        obstacle = _obstacle(attribute)
        if obstacle is not None:
            return obstacle
        writes = _first_writes(list(_writes(attribute)))
        if not writes:
            return "no statement of the program assigns the attribute first"
        for write in writes:
            write_edits = _rewrite_write(names, write)
            if isinstance(write_edits, str):
                return write_edits
            edits.update(dict.fromkeys(write_edits))
    return list(edits)


def _obstacle(attribute: Attribute) -> str | None:
    """Return why an attribute cannot become a buffer, else ``None``.

    Registered names: https://github.com/pytorch/pytorch/issues/1874
    """
    name = attribute.name
    if not name.isidentifier() or name in MODULE_METHODS:
        return f"`{name}` cannot be the name of a buffer"
    values = [option for stored in attribute.stored for option in alternatives(stored.stored_value)]
    if not all(isinstance(option, Tensor) or option == NONE for option in values):
        return f"`{attribute.text}` holds several tensors, but a buffer is a single tensor"
    cls = attribute.cls
    if cls is None:
        return "the class of the module is not in the source"
    for base in mro(cls):
        if isinstance(base, ClassValue) and any(_binds(stmt, name) for stmt in base.node.body):
            return f"the class already has an attribute `{name}`, which a buffer cannot replace"
    for _, _, method in methods_of(cls):
        for node in ast.walk(method):
            value = _assigned_value(node, name, _receiver(method))
            if isinstance(value, _NON_TENSOR_NODES) and not (isinstance(value, ast.Constant) and value.value is None):
                return (
                    f"`{attribute.text}` is also assigned a value that is not a tensor, but a buffer takes only tensors"
                )
    return None


_NON_TENSOR_NODES = (
    ast.Constant,
    ast.List,
    ast.Dict,
    ast.Tuple,
    ast.Set,
    ast.ListComp,
    ast.DictComp,
    ast.Lambda,
    ast.JoinedStr,
)


def _binds(stmt: ast.stmt, name: str) -> bool:
    if isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return stmt.name == name
    targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target] if isinstance(stmt, ast.AnnAssign) else []
    if isinstance(stmt, ast.AnnAssign) and stmt.value is None:
        return False
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def _receiver(function: ast.AST) -> str:
    arguments = getattr(function, "args", None)
    positional = [*arguments.posonlyargs, *arguments.args] if isinstance(arguments, ast.arguments) else []
    return positional[0].arg if positional else ""


def _is_attribute(node: ast.AST, name: str, receiver: str) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == name
        and isinstance(node.value, ast.Name)
        and node.value.id == receiver
    )


def _assigned_value(node: ast.AST, name: str, receiver: str) -> ast.expr | None:
    """Return the value that a statement assigns to ``self.name``; ``None`` if it is not such an assignment."""
    if isinstance(node, ast.Assign) and any(_is_attribute(target, name, receiver) for target in node.targets):
        return node.value
    if isinstance(node, ast.AnnAssign) and _is_attribute(node.target, name, receiver):
        return node.value
    return None


# --- which writes ---------------------------------------------------------------------------------------------------
def _writes(attribute: Attribute) -> Iterator[Write]:
    """Yield the statements that assign the attribute: those the analysis reached, and assignments of ``None``."""
    seen: set[ast.stmt] = set()
    for stored in attribute.stored:
        point = stored.point
        if point.stmt not in seen:
            seen.add(point.stmt)
            yield Write(point.tree, point.stmt, point.tree.function(point.stmt))
    assert attribute.cls is not None
    for tree, _, method in methods_of(attribute.cls):
        for node in ast.walk(method):
            value = _assigned_value(node, attribute.name, _receiver(method))
            if isinstance(value, ast.Constant) and value.value is None and node not in seen:
                assert isinstance(node, ast.stmt)
                seen.add(node)
                yield Write(tree, node, tree.function(node))


def _first_writes(writes: list[Write]) -> list[Write]:
    """Return the writes that no other write precedes on every path: later writes assign the registered buffer."""
    constructors = [write for write in writes if getattr(write.function, "name", "") == "__init__"]
    certain = any(_is_certain(write) for write in constructors)
    return [
        write
        for write in (constructors if certain else writes)
        if not (constructors and write not in constructors and _is_read_first(write))
        and not any(other is not write and _precedes(other, write) for other in writes)
    ]


def _is_certain(write: Write) -> bool:
    return write.tree.parents[write.stmt] is write.function


def _is_read_first(write: Write) -> bool:
    """Return whether the condition of a write reads the attribute as a tensor: ``if n > self.table.size(0)``."""
    targets = write.stmt.targets if isinstance(write.stmt, ast.Assign) else []
    names = {ast.unparse(target) for target in targets}
    tests = (node.test for node in write.tree.ancestors(write.stmt) if isinstance(node, (ast.If, ast.While)))
    parts = (part for test in tests for part in ast.walk(test))
    return any(isinstance(part, ast.Attribute) and ast.unparse(part.value) in names for part in parts)


def _precedes(one: Write, other: Write) -> bool:
    """Whether ``one`` runs on every path that leads to ``other``."""
    if one.function is not other.function or one.tree is not other.tree:
        return False
    _, block, index = one.tree.block(one.stmt)
    inside = [other.stmt, *other.tree.ancestors(other.stmt)]
    return any(any(later is node for node in inside) for later in block[index + 1 :])


# --- edits ----------------------------------------------------------------------------------------------------------
def _rewrite_write(names: frozenset[str], write: Write) -> list[Edit] | str:
    tree, stmt = write.tree, write.stmt
    code = _replacement(names, write)
    if code is None:
        return "the statement that assigns the attribute has several targets"
    edits: list[Edit] = [ReplaceStatement(tree.path, tree.span(stmt), tuple(code))]
    constructor = _constructor_call(write)
    if constructor is None or stmt.lineno > constructor.lineno:
        return edits
    if tree.parents[stmt] is not write.function:
        return "a buffer can only be registered after `super().__init__()`"
    if _needed_between(tree, stmt, constructor):
        return "a buffer can only be registered after `super().__init__()`, but earlier statements use the attribute"
    return [MoveStatements(tree.path, (tree.span(stmt),), tree.span(constructor)), *edits]


def _constructor_call(write: Write) -> ast.stmt | None:
    """Return the ``super().__init__()`` statement of the constructor that contains the write."""
    function = write.function
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or function.name != "__init__":
        return None
    for stmt in function.body:
        call = stmt.value if isinstance(stmt, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "__init__":
            return stmt
    return None


def _needed_between(tree: SourceTree, stmt: ast.stmt, constructor: ast.stmt) -> bool:
    _, block, index = tree.block(stmt)
    end = next(i for i, item in enumerate(block) if item is constructor)
    own = reach(tree, stmt)
    between = [reach(tree, other) for other in block[index + 1 : end + 1]]
    return any(other.reads & own.writes or other.writes & (own.reads | own.writes) for other in between)


def _replacement(names: frozenset[str], write: Write) -> list[str] | None:
    """Return the statements that replace a write of ``names``; ``None`` if its form is not supported."""
    stmt, tree = write.stmt, write.tree
    if isinstance(stmt, ast.AnnAssign) and isinstance(stmt.target, ast.Attribute) and stmt.value is not None:
        return [
            f"{tree.source(stmt.target)}: {tree.source(stmt.annotation)}",
            _call(tree, stmt.target, stmt.value, stmt),
        ]
    if isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call) and ast.unparse(stmt.value.func) == "setattr":
        owner, name, value = stmt.value.args
        return [f"{tree.source(owner)}.register_buffer({tree.source(name)}, {tree.source(value)}, persistent=False)"]
    if not isinstance(stmt, ast.Assign) or len(stmt.targets) != 1:
        return None
    target, value = stmt.targets[0], stmt.value
    if isinstance(target, ast.Attribute):
        return [_call(tree, target, value, stmt)]
    if isinstance(target, ast.Tuple) and all(isinstance(element, ast.Attribute) for element in target.elts):
        return _split_unpacking(names, tree, target, value, stmt)
    return None


def _split_unpacking(
    names: frozenset[str], tree: SourceTree, target: ast.Tuple, value: ast.expr, stmt: ast.stmt
) -> list[str] | None:
    """Split ``self.a, self.b = x, y`` into one statement each; ``None`` if a value uses an earlier target."""
    if not isinstance(value, ast.Tuple) or len(value.elts) != len(target.elts):
        return None
    targets = {ast.unparse(element) for element in target.elts}
    if any(
        ast.unparse(node) in targets for part in value.elts for node in ast.walk(part) if isinstance(node, ast.expr)
    ):
        return None
    code = []
    for element, part in zip(target.elts, value.elts, strict=True):
        assert isinstance(element, ast.Attribute)
        plain = element.attr not in names
        code.append(f"{tree.source(element)} = {tree.source(part)}" if plain else _call(tree, element, part, stmt))
    return code


def _call(tree: SourceTree, target: ast.Attribute, value: ast.expr, stmt: ast.stmt) -> str:
    opening = f"{tree.source(target.value)}.register_buffer("
    source = tree.source(value)
    if isinstance(value, ast.Tuple):
        source = f"({source})"
    arguments = f'"{target.attr}", {source}, persistent=False'
    longest = max(_WIDTH, *(len(line) for line in tree.lines)) if tree.lines else _WIDTH
    if "\n" in source or stmt.col_offset + len(opening) + len(arguments) + 1 <= longest:
        return f"{opening}{arguments})"
    margin = tree.lines[stmt.lineno - 1][: stmt.col_offset]
    if margin.strip():
        return f"{opening}{arguments})"
    unit = "\t" if margin.startswith("\t") else "    "
    return f"{opening}\n{margin}{unit}{arguments}\n{margin})"
