"""Edits that replace a hard-coded device by the program's device."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.values import CPU, Pointer
from devfix.analysis.scenarios import device_argument_of, literal_device
from devfix.analysis.scopes import visible
from devfix.analysis.transfer.device_arguments import MOVE_METHODS
from devfix.fixes.devices.conflicting_devices import DeviceConflict
from devfix.fixes.index_moves import index_on_cpu
from devfix.fixes.insertion_point import all_live, headers, inside_module
from devfix.fixes.move_style import move_of
from devfix.fixes.replicas import has_replicas
from devfix.fixes.value_scope import device_for_tensor
from devfix.model import AddKeyword, AppendCode, Edit, ReplaceExpression, ReplaceStatement
from devfix.models.names import RANDOM_FACTORIES
from devfix.syntax.bindings import assigned_names, binds, defaults, parameters, root_name
from devfix.syntax.tree import SourceTree, names_in, text_of

__all__ = ["UNDER_CONDITION", "asked_by_several", "conflict_edits", "move_index", "move_operand_at_use"]

UNDER_CONDITION = "move it under the same condition"  # the title of a fix


def conflict_edits(observations: Observations, conflict: DeviceConflict) -> Iterator[tuple[str, tuple[Edit, ...]]]:
    """Yield pairs of a title and edits, best first."""
    device = _device_expression(observations, conflict)
    at_call_site = _at_call_site(observations, conflict)
    if at_call_site is not None:
        yield at_call_site
    if conflict.passed is not None:
        return  # the function does what it is told
    conditional = _under_condition(conflict)
    if conditional is not None and (device is None or device.startswith("next(")):
        yield UNDER_CONDITION, (conditional,)
    elif device is not None:
        edits = tuple(_with_device(conflict.point.tree, conflict.call, device))
        if edits:
            yield f"use `{device}`", edits


def asked_by_several(conflict: DeviceConflict) -> str:
    """Return the function that several calls of a file ask for the CPU, ``totorch(x, "cpu")``; empty if it is one."""
    device_argument = device_argument_of(conflict.call)
    found = _call_of_function(conflict.point, conflict.scenario_point) if conflict.device == CPU else None
    if found is None or not isinstance(device_argument, ast.Name):
        return ""
    call_frame, _, call, function = found
    asking = [
        node
        for node in call_frame.tree.nodes
        if isinstance(node, ast.Call)
        and text_of(node.func) == text_of(call.func)
        and (argument := _literal_argument(function, device_argument.id, node)) is not None
        and literal_device(argument) == "cpu"
    ]
    return text_of(call.func) if call in asking and len(asking) > 1 else ""


def move_operand_at_use(observations: Observations, conflict: DeviceConflict) -> Edit | None:
    """Return a move of the operand at its use; the value stays on the CPU elsewhere."""
    mismatch = conflict.mismatch
    if mismatch is None or conflict.device != CPU:
        return None
    point = mismatch.point
    device = device_for_tensor(observations, point, point.call_frame, mismatch.partners)
    for operand in mismatch.cpu:
        for node in ast.walk(point.node):
            if device and isinstance(node, (ast.Name, ast.Attribute, ast.Call)) and ast.unparse(node) == operand.text:
                return AppendCode(point.tree.path, point.tree.span(node), f".to({device})")
    return None


def move_index(conflict: DeviceConflict) -> Edit | None:
    """Return a move of the index to the CPU: what ``x.cpu()[mask]`` asks for is a value on the CPU.

    The same holds for a value that another function has moved to the CPU.
    """
    mismatch = conflict.mismatch
    if mismatch is None or not conflict.was_on_accelerator or not isinstance(mismatch.point.node, ast.Subscript):
        return None
    is_meant = mismatch.point.node.value is conflict.call or conflict.is_used_elsewhere
    return index_on_cpu(mismatch) if is_meant else None


def _device_expression(observations: Observations, conflict: DeviceConflict) -> str | None:
    """Return an expression for the program's device; replicas of a module each have their own, as ``x.device`` has."""
    call_frame = conflict.point.call_frame
    function = call_frame.activation.node
    in_replica = (
        inside_module(call_frame) and getattr(function, "name", "") != "__init__" and has_replicas(observations)
    )
    own = {*parameters(function), *assigned_names(function)} - {"self"}

    def fits(text: str) -> bool:
        return (not in_replica or root_name(text) in own) and conflict.has_program_device(text)

    return device_for_tensor(observations, conflict.point, call_frame, conflict.partners, fits=fits)


