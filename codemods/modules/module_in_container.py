"""## What it does
Checks for submodules and parameters that an `nn.Module` stores in a Python list, tuple or dictionary:
`self.layers = [nn.Linear(...), ...]`.

## Why is this bad?
`nn.Module` registers only the modules and parameters that are assigned directly to an attribute or stored in a
registered container such as `nn.ModuleList` or `nn.ModuleDict`. `Module.to()` does not move layers in a Python list, so
the forward pass fails with *Expected all tensors to be on the same device*. On the CPU the program runs, but trains
incorrectly: `model.parameters()` does not yield these parameters, so no optimizer updates them, and `state_dict()` does
not save them.

## Example
```python
import torch
from torch import nn


class Deep(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = [nn.Linear(width, width) for _ in range(depth)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


device = torch.device("cuda")
print(Deep(4, 2).to(device)(torch.rand(3, 4, device=device)))
```

## Use instead
```python
import torch
from torch import nn


class Deep(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


device = torch.device("cuda")
print(Deep(4, 2).to(device)(torch.rand(3, 4, device=device)))
```

## Fix safety
Unsafe: registration adds keys to the state dict, so existing checkpoints no longer load, and the layers are now
trained, so the losses differ from those of the original program on the CPU. Apply the fix with `--unsafe-fixes`.

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
from devfix.analysis.domain.objects import Mapping, Module, object_at
from devfix.analysis.domain.values import ACCELERATOR, ClassValue
from devfix.analysis.observations import AttributeStore, DeviceMismatch, Operand
from devfix.fixes.event_path import event_path
from devfix.fixes.modules.attribute_writes import methods_of
from devfix.fixes.modules.owners import ContainerAttribute, within_containers
from devfix.fixes.modules.registered_containers import (
    contents_problem,
    holds_parameters,
    is_nested,
    is_nested_display,
    registered_container,
    replace_expression,
    torch_nn_prefix,
    use_problem,
)
from devfix.fixes.modules.structural_changes import structural_change, weights_of
from devfix.model import Applicability, Edit, Finding, Fix, Severity
from devfix.rules.rule import Example, Rule, command_attributes
from devfix.syntax.tree import SourceTree

__all__ = ["RULE"]

_LITERALS = (ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp)
_PointKey = tuple[object, ...]


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per attribute that stores unregistered modules or parameters."""
    found: dict[
        _PointKey, tuple[ContainerAttribute, list[AttributeStore], list[DeviceMismatch], dict[ProgramPoint, None]]
    ] = {}
    for mismatch in observations.mismatches:
        for operand in mismatch.cpu:
            attribute = _unregistered_attribute(observations, mismatch, operand)
            stores = _stores_of(observations, attribute) if attribute is not None else []
            if attribute is not None and stores:
                entry = found.setdefault(stores[0].point.key, (attribute, stores, [], {}))
                if mismatch not in entry[2]:
                    entry[2].append(mismatch)
                entry[3].update(dict.fromkeys(_creations(observations, mismatch, operand)))
    for attribute, stores, mismatches, created in found.values():
        yield _finding(attribute, stores, mismatches, list(created))


def _creations(observations: Observations, mismatch: DeviceMismatch, operand: Operand) -> Iterator[ProgramPoint]:
    """Yield the program points that create the parameters of the operand."""
    state = mismatch.point.state
    assert state is not None
    for part in weights_of(operand):
        allocated_at = state.heap_object(part).allocated_at if state.has(part.id) else None
        if allocated_at is not None:
            yield allocated_at


def _unregistered_attribute(
    observations: Observations, mismatch: DeviceMismatch, operand: Operand
) -> ContainerAttribute | None:
    """Return the attribute of a moved module whose unregistered container holds the operand, or ``None``."""
    state = mismatch.point.state
    assert state is not None
    for part in weights_of(operand):
        if not state.has(part.id) or structural_change(mismatch.point, part) is not None:
            continue
        for attribute in within_containers(state, part):
            if (
                state.heap_object(attribute.owner).last_moved_at is not None
                and ACCELERATOR in state.heap_object(attribute.owner).devices
            ):
                return attribute
    attribute_ids = {
        origin.attribute_id
        for origin in operand.origins
        if origin.kind == "parameter" and origin.attribute_id and not origin.site_id
    }
    for store in observations.attribute_stores.values():
        for owner in store.owners if store.number in attribute_ids else ():
            obj = state.heap_object(owner) if state.has(owner.id) else None
            if not isinstance(obj, Module) or obj.last_moved_at is None:
                continue
            value = obj.fields.get(store.name)
            if value is not None and holds_parameters(state, value):
                return ContainerAttribute(owner, store.name, value)
    return None


def _stores_of(observations: Observations, attribute: ContainerAttribute) -> list[AttributeStore]:
    return [
        store
        for store in observations.attribute_stores.values()
        if store.name == attribute.name and attribute.owner in store.owners
    ]


