"""## What it does
Finds modules that an `nn.Module` keeps in a Python list, tuple or dictionary: `self.layers = [nn.Linear(...), ...]`.
Parameters in such containers are found, too.

## Why is this bad?
`nn.Module` knows only what is assigned to it directly, or kept in an `nn.ModuleList` or `nn.ModuleDict`. Layers in a
Python list stay on the CPU when the model moves, so that the forward pass fails with *Expected all tensors to be on the
same device*. On the CPU nothing fails, and it is worse: `model.parameters()` does not yield them, so that no optimizer
trains them, and `state_dict()` does not save them.

## Example
```python
self.layers = [nn.Linear(width, width) for _ in range(depth)]
```

## Use instead
```python
self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
```

## Fix safety
Unsafe: the layers get keys in the state dict, so that checkpoints of the program as it is do not fit any more, and they
are trained from now on, so that the losses are others than those of a run on the CPU. Apply it with `--unsafe-fixes`.

## References
- [ModuleList](https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html)
- [ModuleDict](https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleDict.html)
- [pytorch/pytorch#1053](https://github.com/pytorch/pytorch/issues/1053)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.values import ACCELERATOR, ClassValue, Pointer
from devfix.analysis.observations import AttributeStore, DeviceMismatch, Operand
from devfix.fixes.event_path import event_path
from devfix.fixes.modules.attribute_writes import methods_of
from devfix.fixes.modules.registered_containers import (
    ListAppend,
    contents_problem,
    holds_parameters,
    is_nested,
    keepers,
    replacement,
    torch_nn,
    use_problem,
    wrapped,
    writes_out,
)
from devfix.fixes.modules.structural_changes import structural_change, weights_of
from devfix.model import Applicability, Edit, Finding, Fix, Severity
from devfix.rules.rule import Example, Rule, command_attributes
from devfix.syntax.tree import SourceTree

__all__ = ["RULE"]

_Place = tuple[object, ...]


def detect(observations: Observations) -> Iterator[Finding]:
    """One finding per attribute that keeps modules or parameters out of sight."""
    found: dict[_Place, tuple[ListAppend, list[AttributeStore], list[DeviceMismatch], dict[ProgramPoint, None]]] = {}
    for mismatch in observations.mismatches:
        for operand in mismatch.cpu:
            kept = _kept(observations, mismatch, operand)
            stored = _stored(observations, kept) if kept is not None else []
            if kept is not None and stored:
                entry = found.setdefault(stored[0].point.key, (kept, stored, [], {}))
                if mismatch not in entry[2]:
                    entry[2].append(mismatch)
                entry[3].update(dict.fromkeys(_made(observations, mismatch, operand)))
    for kept, stored, mismatches, made in found.values():
        yield _finding(kept, stored, mismatches, list(made))


def _made(observations: Observations, mismatch: DeviceMismatch, operand: Operand) -> Iterator[ProgramPoint]:
    """Where what fails is made."""
    memory = mismatch.point.state
    assert memory is not None
    for part in weights_of(operand):
        allocated_at = memory.heap_object(part).allocated_at if memory.has(part.id) else None
        if allocated_at is not None:
            yield allocated_at


def _kept(observations: Observations, mismatch: DeviceMismatch, operand: Operand) -> ListAppend | None:
    """The container of a moved module because of which the operand has stayed."""
    memory = mismatch.point.state
    assert memory is not None
    for part in weights_of(operand):
        if not memory.has(part.id) or structural_change(mismatch.point, part) is not None:
            continue
        for kept in keepers(memory, part):
            if (
                memory.heap_object(kept.owner).last_moved_at is not None
                and ACCELERATOR in memory.heap_object(kept.owner).devices
            ):
                return kept
    held = {
        origin.attribute_id
        for origin in operand.origins
        if origin.kind == "parameter" and origin.attribute_id and not origin.site_id
    }
    for stored in observations.stored.values():
        for owner in stored.owners if stored.number in held else ():
            obj = memory.heap_object(owner) if memory.has(owner.id) else None
            if obj is None or obj.kind != "module" or obj.last_moved_at is None:
                continue
            value = obj.fields.get(stored.name)
            if value is not None and holds_parameters(memory, value):
                return ListAppend(owner, stored.name, value)
    return None


def _stored(observations: Observations, kept: ListAppend) -> list[AttributeStore]:
    return [
        stored for stored in observations.stored.values() if stored.name == kept.name and kept.owner in stored.owners
    ]


def _finding(
    kept: ListAppend, stored: list[AttributeStore], mismatches: list[DeviceMismatch], made: list[ProgramPoint]
) -> Finding:
    first, point = stored[0], mismatches[0].point
    memory = point.state
    assert memory is not None
    mapping = isinstance(kept.container, Pointer) and memory.heap_object(kept.container).kind == "dict"
    what = "parameters" if holds_parameters(memory, kept.container) else "modules"
    kind = "tuple" if kept.is_tuple else "dictionary" if mapping else "list"
    name = ast.unparse(first.point.node) if isinstance(first.point.node, ast.Attribute) else kept.name
    edits = _edits(kept, stored, point, mapping, what)
    fixes: tuple[Fix, ...] = ()
    if not isinstance(edits, str):
        container = f"nn.{'Parameter' if what == 'parameters' else 'Module'}{'Dict' if mapping else 'List'}"
        fixes = (Fix(f"keep `{name}` in an `{container}`", tuple(edits), Applicability.UNSAFE),)
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if all(mismatch.latent for mismatch in mismatches) else Severity.ERROR,
        first.point.tree.path,
        first.point.tree.span(first.point.stmt),
        f"`{name}` is a Python {kind}: its {what} stay on the CPU when the module moves, and `parameters()` lacks them",
        event_path(
            *((allocated_at, "created", "it is made on the CPU here") for allocated_at in made),
            *((item.point, "stored", f"the {what} are kept in a Python {kind}") for item in stored),
            (
                memory.heap_object(kept.owner).last_moved_at,
                "moved",
                f"the module moves here, without the {what} of the {kind}",
            ),
            (point, "used", "they meet values on the accelerator here"),
        ),
        fixes,
        edits if isinstance(edits, str) else "",
        ("registered, they get keys in the state dict and are trained: earlier checkpoints and losses do not fit",),
    )


def _edits(
    kept: ListAppend, stored: list[AttributeStore], point: ProgramPoint, mapping: bool, what: str
) -> list[Edit] | str:
    """The edits after which the container is a registered one, or why there are none."""
    memory = point.state
    assert memory is not None
    cls = memory.heap_object(kept.owner).cls
    problem = contents_problem(memory, kept.container) if what == "modules" else None
    problem = problem or (use_problem(cls, kept.name, mapping) if cls is not None else "its class is not in the source")
    if problem is not None:
        return problem
    nested = is_nested(memory, kept.container)
    word = "Parameter" if what == "parameters" else "Module"
    edits: dict[Edit, None] = {}
    for item in stored:
        if isinstance(item.point.stmt, ast.AugAssign):
            continue  # a registered list grows by `+=`, too
        spelled = torch_nn(item.point, f"{word}{'Dict' if mapping else 'List'}")
        if spelled is None or item.value is None:
            return "it is not given a value in so many words, or the file does not import `torch.nn`"
        if nested and not writes_out(item.value):
            return "it holds containers that are not written out where it is made"
        expressions = [(item.point.tree, item.value, mapping)]
        if nested:
            expressions += [
                (tree, node, isinstance(node, (ast.Dict, ast.DictComp))) for tree, node in _added(cls, kept.name)
            ]
        for tree, node, is_mapping in expressions:
            code = wrapped(tree, node, is_mapping, spelled[0], word)
            if code is None or _grows_later(item):
                return "the container is more than a list or a dictionary of modules"
            edits[replacement(tree, node, code)] = None
        edits.update(dict.fromkeys(spelled[1]))
    return list(edits)


def _grows_later(stored: AttributeStore) -> bool:
    """Whether a local list goes on growing after it has become the attribute: the copy would not grow with it."""
    point, value = stored.point, stored.value
    if not isinstance(value, ast.Name):
        return False
    return any(
        isinstance(node, ast.Attribute)
        and node.lineno > point.stmt.lineno
        and node.attr in ("append", "extend", "insert")
        and ast.unparse(node.value) == value.id
        for node in ast.walk(point.call_frame.activation.node)
    )


def _added(cls: ClassValue | None, name: str) -> Iterator[tuple[SourceTree, ast.expr]]:
    """The displays that the class appends to the container."""
    for tree, _, method in methods_of(cls) if cls is not None else ():
        for node in ast.walk(method):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append"):
                continue
            kept = isinstance(node.func.value, ast.Attribute) and node.func.value.attr == name
            if kept and len(node.args) == 1 and isinstance(node.args[0], _DISPLAYS):
                yield tree, node.args[0]


_DISPLAYS = (ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp)


__getattr__, __dir__ = command_attributes(__name__)


_MODULE = """\
import torch
from torch import nn


class Tower(nn.Module):
    def __init__(self, width):
        super().__init__()
        {}
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Tower(4).to(device)
print(model(torch.ones(3, 4, device=device)))
"""

RULE = Rule(
    code="DEV203",
    name="module-in-container",
    summary="Modules in a Python list, tuple or dictionary are not registered and stay on the CPU.",
    documentation=__doc__,
    detect=detect,
    causes=("module-in-container", "parameter-in-container"),
    concerns="modules",
    unsafe=True,
    invalid=(
        Example(
            "layers in a list",
            _MODULE.format("self.layers = [nn.Linear(width, width) for _ in range(3)]"),
            _MODULE.format("self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(3)])"),
        ),
    ),
    valid=(
        _MODULE.format("self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(3)])"),
        _MODULE.format("self.layers = [nn.ReLU(), nn.Tanh()]"),
        _MODULE.format("self.layers = [nn.Linear(width, width)]\n        self.net = nn.Sequential(*self.layers)"),
    ),
)
