"""## What it does
Checks for modules that are moved to the CPU temporarily, to be saved, exported, evaluated or to free memory, and are
then used with tensors on the accelerator because they are not moved back. Methods of a class that no program calls
are checked with all modules on the accelerator before the first call; `generate`, `__call__` and other methods that run
once per request are called twice. A use of a module is also reported if other methods of the class first bring the
module back from the CPU (`if self.vae.device == torch.device("cpu"):`), or if a statement that restores its placement
follows the same step elsewhere.

## Why is this bad?
`Module.cpu()` and `Module.to("cpu")` work in place: from then on every reference to the model sees it on the CPU. The
next training step fails with *Expected all tensors to be on the same device*, often an epoch later and in another file.

## Example
```python
import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 2).to(device)
for epoch in range(3):
    model(torch.rand(8, 4, device=device)).sum().backward()
    model.cpu()
    torch.save(model.state_dict(), "last.pt")
```

## Use instead
```python
import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 2).to(device)
for epoch in range(3):
    model(torch.rand(8, 4, device=device)).sum().backward()
    model.cpu()
    torch.save(model.state_dict(), "last.pt")
    model.to(device)
```

## Fix safety
Safe: both moves preserve the identity of the parameters, so the optimizer still holds them. If the file follows all
other calls of a function with a call that restores the device, the fix inserts the same call. A move that may run only
in the last iteration of a loop is not reported.

## References
- [Module.to](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.to)
- [Nerogar/OneTrainer#459](https://github.com/Nerogar/OneTrainer/issues/459)
- [ostris/ai-toolkit@01a3c8a9](https://github.com/ostris/ai-toolkit/commit/01a3c8a9)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.offloading._unguarded_uses import unguarded_findings
from devfix.analysis import Interpreter, Observations
from devfix.analysis.callers.restored_stages import UnrestoredStage
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.objects import Module
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import ACCELERATOR, CPU, Pointer
from devfix.analysis.observations import DeviceMismatch, Subscription
from devfix.analysis.observations.execution import ModuleMoved
from devfix.analysis.scopes import condition_of
from devfix.fixes.event_path import event_path
from devfix.fixes.insertion_point import enclosing
from devfix.fixes.module_weights import weight_devices
from devfix.fixes.modules.restore_device import OffloadedUse, has_hooks, restore_fixes, runs_in_last_iteration
from devfix.fixes.modules.structural_changes import weights_of
from devfix.model import Finding, Fix, InsertStatement, Severity, Where
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE", "MoveToCPU"]


@dataclass(frozen=True)
class MoveToCPU:
    """A move of a module that always goes to the CPU."""

    point: ProgramPoint


def _note_move(interp: Interpreter, moved: ModuleMoved) -> None:
    point = interp.heap_object(moved.module).last_moved_at
    if moved.devices == (CPU,) and point is not None:
        interp.observations.record(MoveToCPU(point))


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per move to the CPU that is never undone; moves that one edit undoes share a finding."""
    told: set[tuple[object, ...]] = set()
    for each in (observations, observations.offloading):
        for finding in _all_findings(each) if each is not None else ():
            if (place := (finding.path, finding.span)) not in told:
                told.add(place)
                yield finding


def _all_findings(observations: Observations) -> Iterator[Finding]:
    yield from _detect(observations)
    yield from map(_unrestored, observations.of(UnrestoredStage))
    yield from unguarded_findings(observations, RULE.code, RULE.name)


def _detect(observations: Observations) -> Iterator[Finding]:
    found: dict[tuple[object, ...], list[OffloadedUse]] = {}
    for offloaded_use in _offloaded_uses(observations):
        found.setdefault(offloaded_use.moved.key, []).append(offloaded_use)
    by_fix: dict[object, tuple[tuple[Fix, ...], list[OffloadedUse]]] = {}
    for key, offloaded_uses in found.items():
        if not runs_in_last_iteration(offloaded_uses[0]):
            restoring = tuple(restore_fixes(observations, offloaded_uses[0]))
            by_fix.setdefault(restoring[0].edits if restoring else key, (restoring, []))[1].extend(offloaded_uses)
    for restoring, offloaded_uses in by_fix.values():
        yield _finding(restoring, offloaded_uses)


def _offloaded_uses(observations: Observations) -> Iterator[OffloadedUse]:
    """Yield the uses on the accelerator of weights that an explicit move took to the CPU."""
    moves_to_cpu = {move.point for move in observations.of(MoveToCPU)}
    for mismatch in observations.mismatches:
        state = mismatch.point.state
        for operand in mismatch.cpu if state is not None else ():
            for part in weights_of(operand):
                assert state is not None
                moved = state.at(part.id).last_moved_at if state.has(part.id) else None
                if moved is None or moved not in moves_to_cpu or not isinstance(moved.node, ast.Call):
                    continue
                if _was_on_accelerator(part, state, moved.state) and not _may_be_unused(part, state, mismatch):
                    offloaded_use = OffloadedUse(moved, part, mismatch)
                    if not has_hooks(offloaded_use) and not _was_partly_on_cpu(offloaded_use):
                        yield offloaded_use


