"""## What it does
Checks for hard-coded devices that conflict with the device that the program chooses.

- `.cuda()`, `"cuda"` or `torch.cuda.FloatTensor` in a program that falls back to the CPU, and `"cuda"` that it gives to
  a function;
- `cuda` in a program that uses `cuda:1`;
- `"cuda:1"` for a value that is used with tensors on the chosen device;
- `DataParallel(model, device_ids=[1])` for a model on the first accelerator;
- `.to("cpu")` or `device="cpu"` for a value that is used with tensors on the accelerator;
- `self.device` in a method that works on another device of its object, `device = self._execution_device`;
- `.cuda()` or `"cuda"` in a function that nothing calls, and that has a parameter `device`.

A conflicting default value of a function or class is also reported.

## Why is this bad?
The program supports machines without an accelerator, or another accelerator, but fails there: *Torch not compiled with
CUDA enabled*, *found at least two devices*. A program has one device, declared once. A program that always calls
`.cuda()` is consistent and not reported. A program that asks PyTorch for an accelerator in a few places, and calls
`.cuda()` in more than eight others for each, was written for accelerators, and is not reported either. What a run
without an accelerator comes to only after another failure, which has no fix, is `latent`.

## Example
```python
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
print(model(torch.rand(8, 4).cuda()))
```

## Use instead
```python
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
print(model(torch.rand(8, 4).to(device)))
```

## Fix safety
Safe: on a machine with an accelerator the value is moved to the same device as before. Where an option chooses the CPU,
a move under its condition is unsafe if another hard-coded device of the program has no fix: values would lie on both. A
line under a condition that may test for the accelerator, or in a `try`, is not reported. An index is not reported in a
program that defines which accelerator `cuda` means (`torch.cuda.set_device`, `CUDA_VISIBLE_DEVICES`). `torch.cuda.amp`
is not reported, because without an accelerator it only warns. In the methods of a module
that `DataParallel` replicates, the edit names the device of a tensor there: each replica has its own.

## References
- [Device-agnostic code](https://docs.pytorch.org/docs/stable/notes/cuda.html#device-agnostic-code)
- [thunlp/OpenPrompt#160](https://github.com/thunlp/OpenPrompt/issues/160)
- [WongKinYiu/yolov7#530](https://github.com/WongKinYiu/yolov7/pull/530)
- [huggingface/diffusers#13336](https://github.com/huggingface/diffusers/pull/13336)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from codemods.devices._working_device import ignored_device_findings, mixed_device_findings
from devfix.analysis import Observations
from devfix.analysis.domain.values import ACCELERATOR, CPU
from devfix.analysis.observations import Subscription
from devfix.analysis.observations.execution import ModuleWrapped
from devfix.fixes.devices.accelerator_programs import is_chosen_by_option
from devfix.fixes.devices.conflict_fixes import (
    UNDER_CONDITION,
    asked_by_several,
    conflict_edits,
    move_index,
    move_operand_at_use,
)
from devfix.fixes.devices.conflicting_devices import DeviceConflict, device_conflicts, is_load
from devfix.fixes.devices.device_ids import ParallelWrap, conflicting_device_ids, first_index, note_wrap
from devfix.fixes.devices.earlier_failures import comes_first, unnamed_failures
from devfix.fixes.event_path import event_path
from devfix.model import Applicability, Edit, Finding, Fix, Severity
from devfix.rules.rule import Example, Rule, command_attributes
from devfix.syntax.tree import outline

__all__ = ["RULE"]


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per call whose device conflicts with the device that the program chooses."""
    conflicts = [conflict for conflict in device_conflicts(observations) if not is_load(conflict.call)]
    findings = [_finding(observations, conflict) for conflict in conflicts]
    found = list(zip(conflicts, findings, strict=True))
    found = list(_without_later(observations, found))
    is_partial = any(conflict.device == ACCELERATOR and not finding.fixes for conflict, finding in found)
    for conflict, finding in found:
        if is_partial and is_chosen_by_option(conflict.choice):
            finding = replace(finding, fixes=tuple(map(_unsafe, finding.fixes)))
        yield finding
    for wrapped, edit in conflicting_device_ids(observations):
        yield _device_ids_finding(wrapped, edit)
    yield from mixed_device_findings(observations, RULE.code, RULE.name)
    yield from ignored_device_findings(observations, RULE.code, RULE.name)


def _without_later(
    observations: Observations, found: list[tuple[DeviceConflict, Finding]]
) -> Iterator[tuple[DeviceConflict, Finding]]:
    """Yield conflicts with their findings; latent are those that no run without an accelerator comes to."""
    named = {conflict.call for conflict, finding in found if finding.severity is Severity.ERROR}
    failures = unnamed_failures(observations, named)
    for conflict, finding in found:
        is_shown_there = conflict.device == ACCELERATOR and conflict.mismatch is None
        if is_shown_there and any(comes_first(each, conflict.scenario_point) for each in failures):
            finding = replace(finding, severity=Severity.LATENT)
        yield conflict, finding


def _unsafe(fix: Fix) -> Fix:
    """Return a fix that must go with others: where an option chooses the CPU, values would lie on both devices."""
    return replace(fix, applicability=Applicability.UNSAFE) if fix.title == UNDER_CONDITION else fix


