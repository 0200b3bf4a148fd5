"""## What it does
Checks for operations that combine tensors on different accelerators in a program that uses several: the first half of
a model on `cuda:0`, the second half on `cuda:1`.

## Why is this bad?
PyTorch does not move tensors between accelerators implicitly: *Expected all tensors to be on the same device, but found
at least two devices, cuda:1 and cuda:0*.

## Example
```python
import torch
from torch import nn

encoder = nn.Linear(4, 8).to("cuda:0")
decoder = nn.Linear(8, 2).to("cuda:1")
x = encoder(torch.rand(3, 4, device="cuda:0"))
print(decoder(x))
```

## Use instead
```python
import torch
from torch import nn

encoder = nn.Linear(4, 8).to("cuda:0")
decoder = nn.Linear(8, 2).to("cuda:1")
x = encoder(torch.rand(3, 4, device="cuda:0"))
print(decoder(x.to("cuda:1")))
```

## Fix safety
Safe: the value is moved to the device of the module that takes it, or of the first tensor in the operation.

## References
- [Model parallelism](https://docs.pytorch.org/tutorials/intermediate/model_parallel_tutorial.html)
- [huggingface/transformers#22871](https://github.com/huggingface/transformers/pull/22871)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.values import ACCELERATOR, OTHER_ACCELERATOR, Device, Tensor, alternatives
from devfix.analysis.observations import DeviceMismatch, Operand
from devfix.analysis.scenarios import device_argument_of
from devfix.analysis.scopes import device_of, value_of, visible
from devfix.fixes.devices.model_parallel import is_model_parallel
from devfix.fixes.event_path import event_path
from devfix.fixes.insertion_point import all_live, find_expression
from devfix.fixes.replicas import has_replicas
from devfix.model import AppendCode, Finding, Fix, Severity
from devfix.rules.rule import Example, Rule, command_attributes
from devfix.syntax.tree import text_of

__all__ = ["RULE"]


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per operation on two accelerators; distributed programs are reported by DEV801."""
    scenario = observations.multi_accelerator
    if scenario is None or not is_model_parallel(observations):
        return
    seen: set[tuple[object, ...]] = set()
    for mismatch in scenario.mismatches:
        if mismatch.point.key not in seen:
            seen.add(mismatch.point.key)
            yield _finding(scenario, mismatch)


def _finding(observations: Observations, mismatch: DeviceMismatch) -> Finding:
    tree = mismatch.point.tree
    fixes = tuple(_fixes(observations, mismatch))
    misplaced, target = _operands(mismatch)
    text = misplaced.text if misplaced is not None else mismatch.operation
    return Finding(
        RULE.code,
        RULE.name,
        Severity.ERROR,
        tree.path,
        tree.span(mismatch.point.node),
        f"`{text}` is not on the same accelerator as the other operands of `{mismatch.operation}`",
        event_path(
            (_move_of(observations, mismatch, misplaced), "moved", "moved to one accelerator here"),
            (_move_of(observations, mismatch, target), "moved", "moved to another accelerator here"),
            (mismatch.point, "used", "used together here"),
        ),
        fixes,
        "" if fixes else "no expression for the accelerator is available here",
    )


def _operands(mismatch: DeviceMismatch) -> tuple[Operand | None, Operand | None]:
    """Return the operand to move and the operand with the target device: a module, or else the first operand."""
    operands = [(operand, side) for side in (mismatch.cpu, mismatch.accelerator) for operand in side]
    targets = [pair for pair in operands if pair[0].module is not None]
    node = mismatch.point.node
    if not targets:
        targets = sorted(operands, key=lambda pair: _position(node, pair[0].text))
    target, side = targets[0]
    misplaced = [operand for operand, other in operands if other is not side and operand.module is None]
    return (misplaced[0] if misplaced else None), target


def _position(node: ast.AST, text: str) -> tuple[int, int]:
    found = find_expression(node, text)
    return (found.lineno, found.col_offset) if found is not None else (1 << 30, 0)


def _fixes(observations: Observations, mismatch: DeviceMismatch) -> Iterator[Fix]:
    misplaced, target = _operands(mismatch)
    point = mismatch.point
    if misplaced is None or target is None or _is_written(point, misplaced.text):
        return
    node = find_expression(point.node, misplaced.text)
    if node is None:
        return
    for device in dict.fromkeys(_device_expressions(observations, mismatch, target)):
        edit = AppendCode(point.tree.path, point.tree.span(node), f".to({device})")
        yield Fix(f"move `{misplaced.text}` to `{device}`", (edit,))


def _is_written(point: ProgramPoint, text: str) -> bool:
    """Return whether the operation writes to the value in place: it would write to the moved copy instead."""
    node, statement = point.node, point.stmt
    if isinstance(statement, ast.AugAssign) and text_of(statement.target) == text:
        return True
    method = node.func if isinstance(node, ast.Call) else None
    return isinstance(method, ast.Attribute) and method.attr.endswith("_") and text_of(method.value) == text


