"""Python containers that modules keep, and the registered containers that take their place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import ClassValue, Const, External, Pointer, Tensor, TupleValue, Value, alternatives
from devfix.analysis.scopes import visible
from devfix.fixes.modules.attribute_writes import methods_of
from devfix.model import Edit, ReplaceExpression, ReplaceStatement
from devfix.syntax.tree import SourceTree

__all__ = ["ListAppend", "contents_problem", "hides", "keepers", "use_problem", "wrapped"]

_CONTAINERS = ("list", "dict", "set")
_DEEPEST = 3

# What lists and dictionaries can do and their registered counterparts cannot, and the names that no key may have:
# https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html
# https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleDict.html
_LIST_ONLY = frozenset("remove index sort reverse count copy clear".split())
_DICT_ONLY = frozenset("get setdefault copy fromkeys popitem".split())
_MODULE_NAMES = frozenset(
    "T_destination add_module apply bfloat16 buffers call_super_init children clear compile cpu cuda double "
    "dump_patches eval extra_repr float forward get_buffer get_extra_state get_parameter get_submodule half ipu items "
    "keys load_state_dict modules mtia named_buffers named_children named_modules named_parameters parameters pop "
    "register_backward_hook register_buffer register_forward_hook register_forward_pre_hook "
    "register_full_backward_hook register_full_backward_pre_hook register_load_state_dict_post_hook "
    "register_load_state_dict_pre_hook register_module register_parameter register_state_dict_post_hook "
    "register_state_dict_pre_hook requires_grad_ set_extra_state set_submodule share_memory state_dict to to_empty "
    "train training type update values xpu zero_grad".split()
)


@dataclass(frozen=True)
class ListAppend:
    """A module's attribute that is a Python container: the module, the attribute's name, the container."""

    owner: Pointer
    name: str
    container: Value

    @property
    def is_tuple(self) -> bool:
        """Whether it is a tuple; everything else has an identity."""
        return isinstance(self.container, TupleValue)


def keepers(memory: State, part: Pointer) -> Iterator[ListAppend]:
    """The containers in which modules keep ``part``, or a module of which it is a registered part."""
    chain, new = [part.id], [part.id]
    while new:
        wanted, new = set(new), []
        for key, obj in memory.heap_objects():
            if obj.kind != "module":
                continue
            named = [*obj.fields.items(), *([("*", obj.default_item)] if obj.default_item is not None else [])]
            for name, value in named:
                for option in alternatives(value):
                    if isinstance(option, Pointer) and option.id in wanted and key not in chain:
                        new.append(key)
                        chain.append(key)
                    elif holds(memory, option, wanted):
                        yield ListAppend(Pointer(key), name, option)


def hides(memory: State, key: int) -> bool:
    """Whether a module keeps this module in a Python container, so that nothing done to the one reaches the other."""
    return any(True for _ in keepers(memory, Pointer(key)))


def holds(memory: State, value: Value, wanted: set[int], depth: int = 0) -> bool:
    """Whether a container holds one of the objects, in itself or in a container inside."""
    for inner in _held(memory, value):
        for option in alternatives(inner):
            if isinstance(option, Pointer) and option.id in wanted:
                return True
            if depth < _DEEPEST and holds(memory, option, wanted, depth + 1):
                return True
    return False


def _held(memory: State, value: Value) -> list[Value]:
    if isinstance(value, TupleValue):
        return list(value.items)
    if isinstance(value, Pointer) and memory.has(value.id) and memory.heap_object(value).kind in _CONTAINERS:
        obj = memory.heap_object(value)
        return [*obj.fields.values(), *([obj.default_item] if obj.default_item is not None else [])]
    return []


def contents_problem(memory: State, value: Value, depth: int = 0) -> str | None:
    """Why a container cannot be a registered one: it holds something else than modules and containers of them."""
    if isinstance(value, Pointer) and memory.heap_object(value).kind == "dict":
        for key in memory.heap_object(value).fields:
            if key in _MODULE_NAMES or "." in key or not key:
                return f"`{key}` cannot be a key of a ModuleDict"
        if memory.heap_object(value).get("odd-keys"):
            return "its keys are no strings, and a ModuleDict takes nothing else"
    for inner in _held(memory, value):
        for option in alternatives(inner):
            if option == Const(None) or (isinstance(option, Pointer) and memory.heap_object(option).kind == "module"):
                continue
            nested = bool(_held(memory, option)) and depth < _DEEPEST
            problem = contents_problem(memory, option, depth + 1) if nested else "it holds what is no module, too"
            if problem is not None:
                return problem
    return None


def is_nested(memory: State, value: Value) -> bool:
    """Whether a container holds containers."""
    return any(_held(memory, option) for inner in _held(memory, value) for option in alternatives(inner))


def holds_parameters(memory: State, value: Value) -> bool:
    """Whether a container holds parameters and nothing else."""
    held = [option for inner in _held(memory, value) for option in alternatives(inner)]
    return bool(held) and all(
        isinstance(option, Tensor)
        and any(origin.kind == "parameter" and not origin.site_id for origin in option.origins)
        for option in held
    )


# --- what the class does with it ------------------------------------------------------------------------------------
def use_problem(cls: ClassValue, name: str, mapping: bool) -> str | None:
    """Why the class could not go on with a registered container: what it does with the Python one."""
    missing = _DICT_ONLY if mapping else _LIST_ONLY
    kind = "ModuleDict" if mapping else "ModuleList"
    for tree, _, method in methods_of(cls):
        for node in ast.walk(method):
            if not (isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.value, ast.Name)):
                continue
            parent = tree.parents[node]
            if isinstance(parent, ast.Attribute) and parent.attr in missing:
                return f"the class calls `{ast.unparse(parent)}()`, which a {kind} does not have"
            if isinstance(parent, ast.BinOp) and (parent.right is node or not isinstance(parent.op, ast.Add)):
                return f"the class computes `{ast.unparse(parent)}`, which a {kind} does not do"
            if isinstance(parent, ast.Call) and ast.unparse(parent.func) == "isinstance":
                return f"the class asks `{ast.unparse(parent)}`"
    return None


# --- how it is written ----------------------------------------------------------------------------------------------
def wrapped(tree: SourceTree, node: ast.expr, mapping: bool, prefix: str, kind: str = "Module") -> str | None:
    """The expression that makes a registered container of what ``node`` makes; ``None`` where that cannot be said.

    ``prefix`` is how the file names ``torch.nn`` (``nn.``); displays inside a display become registered, too.
    """
    opening = f"{prefix}{kind}{'Dict' if mapping else 'List'}("
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("list", "tuple", "dict"):
        if not node.args and not node.keywords:
            return f"{opening})"
        if len(node.args) == 1 and not node.keywords and node.func.id != "dict":
            bare = isinstance(node.args[0], ast.GeneratorExp)  # its parentheses are those of the call
            return f"{opening[: -bare or None]}{tree.source(node.args[0])}{')' * (not bare)}"
    if not (node.elts if isinstance(node, (ast.List, ast.Tuple)) else node.keys if isinstance(node, ast.Dict) else [0]):
        return f"{opening})"
    if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("defaultdict", "deque"):
        return None
    inner = [
        (part, wrapped(tree, part, isinstance(part, (ast.Dict, ast.DictComp)), prefix)) for part in _displays(node)
    ]
    source = _spliced(tree, node, [(part, code) for part, code in inner if code is not None])
    if isinstance(node, ast.Tuple):
        source = f"[{_without_parentheses(source)}]"
    return f"{opening}{source})"


def _displays(node: ast.expr) -> list[ast.expr]:
    """The containers that a display writes out as its elements."""
    elements: list[ast.expr] = []
    if isinstance(node, (ast.List, ast.Tuple)):
        elements = node.elts
    elif isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        elements = [node.elt]
    elif isinstance(node, ast.Dict):
        elements = node.values
    elif isinstance(node, ast.DictComp):
        elements = [node.value]
    kinds = (ast.List, ast.Tuple, ast.ListComp, ast.Dict, ast.DictComp)
    return [element for element in elements if isinstance(element, kinds)]


def writes_out(node: ast.expr | None) -> bool:
    """Whether every element of a display is a display itself (or there are no elements yet)."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return len(_displays(node)) == len(node.elts)
    return node is not None and bool(_displays(node))


