"""## What it does
Checks for NumPy data that is moved to a device first and cast second: `.to(device).float()`. Enabled only by
`devfix port --to` with `mps`, `--select DEV8` or `--select DEV821`.

## Why is this bad?
NumPy computes in float64, which MPS does not have: *Cannot convert a MPS Tensor to float64 dtype as the MPS framework
doesn't support float64*. The program works with CUDA and on the CPU, so nobody notices. The move also copies twice as
many bytes.

## Example
```python
import numpy as np
import torch

device = torch.device("mps" if torch.backends.mps.is_available() else "cpu")
data = torch.from_numpy(np.random.rand(8, 4)).to(device).float()
print(data.sum())
```

## Use instead
```python
import numpy as np
import torch

device = torch.device("mps" if torch.backends.mps.is_available() else "cpu")
data = torch.from_numpy(np.random.rand(8, 4)).to(device, torch.float32)
print(data.sum())
```

## Fix safety
Safe: the value is rounded to the same dtype, on the other side of the copy. The rounding is that of IEEE 754 on both
sides. A cast in a later statement stays, and does nothing.

## References
- [MPS backend](https://docs.pytorch.org/docs/stable/notes/mps.html)
- [MPS has no float64](https://github.com/pytorch/pytorch/issues/122602)
- [tiatoolbox#1070](https://github.com/TissueImageAnalytics/tiatoolbox/issues/1070)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.portability._double_values import cast_of, is_from_numpy, moved_value
from devfix.analysis import Observations
from devfix.fixes.vendored_code import foreign_part
from devfix.model import Edit, Finding, Fix, ReplaceExpression, Severity
from devfix.rules.rule import Example, Rule, command_attributes
from devfix.syntax.tree import SourceTree, walk

__all__ = ["RULE", "is_cast"]


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per move of a file that comes before a cast."""
    tree = observations.trees[0]
    if foreign_part(tree.path) or "numpy" not in tree.text:
        return
    for node in tree.nodes:
        if isinstance(node, ast.expr) and (found := cast_of(tree, node)) is not None:
            value, dtype = found
            if (moved := moved_value(tree, value)) is not None and is_from_numpy(tree, moved):
                yield _finding(tree, value, _cast_with(tree, value, node, dtype))
        elif isinstance(node, ast.Assign):
            later = _cast_later(tree, node)
            if later is not None:
                yield _finding(tree, node.value, _cast_with(tree, node.value, node.value, later))


def is_cast(tree: SourceTree, move: ast.Call) -> bool:
    """Return whether the result of a move is cast to less than float64 next."""
    outer = tree.parents[move]
    if isinstance(outer, ast.Attribute) and isinstance(call := tree.parents[outer], ast.Call):
        return cast_of(tree, call) is not None
    return isinstance(outer, ast.Assign) and outer.value is move and _cast_later(tree, outer) is not None


def _cast_later(tree: SourceTree, assigned: ast.Assign) -> str | None:
    """Return the dtype to which the next statement that uses a moved name casts it; ``None`` if it does not."""
    target = assigned.targets[0]
    moved = moved_value(tree, assigned.value)
    if not isinstance(target, ast.Name) or len(assigned.targets) != 1 or moved is None:
        return None
    if isinstance(assigned.value, ast.Call) and getattr(assigned.value.func, "attr", "") == "cuda":
        return None
    if not is_from_numpy(tree, moved) and not _was_from_numpy(tree, assigned, moved):
        return None
    _, block, index = tree.block(assigned)
    for stmt in block[index + 1 :]:
        if any(isinstance(each, ast.Name) and each.id == target.id for each in walk(stmt)):
            if not isinstance(stmt, ast.Assign) or ast.unparse(stmt.targets[0]) != target.id:
                return None
            cast = cast_of(tree, stmt.value)
            is_same = cast is not None and isinstance(cast[0], ast.Name) and cast[0].id == target.id
            return cast[1] if cast is not None and is_same else None
    return None


def _was_from_numpy(tree: SourceTree, assigned: ast.Assign, moved: ast.expr) -> bool:
    """Return whether ``x = x.to(device)`` moves what the statement before made of an array."""
    if not isinstance(moved, ast.Name):
        return False
    _, block, index = tree.block(assigned)
    for stmt in reversed(block[:index]):
        if isinstance(stmt, ast.Assign) and ast.unparse(stmt.targets[0]) == moved.id:
            return is_from_numpy(tree, stmt.value)
        if any(isinstance(each, ast.Name) and each.id == moved.id for each in walk(stmt)):
            return False
    return False


def _cast_with(tree: SourceTree, move: ast.expr, whole: ast.expr, dtype: str) -> Edit:
    """Return the edit that lets the move cast."""
    assert isinstance(move, ast.Call)
    assert isinstance(move.func, ast.Attribute)
    if move.func.attr == "cuda":  # has no dtype: x.float().cuda()
        value, dot, called = tree.source(move).rpartition(".cuda")
        cast = tree.source(whole).removeprefix(tree.source(move))
        return ReplaceExpression(tree.path, tree.span(whole), f"{value}{cast}{dot}{called}")
    device, *others = [*(tree.source(each) for each in move.args), *_keywords(tree, move)]
    code = f"{tree.source(move.func)}({', '.join([device, dtype, *others])})"
    return ReplaceExpression(tree.path, tree.span(whole), code)


def _keywords(tree: SourceTree, call: ast.Call) -> list[str]:
    return [f"{each.arg}={tree.source(each.value)}" for each in call.keywords]


def _finding(tree: SourceTree, move: ast.expr, edit: Edit) -> Finding:
    return Finding(
        RULE.code,
        RULE.name,
        Severity.ADVICE,
        tree.path,
        tree.span(move),
        "NumPy data is moved to the device before it is cast from float64",
        (tree.event("moved", move, "moved here"),),
        (Fix("cast with the move", (edit,)),),
    )


__getattr__, __dir__ = command_attributes(__name__)

_SETUP = "import numpy as np\nimport torch\n\ndevice = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"

RULE = Rule(
    code="DEV821",
    name="double-before-cast",
    summary="NumPy data is moved to a device before it is cast from float64.",
    documentation=__doc__,
    detect=detect,
    error_families=(),
    default=False,
    invalid=(
        Example(
            "in one expression",
            _SETUP + "x = torch.from_numpy(np.random.rand(3)).to(device).float()\n",
            _SETUP + "x = torch.from_numpy(np.random.rand(3)).to(device, torch.float32)\n",
        ),
        Example(
            "in two statements",
            _SETUP
            + "x = torch.from_numpy(np.zeros(3))\nx = x.to(device, non_blocking=True)\nx = x.float()\nprint(x)\n",
            _SETUP + "x = torch.from_numpy(np.zeros(3))\nx = x.to(device, torch.float32, non_blocking=True)\n"
            "x = x.float()\nprint(x)\n",
        ),
    ),
    valid=(
        _SETUP + "x = torch.from_numpy(np.random.rand(3)).float().to(device)\n",
        _SETUP + "x = torch.rand(3).to(device).float()\n",
        _SETUP + "x = torch.from_numpy(np.random.rand(3)).to(device, torch.float32)\nprint(x.float())\n",
        _SETUP + "x = torch.from_numpy(np.zeros(3)).to(device)\nprint(x.sum())\nx = x.float()\n",
    ),
)