def _with_device(tree: SourceTree, call: ast.Call, device: str) -> Iterator[Edit]:
    """Yield the edits that give a call another device."""
    path, func = tree.path, call.func
    device_argument = device_argument_of(call)
    if isinstance(func, ast.Attribute) and func.attr in ("cuda", "cpu"):
        other_arguments = [
            f"{keyword.arg}={tree.source(keyword.value)}" for keyword in call.keywords if keyword.arg != "device"
        ]
        code = f"{tree.source(func.value)}.to({', '.join([device, *other_arguments])})"
        yield ReplaceExpression(path, tree.span(call), code)
    elif (
        device_argument is not None
        and literal_device(device_argument) == "cuda"
        and isinstance(device_argument, ast.Attribute)
    ):
        dtype = _DTYPES.get(device_argument.attr)
        if dtype is not None and isinstance(func, ast.Attribute):
            yield ReplaceExpression(path, tree.span(call), f"{tree.source(func.value)}.to({device}, {dtype})")
    elif isinstance(func, ast.Attribute) and func.attr == "type":  # the argument names a type, not a device
        yield AppendCode(path, tree.span(call), f".to({device})")
    elif device_argument is not None and literal_device(device_argument) == "cpu" and _is_random_factory(call):
        yield AppendCode(path, tree.span(call), f".to({device})")  # the random numbers stay those of the CPU
    elif device_argument is not None and (default := _default_of(tree, device_argument)) is not None:
        if _is_bound_at_definition(tree, default, device):
            yield ReplaceExpression(path, tree.span(default), device)
    elif device_argument is not None:
        yield ReplaceExpression(path, tree.span(device_argument), device)
    elif isinstance(func, ast.Name):
        yield from _edit_alias(tree, func, device)
    elif literal_device(func) == "cuda":
        yield ReplaceExpression(path, tree.span(func), tree.source(func).replace(".cuda.", ".", 1))
        yield AppendCode(path, tree.span(call), f".to({device})")


def _default_of(tree: SourceTree, device_argument: ast.expr) -> ast.expr | None:
    """Return the hard-coded default of the parameter that names the device: callers may pass another one."""
    function = tree.function(device_argument)
    if not isinstance(device_argument, ast.Name) or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    if device_argument.id in assigned_names(function):
        return None
    found = {parameter.arg: value for parameter, value in defaults(function.args).items()}
    default = found.get(device_argument.id)
    return default if default is not None and literal_device(default) is not None else None


def _is_bound_at_definition(tree: SourceTree, default: ast.expr, device: str) -> bool:
    """Return whether a device is a name of the module that is bound in front of the function's definition."""
    return any(binds(statement, device) and statement.lineno < default.lineno for statement in tree.tree.body)


def _is_random_factory(call: ast.Call) -> bool:
    leaf = any(keyword.arg == "requires_grad" for keyword in call.keywords)
    return not leaf and ast.unparse(call.func).split(".")[-1] in RANDOM_FACTORIES


