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

from devfix.analysis import Facts
from devfix.analysis.domain.location import Level, Site
from devfix.analysis.domain.values import ACCELERATOR, DeviceValue, External, Ref, options
from devfix.analysis.observations import Step
from devfix.analysis.scopes import device_expressions, module_names, value_of, visible
from devfix.fixes.device_expression import bound_before, weight_places
from devfix.fixes.event_path import story
from devfix.fixes.insertion_point import enclosing
from devfix.model import Finding, InsertStatement, Remedy, Severity, Where
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def detect(facts: Facts) -> Iterator[Finding]:
    """One finding for each model and each loop that trains it without such an assertion."""
    told: set[tuple[ast.stmt, str]] = set()
    for step in facts.steps:
        for module in dict.fromkeys(step.modules):
            found = _assertion(facts, step, module)
            if found is None or (found[1], found[2]) in told:
                continue
            told.add((found[1], found[2]))
            yield _finding(step, *found)


def _assertion(facts: Facts, step: Step, module: int) -> tuple[Level, ast.stmt, str, str] | None:
    """The level and the loop ahead of which it goes, the model's name, and the type of the device."""
    site = step.site
    if site.memory is None or set(weight_places(site, Ref(module), set())) != {ACCELERATOR}:
        return None
    for level in site.levels:
        loops = enclosing(level.tree, level.stmt, _LOOPS)
        loops += [level.stmt] if isinstance(level.stmt, _LOOPS) else []
        if not loops:
            continue
        loop = max(loops, key=lambda stmt: -stmt.lineno)
        ahead = Level(level.frame, loop)
        if _moved_within(site, loop):
            return None
        names = [name for name in module_names(site, level, {module}) if bound_before(ahead, name.split(".")[0])]
        names.sort(key=lambda name: not _local(site, level, name))
        words = _type_words(facts, site, level, ahead)
        if names and words is not None:
            return None if _asserted(level, loop, names[0]) else (level, loop, names[0], words)
    return None


def _moved_within(site: Site, loop: ast.stmt) -> bool:
    """Whether some module goes to its device inside the loop, if only again."""
    assert site.memory is not None
    inside = set(ast.walk(loop))
    moved = [
        record.moved for _, record in site.memory.records() if record.kind == "module" and record.moved is not None
    ]
    return any(inside.intersection(level.stmt for level in one.levels) for one in moved)


def _local(site: Site, level: Level, text: str) -> bool:
    """Whether an expression starts with a name of the function itself."""
    assert site.memory is not None
    return text.split(".")[0] in site.memory.names(level.frame.env)


def _type_words(facts: Facts, site: Site, level: Level, ahead: Level) -> str | None:
    """What gives the type of the program's device there."""
    found = device_expressions(site, level, facts.preferred_device)
    for text in sorted(found, key=lambda text: not _local(site, level, text)):
        value = value_of(site, level, ast.parse(text, mode="eval").body)
        if value is None or not bound_before(ahead, text.split(".")[0]):
            continue
        if all(isinstance(option, DeviceValue) and not option.text for option in options(value)):
            return f"{text}.type"
        if visible(site, level).get("torch") == External("torch"):
            return f"torch.device({text}).type"
    return None


def _asserted(level: Level, loop: ast.stmt, name: str) -> bool:
    """Whether the function asserts already where the model is, ahead of the loop."""
    return any(
        isinstance(node, ast.Assert) and node.lineno < loop.lineno and f"{name}.parameters()" in ast.unparse(node.test)
        for node in ast.walk(level.frame.node)
    )


def _finding(step: Step, level: Level, loop: ast.stmt, name: str, words: str) -> Finding:
    tree = level.tree
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
        story((step.site, "used", "it is trained here")),
        (Remedy(f"assert where `{name}` is", (edit,)),),
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
