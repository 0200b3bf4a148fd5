"""## What it does
Reports operations in which a value on the CPU certainly meets one on the accelerator, and no other rule names the
cause: mostly a fault inside a third-party package.

## Why is this bad?
The operation fails with *Expected all tensors to be on the same device*. PyTorch's message does not say where the value
was made; the path of this finding does.

## Example
```python
# site-packages/vendor/layers.py
def shift(x):
    return x + torch.arange(x.shape[1])
```

## Use instead
```python
# site-packages/vendor/layers.py, in a version that has it right
def shift(x):
    return x + torch.arange(x.shape[1], device=x.device)
```

## Fix safety
There is no automatic fix. In a third-party package there is nothing to edit: pin or upgrade it, or move its inputs at
the call. Elsewhere, where the value should live is the author's choice.

## References
- [CUDA semantics](https://docs.pytorch.org/docs/stable/notes/cuda.html)
- [ostris/ai-toolkit#212](https://github.com/ostris/ai-toolkit/issues/212)
"""

from __future__ import annotations

from collections.abc import Iterator

from devfix.analysis import Facts
from devfix.analysis.domain.location import Site
from devfix.analysis.domain.values import Ref
from devfix.analysis.observations import Meeting, Operand
from devfix.fixes.devices.derived_devices import puts_back
from devfix.fixes.event_path import story
from devfix.fixes.modules.module_roots import is_made_by_program, whole_of
from devfix.fixes.modules.structural_changes import structural_change
from devfix.fixes.tensors.misplaced_items import Culprit, made_siblings
from devfix.fixes.vendored_code import foreign_part
from devfix.model import Finding, Severity
from devfix.rules.rule import Rule, command_attributes

__all__ = ["RULE"]


def detect(facts: Facts) -> Iterator[Finding]:
    """One finding per origin that no other rule speaks of."""
    seen: set[object] = set()
    for meeting in facts.meetings:
        for operand in meeting.cpu:
            cause = _cause(facts, meeting, operand)
            if cause is None:
                continue
            origin, what = cause
            key = origin.key if origin is not None else meeting.site.key
            if key not in seen:
                seen.add(key)
                yield _finding(meeting, operand, origin, what)


def _cause(facts: Facts, meeting: Meeting, operand: Operand) -> tuple[Site | None, str] | None:
    """Where the value comes from, and in words; ``None`` where another rule names the cause or nothing is certain."""
    if operand.module is not None:
        memory = meeting.site.memory
        if memory is None or structural_change(meeting.site, operand.module) is not None:
            return None
        record = memory.record(operand.module)
        whole = whole_of(facts, meeting.site, operand.module)
        born = whole.born if whole is not None else record.born if record.moved is None else None
        if not is_made_by_program(memory, operand.module):
            return None
        if born is None and record.moved is not None and puts_back(record.moved):
            return record.moved, "this puts the module where it was: on the CPU"
        return (born, "this module is made on the CPU and never moved") if born is not None else None
    if len(operand.births) != 1 or not operand.sure:
        return None
    birth = operand.births[0]
    if birth.kind == "made" and not made_siblings(facts, Culprit(birth.key, birth.item, (meeting,), (operand.text,))):
        return facts.sources[birth.key].site, "this tensor is made on the CPU"
    if birth.kind in ("parameter", "buffer") and birth.key:
        return _cause(facts, meeting, Operand(operand.text, module=Ref(birth.key)))
    return None


def _finding(meeting: Meeting, operand: Operand, origin: Site | None, what: str) -> Finding:
    site = origin or meeting.site
    foreign = foreign_part(meeting.site.tree.path)
    reason = "no codemod names this cause: give the value the device of what it meets"
    if foreign is not None:
        reason = "the failing line belongs to a third-party package: pin or upgrade it, or move its inputs at the call"
    name = f"`{operand.text}`" if operand.text not in ("", "…") else "a value"
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if meeting.latent else Severity.ERROR,
        site.tree.path,
        site.span,
        f"{name} is on the CPU and meets values on the accelerator in `{meeting.consumer}`",
        story((origin, "created", what), (meeting.site, "used", "it meets values on the accelerator here")),
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
    summary="A value on the CPU meets one on the accelerator, and no other rule names the cause.",
    documentation=__doc__,
    detect=detect,
    fallback=True,
    valid=(
        _SETUP + "print(model(x) + torch.arange(2, device=x.device))\n",
        _SETUP + "print(model(x) * torch.tensor(0.5))\n",
        _SETUP + "print(model(x)[torch.tensor([0, 1])])\n",
        # reported, and left as it is
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
