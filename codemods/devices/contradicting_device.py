"""## What it does
Finds lines that hard-code a device beside the one that the program chooses: `.cuda()`, `"cuda"`,
`torch.cuda.FloatTensor` where the program runs on the CPU if there is no accelerator, `cuda` where it works on
`cuda:1`, `"cuda:1"` where what goes there meets the chosen device, `DataParallel(model, device_ids=[1])` of a model on
the first accelerator, and `.to("cpu")` or `device="cpu"` of what meets the accelerator. A default of a function or
class that says another device counts as well.

## Why is this bad?
The program says that it can do without an accelerator, or on another one, and then fails there: *Torch not compiled
with CUDA enabled*, *found at least two devices*. A program has one device, declared once. A program that always says
`.cuda()` has chosen, too, and is left alone.

## Example
```python
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Net().to(device)
output = model(images.cuda())
```

## Use instead
```python
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Net().to(device)
output = model(images.to(device))
```

## Fix safety
Safe: with an accelerator the value goes where it went. Lines that stand under a condition which may ask for the
accelerator, or in a `try`, are left alone, and so is a program that says which accelerator `cuda` means
(`torch.cuda.set_device`, `CUDA_VISIBLE_DEVICES`), for its index. `torch.cuda.amp` does nothing without an accelerator,
and warns: it is not reported.

## References
- [Device-agnostic code](https://docs.pytorch.org/docs/stable/notes/cuda.html#device-agnostic-code)
- [thunlp/OpenPrompt#160](https://github.com/thunlp/OpenPrompt/issues/160)
- [WongKinYiu/yolov7#530](https://github.com/WongKinYiu/yolov7/pull/530)
- [huggingface/diffusers#13336](https://github.com/huggingface/diffusers/pull/13336)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.values import CPU
from devfix.analysis.move_observations import Wrapped
from devfix.fixes.devices.conflict_fixes import edits_for, placed_again
from devfix.fixes.devices.conflicting_devices import Contradiction, contradictions, loads
from devfix.fixes.devices.device_ids import first_index, foreign_ids
from devfix.fixes.event_path import event_path
from devfix.model import Edit, Finding, Fix, Severity
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]


def detect(observations: Observations) -> Iterator[Finding]:
    """One finding for each call that goes somewhere else than the program's own device."""
    for one in contradictions(observations):
        if not loads(one.call):
            yield _finding(observations, one)
    for wrapped, edit in foreign_ids(observations):
        yield _wrapped(wrapped, edit)


def _wrapped(wrapped: Wrapped, edit: Edit | None) -> Finding:
    tree, ids = wrapped.point.tree, ast.unparse(wrapped.ids)
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if wrapped.latent else Severity.ERROR,
        tree.path,
        tree.span(wrapped.ids),
        f"`device_ids={ids}` names another accelerator than the one that the module is on",
        event_path(
            (wrapped.moved, "moved", "the module goes to the first accelerator"),
            (wrapped.point, "used", f"and is wrapped for accelerator {first_index(wrapped)}"),
        ),
        () if edit is None else (Fix("name the accelerator that the module is on", (edit,)),),
        "" if edit is not None else "which accelerators are meant is the author's to say",
    )


def _finding(observations: Observations, one: Contradiction) -> Finding:
    fixes = [Fix(title, edits) for title, edits in edits_for(observations, one)]
    again = placed_again(observations, one)
    if again is not None:
        at_use = Fix("move it where it is used", (again,))
        fixes.insert(0 if _far_away(one) else len(fixes), at_use)
    shown = ast.unparse(one.call)
    shown = shown if len(shown) <= 40 else f"{ast.unparse(one.call.func)[-30:]}(...)"
    what = (
        "the CPU beside what lives on the accelerator"
        if one.device == CPU
        else "a device beside the one that is chosen"
    )
    failing = one.mismatch.point if one.mismatch is not None else None
    return Finding(
        RULE.code,
        RULE.name,
        Severity.ERROR if one.certain and (fixes or one.mismatch is not None) else Severity.LATENT,
        one.point.tree.path,
        one.point.tree.span(one.call),
        f"`{shown}` hard-codes {what}",
        event_path(
            (one.choice, "moved", "the program's own choice of a device"),
            (one.point, "created" if one.device == CPU else "moved", "this goes to a device of its own"),
            (failing, "used", "and meets the other here"),
        ),
        tuple(fixes),
        "" if fixes else "nothing names the program's device here",
    )


def _far_away(one: Contradiction) -> bool:
    """Whether the value is parked on the CPU, away from the accelerator, in one function and used in another."""
    assert one.mismatch is not None
    return one.parked and one.mismatch.point.call_frame.activation.node is not one.point.call_frame.activation.node


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
    summary="A line hard-codes another device than the one that the program chooses.",
    documentation=__doc__,
    detect=detect,
    causes=("moved-to-other-device", "created-on-literal-device", "missing-accelerator", "missing-device-index"),
    error_families=("same-device", "absent", "ordinal"),
    invalid=(
        Example(
            "an input that insists on an accelerator",
            _SETUP + "print(model(x.cuda()))\n",
            _SETUP + "print(model(x.to(device)))\n",
        ),
        Example(
            "made beside the model",
            _SETUP + 'noise = torch.zeros(3, 4, device="cuda")\nprint(model(noise))\n',
            _SETUP + "noise = torch.zeros(3, 4, device=device)\nprint(model(noise))\n",
        ),
        Example(
            "under the same condition",
            _FLAG + "x = x.cuda()\nprint(model(x))\n",
            _FLAG + "if use_cuda:\n    x = x.cuda()\nprint(model(x))\n",
        ),
        Example(
            "the CPU, beside a model on the accelerator",
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