def _device_ids_finding(wrapped: ParallelWrap, edit: Edit | None) -> Finding:
    tree, ids = wrapped.point.tree, ast.unparse(wrapped.ids)
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if wrapped.latent else Severity.ERROR,
        tree.path,
        tree.span(wrapped.ids),
        f"`device_ids={ids}` does not match the accelerator that the module is on",
        event_path(
            (wrapped.moved, "moved", "the module is moved to the first accelerator"),
            (wrapped.point, "used", f"wrapped for accelerator {first_index(wrapped)} here"),
        ),
        () if edit is None else (Fix("pass the accelerator that the module is on", (edit,)),),
        "" if edit is not None else "the intended accelerators are ambiguous",
    )


def _fixes(observations: Observations, conflict: DeviceConflict) -> list[Fix]:
    """Return the fixes of a conflict, best first."""
    fixes = [Fix(title, edits) for title, edits in conflict_edits(observations, conflict)]
    use_site_move = move_operand_at_use(observations, conflict)
    if use_site_move is not None:
        at_use = Fix("move it at its use", (use_site_move,))
        fixes.insert(0 if _is_parked_elsewhere(conflict) else len(fixes), at_use)
    index_move = move_index(conflict)
    if index_move is not None:
        fixes.insert(0, Fix("move the index to the CPU", (index_move,)))
    return fixes


def _finding(observations: Observations, conflict: DeviceConflict) -> Finding:
    asked = asked_by_several(conflict)
    fixes = [] if asked else _fixes(observations, conflict)
    tree, place = conflict.place
    code = ast.unparse(place)
    code = code if len(code) <= 40 else outline(conflict.call)
    described = (
        "the CPU, but the value is used with tensors on the accelerator"
        if conflict.device == CPU
        else "a device that conflicts with the one the program chooses"
    )
    failing = conflict.mismatch.point if conflict.mismatch is not None else None
    return Finding(
        RULE.code,
        RULE.name,
        _severity(conflict, is_shown=bool(fixes) or conflict.mismatch is not None),
        tree.path,
        tree.span(place),
        f"`{code}` hard-codes {described}",
        event_path(
            (conflict.choice, "moved", "the program chooses its device here"),
            (conflict.point, "created" if conflict.device == CPU else "moved", "placed on a hard-coded device here"),
            (failing, "used", "used with tensors on the other device here"),
        ),
        tuple(fixes),
        "" if fixes else _reason(asked),
    )


def _reason(asked: str) -> str:
    if asked:
        return f"other calls of `{asked}` ask for the CPU, too: either all of them change, or the model stays there"
    return "no expression for the program's device is available here"


def _severity(conflict: DeviceConflict, *, is_shown: bool) -> Severity:
    """Return the level: what is taken off the accelerator in one function and used in another is mostly taken back."""
    return Severity.ERROR if conflict.certain and is_shown and not _is_parked_elsewhere(conflict) else Severity.LATENT


def _is_parked_elsewhere(conflict: DeviceConflict) -> bool:
    """Return whether the value is moved off the accelerator in one function and used in another."""
    return conflict.was_on_accelerator and conflict.is_used_elsewhere


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
x = torch.ones(3, 4)
"""

_FLAG = """\
import torch
from torch import nn

use_cuda = torch.cuda.is_available()
model = nn.Linear(4, 2)
if use_cuda:
    model.cuda()
x = torch.ones(3, 4)
"""

RULE = Rule(
    code="DEV501",
    name="contradicting-device",
    summary="A hard-coded device conflicts with the device that the program chooses.",
    documentation=__doc__,
    detect=detect,
    subscriptions=(Subscription(ModuleWrapped, note_wrap),),
    causes=("moved-to-other-device", "created-on-literal-device", "missing-accelerator", "missing-device-index"),
    error_families=("same-device", "absent", "ordinal"),
    invalid=(
        Example(
            "an input that requires an accelerator",
            _SETUP + "print(model(x.cuda()))\n",
            _SETUP + "print(model(x.to(device)))\n",
        ),
        Example(
            "created on another device than the model",
            _SETUP + 'noise = torch.zeros(3, 4, device="cuda")\nprint(model(noise))\n',
            _SETUP + "noise = torch.zeros(3, 4, device=device)\nprint(model(noise))\n",
        ),
        Example(
            "under the same condition",
            _FLAG + "x = x.cuda()\nprint(model(x))\n",
            _FLAG + "if use_cuda:\n    x = x.cuda()\nprint(model(x))\n",
        ),
        Example(
            "a function that ignores its device",
            "import torch\n\n\ndef double(x, device):\n    return x.cuda() * torch.tensor(2.0, device=device)\n",
            "import torch\n\n\ndef double(x, device):\n    return x.to(device) * torch.tensor(2.0, device=device)\n",
        ),
        Example(
            "an input on the CPU of a model on the accelerator",
            _SETUP + 'x = x.to("cpu")\nprint(model(x))\n',
            _SETUP + "x = x.to(device)\nprint(model(x))\n",
        ),
    ),
    valid=(
        _SETUP + "print(model(x.to(device)).cpu().numpy)\n",
        _SETUP + "if torch.cuda.is_available():\n    x = x.cuda()\nprint(model(x))\n",
        _SETUP + 'if device.type == "cuda":\n    x = x.cuda()\nprint(model(x))\n',
        _FLAG + "print(model(x.cuda() if use_cuda else x))\n",
        "import torch\nfrom torch import nn\n\nmodel = nn.Linear(4, 2).cuda()\nprint(model(torch.ones(3, 4).cuda()))\n",
    ),
)
