"""## What it does
Finds tensors that are kept as plain attributes, stay on the CPU, and meet values on the accelerator: masks and tables
of an `nn.Module` that are no buffers, caches, aliases of buffers, lists of tensors, and the tables of classes that are
no modules (noise schedules, replay memories, accumulators).

## Why is this bad?
`Module.to()` moves parameters, buffers and submodules, and nothing else. A tensor that was merely assigned to `self`
stays where it was made, and the forward pass fails with *Expected all tensors to be on the same device*. Objects that
are no modules are moved by nobody.

## Example
```python
self.mask = torch.tril(torch.ones(size, size))
```

## Use instead
```python
self.register_buffer("mask", torch.tril(torch.ones(size, size)), persistent=False)
```

## Fix safety
Safe. The buffer is not persistent, so that the state dict keeps its keys, and its values are the ones that it had.
Where the name cannot be a buffer's (it exists already, it is given other things than tensors), and in classes that are
no modules, the tensor is made on the device that the object knows, or moved where it is used.

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
from devfix.fixes.modules.attribute_writes import Attribute, groups
from devfix.fixes.modules.parameter_copies import copied_early, early_copy, shaped_like_parameter
from devfix.fixes.modules.register_buffer import registered
from devfix.fixes.modules.sibling_moves import moved_as_a_whole, moved_with_siblings
from devfix.fixes.modules.use_site_moves import made_on_device, moved_at_use, read_through
from devfix.model import AppendCode, Edit, Finding, Fix, Severity
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]


def detect(observations: Observations) -> Iterator[Finding]:
    """One finding for attributes that fail together; mostly it is one."""
    for group in groups(observations):
        if not all(_made_too_early(observations, attribute) for attribute in group):
            yield _finding(observations, group)


def _made_too_early(observations: Observations, attribute: Attribute) -> bool:
    """Whether it holds copies of parameters, made before the model's move: DEV401 speaks."""
    if not observations.copies or attribute.is_alias:
        return False
    described = {hazard.built for hazard in copied_early(observations)}
    found = [early_copy(observations, use.mismatch, use.operand) for use in attribute.uses]
    return all(copy is not None and copy[0].point in described for copy in found)


