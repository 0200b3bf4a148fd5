"""## What it does
Checks for submodules that are replaced or added after the model was moved and are never moved themselves: a new
classifier head, an adapter, a converted layer.

## Why is this bad?
`Module.to()` moves the parameters that are registered at the time of the call. A layer that is assigned later is
created on the CPU and stays there, so the first forward pass fails with *Expected all tensors to be on the same
device*, often in a different file from the one with the bug.

## Example
```python
import torch
from torch import nn

device = torch.device("cuda")
model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 10)).to(device)
model[1] = nn.Linear(8, 2)
print(model(torch.rand(3, 4, device=device)))
```

## Use instead
```python
import torch
from torch import nn

device = torch.device("cuda")
model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 10)).to(device)
model[1] = nn.Linear(8, 2)
model.to(device)
print(model(torch.rand(3, 4, device=device)))
```

## Fix safety
Safe: `Module.to()` works in place, preserves the identity of the parameters, and copies nothing that is already on the
device.

## References
- [Module.to](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.to)
- [rasbt/LLMs-from-scratch#172](https://github.com/rasbt/LLMs-from-scratch/issues/172)
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.objects import module_at
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import Pointer, alternatives
from devfix.analysis.observations import DeviceMismatch
from devfix.analysis.scopes import module_names, value_of
from devfix.fixes.event_path import event_path
from devfix.fixes.insertion_point import all_live, hoisted, inside_module, same_function
from devfix.fixes.modules.owners import parents_of
from devfix.fixes.modules.structural_changes import StructuralChange, structural_change, weights_of
from devfix.fixes.move_style import Move, move_of
from devfix.fixes.reorder import common_block
from devfix.fixes.value_scope import device_for_move, device_for_tensor, optional_parameters
from devfix.model import AppendCode, Finding, Fix, InsertStatement, Severity, Where
from devfix.rules.rule import Example, Rule, command_attributes
from devfix.syntax.tree import short_text

__all__ = ["RULE"]


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per model: the submodules attached since its last move that are used on the accelerator."""
    grouped: dict[tuple[object, ...], list[tuple[StructuralChange, DeviceMismatch]]] = {}
    for mismatch in observations.mismatches:
        for operand in mismatch.cpu:
            for part in weights_of(operand):
                change = structural_change(mismatch.point, part)
                if change is not None:
                    grouped.setdefault(change.moved.key, []).append((change, mismatch))
    for pairs in grouped.values():
        yield _finding(observations, pairs)


def _finding(observations: Observations, pairs: list[tuple[StructuralChange, DeviceMismatch]]) -> Finding:
    changes = sorted({change.attached.time: change for change, _ in pairs}.values(), key=lambda c: c.attached.time)
    last, mismatch = changes[-1], pairs[0][1]
    names = list(dict.fromkeys(_part_name(change.attached) for change in changes))
    listed = " and ".join(f"`{name}`" for name in names)
    fix, reason = _at_the_change(observations, changes), ""
    if fix is None:
        fix, reason = _fix(observations, changes, mismatch)
    verb = "is" if len(names) == 1 else "are"
    steps = [(last.moved, "moved", "the model is moved here")]
    steps += [
        (change.attached, "replaced", "this submodule is created on the CPU after the move") for change in changes
    ]
    steps.append((mismatch.point, "used", "its CPU weights are used with tensors on the accelerator here"))
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if mismatch.latent else Severity.ERROR,
        last.attached.tree.path,
        last.attached.tree.span(last.attached.stmt),
        f"{listed} {verb} attached after the model was moved and {'stays' if verb == 'is' else 'stay'} on the CPU",
        event_path(*steps),
        (fix,) if fix is not None else (),
        reason,
    )


def _part_name(point: ProgramPoint) -> str:
    node = point.node
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        return ast.unparse(node)
    if isinstance(node, ast.Call):
        arguments = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
        names = [str(value) for value in arguments if isinstance(value, str)]
        owner = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ast.unparse(node.args[0])
        if names:
            return f"{owner}.{names[0]}"
        return f"{owner}.{node.func.attr}(…)" if isinstance(node.func, ast.Attribute) else owner
    return short_text(node)