def _was_partly_on_cpu(offloaded_use: OffloadedUse) -> bool:
    """Return whether the move brought the parts of a module together on the CPU: that is where it belongs."""
    moved = offloaded_use.moved
    modules = [Pointer(each) for each in offloaded_use.module_ids if moved.state is not None and moved.state.has(each)]
    return any(CPU in weight_devices(moved, each) for each in modules)


def _may_be_unused(part: Pointer, state: State, mismatch: DeviceMismatch) -> bool:
    """Return whether any caller runs a larger module, whose code is not known and need not run the part."""
    if not (mismatch.latent and mismatch.opaque):
        return False
    running = {operand.module for operand in mismatch.accelerator if operand.module is not None}
    obj = state.at(part.id) if state.has(part.id) else None
    return isinstance(obj, Module) and not running.isdisjoint(obj.parents)


def _was_on_accelerator(part: Pointer, state: State, before: State | None) -> bool:
    """Return whether a module, or the one that it was found in later, was on the accelerator before the move."""
    seen: set[Pointer] = set()
    pending = [part]
    while before is not None and pending:
        module = pending.pop()
        if before.has(module.id):
            if ACCELERATOR in before.at(module.id).devices:
                return True
        elif module not in seen and isinstance(obj := state.at(module.id), Module):
            seen.add(module)
            pending.extend(obj.parents)
    return False


def _finding(found: tuple[Fix, ...], offloaded_uses: list[OffloadedUse]) -> Finding:
    first = offloaded_uses[0]
    names = list(dict.fromkeys(f"`{ast.unparse(offloaded_use.receiver)}`" for offloaded_use in offloaded_uses))
    described = " is moved to the CPU but not back, and is used with tensors on the accelerator"
    if len(names) > 1:
        described = " are moved to the CPU but not back, and are used with tensors on the accelerator"
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if all(map(_may_not_happen, offloaded_uses)) else Severity.ERROR,
        first.moved.tree.path,
        first.moved.span,
        ", ".join(names) + described,
        event_path(
            (first.moved, "moved", "moved to the CPU in place here"),
            *(
                (offloaded_use.mismatch.point, "used", "its CPU weights are used with tensors on the accelerator here")
                for offloaded_use in offloaded_uses[:2]
            ),
        ),
        found,
        "" if found else "no scope in which it could be moved back names both the module and the device",
    )


def _may_not_happen(use: OffloadedUse) -> bool:
    """Return whether no program is seen to run a use after the move: each depends on a condition of its own.

    Whoever caches the results of an encoder and sends it to the CPU asks later whether there is a cached result.
    """
    return use.mismatch.latent or (
        condition_of(use.moved) is not None
        and condition_of(use.mismatch.point) is not None
        and not _share_a_condition(use.moved, use.mismatch.point)
    )


def _share_a_condition(one: ProgramPoint, other: ProgramPoint) -> bool:
    """Return whether conditions with the same text are asked on the way to two program points."""
    first, second = (
        {ast.unparse(stmt.test) for stmt in enclosing(point.tree, point.stmt, (ast.If,)) if isinstance(stmt, ast.If)}
        for point in (one, other)
    )
    return not first.isdisjoint(second)


def _unrestored(found: UnrestoredStage) -> Finding:
    """Return the finding of a stage that may move a module, and beside which its placement is not restored.

    It is an error: the class itself moves the module to the CPU, and restores its placement beside the other calls.
    """
    tree = found.tree
    code, stage = tree.source(found.restore), tree.source(found.stage)

    others = {node.id for node in ast.walk(found.restore) if isinstance(node, ast.Name)} - {"self"}
    edit = InsertStatement(tree.path, tree.span(found.anchor), Where.AFTER, code)

    return Finding(
        RULE.code,
        RULE.name,
        Severity.ERROR,
        tree.path,
        tree.span(found.stage),
        f"`{found.module}` may be left on the CPU by `{stage}`, and is used without `{code}`",
        (
            tree.event("moved", found.restored, f"elsewhere `{code}` follows"),
            tree.event("moved", found.stage, "may move it here"),
            tree.event("missing", found.anchor, "its placement is not restored after this"),
            tree.event("used", found.use, "it is used here"),
        ),
        () if others else (Fix(f"restore the placement like in other places: `{code}`", (edit,)),),
        "the statement that restores it elsewhere uses names of another method" if others else "",
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
    summary="A module is moved to the CPU temporarily and not moved back.",
    documentation=__doc__,
    detect=detect,
    subscriptions=(Subscription(ModuleMoved, _note_move),),
    causes=("not-moved-back",),
    concerns="modules",
    invalid=(
        Example(
            "saved from the CPU in every epoch",
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
