"""## What it does
Finds optimizers that are built, or get their saved state, before the parameters have their final place or identity,
where that breaks or trains the wrong thing, and copies of parameters (averages, slow weights, anchors) that are made
before the move. Where the order is only untidy, it is reported as advice.

## Why is this bad?
`Module.to()` keeps the identity of parameters, so Adam or SGD may be built before it. But Adagrad makes its state in
the constructor, on the CPU; a fused or capturable optimizer expects its parameters on the accelerator;
`Optimizer.load_state_dict` sends state to where the parameters are at that moment; and a submodule that is replaced
later has parameters that the optimizer has never seen: they are not trained, and nothing says so.

## Example
```python
optimizer = torch.optim.Adagrad(model.parameters())
model.to(device)
```

## Use instead
```python
model.to(device)
optimizer = torch.optim.Adagrad(model.parameters())
```

## Fix safety
Safe: the construction moves with everything that depends on it (scheduler, restored state), and only where nothing in
between needs it.

## References
- [torch.optim](https://docs.pytorch.org/docs/stable/optim.html)
- [pytorch/pytorch#7844](https://github.com/pytorch/pytorch/issues/7844)
- [Lightning-AI/pytorch-lightning#554](https://github.com/Lightning-AI/pytorch-lightning/pull/554)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame
from devfix.analysis.observations import OptimizerHazard
from devfix.fixes.event_path import event_path
from devfix.fixes.insertion_point import all_live, device_at, move_of
from devfix.fixes.modules.parameter_copies import copied_early
from devfix.fixes.reorder_after_move import built_behind, model_names, moved_ahead
from devfix.model import Finding, Fix, InsertStatement, Severity, Where
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]

_MESSAGES = {
    "eager-state": "`{name}` makes its state in the constructor, before the parameters are moved to the accelerator",
    "fused": "a fused or capturable `{name}` is built before its parameters are moved to the accelerator",
    "state-loaded": "the state of `{name}` is loaded before the parameters are moved, and stays on the CPU",
    "replaced": "`{name}` is built before a submodule is replaced: the new parameters are never trained",
    "copied": "`{name}` holds copies of parameters that are made before these are moved to the accelerator",
    "harmless": "`{name}` is built before the model is moved; PyTorch keeps the parameters, but advises against it",
}
_BUILT = {"copied": "the parameters are copied on the CPU here"}
_USED = {"copied": "the copies meet values on the accelerator here"}
_URGENCY = ("state-loaded", "eager-state", "replaced", "fused", "copied", "harmless")


def detect(observations: Observations) -> Iterator[Finding]:
    """One finding per construction: its most urgent hazard."""
    grouped: dict[tuple[object, ...], OptimizerHazard] = {}
    for hazard in (*observations.hazards, *copied_early(observations)):
        known = grouped.get(hazard.built.key)
        if known is None or _URGENCY.index(hazard.kind) < _URGENCY.index(known.kind):
            grouped[hazard.built.key] = hazard
    for hazard in grouped.values():
        yield _finding(observations, hazard)


def _finding(observations: Observations, hazard: OptimizerHazard) -> Finding:
    fixes, reason = _fixes(observations, hazard)
    severity = Severity.ADVICE if hazard.kind == "harmless" else Severity.ERROR
    late = "a submodule is replaced here" if hazard.kind == "replaced" else "the parameters are moved here"
    return Finding(
        RULE.code,
        RULE.name,
        severity,
        hazard.built.tree.path,
        hazard.built.span,
        _MESSAGES[hazard.kind].format(name=hazard.optimizer.split(".")[-1]),
        event_path(
            (hazard.built, "built", _BUILT.get(hazard.kind, "the optimizer is built here")),
            (hazard.loaded, "loaded", "its state is loaded here") if hazard.loaded else (None, "", ""),
            (hazard.late, "replaced" if hazard.kind == "replaced" else "moved", late),
            (hazard.step, "used", _USED.get(hazard.kind, "and it steps here")),
        ),
        tuple(fixes),
        "" if fixes else reason,
    )


def _fixes(observations: Observations, hazard: OptimizerHazard) -> tuple[list[Fix], str]:
    fix, reason = built_behind(observations, hazard.built, hazard.late, replaced=hazard.kind == "replaced")
    fixes = [fix] if fix is not None else []
    if not fixes and hazard.kind == "state-loaded" and hazard.loaded is not None:
        fixes.extend(filter(None, [moved_ahead(hazard.loaded, hazard.late)]))
    if hazard.kind not in ("replaced", "copied"):
        fixes.extend(_earlier_move(observations, hazard))
    return fixes, reason


def _earlier_move(observations: Observations, hazard: OptimizerHazard) -> Iterator[Fix]:
    """Move the model ahead of the construction, where both the model and the device have names there."""
    point = hazard.built
    memory = point.state
    assert memory is not None
    call = hazard.late.node
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
        return
    for call_frame in reversed(point.call_stack):
        held = _held_names(hazard, call_frame)
        device = device_at(point, call_frame, observations.preferred_device)
        if not held:
            continue
        if call.func.attr == "cuda":
            trailer = (
                call_frame.tree.source(call)[len(call_frame.tree.source(call.func.value)) :]
                if call_frame.tree is hazard.late.tree
                else ".cuda()"
            )
        elif device is not None:
            trailer = f".to({device})"
        else:
            continue
        code = f"{held[0]}{trailer}"
        move = move_of(hazard.late)
        if move is not None and move.guard is not None:
            if not all_live(point, call_frame, move.guard.test):
                continue
            code = f"if {move.point.tree.source(move.guard.test)}:\n    {code}"
        edit = InsertStatement(call_frame.tree.path, call_frame.tree.span(call_frame.stmt), Where.BEFORE, code)
        yield Fix("move the model ahead of the optimizer", (edit,))
        return


def _held_names(hazard: OptimizerHazard, call_frame: CallFrame) -> list[str]:
    """Names of modules whose parameters the construction mentions."""
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
    summary="An optimizer is built or restored before its parameters are where they will be trained.",
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
            "state that is made in the constructor",
            _SETUP + "optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)\nmodel.to(device)\n" + _USE,
            _SETUP + "model.to(device)\noptimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)\n" + _USE,
        ),
    ),
    valid=(
        _SETUP + "optimizer = torch.optim.Adam(model.parameters())\nmodel.to(device)\n" + _USE,
        _SETUP + "model.to(device)\noptimizer = torch.optim.Adagrad(model.parameters())\n" + _USE,
    ),
)