def _edit_alias(tree: SourceTree, func: ast.Name, device: str) -> Iterator[Edit]:
    """Yield the edits of ``Tensor = torch.cuda.FloatTensor`` and of every tensor created through the alias."""
    nodes = list(ast.walk(tree.function(func)))
    named = [node for node in nodes if isinstance(node, ast.Name) and node.id == func.id]
    parents = [tree.parents[node] for node in named]
    binding = [parent for node, parent in zip(named, parents, strict=True) if isinstance(node.ctx, ast.Store)]
    calls = [p for node, p in zip(named, parents, strict=True) if isinstance(p, ast.Call) and p.func is node]
    if len(binding) != 1 or len(calls) + 1 != len(named) or not isinstance(binding[0], ast.Assign):
        return
    value = binding[0].value
    if isinstance(value, ast.Attribute) and literal_device(value) == "cuda":
        yield ReplaceExpression(tree.path, tree.span(value), tree.source(value).replace(".cuda.", ".", 1))
        yield from (AppendCode(tree.path, tree.span(call), f".to({device})") for call in calls)


_DTYPES = {
    "FloatTensor": "torch.float",
    "DoubleTensor": "torch.double",
    "HalfTensor": "torch.half",
    "LongTensor": "torch.long",
    "IntTensor": "torch.int",
    "BoolTensor": "torch.bool",
    "ByteTensor": "torch.uint8",
}


def _at_call_site(observations: Observations, conflict: DeviceConflict) -> tuple[str, tuple[Edit, ...]] | None:
    """Return the edit at the caller or constructor if a parameter of the function or class holds the device."""
    device_argument = device_argument_of(conflict.call)
    if isinstance(device_argument, ast.Name):
        name, found = device_argument.id, _call_of_function(conflict.point, conflict.scenario_point)
    elif isinstance(device_argument, ast.Attribute) and isinstance(device_argument.value, ast.Name):
        name, found = device_argument.attr, _construction_of_owner(conflict, device_argument.value.id)
    else:
        return None
    if found is None:
        return None
    call_frame, other_frame, call, function = found
    argument = _literal_argument(function, name, call)
    if argument is None and not _relies_on_default(call, function, name):
        return None
    device = device_for_tensor(
        observations, conflict.point, call_frame, fits=lambda text: conflict.has_program_device(text, other_frame)
    )
    if device is None or (argument is not None and conflict.was_on_accelerator):
        return None
    if argument is not None:
        edit = ReplaceExpression(call_frame.tree.path, call_frame.tree.span(argument), device)
        return f"give it `{device}`", (edit,)
    tree = call_frame.tree
    calls = [call, *_later_calls(tree, call, device, lambda other: _relies_on_default(other, function, name))]
    return f"say `{name}={device}`", tuple(AddKeyword(tree.path, tree.span(each), name, device) for each in calls)


def _relies_on_default(call: ast.Call, function: ast.arguments, name: str) -> bool:
    is_passed = any(keyword.arg in (name, None) for keyword in call.keywords)
    return not is_passed and _by_default(function, name, len(call.args))


def _later_calls(
    tree: SourceTree, call: ast.Call, device: str, relies: Callable[[ast.Call], bool]
) -> Iterator[ast.Call]:
    """Yield the calls of the same function in the statements below, as long as what the device names is the same."""
    _, block, index = tree.block(tree.statement(call))
    names = names_in(ast.parse(device, mode="eval"))
    for stmt in block[index + 1 :]:
        if any(isinstance(node, ast.Name) and node.id in names and _stores(node) for node in ast.walk(stmt)):
            return
        yield from (
            node
            for node in ast.walk(stmt)
            if isinstance(node, ast.Call) and text_of(node.func) == text_of(call.func) and relies(node)
        )


