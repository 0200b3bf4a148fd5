"""## What it does
Checks for operations that certainly combine a CPU tensor with a tensor on the accelerator, and whose cause no other
rule identifies. Most of them are bugs in third-party packages.

## Why is this bad?
The operation fails with *Expected all tensors to be on the same device*. PyTorch's message does not say which line
created the tensor; the path of this finding does.

## Example
```python
import torch
from torch import nn

model = nn.Linear(4, 2)
x = torch.rand(8, 4, device="cuda")
before = next(model.parameters()).device
model.to(before)
print(model(x))
```

## Use instead
```python
import torch
from torch import nn

model = nn.Linear(4, 2)
x = torch.rand(8, 4, device="cuda")
model.to(x.device)
print(model(x))
```

## Fix safety
There is no automatic fix. devfix does not edit third-party packages: pin or upgrade the package, or move its inputs at
the call. In other code, the intended device is the author's decision.

## References
- [CUDA semantics](https://docs.pytorch.org/docs/stable/notes/cuda.html)
- [ostris/ai-toolkit#212](https://github.com/ostris/ai-toolkit/issues/212)
"""

from __future__ import annotations

from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.values import Pointer
from devfix.analysis.observations import DeviceMismatch, Operand
from devfix.fixes.devices.derived_devices import restores_device
from devfix.fixes.event_path import event_path
from devfix.fixes.modules.module_roots import is_made_by_program, root_module_of
from devfix.fixes.modules.structural_changes import structural_change
from devfix.fixes.tensors.misplaced_items import MisplacedItem, moved_siblings
from devfix.fixes.vendored_code import foreign_part
from devfix.model import Finding, Severity
from devfix.rules.rule import Rule, command_attributes

__all__ = ["RULE"]


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per origin that no other rule reports."""
    seen: set[object] = set()
    for mismatch in observations.mismatches:
        for operand in mismatch.cpu:
            cause = _cause(observations, mismatch, operand)
            if cause is None:
                continue
            origin, note = cause
            key = origin.key if origin is not None else mismatch.point.key
            if key not in seen:
                seen.add(key)
                yield _finding(mismatch, operand, origin, note)


def _cause(
    observations: Observations, mismatch: DeviceMismatch, operand: Operand
) -> tuple[ProgramPoint | None, str] | None:
    """Return the origin of the operand and a note on it; ``None`` if another rule reports it or nothing is certain."""
    if operand.module is not None:
        state = mismatch.point.state
        if state is None or structural_change(mismatch.point, operand.module) is not None:
            return None
        obj = state.heap_object(operand.module)
        root = root_module_of(observations, mismatch.point, operand.module)
        allocated_at = (
            root.allocated_at if root is not None else obj.allocated_at if obj.last_moved_at is None else None
        )
        if not is_made_by_program(state, operand.module):
            return None
        if allocated_at is None and obj.last_moved_at is not None and restores_device(obj.last_moved_at):
            return obj.last_moved_at, "the module is moved back to its earlier device here: the CPU"
        return (
            (allocated_at, "the module is created on the CPU here and never moved")
            if allocated_at is not None
            else None
        )
    if len(operand.origins) != 1 or not operand.is_certain:
        return None
    origin = operand.origins[0]
    if origin.kind == "made" and not moved_siblings(
        observations, MisplacedItem(origin.site_id, origin.path, (mismatch,), (operand.text,))
    ):
        return observations.sources[origin.site_id].point, "the tensor is created on the CPU here"
    if origin.kind in ("parameter", "buffer") and origin.site_id:
        return _cause(observations, mismatch, Operand(operand.text, module=Pointer(origin.site_id)))
    return None


def _finding(mismatch: DeviceMismatch, operand: Operand, origin: ProgramPoint | None, note: str) -> Finding:
    point = origin or mismatch.point
    package = foreign_part(mismatch.point.tree.path)
    reason = "no rule fixes this cause: create the value on the device of the other operands"
    if package is not None:
        reason = "the failing line is in a third-party package: pin or upgrade it, or move its inputs at the call"
    name = f"`{operand.text.lstrip('*')}`" if operand.text not in ("", "…") else "an operand"
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if mismatch.latent else Severity.ERROR,
        point.tree.path,
        point.span,
        f"{name} is on the CPU, but is used with tensors on the accelerator in `{mismatch.operation}`",
        event_path((origin, "created", note), (mismatch.point, "used", "used with tensors on the accelerator here")),
        (),
        reason,
    )


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
x = torch.ones(3, 4, device=device)
"""

RULE = Rule(
    code="DEV100",
    name="mixed-devices",
    summary="An operation combines CPU and accelerator tensors, and no other rule identifies the cause.",
    documentation=__doc__,
    detect=detect,
    fallback=True,
    fixable=False,
    valid=(
        _SETUP + "print(model(x) + torch.arange(2, device=x.device))\n",
        _SETUP + "print(model(x) * torch.tensor(0.5))\n",
        _SETUP + "print(model(x)[torch.tensor([0, 1])])\n",
        # reported, but not edited
        _SETUP
        + """
class Shift:
    def __init__(self):
        self.steps = torch.arange(2)

    def __call__(self, y):
        return y + self.steps


print(Shift()(model(x)))
""",
    ),
)
