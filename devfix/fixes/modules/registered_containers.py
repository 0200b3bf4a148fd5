"""Python containers stored in modules, and the registered containers (``nn.ModuleList`` …) that replace them."""

from __future__ import annotations

import ast

from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.objects import Mapping, module_at, object_at
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import ClassValue, Const, External, Tensor, Value, alternatives
from devfix.analysis.scopes import visible
from devfix.fixes.modules.attribute_writes import methods_of
from devfix.fixes.modules.owners import contents_of
from devfix.model import Edit, ReplaceExpression, ReplaceStatement
from devfix.syntax.tree import SourceTree

__all__ = [
    "contents_problem",
    "holds_parameters",
    "is_nested",
    "is_nested_display",
    "registered_container",
    "replace_expression",
    "torch_nn_prefix",
    "use_problem",
]

_MAX_DEPTH = 3

# Methods of lists and dictionaries that their registered counterparts lack, and names that keys may not have:
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


def contents_problem(state: State, value: Value, depth: int = 0) -> str | None:
    """Return what, other than modules and containers of them, a container holds; ``None`` if nothing."""
    mapping = object_at(state, value, Mapping)
    if mapping is not None:
        for key in mapping.fields:
            if key in _MODULE_NAMES or "." in key or not key:
                return f"`{key}` cannot be a key of a ModuleDict"
        if mapping.odd_keys:
            return "its keys are not strings, but a ModuleDict takes only strings"
    for inner in contents_of(state, value):
        for option in alternatives(inner):
            if option == Const(None) or module_at(state, option) is not None:
                continue
            nested = bool(contents_of(state, option)) and depth < _MAX_DEPTH
            problem = (
                contents_problem(state, option, depth + 1) if nested else "it also holds values that are not modules"
            )
            if problem is not None:
                return problem
    return None


def is_nested(state: State, value: Value) -> bool:
    """Whether a container holds containers."""
    return any(contents_of(state, option) for inner in contents_of(state, value) for option in alternatives(inner))


def holds_parameters(state: State, value: Value) -> bool:
    """Whether a container holds only parameters."""
    contents = [option for inner in contents_of(state, value) for option in alternatives(inner)]
    return bool(contents) and all(
        isinstance(option, Tensor)
        and any(origin.kind == "parameter" and not origin.site_id for origin in option.origins)
        for option in contents
    )


# --- uses in the class ----------------------------------------------------------------------------------------------
def use_problem(cls: ClassValue, name: str, mapping: bool) -> str | None:
    """Return why the class would not work with a registered container; ``None`` if it would."""
    missing_methods = _DICT_ONLY if mapping else _LIST_ONLY
    kind = "ModuleDict" if mapping else "ModuleList"
    for tree, _, method in methods_of(cls):
        for node in ast.walk(method):
            if not (isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.value, ast.Name)):
                continue
            parent = tree.parents[node]
            if isinstance(parent, ast.Attribute) and parent.attr in missing_methods:
                return f"the class calls `{ast.unparse(parent)}()`, which a {kind} does not have"
            if isinstance(parent, ast.BinOp) and (parent.right is node or not isinstance(parent.op, ast.Add)):
                return f"the class computes `{ast.unparse(parent)}`, which a {kind} does not support"
            if isinstance(parent, ast.Call) and ast.unparse(parent.func) == "isinstance":
                return f"the class checks `{ast.unparse(parent)}`"
    return None


# --- new expression -------------------------------------------------------------------------------------------------
def registered_container(
    tree: SourceTree, node: ast.expr, mapping: bool, prefix: str, kind: str = "Module"
) -> str | None:
    """Return the expression that creates a registered container from ``node``; ``None`` if there is no simple one.

    ``prefix`` is the file's spelling of ``torch.nn`` (``nn.``). Nested displays become registered containers as well.
    """
    opening = f"{prefix}{kind}{'Dict' if mapping else 'List'}("
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("list", "tuple", "dict"):
        if not node.args and not node.keywords:
            return f"{opening})"
        if len(node.args) == 1 and not node.keywords and node.func.id != "dict":
            is_generator = isinstance(node.args[0], ast.GeneratorExp)  # shares the parentheses of the call
            return f"{opening[: -is_generator or None]}{tree.source(node.args[0])}{')' * (not is_generator)}"
    if not (node.elts if isinstance(node, (ast.List, ast.Tuple)) else node.keys if isinstance(node, ast.Dict) else [0]):
        return f"{opening})"
    if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("defaultdict", "deque"):
        return None
    inner = [
        (part, registered_container(tree, part, isinstance(part, (ast.Dict, ast.DictComp)), prefix))
        for part in _displays(node)
    ]
    source = _spliced(tree, node, [(part, code) for part, code in inner if code is not None])
    if isinstance(node, ast.Tuple):
        source = f"[{_without_parentheses(source)}]"
    return f"{opening}{source})"


def _displays(node: ast.expr) -> list[ast.expr]:
    """Return the container displays among the elements of a display."""
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


def is_nested_display(node: ast.expr | None) -> bool:
    """Whether all elements of a display are displays themselves (or it is empty)."""
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


def torch_nn_prefix(point: ProgramPoint, name: str) -> tuple[str, list[Edit]] | None:
    """Return the file's prefix for ``nn.<name>`` and edits for a missing import; ``None`` if it imports no torch."""
    names = visible(point, point.call_frame)
    for qualified_name, prefix in (("torch.nn", "{}."), (f"torch.nn.{name}", "")):
        for local, value in names.items():
            if value == External(qualified_name) and (prefix or local == name):
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


def replace_expression(tree: SourceTree, node: ast.expr, code: str) -> Edit:
    """Return the edit that replaces an expression by ``code``."""
    return ReplaceExpression(tree.path, tree.span(node), code)
