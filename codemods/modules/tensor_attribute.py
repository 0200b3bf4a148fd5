"""## What it does
Checks for tensors that are stored as plain attributes, stay on the CPU, and are used with tensors on the accelerator:
masks and tables of an `nn.Module` that are not registered buffers, caches, aliases of buffers, lists of tensors, and
tables of classes that are not modules (noise schedules, replay memories, accumulators).

## Why is this bad?
`Module.to()` moves parameters, buffers and submodules, and nothing else. A tensor assigned to a plain attribute stays
on the device on which it was created, and the forward pass fails with *Expected all tensors to be on the same device*.
`Module.to()` does not reach the attributes of objects that are not modules.

## Example
```python
import torch
from torch import nn


class Masked(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.mask = torch.ones(size)

    def forward(self, x):
        return x * self.mask


device = torch.device("cuda")
print(Masked(4).to(device)(torch.rand(3, 4, device=device)))
```

## Use instead
```python
import torch
from torch import nn


class Masked(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("mask", torch.ones(size), persistent=False)

    def forward(self, x):
        return x * self.mask


device = torch.device("cuda")
print(Masked(4).to(device)(torch.rand(3, 4, device=device)))
```

## Fix safety
Safe. The buffer is not persistent, so the state dict keeps its keys, and its values do not change. If the attribute
cannot be a buffer (a registered tensor has this name, or values other than tensors are assigned to it), or its class is
not a module, the tensor is created on the device of the object or moved at its use.

## References
- [Module.register_buffer](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer)
- [pyg-team/pytorch_geometric@7016d0449](https://github.com/pyg-team/pytorch_geometric/commit/7016d0449)
- [huggingface/diffusers@716f246031](https://github.com/huggingface/diffusers/commit/716f246031)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.location import ProgramPoint
from devfix.fixes.event_path import event_path
from devfix.fixes.modules.attribute_writes import Attribute, attribute_groups
from devfix.fixes.modules.parameter_copies import create_like_parameter, early_copies, early_copy
from devfix.fixes.modules.register_buffer import register_buffers
from devfix.fixes.modules.sibling_moves import move_beside_sibling_attributes, move_owners
from devfix.fixes.modules.use_site_moves import create_on_device, move_at_use, replace_aliases
from devfix.model import AppendCode, Edit, Finding, Fix, Severity
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per group of attributes that fail in the same operation; most groups have one attribute."""
    for group in attribute_groups(observations):
        if all(_is_early_copy(observations, attribute) for attribute in group):
            continue
        if not all(_holds_argument(observations, attribute) for attribute in group):
            yield _finding(observations, group)


def _holds_argument(observations: Observations, attribute: Attribute) -> bool:
    """Return whether ``forward`` stores what it computes from an argument that fails elsewhere: the caller's fault."""
    function = attribute.point.call_frame.activation.node
    if getattr(function, "name", "") != "forward":
        return False
    created = [observations.sources[key].point for key in _made(attribute)]
    inside = any(frame.activation.node is function for point in created for frame in point.call_stack)
    plain = {
        origin.site_id
        for mismatch in observations.mismatches
        for operand in mismatch.cpu
        for origin in operand.origins
        if origin.kind == "made" and not origin.attribute_id
    }
    return bool(created) and not inside and _made(attribute) <= plain


def _made(attribute: Attribute) -> set[int]:
    return {origin.site_id for use in attribute.uses for origin in use.origins if origin.kind == "made"}


def _is_early_copy(observations: Observations, attribute: Attribute) -> bool:
    """Return whether the attribute holds copies of parameters made before the model's move, which DEV401 reports."""
    if not observations.parameter_copies or attribute.is_alias:
        return False
    described = {hazard.built for hazard in early_copies(observations)}
    found = [early_copy(observations, use.mismatch, use.operand) for use in attribute.uses]
    return all(copy is not None and copy[0].point in described for copy in found)


