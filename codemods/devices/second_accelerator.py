"""## What it does
Finds values of one accelerator that meet those of another, in a program that puts its parts on several: the first
half of a model on `cuda:0`, the second on `cuda:1`.

## Why is this bad?
PyTorch moves nothing between accelerators by itself: *Expected all tensors to be on the same device, but found at
least two devices, cuda:1 and cuda:0*.

## Example
```python
def forward(self, x):
    x = self.encoder(x.to("cuda:0"))
    return self.decoder(x)
```

## Use instead
```python
def forward(self, x):
    x = self.encoder(x.to("cuda:0"))
    return self.decoder(x.to("cuda:1"))
```

## Fix safety
Safe: the value goes where the module is that it is given to, or where the tensor is that it meets first.

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
from devfix.analysis.scenarios import device_words
from devfix.analysis.scopes import device_of, value_of, visible
from devfix.fixes.devices.model_parallel import in_halves
from devfix.fixes.event_path import event_path
from devfix.fixes.insertion_point import all_live, find_expression
from devfix.model import AppendCode, Finding, Fix, Severity
from devfix.rules.rule import Example, Rule, command_attributes
from devfix.syntax.tree import text_of

__all__ = ["RULE"]


def detect(observations: Observations) -> Iterator[Finding]:
    """One finding for each operation in which two accelerators meet; distributed programs are another rule's matter."""
    two = observations.multi_accelerator
    if two is None or not in_halves(observations):
        return
    seen: set[tuple[object, ...]] = set()
    for mismatch in two.mismatches:
        if mismatch.point.key not in seen:
            seen.add(mismatch.point.key)
            yield _finding(two, mismatch)


def _finding(two: Observations, mismatch: DeviceMismatch) -> Finding:
    tree = mismatch.point.tree
    fixes = tuple(_fixes(two, mismatch))
    stray, home = _sides(mismatch)
    shown = stray.text if stray is not None else mismatch.operation
    return Finding(
        RULE.code,
        RULE.name,
        Severity.ERROR,
        tree.path,
        tree.span(mismatch.point.node),
        f"`{shown}` is on another accelerator than what it meets in `{mismatch.operation}`",
        event_path(
            (_moved(two, mismatch, stray), "moved", "this goes to one accelerator"),
            (_moved(two, mismatch, home), "moved", "this goes to another"),
            (mismatch.point, "used", "they meet here"),
        ),
        fixes,
        "" if fixes else "nothing here names the accelerator",
    )


def _sides(mismatch: DeviceMismatch) -> tuple[Operand | None, Operand | None]:
    """What is to move, and what it meets: tensors go to modules, later operands to the first."""
    both = [(operand, side) for side in (mismatch.cpu, mismatch.accelerator) for operand in side]
    homes = [pair for pair in both if pair[0].module is not None]
    node = mismatch.point.node
    if not homes:
        homes = sorted(both, key=lambda pair: _position(node, pair[0].text))
    home, side = homes[0]
    strays = [operand for operand, other in both if other is not side and operand.module is None]
    return (strays[0] if strays else None), home


def _position(node: ast.AST, text: str) -> tuple[int, int]:
    found = find_expression(node, text)
    return (found.lineno, found.col_offset) if found is not None else (1 << 30, 0)


def _fixes(two: Observations, mismatch: DeviceMismatch) -> Iterator[Fix]:
    stray, home = _sides(mismatch)
    point = mismatch.point
    if stray is None or home is None or _written(point, stray.text):
        return
    node = find_expression(point.node, stray.text)
    if node is None:
        return
    for words in dict.fromkeys(_words(two, mismatch, home)):
        edit = AppendCode(point.tree.path, point.tree.span(node), f".to({words})")
        yield Fix(f"move `{stray.text}` to `{words}`", (edit,))


def _written(point: ProgramPoint, text: str) -> bool:
    """Whether an operation writes into the value: a copy of it would be written instead."""
    node, statement = point.node, point.stmt
    if isinstance(statement, ast.AugAssign) and text_of(statement.target) == text:
        return True
    method = node.func if isinstance(node, ast.Call) else None
    return isinstance(method, ast.Attribute) and method.attr.endswith("_") and text_of(method.value) == text


def _words(two: Observations, mismatch: DeviceMismatch, home: Operand) -> Iterator[str]:
    """What names the accelerator: the other side itself, what sent it there, or the weights that it meets."""
    point = mismatch.point
    if home.module is None:
        there = ACCELERATOR if home in mismatch.accelerator else OTHER_ACCELERATOR
        yield from (f"{ast.unparse(node)}.device" for node in _tensors(point, home.text, there))
    elif _one_of_several(point):
        yield from _of_weights(point, home)
        return
    moved = _moved(two, mismatch, home)
    call = moved.node if moved is not None else None
    if moved is not None and isinstance(call, ast.Call):
        words = call.args[0] if text_of(call.func).endswith(".cuda") and call.args else device_words(call)
        if words is not None and _same_there(moved, point, words):
            yield moved.tree.source(words)
    yield from _of_weights(point, home)


def _one_of_several(point: ProgramPoint) -> bool:
    """Whether the module that is called is the variable of a loop: the others may be elsewhere."""
    name = text_of(point.node.func) if isinstance(point.node, ast.Call) else ""
    loops = (node for node in point.tree.ancestors(point.node) if isinstance(node, (ast.For, ast.AsyncFor)))
    return any(isinstance(node, ast.Name) and node.id == name for loop in loops for node in ast.walk(loop.target))


def _tensors(point: ProgramPoint, text: str, device: Device) -> Iterator[ast.expr]:
    """The names in an operand that are tensors of its accelerator, the operand itself first."""
    found = find_expression(point.node, text)
    for node in ast.walk(found) if found is not None else ():
        if isinstance(node, (ast.Name, ast.Attribute)):
            value = value_of(point, point.call_frame, node)
            held = alternatives(value) if value is not None else ()
            if held and all(
                isinstance(one, Tensor) and one.device == device and not one.maybe_container for one in held
            ):
                yield node


def _same_there(moved: ProgramPoint, point: ProgramPoint, words: ast.expr) -> bool:
    """Whether an expression means the same device at another moment."""
    if isinstance(words, ast.Constant):
        return True
    if not all_live(point, point.call_frame, words):
        return False
    here, there = value_of(point, point.call_frame, words), value_of(moved, moved.call_frame, words)
    if here is None or here != there:
        return False
    return all(device_of(option) is not None for option in alternatives(here))


def _of_weights(point: ProgramPoint, home: Operand) -> Iterator[str]:
    """``next(self.decoder.parameters()).device``, for the module that is called."""
    func = point.node.func if isinstance(point.node, ast.Call) else None
    if home.module is None or func is None or value_of(point, point.call_frame, func) != home.module:
        return
    if text_of(func).split(".")[0] in visible(point, point.call_frame):
        yield f"next({text_of(func)}.parameters()).device"


def _moved(two: Observations, mismatch: DeviceMismatch, operand: Operand | None) -> ProgramPoint | None:
    if operand is None:
        return None
    memory = mismatch.point.state
    if operand.module is not None and memory is not None:
        return memory.heap_object(operand.module).last_moved_at
    for origin in operand.origins:
        if origin.kind == "moved":
            call = list(two.device_assignments)[origin.site_id]
            return next(iter(two.device_assignments[call].values())).point
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
    summary="A value of one accelerator meets one of another.",
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
            "targets beside the output",
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
