"""Calls of ``torch.cuda`` that fail without CUDA, and the edits that make them conditional."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.portability._cuda_api import CUDA_OBJECTS, CudaFunction, cuda_function, is_feature
from codemods.portability._guards import is_guarded
from codemods.portability._torch_names import (
    indentation,
    named,
    prints,
    selects_device_of_block,
    stands_alone,
)
from devfix.model import Edit, Fix, PortTargets, ReplaceExpression, ReplaceStatement
from devfix.syntax.tree import SourceTree, walk

__all__ = ["CudaCall", "can_be_conditional", "conditional_edits", "cuda_calls", "uncalled_queries"]

# Functions whose namesakes work on every accelerator; those for memory depend on its allocator.
_ANYWHERE = ("torch.cuda.set_device", "torch.cuda.synchronize")
# A function for all devices, here with a type of CUDA.
_DEFAULT_TYPE = CudaFunction("torch.set_default_tensor_type", "raises", "", {})
_RENAMED_SINCE = (1, 4)  # https://github.com/pytorch/pytorch/releases/tag/v1.4.0
_DEVICE_KEYWORDS = ("device", "device_ids", "output_device", "map_location")
_QUERY = "torch.cuda.is_available"
_USED = "its value is used, and no other device has one"


@dataclass(frozen=True, eq=False)
class CudaCall:
    """A call that fails without CUDA, or of a deprecated function; ``reason`` says why it is not edited."""

    tree: SourceTree
    node: ast.Call
    function: CudaFunction
    fix: Fix | None = None
    reason: str = ""


def cuda_calls(tree: SourceTree, targets: PortTargets) -> Iterator[CudaCall]:
    """Yield the calls of a file that must change, in its order."""
    found = [
        (node, function)
        for node in tree.nodes
        if isinstance(node, ast.Call) and (function := _called(tree, node)) and _matters(tree, node)
    ]
    found.sort(key=lambda pair: tree.span(pair[0]))
    grouped: dict[ast.stmt, Fix] = {}
    for group in _groups(tree, [node for node, _ in found if _is_statement(tree, node)]):
        shared = _guarded(tree, group, targets)
        grouped.update((tree.statement(node), shared) for node in group)
    for node, function in found:
        if is_guarded(tree, node) or not function.requires_cuda:
            if not function.deprecated or targets.release < _RENAMED_SINCE:
                continue
            fix = _renamed(tree, node, function)
        elif _is_statement(tree, node):
            fix = grouped[tree.statement(node)]
        else:
            fix = _printed(tree, node, function) or _selected(tree, node) or _current(tree, node)
        yield CudaCall(tree, node, function, fix, _reason(tree, node, function) if fix is None else "")


def uncalled_queries(tree: SourceTree) -> Iterator[tuple[ast.expr, Fix]]:
    """Yield tests of the function itself, which are always true: ``if torch.cuda.is_available:``."""
    for node in tree.nodes:
        if isinstance(node, ast.Attribute) and _is_tested(tree, node) and named(tree, node) == _QUERY:
            code = f"{tree.source(node)}()"
            yield node, Fix("ask whether CUDA is available", (ReplaceExpression(tree.path, tree.span(node), code),))


def _is_tested(tree: SourceTree, node: ast.AST) -> bool:
    outer = tree.parents[node]
    is_part = isinstance(outer, (ast.BoolOp, ast.UnaryOp))
    return is_part or (isinstance(outer, (ast.If, ast.IfExp, ast.While)) and outer.test is node)


def _called(tree: SourceTree, node: ast.Call) -> CudaFunction | None:
    if "cuda" not in tree.text:
        return None
    name = named(tree, node.func)
    if name == _DEFAULT_TYPE.name and any("cuda" in tree.source(argument) for argument in node.args):
        return _DEFAULT_TYPE
    if name == "torch.cuda.device" and any(_may_be_no_index(argument) for argument in node.args):
        return None
    return cuda_function(name) if name.startswith("torch.cuda.") and not is_feature(name) else None


def _may_be_no_index(index: ast.expr) -> bool:
    """Return whether an index is -1 otherwise, with which ``torch.cuda.device`` does nothing."""
    return isinstance(index, ast.IfExp) and ast.unparse(index.orelse) == "-1"


def _matters(tree: SourceTree, node: ast.AST) -> bool:
    """Return whether a call is not one of a decorator, whose function is the place to change."""
    return not any(
        node in outer.decorator_list
        for outer in tree.ancestors(node)
        if isinstance(outer, (ast.FunctionDef, ast.ClassDef))
    )


# --- statements -----------------------------------------------------------------------------------------------------
def can_be_conditional(tree: SourceTree, node: ast.Call) -> bool:
    """Return whether a call that requires CUDA is a whole statement in lines of its own, which a condition can hold."""
    parent = tree.parents[node]
    function = _called(tree, node)
    return (
        isinstance(parent, ast.Expr)
        and stands_alone(tree, parent)
        and function is not None
        and function.requires_cuda
        and _query(tree, node, "cuda") != ""
    )


def _is_statement(tree: SourceTree, node: ast.Call) -> bool:
    return can_be_conditional(tree, node) and not is_guarded(tree, node)


def _groups(tree: SourceTree, calls: list[ast.Call]) -> Iterator[list[ast.Call]]:
    """Yield calls in consecutive lines of one block."""
    group: list[ast.Call] = []
    for call in calls:
        if group and not _follows(tree, group[-1], call):
            yield group
            group = []
        group.append(call)
    if group:
        yield group


def _follows(tree: SourceTree, one: ast.Call, other: ast.Call) -> bool:
    _, block, index = tree.block(tree.statement(one))
    is_next = index + 1 < len(block) and block[index + 1] is tree.statement(other)
    return is_next and tree.span(other).line == tree.span(one).end_line + 1


def _guarded(tree: SourceTree, calls: list[ast.Call], targets: PortTargets) -> Fix:
    names = dict.fromkeys(f"`{named(tree, call.func).rpartition('.')[2]}`" for call in calls)
    edits = _conditional(tree, calls, targets, is_certain=False)
    return Fix(f"call {', '.join(names)} only where an accelerator is available", edits)


def conditional_edits(tree: SourceTree, calls: list[ast.Call], targets: PortTargets) -> tuple[Edit, ...]:
    """Return the edits that make calls with CUDA only, in code that runs with any accelerator."""
    groups = _groups(tree, sorted(calls, key=tree.span))
    return tuple(edit for group in groups for edit in _conditional(tree, group, targets, is_certain=True))


def _conditional(
    tree: SourceTree, calls: list[ast.Call], targets: PortTargets, *, is_certain: bool
) -> tuple[Edit, ...]:
    names = [named(tree, call.func) for call in calls]
    everywhere = all(_namesake(name, targets) for name in names) and _query(tree, calls[0], "") == "torch"
    condition = "torch.accelerator.is_available()" if everywhere else f"{_query(tree, calls[0], 'cuda')}.is_available()"
    is_free = everywhere and is_certain
    unit, edits = "" if is_free else indentation(tree), list[Edit]()
    for call, name in zip(calls, names, strict=True):
        function = _called(tree, call)
        assert function is not None
        code = tree.source(call)
        if everywhere:
            code = f"{_namesake(name, targets)}{code[len(tree.source(call.func)) :]}"
        elif function.deprecated and targets.release >= _RENAMED_SINCE:
            code = f"{function.deprecated}{code[len(tree.source(call.func)) :]}"
        lines = (f"{unit}{code}",) if edits or is_free else (f"if {condition}:", f"{unit}{code}")
        edits.append(ReplaceStatement(tree.path, tree.span(tree.statement(call)), lines))
    return tuple(edits)


def _namesake(name: str, targets: PortTargets) -> str:
    """Return the namesake of a function on any accelerator, if the program is to run on others than CUDA."""
    function = cuda_function(name)
    if function is None or name not in _ANYWHERE or not targets.others:
        return ""
    return function.namesake("accelerator", targets.release) or ""


def _query(tree: SourceTree, call: ast.Call, module: str) -> str:
    """Return the text by which a call names ``torch.cuda`` (``torch`` without ``module``); empty if it does not."""
    func = call.func
    if named(tree, func) == _DEFAULT_TYPE.name:
        return f"{tree.source(func.value)}.cuda" if isinstance(func, ast.Attribute) and module else ""
    if isinstance(func, ast.Attribute):
        owner = func.value if module else getattr(func.value, "value", None)
        if owner is not None and named(tree, owner) == ("torch.cuda" if module else "torch"):
            return tree.source(owner)
    return ""


# --- values ---------------------------------------------------------------------------------------------------------
def _printed(tree: SourceTree, call: ast.Call, function: CudaFunction) -> Fix | None:
    """Return the fix of a value that is only printed; ``None`` if it is used otherwise."""
    node: ast.expr = call
    while isinstance(outer := tree.parents[node], (ast.Attribute, ast.Subscript)) and outer.value is node:
        node = outer
    is_number = node is not call
    is_text = function.name == "torch.cuda.get_device_name" or (
        function.name == "torch.cuda.current_device" and _becomes_text(tree.parents[node])
    )
    if not is_number and not is_text:
        return None
    if is_number and function.name not in ("torch.cuda.get_device_properties", "torch.cuda.mem_get_info"):
        return None
    owner = _query(tree, call, "cuda")
    in_text = any(isinstance(outer, ast.JoinedStr) for outer in tree.ancestors(node))
    if not owner or not _only_printed(tree, node, is_number):
        return None
    if is_number and isinstance(node, ast.Attribute) and node.attr == "name":
        is_number = False
    otherwise = "0" if is_number else "None" if in_text else '"cpu"'
    code = f"{tree.source(node)} if {owner}.is_available() else {otherwise}"
    if not isinstance(tree.parents[node], (ast.Call, ast.FormattedValue)):
        code = f"({code})"
    edit = ReplaceExpression(tree.path, tree.span(node), code)
    return Fix(f"print `{function.name.rpartition('.')[2]}` only with CUDA", (edit,))


def _becomes_text(outer: ast.AST) -> bool:
    """Return whether a value becomes a text, whatever it is: ``str(x)``, ``print(x)``, ``f"{x}"``."""
    match outer:
        case ast.Call(func=ast.Name(id="str" | "print")) | ast.FormattedValue(format_spec=None, conversion=-1):
            return True
    return False


def _selected(tree: SourceTree, call: ast.Call) -> Fix | None:
    """Return the fix of ``with torch.cuda.device(index):``."""
    owner = _query(tree, call, "cuda")
    if not owner or not selects_device_of_block(tree, call):
        return None
    index = call.args[0]
    text = tree.source(index)
    text = f"({text})" if isinstance(index, (ast.IfExp, ast.Lambda, ast.NamedExpr)) else text
    code = f"{text} if {owner}.is_available() else -1"
    return Fix("select a device only with CUDA", (ReplaceExpression(tree.path, tree.span(index), code),))


def _current(tree: SourceTree, call: ast.Call) -> Fix | None:
    """Return the fix of the index of the current accelerator, if it is used as a device only."""
    owner, outer = _query(tree, call, "cuda"), tree.parents[call]
    if named(tree, call.func) != "torch.cuda.current_device" or not owner:
        return None
    target = outer.targets[0] if isinstance(outer, ast.Assign) and len(outer.targets) == 1 else None
    if isinstance(target, ast.Name):
        nodes = list(walk(tree.function(call)))
        same = [node for node in nodes if isinstance(node, ast.Name) and node.id == target.id and node is not target]
        if not same or not all(isinstance(node.ctx, ast.Load) and _is_device(tree, node) for node in same):
            return None
    elif not _is_device(tree, call) or _is_moved_to(tree, call, "cuda"):
        return None
    code = f'{tree.source(call)} if {owner}.is_available() else "cpu"'
    return Fix("use the CPU without CUDA", (ReplaceExpression(tree.path, tree.span(call), code),))


def _is_device(tree: SourceTree, node: ast.expr) -> bool:
    """Return whether an index is used as a device: ``x.to(index)``, ``device=index``, ``device_ids=[index]``."""
    outer = tree.parents[node]
    if isinstance(outer, ast.List):
        outer = tree.parents[outer]
    if isinstance(outer, ast.keyword):
        return outer.arg in _DEVICE_KEYWORDS
    if isinstance(outer, ast.Call) and node in outer.args and named(tree, outer.func).startswith("torch.cuda."):
        return True  # which runs with CUDA only
    return any(_is_moved_to(tree, node, name) for name in ("to", "cuda", "set_device"))


def _is_moved_to(tree: SourceTree, node: ast.expr, method: str) -> bool:
    outer = tree.parents[node]
    is_first = isinstance(outer, ast.Call) and outer.args[:1] == [node]
    return is_first and isinstance(outer, ast.Call) and getattr(outer.func, "attr", "") == method


def _only_printed(tree: SourceTree, node: ast.AST, is_number: bool) -> bool:
    for outer in tree.ancestors(node):
        match outer:
            case ast.FormattedValue(format_spec=spec, value=value):
                if spec is not None and value is node and not is_number:
                    return False
            case ast.JoinedStr() | ast.Tuple() | ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str())):
                pass
            case ast.BinOp(op=ast.Add()) | ast.BinOp(op=ast.Mult() | ast.Sub()) if is_number or _is_added(outer):
                pass
            case ast.BinOp(op=ast.Div() | ast.FloorDiv(), left=left) if is_number:
                if not any(each is node for each in walk(left)):
                    return False
            case ast.Call(func=func) if not any(each is node for each in walk(func)):
                name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
                is_text = name == "format" and not isinstance(tree.parents[outer], ast.Expr)
                if is_text or name in ("round", "int", "float", "str"):
                    continue
                return prints(outer) and isinstance(tree.parents[outer], ast.Expr)
            case _:
                return False
    return False


def _is_added(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)


def _renamed(tree: SourceTree, call: ast.Call, function: CudaFunction) -> Fix | None:
    owner = _query(tree, call, "cuda")
    if not owner:
        return None
    new = function.deprecated.rpartition(".")[2]
    edit = ReplaceExpression(tree.path, tree.span(call.func), f"{owner}.{new}")
    return Fix(f"call `{new}`, the name of `{function.name.rpartition('.')[2]}` since PyTorch 1.4", (edit,))


def _reason(tree: SourceTree, call: ast.Call, function: CudaFunction) -> str:
    if CUDA_OBJECTS.get(function.name):
        return CUDA_OBJECTS[function.name]
    if isinstance(tree.parents[call], ast.Expr):
        return "its line has other statements, or the file does not name torch.cuda"
    return _USED