def _at_the_change(observations: Observations, changes: list[StructuralChange]) -> Fix | None:
    """Return a fix that creates tensors on the device which methods of the module assign to it."""
    edits = []
    for change in changes:
        stmt, frame = change.attached.stmt, change.attached.call_frame
        if not (change.is_tensor and isinstance(stmt, ast.Assign) and inside_module(frame)):
            return None
        optional = optional_parameters(frame.activation.node)
        device = device_for_tensor(observations, change.attached, frame, fits=_none_of(optional))
        if device is None:
            return None
        edits.append(AppendCode(frame.tree.path, frame.tree.span(stmt.value), f".to({device})"))
    names = " and ".join(dict.fromkeys(f"`{_part_name(change.attached)}`" for change in changes))
    return Fix(f"move {names} where it is assigned", tuple(edits))


def _none_of(names: frozenset[str]) -> Callable[[str], bool]:
    return lambda text: text not in names


def _fix(
    observations: Observations, changes: list[StructuralChange], mismatch: DeviceMismatch
) -> tuple[Fix | None, str]:
    """Return a fix that moves the model after the last change, in the innermost scope that names model and device.

    If there is no such scope, return ``None`` and the reason.
    """
    last = changes[-1]
    move = None if observations.is_library else move_of(last.moved)
    if move is None:
        return None, "the call that moved the model is not in the source"
    innermost = last.attached.call_stack[-1]
    call_stack = [*reversed(last.attached.call_stack)]
    functions = [call_frame.activation.node for call_frame in call_stack]
    for call_frame in sorted(call_stack, key=lambda call_frame: _scope_rank(call_frame, functions)):
        code = _statement(observations, last, call_frame, move, is_innermost=call_frame is innermost)
        if code is None:
            continue
        anchor = _anchor(changes, call_frame, mismatch)
        edit = InsertStatement(call_frame.tree.path, call_frame.tree.span(anchor), Where.AFTER, code)
        return Fix(f"move the model again after the change: `{code.splitlines()[-1].strip()}`", (edit,)), ""
    return None, "no scope on the call path to the change names both the model and its device"


def _scope_rank(call_frame: CallFrame, functions: list[ast.AST]) -> tuple[bool, bool]:
    """Return a sort key that puts methods of models, which their users move, and recursive helpers last."""
    return inside_module(call_frame), functions.count(call_frame.activation.node) > 1 or _is_recursive(
        call_frame.activation.node
    )


def _is_recursive(function: ast.AST) -> bool:
    name = getattr(function, "name", None)
    calls = (node.func for node in ast.walk(function) if isinstance(node, ast.Call)) if name else ()
    return any(isinstance(func, ast.Name) and func.id == name for func in calls)


def _anchor(changes: list[StructuralChange], call_frame: CallFrame, mismatch: DeviceMismatch) -> ast.stmt:
    """Return the statement to insert the move after: the last change, outside loops that do not use the model."""
    used = next((other.stmt for other in mismatch.point.call_stack if other.activation is call_frame.activation), None)
    anchor = call_frame.stmt
    for change in changes[:-1]:
        for other in change.attached.call_stack:
            found = common_block(call_frame.tree, anchor, other.stmt) if same_function(other, call_frame) else None
            if found is not None:
                block, index, other_index = found
                anchor = block[max(index, other_index)]  # after the whole `if`, after the last of several changes
    return hoisted(call_frame.tree, anchor, used)


