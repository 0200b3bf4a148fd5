"""## What it does
Checks for optimizers that are constructed, or whose saved state is loaded, before the parameters reach their final
device or are replaced, if that fails or trains incorrectly; and for copies of parameters (averages, slow weights,
anchors) that are made before the move. If the order is harmless, it is reported as advice. A fused or capturable
optimizer whose state comes from a checkpoint that is mapped to the CPU is reported if the project's requirements accept
PyTorch 2.1 or older.

## Why is this bad?
`Module.to()` preserves the identity of the parameters, so Adam or SGD may be constructed before it. But Adagrad
allocates its state in the constructor, on the CPU; a fused or capturable optimizer requires its parameters to be on the
accelerator; `Optimizer.load_state_dict` copies state to the device of the parameters at that time; and a submodule that
is replaced later has parameters that the optimizer does not hold, so they are silently never trained. Before PyTorch
2.1, it left the `step` of a fused optimizer where the checkpoint was mapped, and the first step after resuming failed.

## Example
```python
import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 2)
optimizer = torch.optim.Adagrad(model.parameters())
model.to(device)
model(torch.rand(8, 4, device=device)).sum().backward()
optimizer.step()
```

## Use instead
```python
import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 2)
model.to(device)
optimizer = torch.optim.Adagrad(model.parameters())
model(torch.rand(8, 4, device=device)).sum().backward()
optimizer.step()
```

## Fix safety
Safe: the construction is moved together with the statements that depend on it (scheduler, restored state), and only if
no statement in between needs it.

## References
- [torch.optim](https://docs.pytorch.org/docs/stable/optim.html)
- [pytorch/pytorch#7844](https://github.com/pytorch/pytorch/issues/7844)
- [pytorch/pytorch#103256](https://github.com/pytorch/pytorch/issues/103256)
- [Lightning-AI/pytorch-lightning#554](https://github.com/Lightning-AI/pytorch-lightning/pull/554)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.optimizers._mapped_state import mapped_state_finding
from devfix.analysis import Observations
from devfix.analysis.domain.device_parsing import moves_to_cpu
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.observations import OptimizerHazard
from devfix.fixes.event_path import event_path
from devfix.fixes.insertion_point import all_live, enclosing, on_other_branches
from devfix.fixes.modules.parameter_copies import early_copies
from devfix.fixes.move_style import move_of
from devfix.fixes.reorder_after_move import constructed_after, model_names, moved_ahead
from devfix.fixes.value_scope import device_for_move
from devfix.model import Finding, Fix, InsertStatement, Severity, Where
from devfix.rules.rule import Example, Rule, command_attributes
from devfix.syntax.tree import text_of, walk

__all__ = ["RULE"]

_MESSAGES = {
    "eager-state": "`{name}` allocates its state on construction, before the parameters are moved to the accelerator",
    "fused": "a fused or capturable `{name}` is constructed before its parameters are moved to the accelerator",
    "state-loaded": "the state of `{name}` is loaded before the parameters are moved, so it stays on the CPU",
    "replaced": "`{name}` is constructed before a submodule is added or replaced: the new parameters are never trained",
    "copied": "`{name}` holds copies of parameters made before the parameters are moved to the accelerator",
    "harmless": "`{name}` is constructed before the model is moved; it works, but PyTorch recommends to move first",
}
_CONSTRUCTION_NOTES = {"copied": "the parameters are copied on the CPU here"}
_USE_NOTES = {"copied": "the copies are used with tensors on the accelerator here"}
_BY_SEVERITY = ("state-loaded", "eager-state", "replaced", "fused", "copied", "mapped", "harmless")


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per construction, for its most severe hazard."""
    grouped: dict[tuple[object, ...], OptimizerHazard] = {}
    for hazard in (*observations.hazards, *early_copies(observations)):
        if hazard.loaded is not None and on_other_branches(hazard.loaded, hazard.late):
            continue
        known = grouped.get(hazard.built.key)
        if known is None or _BY_SEVERITY.index(hazard.kind) < _BY_SEVERITY.index(known.kind):
            grouped[hazard.built.key] = hazard
    for hazard in grouped.values():
        if _is_made_anew(hazard):
            continue
        if hazard.kind == "mapped":
            yield mapped_state_finding(hazard, RULE.code, RULE.name)
        else:
            yield _finding(observations, hazard)


def _is_made_anew(hazard: OptimizerHazard) -> bool:
    """Return whether each step replaces the submodule, which no optimizer could train: a network that another makes."""
    if hazard.kind != "replaced":
        return False
    shared = zip(hazard.step.call_stack, hazard.late.call_stack, strict=False)
    same = [(step, late) for step, late in shared if step.activation is late.activation]
    if not same:
        return False
    step, late = same[-1]
    loops = enclosing(step.tree, step.stmt, (ast.For, ast.AsyncFor, ast.While))
    around = enclosing(late.tree, late.stmt, _SKIPPING)
    if not loops or around[:1] != loops[:1]:
        return False
    inner = hazard.late.call_stack[len(same) :]
    return not any(enclosing(frame.tree, frame.stmt, _SKIPPING) for frame in inner)


