"""## What it does
Puts an assertion ahead of the training loop: the model is where its device says. Only with `--select DEV901`.

## Why is this bad?
Nothing is wrong with a program that has none. But a model that was left on the CPU trains there, slowly and without a
word, until the first operation that mixes devices; the assertion says so before the first batch.

## Example
```python
model = model.to(device)
for epoch in range(epochs):
    train(model, loader, device)
```

## Use instead
```python
model = model.to(device)
assert next(model.parameters()).device.type == device.type
for epoch in range(epochs):
    train(model, loader, device)
```

## Fix safety
Safe: the assertion holds where it is put, with and without an accelerator. It compares types and not devices, because
`torch.device("cuda")` and `torch.device("cuda:0")` are not equal. It is put where the loop, the model and the device
have names; where a model is placed by a framework, or the program says `.cuda()`, nothing is reported.

## References
- [torch.device](https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.device)
- [Module.parameters](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.parameters)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.values import ACCELERATOR, DeviceValue, External, Pointer, alternatives
from devfix.analysis.observations import Step
from devfix.analysis.scopes import device_expressions, module_names, value_of, visible
from devfix.fixes.device_expression import bound_before, weight_places
from devfix.fixes.event_path import event_path
from devfix.fixes.insertion_point import enclosing
from devfix.model import Finding, Fix, InsertStatement, Severity, Where
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def detect(observations: Observations) -> Iterator[Finding]:
    """One finding for each model and each loop that trains it without such an assertion."""
    described: set[tuple[ast.stmt, str]] = set()
    for step in observations.steps:
        for module in dict.fromkeys(step.modules):
            found = _assertion(observations, step, module)
            if found is None or (found[1], found[2]) in described:
                continue
            described.add((found[1], found[2]))
            yield _finding(step, *found)


def _assertion(observations: Observations, step: Step, module: int) -> tuple[CallFrame, ast.stmt, str, str] | None:
    """The level and the loop ahead of which it goes, the model's name, and the type of the device."""
    point = step.point
    if point.state is None or set(weight_places(point, Pointer(module), set())) != {ACCELERATOR}:
        return None
    for call_frame in point.call_stack:
        loops = enclosing(call_frame.tree, call_frame.stmt, _LOOPS)
        loops += [call_frame.stmt] if isinstance(call_frame.stmt, _LOOPS) else []
        if not loops:
            continue
        loop = max(loops, key=lambda stmt: -stmt.lineno)
        ahead = CallFrame(call_frame.activation, loop)
        if _moved_within(point, loop):
            return None
        names = [name for name in module_names(point, call_frame, {module}) if bound_before(ahead, name.split(".")[0])]
        names.sort(key=lambda name: not _local(point, call_frame, name))
        words = _type_words(observations, point, call_frame, ahead)
        if names and words is not None:
            return None if _asserted(call_frame, loop, names[0]) else (call_frame, loop, names[0], words)
    return None


def _moved_within(point: ProgramPoint, loop: ast.stmt) -> bool:
    """Whether some module goes to its device inside the loop, if only again."""
    assert point.state is not None
    inside = set(ast.walk(loop))
    moved = [
        obj.last_moved_at
        for _, obj in point.state.heap_objects()
        if obj.kind == "module" and obj.last_moved_at is not None
    ]
    return any(inside.intersection(call_frame.stmt for call_frame in one.call_stack) for one in moved)


def _local(point: ProgramPoint, call_frame: CallFrame, text: str) -> bool:
    """Whether an expression starts with a name of the function itself."""
    assert point.state is not None
    return text.split(".")[0] in point.state.names(call_frame.activation.env)


def _type_words(observations: Observations, point: ProgramPoint, call_frame: CallFrame, ahead: CallFrame) -> str | None:
    """What gives the type of the program's device there."""
    found = device_expressions(point, call_frame, observations.preferred_device)
    for text in sorted(found, key=lambda text: not _local(point, call_frame, text)):
        value = value_of(point, call_frame, ast.parse(text, mode="eval").body)
        if value is None or not bound_before(ahead, text.split(".")[0]):
            continue
        if all(isinstance(option, DeviceValue) and not option.text for option in alternatives(value)):
            return f"{text}.type"
        if visible(point, call_frame).get("torch") == External("torch"):
            return f"torch.device({text}).type"
    return None


def _asserted(call_frame: CallFrame, loop: ast.stmt, name: str) -> bool:
    """Whether the function asserts already where the model is, ahead of the loop."""
    return any(
        isinstance(node, ast.Assert) and node.lineno < loop.lineno and f"{name}.parameters()" in ast.unparse(node.test)
        for node in ast.walk(call_frame.activation.node)
    )


def _finding(step: Step, call_frame: CallFrame, loop: ast.stmt, name: str, words: str) -> Finding:
    tree = call_frame.tree
    span = tree.span(loop)
    code = f"assert next({name}.parameters()).device.type == {words}"
    edit = InsertStatement(tree.path, span, Where.BEFORE, code)
    return Finding(
        RULE.code,
        RULE.name,
        Severity.ADVICE,
        tree.path,
        span,
        f"nothing asserts that `{name}` is on its device before it is trained",
        event_path((step.point, "used", "it is trained here")),
        (Fix(f"assert where `{name}` is", (edit,)),),
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
    summary="Nothing asserts, ahead of the training loop, that the model is on its device.",
    documentation=__doc__,
    detect=detect,
    default=False,
    invalid=(
        Example(
            "a device",
            _DEVICE + _LOOP,
            _DEVICE + "assert next(model.parameters()).device.type == device.type\n" + _LOOP,
        ),
        Example(
            "the name of a device",
            _STRING + _LOOP,
            _STRING + "assert next(model.parameters()).device.type == torch.device(device).type\n" + _LOOP,
        ),
    ),
    valid=(
        _DEVICE + 'assert next(model.parameters()).device == torch.zeros(1).to(device).device, "not moved"\n' + _LOOP,
        _CUDA,
    ),
)