def _finding(
    attribute: ContainerAttribute,
    stores: list[AttributeStore],
    mismatches: list[DeviceMismatch],
    created: list[ProgramPoint],
) -> Finding:
    first_store, point = stores[0], mismatches[0].point
    state = point.state
    assert state is not None
    is_mapping = object_at(state, attribute.container, Mapping) is not None
    contents = "parameters" if holds_parameters(state, attribute.container) else "modules"
    kind = "tuple" if attribute.is_tuple else "dictionary" if is_mapping else "list"
    name = ast.unparse(first_store.point.node) if isinstance(first_store.point.node, ast.Attribute) else attribute.name
    edits = _edits(attribute, stores, point, is_mapping, contents)
    fixes: tuple[Fix, ...] = ()
    if not isinstance(edits, str):
        registered = f"nn.{'Parameter' if contents == 'parameters' else 'Module'}{'Dict' if is_mapping else 'List'}"
        fixes = (Fix(f"store `{name}` in an `{registered}`", tuple(edits), Applicability.UNSAFE),)
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if all(mismatch.latent for mismatch in mismatches) else Severity.ERROR,
        first_store.point.tree.path,
        first_store.point.tree.span(first_store.point.stmt),
        f"`{name}` is a Python {kind}, so its {contents} are not registered: "
        "`.to()` leaves them on the CPU and `parameters()` omits them",
        event_path(
            *((allocated_at, "created", "created on the CPU here") for allocated_at in created),
            *((store.point, "stored", f"the {contents} are stored in a Python {kind}") for store in stores),
            (
                state.heap_object(attribute.owner).last_moved_at,
                "moved",
                f"the module is moved here without the {contents} of the {kind}",
            ),
            (point, "used", "used with tensors on the accelerator here"),
        ),
        fixes,
        edits if isinstance(edits, str) else "",
        ("registration adds state dict keys and trains the layers: earlier checkpoints and losses no longer match",),
    )


def _edits(
    attribute: ContainerAttribute, stores: list[AttributeStore], point: ProgramPoint, is_mapping: bool, contents: str
) -> list[Edit] | str:
    """Return the edits that replace the container with a registered one, or the reason why there are none."""
    state = point.state
    assert state is not None
    cls = state.heap_object(attribute.owner).cls
    problem = contents_problem(state, attribute.container) if contents == "modules" else None
    problem = problem or (
        use_problem(cls, attribute.name, is_mapping) if cls is not None else "its class is not in the source"
    )
    if problem is not None:
        return problem
    has_nested = is_nested(state, attribute.container)
    element = "Parameter" if contents == "parameters" else "Module"
    edits: dict[Edit, None] = {}
    for store in stores:
        if isinstance(store.point.stmt, ast.AugAssign):
            continue  # `nn.ModuleList` supports `+=`
        constructor = torch_nn_prefix(store.point, f"{element}{'Dict' if is_mapping else 'List'}")
        if constructor is None or store.value is None:
            return "the attribute is not assigned an expression, or the file does not import `torch.nn`"
        if has_nested and not is_nested_display(store.value):
            return "it contains containers that are not literals at its assignment"
        expressions = [(store.point.tree, store.value, is_mapping)]
        if has_nested:
            expressions += [
                (tree, node, isinstance(node, (ast.Dict, ast.DictComp)))
                for tree, node in _appended_literals(cls, attribute.name)
            ]
        for tree, node, is_dict in expressions:
            code = registered_container(tree, node, is_dict, constructor[0], element)
            if code is None or _grows_later(store):
                return f"the container is not a plain list or dictionary of {contents}"
            edits[replace_expression(tree, node, code)] = None
        edits.update(dict.fromkeys(constructor[1]))
    return list(edits)


def _grows_later(store: AttributeStore) -> bool:
    """Return whether a local list grows after it was assigned: its ``nn.ModuleList`` copy would not grow with it."""
    point, value = store.point, store.value
    if not isinstance(value, ast.Name):
        return False
    return any(
        isinstance(node, ast.Attribute)
        and node.lineno > point.stmt.lineno
        and node.attr in ("append", "extend", "insert")
        and ast.unparse(node.value) == value.id
        for node in ast.walk(point.call_frame.activation.node)
    )


def _appended_literals(cls: ClassValue | None, name: str) -> Iterator[tuple[SourceTree, ast.expr]]:
    """Yield the list, tuple and dictionary literals that the class appends to the container."""
    for tree, _, method in methods_of(cls) if cls is not None else ():
        for node in ast.walk(method):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append"):
                continue
            is_container = isinstance(node.func.value, ast.Attribute) and node.func.value.attr == name
            if is_container and len(node.args) == 1 and isinstance(node.args[0], _LITERALS):
                yield tree, node.args[0]


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
    summary="Modules in a Python list, tuple or dictionary are not registered, so `.to()` leaves them on the CPU.",
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
