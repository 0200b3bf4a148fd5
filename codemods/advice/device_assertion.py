"""## What it does
Checks for training loops without an assertion that the model is on its device. Enabled only by `--select DEV901`.

## Why is this bad?
A program without the assertion is correct. But a model that is left on the CPU trains there, slowly and silently,
until the first operation that mixes devices; the assertion fails before the first batch.

## Example
```python
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.rand(3, 8, 4).to(device):
    optimizer.zero_grad()
    model(x).mean().backward()
    optimizer.step()
```

## Use instead
```python
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
assert next(model.parameters()).device.type == device.type
for x in torch.rand(3, 8, 4).to(device):
    optimizer.zero_grad()
    model(x).mean().backward()
    optimizer.step()
```

## Fix safety
Safe: the assertion holds where it is inserted, with and without an accelerator. It compares device types instead of
devices, because `torch.device("cuda")` and `torch.device("cuda:0")` are not equal. It is inserted in the scope that
contains the loop and names the model and the device. A model that a framework moves, or a program that calls
`.cuda()`, is not reported.

## References
- [torch.device](https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.device)
- [Module.parameters](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.parameters)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.objects import Module
from devfix.analysis.domain.values import ACCELERATOR, DeviceValue, External, Pointer, alternatives
from devfix.analysis.observations import Step
from devfix.analysis.scopes import module_names, value_of, visible
from devfix.fixes.event_path import event_path
from devfix.fixes.insertion_point import enclosing
from devfix.fixes.live_devices import live_devices
from devfix.fixes.module_weights import weight_devices
from devfix.fixes.value_scope import bound_at
from devfix.model import Finding, Fix, InsertStatement, Severity, Where
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per model and loop that trains it without such an assertion."""
    reported: set[tuple[ast.stmt, str]] = set()
    for step in observations.steps:
        for module in dict.fromkeys(step.modules):
            found = _assertion(observations, step, module)
            if found is None or (found[1], found[2]) in reported:
                continue
            reported.add((found[1], found[2]))
            yield _finding(step, *found)


def _assertion(observations: Observations, step: Step, module: int) -> tuple[CallFrame, ast.stmt, str, str] | None:
    """Return the scope, the loop to insert the assertion before, the model's name and the expected device type."""
    point = step.point
    if point.state is None or weight_devices(point, Pointer(module)) != {ACCELERATOR}:
        return None
    for call_frame in point.call_stack:
        loops = enclosing(call_frame.tree, call_frame.stmt, _LOOPS)
        loops += [call_frame.stmt] if isinstance(call_frame.stmt, _LOOPS) else []
        if not loops:
            continue
        loop = max(loops, key=lambda stmt: -stmt.lineno)
        before_loop = CallFrame(call_frame.activation, loop)
        if _moves_module(point, loop):
            return None
        names = [
            name for name in module_names(point, call_frame, {module}) if bound_at(before_loop, name.split(".")[0])
        ]
        names.sort(key=lambda name: not _is_local(point, call_frame, name))
        device_type = _device_type(observations, point, call_frame, before_loop)
        if names and device_type is not None:
            return None if _has_assertion(call_frame, loop, names[0]) else (call_frame, loop, names[0], device_type)
    return None


def _moves_module(point: ProgramPoint, loop: ast.stmt) -> bool:
    """Return whether any module is moved inside the loop."""
    assert point.state is not None
    inside = set(ast.walk(loop))
    moved = [
        obj.last_moved_at
        for _, obj in point.state.heap_objects()
        if isinstance(obj, Module) and obj.last_moved_at is not None
    ]
    return any(inside.intersection(call_frame.stmt for call_frame in one.call_stack) for one in moved)


def _is_local(point: ProgramPoint, call_frame: CallFrame, text: str) -> bool:
    """Return whether an expression starts with a local name of the function."""
    assert point.state is not None
    return text.split(".")[0] in point.state.names(call_frame.activation.env)


def _device_type(
    observations: Observations, point: ProgramPoint, call_frame: CallFrame, before_loop: CallFrame
) -> str | None:
    """Return an expression for the type of the program's device, or ``None``."""
    found = live_devices(point, call_frame, observations.preferred_device)
    for text in sorted(found, key=lambda text: not _is_local(point, call_frame, text)):
        value = value_of(point, call_frame, ast.parse(text, mode="eval").body)
        if value is None or not bound_at(before_loop, text.split(".")[0]):
            continue
        if all(isinstance(option, DeviceValue) and not option.text for option in alternatives(value)):
            return f"{text}.type"
        if visible(point, call_frame).get("torch") == External("torch"):
            return f"torch.device({text}).type"
    return None


def _has_assertion(call_frame: CallFrame, loop: ast.stmt, name: str) -> bool:
    """Return whether the function already asserts the model's device before the loop."""
    return any(
        isinstance(node, ast.Assert) and node.lineno < loop.lineno and f"{name}.parameters()" in ast.unparse(node.test)
        for node in ast.walk(call_frame.activation.node)
    )


def _finding(step: Step, call_frame: CallFrame, loop: ast.stmt, name: str, device_type: str) -> Finding:
    tree = call_frame.tree
    span = tree.span(loop)
    code = f"assert next({name}.parameters()).device.type == {device_type}"
    edit = InsertStatement(tree.path, span, Where.BEFORE, code)
    return Finding(
        RULE.code,
        RULE.name,
        Severity.ADVICE,
        tree.path,
        span,
        f"no assertion checks that `{name}` is on its device before training",
        event_path((step.point, "used", "the model is trained here")),
        (Fix(f"assert the device of `{name}`", (edit,)),),
    )


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = """\
import torch
from torch import nn

device = {}
model = nn.Linear(4, 2)
model.to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""

_LOOP = """\
for step in range(3):
    model(torch.ones(3, 4, device=device)).sum().backward()
    optimizer.step()
"""

_DEVICE = _SETUP.format('torch.device("cuda" if torch.cuda.is_available() else "cpu")')
_STRING = _SETUP.format('"cuda:0" if torch.cuda.is_available() else "cpu"')

_CUDA = """\
import torch
from torch import nn

model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    model(torch.ones(3, 4).cuda()).sum().backward()
    optimizer.step()
"""

RULE = Rule(
    code="DEV901",
    name="device-assertion",
    summary="No assertion before the training loop checks that the model is on its device.",
    documentation=__doc__,
    detect=detect,
    error_families=(),  # no device error
    default=False,
    invalid=(
        Example(
            "a torch.device",
            _DEVICE + _LOOP,
            _DEVICE + "assert next(model.parameters()).device.type == device.type\n" + _LOOP,
        ),
        Example(
            "a device string",
            _STRING + _LOOP,
            _STRING + "assert next(model.parameters()).device.type == torch.device(device).type\n" + _LOOP,
        ),
    ),
    valid=(
        _DEVICE + 'assert next(model.parameters()).device == torch.zeros(1).to(device).device, "not moved"\n' + _LOOP,
        _CUDA,
    ),
)
