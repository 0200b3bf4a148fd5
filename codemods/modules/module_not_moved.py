"""## What it does
Finds whole objects that are never moved to the accelerator, or on one branch only, and meet values there: the model
itself, a teacher, a perceptual network, an averaged copy, a discriminator, a criterion with class weights or parameters
of its own, a metric with buffers.

## Why is this bad?
`Module.to()` moves what is registered below one module. Every other module with weights or buffers has to be moved,
too: where its weights on the CPU meet an input on the accelerator, PyTorch raises *Expected all tensors to be on the
same device* or *Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same*.

## Example
```python
student = Net().to(device)
teacher = Net()
criterion = nn.CrossEntropyLoss(weight=torch.tensor([0.2, 0.8]))
loss = criterion(student(x), y) + F.mse_loss(student(x), teacher(x))
```

## Use instead
```python
student = Net().to(device)
teacher = Net().to(device)
criterion = nn.CrossEntropyLoss(weight=torch.tensor([0.2, 0.8])).to(device)
loss = criterion(student(x), y) + F.mse_loss(student(x), teacher(x))
```

## Fix safety
Safe: `Module.to()` works in place and keeps the identity of the parameters. The move stands ahead of the optimizer that
takes them, beside the moves of other modules and in their words.

## References
- [Module.to](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.to)
- [pytorch/pytorch#122757](https://github.com/pytorch/pytorch/issues/122757)
- [OML-Team/open-metric-learning#620](https://github.com/OML-Team/open-metric-learning/issues/620)
- [yuanyuanli85/Fast_Human_Pose_Estimation_Pytorch#7](https://github.com/yuanyuanli85/Fast_Human_Pose_Estimation_Pytorch/issues/7)
"""

from __future__ import annotations

from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.observations import DeviceMismatch
from devfix.fixes.event_path import event_path
from devfix.fixes.modules.loss_weights import loss_weights
from devfix.fixes.modules.module_moves import InsertionPoint, insertion_point_of
from devfix.fixes.modules.module_roots import RootModule, unmoved
from devfix.model import Finding, Fix, Severity
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]

_MOST_TOGETHER = 8


def detect(observations: Observations) -> Iterator[Finding]:
    """One finding per object that stays on the CPU, at its construction."""
    found: dict[tuple[object, ...], tuple[RootModule, list[DeviceMismatch]]] = {}
    for mismatch in observations.mismatches:
        for operand in mismatch.cpu:
            for root in unmoved(observations, mismatch, operand):
                found.setdefault(_made_at(root.allocated_at), (root, []))[1].append(mismatch)
    homes = [insertion_point_of(observations, mismatches[0], root) for root, mismatches in found.values()]
    together = _together(homes)
    for home, (root, mismatches) in zip(homes, found.values(), strict=True):
        yield _finding(home, root, mismatches, together)
    yield from loss_weights(observations, RULE.code, RULE.name)


def _made_at(allocated_at: ProgramPoint) -> tuple[object, ...]:
    """The construction, through the calls that led to it."""
    return (
        allocated_at.key,
        *((call_frame.tree.path, call_frame.stmt.lineno) for call_frame in allocated_at.call_stack),
    )


def _together(homes: list[InsertionPoint]) -> tuple[Fix, ...]:
    """All of them moved at once, for networks that meet each other: one alone would only fail elsewhere."""
    best = [home.fixes[0] for home in homes if home.fixes]
    if not 1 < len(best) <= _MOST_TOGETHER:
        return ()
    names = ", ".join(dict.fromkeys(f"`{home.name}`" for home in homes if home.fixes))
    return (Fix(f"move {names} together", tuple(dict.fromkeys(edit for r in best for edit in r.edits))),)


def _finding(
    home: InsertionPoint, root: RootModule, mismatches: list[DeviceMismatch], together: tuple[Fix, ...]
) -> Finding:
    fate = "never moved" if root.partly is None else "moved on one branch only"
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if all(mismatch.latent for mismatch in mismatches) else Severity.ERROR,
        home.call_frame.tree.path,
        home.call_frame.tree.span(home.node),
        f"`{home.name}` is {fate} and meets values on the accelerator",
        event_path(
            (root.allocated_at, "created", "this module is made on the CPU"),
            (root.partly, "moved", "it is moved on this branch, and not on the other"),
            *(
                (mismatch.point, "used", "its weights on the CPU meet values on the accelerator here")
                for mismatch in mismatches[:2]
            ),
        ),
        (*home.fixes, *together) if home.fixes else (),
        "" if home.fixes else "neither the module nor a device has a name where it could be moved",
    )


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
student = nn.Linear(4, 2).to(device)
"""
_USE = """\
x = torch.ones(3, 4, device=device)
loss = (student(x) - teacher(x)).pow(2).mean()
loss.backward()
"""

RULE = Rule(
    code="DEV204",
    name="module-not-moved",
    summary="A model, a teacher, a criterion with weights or a metric is never moved, and meets the accelerator.",
    documentation=__doc__,
    detect=detect,
    causes=("module-never-moved", "wrapped-before-move"),
    concerns="modules",
    invalid=(
        Example(
            "a teacher beside a student that is moved",
            _SETUP + "teacher = nn.Linear(4, 2)\n" + _USE,
            _SETUP + "teacher = nn.Linear(4, 2).to(device)\n" + _USE,
        ),
    ),
    valid=(
        _SETUP + "teacher = nn.Linear(4, 2)\nteacher.to(device)\n" + _USE,
        _SETUP + "teacher = nn.Linear(4, 2)\nfor net in (student, teacher):\n    net.to(device)\n" + _USE,
        _SETUP + "teacher = nn.Linear(4, 2)\n" + _USE.replace("teacher(x)", "teacher(x.cpu()).to(device)"),
    ),
)
