"""## What it does
Checks for modules that are never moved to the accelerator, or only on one branch, and are used with tensors there: the
model itself, a teacher, a perceptual network, an averaged copy, a discriminator, a criterion with class weights or
parameters, a metric with buffers.

## Why is this bad?
`Module.to()` moves the parameters, buffers and submodules of one module. Every other module with weights or buffers
needs its own move. If its weights are on the CPU and its input is on the accelerator, PyTorch raises *Expected all
tensors to be on the same device* or *Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be
the same*.

## Example
```python
import torch
from torch import nn

device = torch.device("cuda")
student = nn.Linear(4, 2).to(device)
teacher = nn.Linear(4, 2)
x = torch.rand(8, 4, device=device)
print(nn.functional.mse_loss(student(x), teacher(x)))
```

## Use instead
```python
import torch
from torch import nn

device = torch.device("cuda")
student = nn.Linear(4, 2).to(device)
teacher = nn.Linear(4, 2).to(device)
x = torch.rand(8, 4, device=device)
print(nn.functional.mse_loss(student(x), teacher(x)))
```

## Fix safety
Safe: `Module.to()` works in place and preserves the identity of the parameters. The move is inserted before the
optimizer that takes the parameters, next to the moves of other modules and in the same style.

## References
- [Module.to](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.to)
- [pytorch/pytorch#122757](https://github.com/pytorch/pytorch/issues/122757)
- [OML-Team/open-metric-learning#620](https://github.com/OML-Team/open-metric-learning/issues/620)
- [yuanyuanli85/Fast_Human_Pose_Estimation_Pytorch#7](https://github.com/yuanyuanli85/Fast_Human_Pose_Estimation_Pytorch/issues/7)
"""

from __future__ import annotations

from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.location import ConfiguredCall, ProgramPoint
from devfix.analysis.observations import DeviceMismatch
from devfix.fixes.event_path import event_path
from devfix.fixes.modules.loss_weights import loss_weight_findings
from devfix.fixes.modules.module_moves import MovePlan, plan_move
from devfix.fixes.modules.module_roots import RootModule, unmoved_roots
from devfix.fixes.modules.unsure_roots import is_one_of_several
from devfix.model import Finding, Fix, Severity
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]

_MAX_JOINT_MOVES = 8


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per module that stays on the CPU, at its construction."""
    found: dict[tuple[object, ...], tuple[RootModule, list[DeviceMismatch]]] = {}
    for mismatch in observations.mismatches:
        for operand in mismatch.cpu:
            for root in unmoved_roots(observations, mismatch, operand):
                found.setdefault(_construction_key(root.allocated_at), (root, []))[1].append(mismatch)
    insertion_points = [plan_move(observations, mismatches[0], root) for root, mismatches in found.values()]
    joint_move = _joint_move(insertion_points)
    for insertion, (root, mismatches) in zip(insertion_points, found.values(), strict=True):
        yield _finding(insertion, root, mismatches, joint_move)
    yield from loss_weight_findings(observations, RULE.code, RULE.name)


def _construction_key(allocated_at: ProgramPoint) -> tuple[object, ...]:
    """Return a key for the construction and the calls that lead to it."""
    node = allocated_at.node
    return (
        allocated_at.key,
        node.entry if isinstance(node, ConfiguredCall) else "",
        *((call_frame.tree.path, call_frame.stmt.lineno) for call_frame in allocated_at.call_stack),
    )


def _joint_move(insertion_points: list[MovePlan]) -> tuple[Fix, ...]:
    """Return a fix that moves all modules, for networks whose outputs are combined: one move alone still fails."""
    best = [insertion.fixes[0] for insertion in insertion_points if insertion.fixes]
    if not 1 < len(best) <= _MAX_JOINT_MOVES:
        return ()
    names = ", ".join(dict.fromkeys(f"`{insertion.name}`" for insertion in insertion_points if insertion.fixes))
    return (Fix(f"move {names} together", tuple(dict.fromkeys(edit for fix in best for edit in fix.edits))),)


def _finding(
    insertion: MovePlan, root: RootModule, mismatches: list[DeviceMismatch], joint_move: tuple[Fix, ...]
) -> Finding:
    extent = "never moved" if root.conditional_move is None else "moved on one branch only"
    is_unsure = all(mismatch.latent or is_one_of_several(mismatch.point, root) for mismatch in mismatches)
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if is_unsure else Severity.ERROR,
        insertion.call_frame.tree.path,
        insertion.call_frame.tree.span(insertion.node),
        f"`{insertion.name}` is {extent}, but is used with tensors on the accelerator",
        event_path(
            (root.allocated_at, "created", "the module is created on the CPU here"),
            (root.conditional_move, "moved", "the module is moved on this branch only"),
            *(
                (mismatch.point, "used", "its CPU weights are used with tensors on the accelerator here")
                for mismatch in mismatches[:2]
            ),
        ),
        (*insertion.fixes, *joint_move) if insertion.fixes else (),
        "" if insertion.fixes else "no scope in which it could be moved names both the module and a device",
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
    summary="A model, teacher, criterion or metric is never moved, but is used with tensors on the accelerator.",
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