def _on_device_of_parameter(observations: Observations, attributes: list[Attribute]) -> list[Edit]:
    """Return edits that create each tensor on the device of the parameter whose shape it has."""
    edits: list[Edit] = []
    for use in (use for attribute in attributes for use in attribute.uses):
        for origin in use.origins:
            found = (
                create_like_parameter(
                    observations, origin.site_id, observations.sources[origin.site_id].point, use.mismatch
                )
                if (origin.kind == "made")
                else []
            )
            if not found:
                return []
            edits.extend(found)
    return edits


def _finding(observations: Observations, group: list[Attribute]) -> Finding:
    fixes, reason = _fixes(observations, group)
    first = group[0]
    uses = [use for attribute in group for use in attribute.uses]
    names = list(dict.fromkeys(f"`{attribute.text}`" for attribute in group))
    created = [(point, "created", "the tensor is created on the CPU here") for point in _creations(observations, group)]
    stored = [(a.point, "stored", f"`{a.text}` {_described(a)}") for a in group]
    moved = next((a.moved for a in group if a.is_module_attribute and a.moved is not None), None)
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if all(use.mismatch.latent for use in uses) else Severity.ERROR,
        first.point.tree.path,
        first.point.tree.span(first.point.stmt),
        _message(group, names),
        event_path(
            *created,
            *stored,
            (moved, "moved", "the module is moved here without it"),
            (uses[0].mismatch.point, "used", "used with tensors on the accelerator here"),
        ),
        fixes,
        reason,
    )


def _described(attribute: Attribute) -> str:
    if attribute.is_alias:
        return "is an alias, which still refers to the CPU tensor after the module is moved"
    return (
        "is a plain attribute, not a buffer"
        if attribute.is_module_attribute
        else "is a plain attribute, which no move reaches"
    )


def _message(group: list[Attribute], names: list[str]) -> str:
    listed, plural = " and ".join(names), len(names) > 1
    if all(attribute.is_alias for attribute in group):
        described = "are aliases of registered tensors" if plural else "is an alias of a registered tensor"
    elif any(attribute.is_module_attribute for attribute in group):
        described = "are not registered buffers" if plural else "is not a registered buffer"
    elif plural:
        return f"{listed} stay on the CPU, but are used with tensors on the accelerator"
    else:
        return f"{listed} stays on the CPU, but is used with tensors on the accelerator"
    return f"{listed} {described}, so `.to()` leaves {'them' if plural else 'it'} on the CPU"


def _creations(observations: Observations, group: list[Attribute]) -> list[ProgramPoint]:
    keys = {key for attribute in group for key in _made(attribute)}
    return [observations.sources[key].point for key in sorted(keys)]


def _fixes(observations: Observations, group: list[Attribute]) -> tuple[tuple[Fix, ...], str]:
    """Return the fixes, best first, or the reason why there is none."""
    listed = ", ".join(dict.fromkeys(f"`{attribute.text}`" for attribute in group))
    root = [
        Fix(f"move the object that holds {listed}", tuple(edits))
        for edits in [move_owners(observations, group)]
        if edits
    ]
    separate, reason = _separate_fixes(observations, group, listed)
    return (*root, *separate), "" if root else reason


def _separate_fixes(observations: Observations, group: list[Attribute], listed: str) -> tuple[tuple[Fix, ...], str]:
    """Return the fixes that handle each attribute separately, or the reason why there is none."""
    buffers, reason = _buffers(observations, group)
    verbs = {"register": [a for a in group if a in buffers]} if buffers else {}
    registrations = register_buffers(buffers) if buffers else []
    edits = [] if isinstance(registrations, str) else registrations
    for attribute in group:
        if attribute in buffers:
            continue
        for verb, plan in _PLANS if not attribute.is_alias else _ALIAS_PLANS:
            found = plan(observations, [attribute])
            if found:
                verbs.setdefault(verb, []).append(attribute)
                edits.extend(found)
                break
        else:
            return (), reason or "no device expression is available at its use"
    fixes = [Fix(" and ".join(_title(verb, attributes) for verb, attributes in verbs.items()), _distinct(edits))]
    at_use = _distinct(move_at_use(observations, group))
    if at_use and at_use != fixes[0].edits:
        fixes.append(Fix(f"move {listed} at its use", at_use))
    return tuple(fixes), ""