_SKIPPING = (ast.If, ast.Try, ast.For, ast.AsyncFor, ast.While)  # their bodies need not run


def _finding(observations: Observations, hazard: OptimizerHazard) -> Finding:
    fixes, reason = _fixes(observations, hazard)
    severity = Severity.ADVICE if hazard.kind == "harmless" else Severity.ERROR
    late = "a submodule is added or replaced here" if hazard.kind == "replaced" else "the parameters are moved here"
    return Finding(
        RULE.code,
        RULE.name,
        severity,
        hazard.built.tree.path,
        hazard.built.span,
        _MESSAGES[hazard.kind].format(name=hazard.optimizer.split(".")[-1]),
        event_path(
            (hazard.built, "built", _CONSTRUCTION_NOTES.get(hazard.kind, "the optimizer is constructed here")),
            (hazard.loaded, "loaded", "its state is loaded here") if hazard.loaded else (None, "", ""),
            (hazard.late, "replaced" if hazard.kind == "replaced" else "moved", late),
            (hazard.step, "used", _USE_NOTES.get(hazard.kind, "the optimizer steps here")),
        ),
        tuple(fixes),
        "" if fixes else reason,
    )


def _fixes(observations: Observations, hazard: OptimizerHazard) -> tuple[list[Fix], str]:
    if _comes_back(hazard.late, hazard.built):
        return [], "the module is moved to the CPU there first, and comes back"
    fix, reason = constructed_after(observations, hazard.built, hazard.late, replaced=hazard.kind == "replaced")
    fixes = [fix] if fix is not None else []
    if not fixes and hazard.kind == "state-loaded" and hazard.loaded is not None:
        fixes.extend(filter(None, [moved_ahead(hazard.loaded, hazard.late)]))
    if hazard.kind not in ("replaced", "copied"):
        fixes.extend(_earlier_move(observations, hazard))
    return fixes, reason


def _comes_back(late: ProgramPoint, built: ProgramPoint) -> bool:
    """Return whether a function moves a module to the CPU, for example to save it, and then back.

    What it moves before it builds the optimizer is no such move.
    """
    call, function = late.node, late.call_frame.activation.node
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or isinstance(function, ast.Module):
        return False
    receiver = text_of(call.func.value)
    first = built.span.line if built.call_frame.activation.node is function else 0
    earlier = (node for node in walk(function) if isinstance(node, ast.Call) and first < node.lineno < call.lineno)
    return any(moves_to_cpu(each) and text_of(each.func).rpartition(".")[0] == receiver for each in earlier)


def _earlier_move(observations: Observations, hazard: OptimizerHazard) -> Iterator[Fix]:
    """Yield a move of the model before the construction, if its scope names both the model and the device."""
    point = hazard.built
    state = point.state
    assert state is not None
    call = hazard.late.node
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
        return
    for call_frame in reversed(point.call_stack):
        names = _model_names(hazard, call_frame)
        device = device_for_move(observations, point, call_frame)
        if not names:
            continue
        if call.func.attr == "cuda":
            suffix = (
                call_frame.tree.source(call)[len(call_frame.tree.source(call.func.value)) :]
                if call_frame.tree is hazard.late.tree
                else ".cuda()"
            )
        elif device is not None:
            suffix = f".to({device})"
        else:
            continue
        code = f"{names[0]}{suffix}"
        move = move_of(hazard.late)
        if move is not None and move.guard is not None:
            if not all_live(point, call_frame, move.guard.test):
                continue
            code = f"if {move.point.tree.source(move.guard.test)}:\n    {code}"
        edit = InsertStatement(call_frame.tree.path, call_frame.tree.span(call_frame.stmt), Where.BEFORE, code)
        yield Fix("move the model before the optimizer", (edit,))
        return


def _model_names(hazard: OptimizerHazard, call_frame: CallFrame) -> list[str]:
    """Return the names of the modules that the construction mentions."""
    mentioned = {ast.unparse(node) for node in ast.walk(call_frame.stmt) if isinstance(node, (ast.Name, ast.Attribute))}
    return [name for name in sorted(model_names(hazard.built, call_frame)) if name in mentioned]


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2)
"""
_USE = """\
model(torch.randn(2, 4, device=device)).sum().backward()
optimizer.step()
"""

RULE = Rule(
    code="DEV401",
    name="optimizer-order",
    summary="An optimizer is constructed or restored before its parameters are on their final device.",
    documentation=__doc__,
    detect=detect,
    causes=(
        "optimizer-state-left-behind",
        "parameter-copied-before-move",
        "optimizer-built-too-early",
        "fused-optimizer-on-cpu",
        "foreach-optimizer-mismatch",
    ),
    error_families=("same-device", "fused", "foreach"),
    invalid=(
        Example(
            "state that the constructor allocates",
            _SETUP + "optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)\nmodel.to(device)\n" + _USE,
            _SETUP + "model.to(device)\noptimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)\n" + _USE,
        ),
    ),
    valid=(
        _SETUP + "optimizer = torch.optim.Adam(model.parameters())\nmodel.to(device)\n" + _USE,
        _SETUP + "model.to(device)\noptimizer = torch.optim.Adagrad(model.parameters())\n" + _USE,
    ),
)