def _device_expressions(observations: Observations, mismatch: DeviceMismatch, target: Operand) -> Iterator[str]:
    """Yield expressions for the accelerator: of the target operand, of the call that moved it, or of its weights."""
    point = mismatch.point
    if target.module is None:
        accelerator = ACCELERATOR if target in mismatch.accelerator else OTHER_ACCELERATOR
        yield from (f"{ast.unparse(node)}.device" for node in _tensors(point, target.text, accelerator))
    elif _is_loop_variable(point):
        yield from _weight_device(observations, point, target)
        return
    moved = _move_of(observations, mismatch, target)
    call = moved.node if moved is not None else None
    if moved is not None and isinstance(call, ast.Call):
        device_node = call.args[0] if text_of(call.func).endswith(".cuda") and call.args else device_argument_of(call)
        if device_node is not None and _is_same_device(moved, point, device_node):
            yield moved.tree.source(device_node)
    yield from _weight_device(observations, point, target)


def _is_loop_variable(point: ProgramPoint) -> bool:
    """Return whether the called module is a loop variable: other iterations may use other devices."""
    name = text_of(point.node.func) if isinstance(point.node, ast.Call) else ""
    loops = (node for node in point.tree.ancestors(point.node) if isinstance(node, (ast.For, ast.AsyncFor)))
    return any(isinstance(node, ast.Name) and node.id == name for loop in loops for node in ast.walk(loop.target))


def _tensors(point: ProgramPoint, text: str, device: Device) -> Iterator[ast.expr]:
    """Yield the names in an operand that are tensors on its accelerator, the operand itself first."""
    found = find_expression(point.node, text)
    for node in ast.walk(found) if found is not None else ():
        if isinstance(node, (ast.Name, ast.Attribute)):
            value = value_of(point, point.call_frame, node)
            options = alternatives(value) if value is not None else ()
            if options and all(
                isinstance(option, Tensor) and option.device == device and not option.maybe_container
                for option in options
            ):
                yield node


def _is_same_device(moved: ProgramPoint, point: ProgramPoint, device_node: ast.expr) -> bool:
    """Return whether an expression has the same device at both program points."""
    if isinstance(device_node, ast.Constant):
        return True
    if not all_live(point, point.call_frame, device_node):
        return False
    value, moved_value = value_of(point, point.call_frame, device_node), value_of(moved, moved.call_frame, device_node)
    if value is None or value != moved_value:
        return False
    return all(device_of(option) is not None for option in alternatives(value))


def _weight_device(observations: Observations, point: ProgramPoint, target: Operand) -> Iterator[str]:
    """Yield ``next(self.decoder.parameters()).device`` for the called module, which must not be part of a replica."""
    func = point.node.func if isinstance(point.node, ast.Call) else None
    if target.module is None or func is None or value_of(point, point.call_frame, func) != target.module:
        return
    root = text_of(func).split(".")[0]
    if root in visible(point, point.call_frame) and not (root == "self" and has_replicas(observations)):
        yield f"next({text_of(func)}.parameters()).device"


def _move_of(observations: Observations, mismatch: DeviceMismatch, operand: Operand | None) -> ProgramPoint | None:
    if operand is None:
        return None
    state = mismatch.point.state
    if operand.module is not None and state is not None:
        return state.heap_object(operand.module).last_moved_at
    for origin in operand.origins:
        if origin.kind == "moved":
            call = list(observations.device_assignments)[origin.site_id]
            return next(iter(observations.device_assignments[call].values())).point
    return None


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = """\
import torch
from torch import nn

encoder = nn.Linear(4, 8).to("cuda:0")
decoder = nn.Linear(8, 2).to("cuda:1")
x = torch.ones(3, 4).to("cuda:0")
"""
_CLASS = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, first, second):
        super().__init__()
        self.second = second
        self.encoder = nn.Linear(4, 8).to(first)
        self.decoder = nn.Linear(8, 2).to(self.second)

    def forward(self, x):
        return self.decoder(self.encoder(x){})


print(Net("cuda:0", "cuda:1")(torch.ones(3, 4).to("cuda:0")))
"""

RULE = Rule(
    code="DEV502",
    name="second-accelerator",
    summary="An operation combines tensors on two different accelerators.",
    documentation=__doc__,
    detect=detect,
    causes=("between-accelerators",),
    invalid=(
        Example(
            "the output of the first half",
            _SETUP + "print(decoder(encoder(x)))\n",
            _SETUP + 'print(decoder(encoder(x).to("cuda:1")))\n',
        ),
        Example("halves of a module", _CLASS.format(""), _CLASS.format(".to(self.second)")),
        Example(
            "targets on another device than the output",
            _SETUP
            + 'y = torch.zeros(3, 2).to("cuda:0")\nout = decoder(encoder(x).to("cuda:1"))\n'
            + "print(nn.functional.mse_loss(out, y))\n",
            _SETUP
            + 'y = torch.zeros(3, 2).to("cuda:0")\nout = decoder(encoder(x).to("cuda:1"))\n'
            + "print(nn.functional.mse_loss(out, y.to(out.device)))\n",
        ),
    ),
    valid=(
        _SETUP + 'print(decoder(encoder(x).to("cuda:1")))\n',
        _CLASS.format(".to(self.second)"),
        _SETUP + 'print(decoder(encoder(x).to("cuda:1")).to("cuda:0") + encoder(x)[:, :2])\n',
    ),
)