def _statement(
    observations: Observations, change: StructuralChange, call_frame: CallFrame, move: Move, is_innermost: bool
) -> str | None:
    point = change.attached
    model = _model_expression(change, call_frame, is_innermost)
    if model is None:
        return None
    is_same_scope = any(other.activation is call_frame.activation for other in change.moved.call_stack[-1:])
    suffix = _move_suffix(observations, point, call_frame, move, is_same_scope)
    if suffix is None:
        return None
    code = f"{model}{suffix}"
    if isinstance(change.moved.stmt, ast.Assign) and is_same_scope and _is_reassignment(change.moved.stmt, model):
        code = f"{model} = {code}"
    if move.guard is not None and move.legacy:
        if not all_live(point, call_frame, move.guard.test):
            return None
        inside = any(call_frame.stmt is node for node in ast.walk(move.guard))
        if not inside:
            return f"if {move.point.tree.source(move.guard.test)}:\n    {code}"
    return code


def _is_reassignment(stmt: ast.Assign, model: str) -> bool:
    """Return whether the statement is ``model = model.to(device)``."""
    call = stmt.value
    if len(stmt.targets) != 1 or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    return ast.unparse(stmt.targets[0]) == model == ast.unparse(call.func.value)


def _move_suffix(
    observations: Observations, point: ProgramPoint, call_frame: CallFrame, move: Move, is_same_scope: bool
) -> str | None:
    call = move.point.node
    assert isinstance(call, ast.Call)
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    if move.legacy:
        return move.trailer() if all(all_live(point, call_frame, argument) for argument in arguments) else None
    constant = all(isinstance(argument, ast.Constant) for argument in arguments)
    if (is_same_scope or constant) and not observations.preferred_device:
        return move.trailer()
    device = device_for_move(observations, point, call_frame, move.arguments)
    return f".to({device})" if device is not None else None


def _model_expression(change: StructuralChange, call_frame: CallFrame, is_innermost: bool) -> str | None:
    """Return the expression for the moved model in the scope of ``call_frame``, or ``None``."""
    point = change.attached
    assert point.state is not None
    if is_innermost:
        node = point.node
        if isinstance(node, ast.Call):
            node = node.args[0] if isinstance(node.func, ast.Name) and node.args else node.func
        chain: list[ast.expr] = []
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
            chain.append(node)
        for expression in reversed(chain):
            value = value_of(point, call_frame, expression)
            if value is None:
                continue
            found = [o for o in alternatives(value) if isinstance(o, Pointer) and module_at(point.state, o) is not None]
            if found and any(point.state.heap_object(o).last_moved_at is not None for o in found):
                return ast.unparse(expression)
        if isinstance(point.node, ast.Call) and isinstance(point.node.func, ast.Name) and point.node.args:
            first = point.node.args[0]
            if isinstance(first, (ast.Name, ast.Attribute)):
                return ast.unparse(first)
    wanted = {change.parent.id} | _ancestors(point.state, change.parent.id, change.moved)
    names = module_names(point, call_frame, wanted)
    return names[0] if names else None


def _ancestors(state: State, key: int, moved: ProgramPoint) -> set[int]:
    """Return the ids of the ancestors that were moved by the same call."""
    found: set[int] = set()
    level = [key]
    while level:
        above = [p for k in level for p in parents_of(state, k) if p not in found]
        level = [p for p in above if state.at(p).last_moved_at is moved]
        found.update(level)
    return found


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
model.to(device)
"""
_USE = """\
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss = model(torch.randn(2, 4, device=device)).sum()
loss.backward()
optimizer.step()
"""

RULE = Rule(
    code="DEV201",
    name="replaced-submodule",
    summary="A submodule is replaced or added after the model was moved, so it stays on the CPU.",
    documentation=__doc__,
    detect=detect,
    causes=("created-after-move", "attached-after-move"),
    error_families=("same-device", "foreach"),
    concerns="modules",
    invalid=(
        Example(
            "a new head after the move",
            _SETUP + "model[2] = nn.Linear(8, 3)\n" + _USE,
            _SETUP + "model[2] = nn.Linear(8, 3)\nmodel.to(device)\n" + _USE,
        ),
    ),
    valid=(
        _SETUP + "model[2] = nn.Linear(8, 3).to(device)\n" + _USE,
        _SETUP + "model[1] = nn.Identity()\n" + _USE,
        _SETUP + "model[2] = nn.Linear(8, 3)\nmodel = model.to(device)\n" + _USE,
    ),
)