_PLANS: tuple[tuple[str, Callable[[Observations, list[Attribute]], list[Edit]]], ...] = (
    ("create on the device", _on_device_of_parameter),
    ("move with its siblings", move_beside_sibling_attributes),
    ("create on the device", create_on_device),
    ("move at its use", move_at_use),
)
_ALIAS_PLANS: tuple[tuple[str, Callable[[Observations, list[Attribute]], list[Edit]]], ...] = (
    ("replace with the registered tensor", lambda observations, attributes: replace_aliases(attributes)),
    ("move at its use", move_at_use),
)


_NON_PERSISTENT = (1, 6)  # the first release with ``persistent=False``
_OLD = "the project names a release of PyTorch before 1.6, in which a buffer is always in the state dict"


def _buffers(observations: Observations, group: list[Attribute]) -> tuple[list[Attribute], str]:
    """Return the attributes that can become buffers of moved modules, and the reason why the others cannot."""
    if observations.release is not None and observations.release < _NON_PERSISTENT:
        return [], _OLD
    moving = [a for a in group if a.is_module_attribute and a.moved is not None and not a.is_alias]
    refused = {a: problem for a in moving if isinstance(problem := register_buffers([a]), str)}
    accepted = [attribute for attribute in moving if attribute not in refused]
    return (accepted if not isinstance(register_buffers(accepted), str) else []), next(iter(refused.values()), "")


def _title(verb: str, attributes: list[Attribute]) -> str:
    first, _, rest = verb.partition(" ")
    return f"{first} {', '.join(dict.fromkeys(f'`{a.text}`' for a in attributes))} {rest or 'as a buffer'}"


def _distinct(edits: list[Edit]) -> tuple[Edit, ...]:
    """Drop duplicate edits and all but the first move of an expression, which may be used in several operations."""
    distinct: dict[object, Edit] = {}
    for edit in edits:
        distinct.setdefault((edit.path, edit.expression) if isinstance(edit, AppendCode) else edit, edit)
    return tuple(distinct.values())


__getattr__, __dir__ = command_attributes(__name__)


_MODULE = """\
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.proj = nn.Linear(n, n)
        {}

    def forward(self, x):
        return self.proj(x) * self.mask


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Attention(4).to(device)
print(model(torch.ones(4, 4, device=device)))
"""
_SCHEDULE = """\
import torch


class Schedule:
    def __init__(self, steps):
        self.betas = torch.linspace(0.1, 0.2, steps)

    def scale(self, x, t):
        return x * {}[t]


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x, t = torch.ones(3, device=device), torch.zeros(3, device=device).long()
print(Schedule(4).scale(x, t))
"""

RULE = Rule(
    code="DEV202",
    name="tensor-attribute",
    summary="A tensor in a plain attribute stays on the CPU, but is used with tensors on the accelerator.",
    documentation=__doc__,
    detect=detect,
    causes=("plain-attribute",),
    concerns="modules",
    invalid=(
        Example(
            "a mask that is not a buffer",
            _MODULE.format("self.mask = torch.tril(torch.ones(n, n))"),
            _MODULE.format('self.register_buffer("mask", torch.tril(torch.ones(n, n)), persistent=False)'),
        ),
        Example(
            "a table of a class that is not a module",
            _SCHEDULE.format("self.betas"),
            _SCHEDULE.format("self.betas.to(t.device)"),
        ),
    ),
    valid=(
        _MODULE.format('self.register_buffer("mask", torch.tril(torch.ones(n, n)))'),
        _MODULE.format("self.mask = nn.Parameter(torch.ones(n, n), requires_grad=False)"),
        _MODULE.format("self.mask = torch.tensor(0.5)"),
        _SCHEDULE.format("self.betas.to(x.device)"),
    ),
)
