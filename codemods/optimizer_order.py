"""## What it does
Finds optimizers that are built, or get their saved state, before the parameters have their final place or identity,
where that breaks or trains the wrong thing. Where it is only untidy, it is reported as advice.

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

from codemods._ordering import common_block, dependents, independent, reach, touches
from codemods._placing import all_live, device_at, move_of
from codemods._rule import Example, Rule, command_attributes
from codemods._story import story
from devfix.flow import Facts
from devfix.flow.facts import OptimizerHazard
from devfix.flow.live import module_names
from devfix.flow.sites import Level
from devfix.flow.syntax import SourceTree
from devfix.model import Finding, InsertStatement, MoveStatements, Remedy, Severity, Where

__all__ = ["RULE"]

_MESSAGES = {
    "eager-state": "`{name}` makes its state in the constructor, before the parameters are moved to the accelerator",
    "fused": "a fused or capturable `{name}` is built before its parameters are moved to the accelerator",
    "state-loaded": "the state of `{name}` is loaded before the parameters are moved, and stays on the CPU",
    "replaced": "`{name}` is built before a submodule is replaced: the new parameters are never trained",
    "harmless": "`{name}` is built before the model is moved; PyTorch keeps the parameters, but advises against it",
}
_URGENCY = ("state-loaded", "eager-state", "replaced", "fused", "harmless")


def detect(facts: Facts) -> Iterator[Finding]:
    """One finding per construction: its most urgent hazard."""
    grouped: dict[tuple[object, ...], OptimizerHazard] = {}
    for hazard in facts.hazards:
        known = grouped.get(hazard.built.key)
        if known is None or _URGENCY.index(hazard.kind) < _URGENCY.index(known.kind):
            grouped[hazard.built.key] = hazard
    for hazard in grouped.values():
        yield _finding(facts, hazard)


def _finding(facts: Facts, hazard: OptimizerHazard) -> Finding:
    remedies, reason = _remedies(facts, hazard)
    severity = Severity.ADVICE if hazard.kind == "harmless" else Severity.ERROR
    late = "a submodule is replaced here" if hazard.kind == "replaced" else "the parameters are moved here"
    return Finding(
        RULE.code,
        RULE.name,
        severity,
        hazard.built.tree.path,
        hazard.built.span,
        _MESSAGES[hazard.kind].format(name=hazard.optimizer.split(".")[-1]),
        story(
            (hazard.built, "built", "the optimizer is built here"),
            (hazard.loaded, "loaded", "its state is loaded here") if hazard.loaded else (None, "", ""),
            (hazard.late, "replaced" if hazard.kind == "replaced" else "moved", late),
            (hazard.step, "used", "and it steps here"),
        ),
        tuple(remedies),
        "" if remedies else reason,
    )


def _remedies(facts: Facts, hazard: OptimizerHazard) -> tuple[list[Remedy], str]:
    reason = "construction and move are in functions that share no block"
    remedies: list[Remedy] = []
    for level, late in _shared_levels(hazard):
        remedy, why = _reordered(facts, hazard, level, late)
        if remedy is not None:
            remedies.append(remedy)
            break
        reason = why or reason
    if hazard.kind != "replaced":
        remedies.extend(_earlier_move(facts, hazard))
    return remedies, reason


def _shared_levels(hazard: OptimizerHazard) -> list[tuple[Level, Level]]:
    """Pairs of levels in the same activation, innermost first."""
    late = {id(level.frame): level for level in hazard.late.levels}
    return [(level, late[id(level.frame)]) for level in reversed(hazard.built.levels) if id(level.frame) in late]


def _reordered(facts: Facts, hazard: OptimizerHazard, level: Level, late: Level) -> tuple[Remedy | None, str]:
    tree = level.tree
    found = common_block(tree, level.stmt, late.stmt)
    if found is None:
        return None, "construction and move share no block"
    block, first, last = found
    if first >= last:
        return None, "construction and move are part of one statement"
    shared = _model_names(hazard, level)
    if hazard.kind == "replaced":
        first = _with_parameters(tree, block, first)
    last = _behind_moves(facts, hazard, level, block, first, last)
    moving, reason = dependents(tree, block, first, last, shared)
    if not moving:
        return None, reason
    title = f"build the optimizer behind line {block[last].end_lineno}"
    if any(hasattr(statement, "body") for statement in moving) and independent(tree, block, first, last, shared):
        moving = list(block[first:last])  # the same as moving that one line up: far less changes
        title = f"move line {block[last].lineno} ahead of the optimizer"
    edit = MoveStatements(tree.path, tuple(tree.span(statement) for statement in moving), tree.span(block[last]))
    return Remedy(title, (edit,)), ""


def _with_parameters(tree: SourceTree, block: list[ast.stmt], first: int) -> int:
    """The statement that collects the parameters for the construction, where that is one of its own."""
    for index in range(first - 1, -1, -1):
        if touches(reach(tree, block[index]).writes, reach(tree, block[first]).reads):
            names = {node.attr for node in ast.walk(block[index]) if isinstance(node, ast.Attribute)}
            return index if names & {"parameters", "named_parameters"} and not hasattr(block[index], "body") else first
    return first


def _behind_moves(
    facts: Facts, hazard: OptimizerHazard, level: Level, block: list[ast.stmt], first: int, last: int
) -> int:
    """After a replacement the model is usually moved: the optimizer belongs behind that, too."""
    tree = level.tree
    writes, reads = reach(tree, block[first]).writes, reach(tree, block[first]).reads
    moves = {id(inner.stmt) for site in facts.moves for inner in site.levels if inner.frame.node is level.frame.node}
    best = last
    for index in range(last + 1, len(block)):
        if touches(reach(tree, block[index]).reads, writes):
            break
        if any(id(node) in moves for node in ast.walk(block[index])) and touches(reads, _moved(block[index])):
            best = index
    return best


def _moved(statement: ast.stmt) -> set[str]:
    """What a statement calls ``.to`` or ``.cuda`` on."""
    calls = [node.func for node in ast.walk(statement) if isinstance(node, ast.Call)]
    return {ast.unparse(func.value) for func in calls if isinstance(func, ast.Attribute)}


def _model_names(hazard: OptimizerHazard, level: Level) -> set[str]:
    memory = hazard.built.memory
    assert memory is not None
    modules = {key for key, record in memory.records() if record.kind in ("module", "opaque")}
    return set(module_names(hazard.built, level, modules))


def _earlier_move(facts: Facts, hazard: OptimizerHazard) -> Iterator[Remedy]:
    """Move the model ahead of the construction, where both the model and the device have names there."""
    site = hazard.built
    memory = site.memory
    assert memory is not None
    call = hazard.late.node
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
        return
    for level in reversed(site.levels):
        held = _held_names(hazard, level)
        device = device_at(site, level, facts.preferred_device)
        if not held:
            continue
        if call.func.attr == "cuda":
            trailer = (
                level.tree.source(call)[len(level.tree.source(call.func.value)) :]
                if level.tree is hazard.late.tree
                else ".cuda()"
            )
        elif device is not None:
            trailer = f".to({device})"
        else:
            continue
        code = f"{held[0]}{trailer}"
        move = move_of(hazard.late)
        if move is not None and move.guard is not None:
            if not all_live(site, level, move.guard.test):
                continue
            code = f"if {move.site.tree.source(move.guard.test)}:\n    {code}"
        edit = InsertStatement(level.tree.path, level.tree.span(level.stmt), Where.BEFORE, code)
        yield Remedy("move the model ahead of the optimizer", (edit,))
        return


def _held_names(hazard: OptimizerHazard, level: Level) -> list[str]:
    """Names of modules whose parameters the construction mentions."""
    mentioned = {ast.unparse(node) for node in ast.walk(level.stmt) if isinstance(node, (ast.Name, ast.Attribute))}
    return [name for name in sorted(_model_names(hazard, level)) if name in mentioned]


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
