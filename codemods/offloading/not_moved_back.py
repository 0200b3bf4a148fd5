"""## What it does
Finds modules that are sent to the CPU for a while, to be saved, exported, evaluated or to make room, and then meet
values on the accelerator because nothing brings them back.

## Why is this bad?
`Module.cpu()` and `Module.to("cpu")` work in place: the model itself lies on the CPU from then on, for everybody who
holds it. The next step of the training fails with *Expected all tensors to be on the same device*, often an epoch later
and in another file.

## Example
```python
for epoch in range(epochs):
    train(model, loader, device)
    model.cpu()
    torch.save(model.state_dict(), "last.pt")
```

## Use instead
```python
for epoch in range(epochs):
    train(model, loader, device)
    model.cpu()
    torch.save(model.state_dict(), "last.pt")
    model.to(device)
```

## Fix safety
Safe: the parameters keep their identity on the way there and back, so the optimizer goes on with them. Where all other
calls of a function in the file are followed by a call that restores the placement, that call is written. A move that
may only run in the last round of a loop is left alone.

## References
- [Module.to](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.to)
- [Nerogar/OneTrainer#459](https://github.com/Nerogar/OneTrainer/issues/459)
- [ostris/ai-toolkit@01a3c8a9](https://github.com/ostris/ai-toolkit/commit/01a3c8a9)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.values import ACCELERATOR
from devfix.fixes.event_path import event_path
from devfix.fixes.modules.restore_device import Absence, fixes, runs_last
from devfix.fixes.modules.structural_changes import weights_of
from devfix.model import Finding, Fix, Severity
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]


def detect(observations: Observations) -> Iterator[Finding]:
    """One finding for each move to the CPU that is never undone; for several that one edit undoes, one."""
    found: dict[tuple[object, ...], list[Absence]] = {}
    for absence in _absences(observations):
        found.setdefault(absence.moved.key, []).append(absence)
    together: dict[object, tuple[tuple[Fix, ...], list[Absence]]] = {}
    for key, absences in found.items():
        if not runs_last(absences[0]):
            back = tuple(fixes(observations, absences[0]))
            together.setdefault(back[0].edits if back else key, (back, []))[1].extend(absences)
    for back, absences in together.values():
        yield _finding(back, absences)


def _absences(observations: Observations) -> Iterator[Absence]:
    """Weights that a move by hand took from the accelerator, where they are met."""
    for mismatch in observations.mismatches:
        memory = mismatch.point.state
        for operand in mismatch.cpu if memory is not None else ():
            for part in weights_of(operand):
                assert memory is not None
                moved = memory.at(part.id).last_moved_at if memory.has(part.id) else None
                if moved is None or moved not in observations.moves_to_cpu or not isinstance(moved.node, ast.Call):
                    continue
                before = moved.state
                if before is not None and before.has(part.id) and ACCELERATOR in before.at(part.id).devices:
                    yield Absence(moved, part, mismatch)


def _finding(found: tuple[Fix, ...], absences: list[Absence]) -> Finding:
    first = absences[0]
    names = list(dict.fromkeys(f"`{ast.unparse(absence.receiver)}`" for absence in absences))
    described = " is sent to the CPU, is not brought back, and meets values on the accelerator"
    if len(names) > 1:
        described = " are sent to the CPU, are not brought back, and meet values on the accelerator"
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if all(absence.mismatch.latent for absence in absences) else Severity.ERROR,
        first.moved.tree.path,
        first.moved.span,
        ", ".join(names) + described,
        event_path(
            (first.moved, "moved", "it goes to the CPU here, in place"),
            *(
                (absence.mismatch.point, "used", "its weights meet values on the accelerator here")
                for absence in absences[:2]
            ),
        ),
        found,
        "" if found else "no name for the module and the device is in reach where it could be brought back",
    )


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    loss = model(torch.randn(8, 4).to(device)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

RULE = Rule(
    code="DEV701",
    name="not-moved-back",
    summary="A module is sent to the CPU for a while and not brought back.",
    documentation=__doc__,
    detect=detect,
    causes=("not-moved-back",),
    concerns="modules",
    invalid=(
        Example(
            "saved from the CPU, every epoch",
            _SETUP + '    model.cpu()\n    torch.save(model.state_dict(), "last.pt")\n',
            _SETUP + '    model.cpu()\n    torch.save(model.state_dict(), "last.pt")\n    model.to(device)\n',
        ),
    ),
    valid=(
        _SETUP + 'model.cpu()\ntorch.save(model.state_dict(), "last.pt")\n',
        _SETUP + '    torch.save({k: v.cpu() for k, v in model.state_dict().items()}, "last.pt")\n',
        _SETUP + '    if epoch == 2:\n        model.cpu()\n        torch.save(model.state_dict(), "last.pt")\n',
        _SETUP + '    model.cpu()\n    torch.save(model.state_dict(), "last.pt")\n    model.to(device)\n',
    ),
)