def _spliced(tree: SourceTree, node: ast.expr, inner: list[tuple[ast.expr, str]]) -> str:
    source, start = tree.source(node), tree.span(node)
    lines = source.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)

    def offset(line: int, column: int) -> int:
        return starts[line - start.line] + column - (start.column if line == start.line else 0)

    for part, code in sorted(inner, key=lambda pair: tree.span(pair[0]), reverse=True):
        span = tree.span(part)
        source = source[: offset(span.line, span.column)] + code + source[offset(span.end_line, span.end_column) :]
    return source


def _without_parentheses(source: str) -> str:
    inner = source[1:-1] if source.startswith("(") and source.endswith(")") else source
    return inner if "\n" in inner else inner.strip().removesuffix(",")


def torch_nn(point: ProgramPoint, name: str) -> tuple[str, list[Edit]] | None:
    """How the file names ``torch.nn`` where ``nn.<name>`` is wanted, with the import that it lacks."""
    names = visible(point, point.call_frame)
    for wanted, prefix in (("torch.nn", "{}."), (f"torch.nn.{name}", "")):
        for local, value in names.items():
            if value == External(wanted) and (prefix or local == name):
                return prefix.format(local), []
    tree = point.tree
    for stmt in tree.tree.body:
        if isinstance(stmt, ast.ImportFrom) and stmt.module == "torch.nn" and stmt.lineno < point.stmt.lineno:
            if any(alias.name == name and alias.asname is None for alias in stmt.names):
                return "", []
            source = tree.source(stmt)
            if "\n" not in source and "(" not in source and "*" not in source:
                return "", [ReplaceStatement(tree.path, tree.span(stmt), (f"{source}, {name}",))]
            return "", [ReplaceStatement(tree.path, tree.span(stmt), (source, f"from torch.nn import {name}"))]
    return next(((f"{local}.nn.", []) for local, value in names.items() if value == External("torch")), None)


def replacement(tree: SourceTree, node: ast.expr, code: str) -> Edit:
    """The edit that writes ``code`` in place of an expression."""
    return ReplaceExpression(tree.path, tree.span(node), code)


__all__ += ["holds", "holds_parameters", "is_nested", "replacement", "torch_nn", "writes_out"]