def _shaped(observations: Observations, attributes: list[Attribute]) -> list[Edit]:
    """Each made where the parameter is whose shape it has."""
    edits: list[Edit] = []
    for use in (use for attribute in attributes for use in attribute.uses):
        for origin in use.origins:
            found = (
                shaped_like_parameter(
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
    names = list(dict.fromkeys(f"`{attribute.shown}`" for attribute in group))
    made = [(point, "created", "the tensor is made on the CPU here") for point in _births(observations, group)]
    stored = [(a.point, "stored", f"`{a.shown}` {_what(a)}") for a in group]
    moved = next((a.moved for a in group if a.of_module and a.moved is not None), None)
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if all(use.mismatch.latent for use in uses) else Severity.ERROR,
        first.point.tree.path,
        first.point.tree.span(first.point.stmt),
        _message(group, names),
        event_path(
            *made,
            *stored,
            (moved, "moved", "the module moves here, without it"),
            (uses[0].mismatch.point, "used", "it meets values on the accelerator here"),
        ),
        fixes,
        reason,
    )


def _what(attribute: Attribute) -> str:
    if attribute.is_alias:
        return "is another name for what the module moves, and keeps what lies on the CPU"
    return "is an attribute, not a buffer" if attribute.of_module else "is an attribute that nothing moves"


def _message(group: list[Attribute], names: list[str]) -> str:
    listed, plural = " and ".join(names), len(names) > 1
    is_, stays, meets = ("are", "stay", "meet") if plural else ("is", "stays", "meets")
    if all(attribute.is_alias for attribute in group):
        return f"{listed} {is_} only another name for a registered tensor, and {stays} on the CPU when the module moves"
    if any(attribute.of_module for attribute in group):
        return f"{listed} {is_} no {'buffers' if plural else 'buffer'}, {stays} on the CPU, and {meets} the accelerator"
    return f"{listed} {stays} on the CPU and {meets} values on the accelerator"


def _births(observations: Observations, group: list[Attribute]) -> list[ProgramPoint]:
    keys = {
        origin.site_id
        for attribute in group
        for use in attribute.uses
        for origin in use.origins
        if origin.kind == "made"
    }
    return [observations.sources[key].point for key in sorted(keys)]


def _fixes(observations: Observations, group: list[Attribute]) -> tuple[tuple[Fix, ...], str]:
    """Fixes in the order in which an expert would try them, or why there is none."""
    listed = ", ".join(dict.fromkeys(f"`{attribute.shown}`" for attribute in group))
    root = [
        Fix(f"move the object that has {listed}", tuple(edits))
        for edits in [moved_as_a_whole(observations, group)]
        if edits
    ]
    apart, reason = _apart(observations, group, listed)
    return (*root, *apart), "" if root else reason


def _apart(observations: Observations, group: list[Attribute], listed: str) -> tuple[tuple[Fix, ...], str]:
    """Fixes that bring each attribute to the device by itself, or why there is none."""
    buffers, reason = _buffers(group)
    verbs = {"register": [a for a in group if a in buffers]} if buffers else {}
    described = registered(buffers) if buffers else []
    edits = [] if isinstance(described, str) else described
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
            return (), reason or "nothing names the device where it is used"
    fixes = [Fix(" and ".join(_told(verb, held) for verb, held in verbs.items()), _distinct(edits))]
    at_use = _distinct(moved_at_use(observations, group))
    if at_use and at_use != fixes[0].edits:
        fixes.append(Fix(f"move {listed} where it is used", at_use))
    return tuple(fixes), ""


_PLANS: tuple[tuple[str, Callable[[Observations, list[Attribute]], list[Edit]]], ...] = (
    ("make on the device", _shaped),
    ("move with its siblings", moved_with_siblings),
    ("make on the device", made_on_device),
    ("move where it is used", moved_at_use),
)
_ALIAS_PLANS: tuple[tuple[str, Callable[[Observations, list[Attribute]], list[Edit]]], ...] = (
    ("read what is behind", lambda observations, attributes: read_through(attributes)),
    ("move where it is used", moved_at_use),
)


def _buffers(group: list[Attribute]) -> tuple[list[Attribute], str]:
    """The attributes that can become buffers and will move with their modules, and why the others cannot."""
    moving = [a for a in group if a.of_module and a.moved is not None and not a.is_alias]
    refused = {a: described for a in moving if isinstance(described := registered([a]), str)}
    kept = [attribute for attribute in moving if attribute not in refused]
    return (kept if not isinstance(registered(kept), str) else []), next(iter(refused.values()), "")


def _told(verb: str, attributes: list[Attribute]) -> str:
    first, _, rest = verb.partition(" ")
    return f"{first} {', '.join(dict.fromkeys(f'`{a.shown}`' for a in attributes))} {rest or 'as a buffer'}"


def _distinct(edits: list[Edit]) -> tuple[Edit, ...]:
    """Each edit once, and one move for each expression: it may meet several values of the device."""
    kept: dict[object, Edit] = {}
    for edit in edits:
        kept.setdefault((edit.path, edit.expression) if isinstance(edit, AppendCode) else edit, edit)
    return tuple(kept.values())


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
    summary="A tensor is a plain attribute, stays on the CPU, and meets values on the accelerator.",
    documentation=__doc__,
    detect=detect,
    causes=("plain-attribute",),
    concerns="modules",
    invalid=(
        Example(
            "a mask that is no buffer",
            _MODULE.format("self.mask = torch.tril(torch.ones(n, n))"),
            _MODULE.format('self.register_buffer("mask", torch.tril(torch.ones(n, n)), persistent=False)'),
        ),
        Example(
            "the table of a class that is no module",
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