def _stores(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


CallSite = tuple[CallFrame, CallFrame, ast.Call, ast.arguments]


def _call_of_function(point: ProgramPoint, scenario_point: ProgramPoint) -> CallSite | None:
    """Return the call of the function that contains ``point``, with its arguments; ``None`` if it is not unique."""
    if len(point.call_stack) < 2 or len(scenario_point.call_stack) != len(point.call_stack):
        return None
    function = point.call_frame.activation.node
    call = _call_in(point.call_stack[-2], getattr(function, "name", ""))
    if call is None or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    return point.call_stack[-2], scenario_point.call_stack[-2], call, function.args


def _construction_of_owner(conflict: DeviceConflict, owner: str) -> CallSite | None:
    """Return the construction of the object whose attribute holds the device."""
    sides = []
    for point in (conflict.point, conflict.scenario_point):
        value = visible(point, point.call_frame).get(owner)
        if not isinstance(value, Pointer) or point.state is None:
            return None
        obj = point.state.heap_object(value)
        if obj.allocated_at is None or obj.cls is None or not isinstance(obj.allocated_at.node, ast.Call):
            return None
        sides.append((obj.allocated_at, obj.cls))
    (allocated_at, cls), (other_point, _) = sides
    constructor = next((s for s in cls.node.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"), None)
    call = allocated_at.node
    assert isinstance(call, ast.Call)
    return (
        (allocated_at.call_frame, other_point.call_frame, call, constructor.args) if constructor is not None else None
    )


def _call_in(call_frame: CallFrame, name: str) -> ast.Call | None:
    calls = [
        node
        for root in headers(call_frame.stmt)
        for node in ast.walk(root)
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == name
    ]
    return calls[0] if len(calls) == 1 else None


def _literal_argument(arguments: ast.arguments, name: str, call: ast.Call) -> ast.expr | None:
    """Return the literal device that a call passes to a parameter: ``graph.to("cpu")`` with the class's own ``to``."""
    plain = [parameter.arg for parameter in (*arguments.posonlyargs, *arguments.args)]
    arguments_by_name = {keyword.arg: keyword.value for keyword in call.keywords}
    if name in plain and not any(isinstance(argument, ast.Starred) for argument in call.args):
        arguments_by_name |= dict(zip(plain[plain[0] == "self" :], call.args, strict=False))
    return (
        arguments_by_name[name]
        if name in arguments_by_name and literal_device(arguments_by_name[name]) is not None
        else None
    )


def _by_default(arguments: ast.arguments, name: str, positional_count: int) -> bool:
    """Whether a parameter has a literal default and ``given`` positional arguments do not reach it."""
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = dict(zip([p.arg for p in plain][::-1], arguments.defaults[::-1], strict=False))
    defaults |= {p.arg: d for p, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None}
    index = next((i for i, parameter in enumerate(plain) if parameter.arg == name), len(plain))
    bound = bool(plain) and plain[0].arg == "self"
    default = defaults.get(name)
    return default is not None and literal_device(default) is not None and positional_count <= index - bound


def _under_condition(conflict: DeviceConflict) -> Edit | None:
    """Return the statement under the condition under which the program makes its other moves."""
    move = move_of(conflict.choice)
    statement, tree = conflict.point.stmt, conflict.point.tree
    if move is None or move.guard is None or not all_live(conflict.point, conflict.point.call_frame, move.guard.test):
        return None
    if not _only_moves(statement, conflict.call) or not isinstance(conflict.call.func, ast.Attribute):
        return None
    test = conflict.choice.tree.source(move.guard.test) if conflict.choice is not None else ""
    code = (f"if {test}:", f"    {tree.source(statement)}")
    return ReplaceStatement(tree.path, tree.span(statement), code)


def _only_moves(statement: ast.stmt, move: ast.Call) -> bool:
    """Whether a statement only moves values: ``x = x.cuda()``, ``x, y = x.cuda(), y.cuda()``, ``model.cuda()``."""
    if isinstance(statement, ast.Expr):
        return statement.value is move
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target, value = statement.targets[0], statement.value
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        pairs = list(zip(target.elts, value.elts, strict=True))
    return all(_moves_in_place(*pair) for pair in pairs)


def _moves_in_place(target: ast.expr, value: ast.expr) -> bool:
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return False
    if value.func.attr not in MOVE_METHODS:
        return False  # ``y = y.add(x.cuda())`` computes
    return ast.unparse(value.func.value) == ast.unparse(target)
