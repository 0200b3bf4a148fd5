"""## What it does
Checks for tensor moves whose result is discarded: `x.to(device)` as a statement, and loops that move only the loop
variable. Modules, and project classes whose `.to()` works in place, are not reported. Where no operation shows that the
tensor is needed on the accelerator, the finding is `latent`.

## Why is this bad?
`Module.to()` works in place, but `Tensor.to()` returns a new tensor. The original tensor stays on the CPU, and the
first operation with a tensor on the accelerator fails.

## Example
```python
import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 2).to(device)
x = torch.rand(8, 4)
x.to(device)
print(model(x))
```

## Use instead
```python
import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 2).to(device)
x = torch.rand(8, 4)
x = x.to(device)
print(model(x))
```

## Fix safety
Safe: the program already contains the move; the fix only assigns its result.

## References
- [Tensor.to](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.to.html)
- [huggingface/accelerate#2251](https://github.com/huggingface/accelerate/issues/2251)
- [daniilidis-group/neural_renderer PR#52](https://github.com/daniilidis-group/neural_renderer/pull/52)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.tensors._discarded_moves import SUBSCRIPTIONS, DiscardedMove
from devfix.analysis import Observations
from devfix.analysis.domain.values import Pointer, Tensor, TupleValue, Value
from devfix.analysis.observations import DeviceMismatch
from devfix.analysis.scopes import value_of
from devfix.analysis.stdlib.containers import ListObject
from devfix.fixes.event_path import event_path
from devfix.model import Edit, Finding, Fix, ReplaceExpression, ReplaceStatement, Severity
from devfix.rules.rule import Example, Rule, command_attributes
from devfix.syntax.tree import position, walk

__all__ = ["RULE"]


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per discarded move of a tensor that is later used on the accelerator."""
    moves = {move.number: move for move in observations.of(DiscardedMove)}
    uses: dict[int, list[DeviceMismatch]] = {}
    for mismatch in observations.mismatches:
        for operand in mismatch.cpu:
            for origin in operand.origins:
                if origin.kind == "dropped" and origin.site_id in moves:
                    uses.setdefault(origin.site_id, []).append(mismatch)
    for key, move in moves.items():
        if key in uses or _is_read_later(move):
            yield _finding(move, uses.get(key, []))


def _is_read_later(dropped: DiscardedMove) -> bool:
    """Return whether the function reads, after the move, the name that keeps the unmoved value."""
    if dropped.loop is not None or not isinstance(dropped.target, ast.Name):
        return False
    function, end = dropped.point.tree.function(dropped.stmt), position(dropped.stmt)
    later = [
        node
        for node in walk(function)
        if isinstance(node, ast.Name) and node.id == dropped.target.id and position(node) > end
    ]
    first = min(later, key=position, default=None)
    return first is not None and isinstance(first.ctx, ast.Load)


def _finding(dropped: DiscardedMove, mismatches: list[DeviceMismatch]) -> Finding:
    tree, target = dropped.point.tree, ast.unparse(dropped.target)
    edit = _assigned(dropped) if dropped.loop is None else _in_loop(dropped, dropped.loop)
    described = (
        "is moved, but the result is discarded"
        if dropped.loop is None
        else "is moved item by item, but the results are discarded"
    )
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if all(mismatch.latent for mismatch in mismatches) else Severity.ERROR,
        tree.path,
        tree.span(dropped.call),
        f"`{target}` {described}, so it stays on the CPU",
        event_path(
            (dropped.point, "moved", "the result of this move is discarded"),
            *((mismatch.point, "used", "used with tensors on the accelerator here") for mismatch in mismatches[:2]),
        ),
        (Fix(f"assign the result of the move to `{target}`", (edit,)),) if edit is not None else (),
        "" if edit is not None else "the container of the items cannot be reassigned in one statement",
    )


def _assigned(dropped: DiscardedMove) -> Edit:
    tree = dropped.point.tree
    code = f"{tree.source(dropped.target)} = {tree.source(dropped.call)}"
    return ReplaceStatement(tree.path, tree.span(dropped.stmt), (code,))


def _in_loop(dropped: DiscardedMove, loop: ast.For | ast.AsyncFor) -> Edit | None:
    """Return ``batch[k] = v.to(device)`` if the loop yields the key, else a comprehension that replaces the loop."""
    tree, key = dropped.point.tree, _key(loop)
    if key is not None:
        item = f"{tree.source(dropped.target)}[{key}]"
        if isinstance(dropped.stmt, ast.Assign):
            return ReplaceExpression(tree.path, tree.span(dropped.stmt.targets[0]), item)
        return ReplaceStatement(tree.path, tree.span(dropped.stmt), (f"{item} = {tree.source(dropped.call)}",))
    code = _comprehension(dropped, loop) if loop.body == [dropped.stmt] and not loop.orelse else None
    return ReplaceStatement(tree.path, tree.span(loop), (code,)) if code is not None else None


def _key(loop: ast.For | ast.AsyncFor) -> str | None:
    """Return the name of the key or index that the loop yields with each item."""
    target, call = loop.target, loop.iter
    if not (isinstance(target, ast.Tuple) and len(target.elts) == 2 and isinstance(call, ast.Call)):
        return None
    pairs = isinstance(call.func, ast.Attribute) and call.func.attr == "items"
    counted = isinstance(call.func, ast.Name) and call.func.id == "enumerate"
    first = target.elts[0]
    return first.id if (pairs or counted) and isinstance(first, ast.Name) and first.id != "_" else None


def _comprehension(dropped: DiscardedMove, loop: ast.For | ast.AsyncFor) -> str | None:
    tree = dropped.point.tree
    container, moved, item = dropped.target, tree.source(dropped.call), ast.unparse(loop.target)
    if isinstance(container, (ast.Tuple, ast.List)):
        trailer = moved.removeprefix(item)
        names = [tree.source(element) for element in container.elts]
        return f"{', '.join(names)} = {', '.join(name + trailer for name in names)}"
    text = tree.source(container)
    if isinstance(loop.iter, ast.Call):
        if not (isinstance(loop.iter.func, ast.Attribute) and loop.iter.func.attr == "values"):
            return None
        return f"{text} = {{k: {moved.replace(item, 'v', 1)} for k, v in {text}.items()}}"
    return f"{text} = [{moved} for {item} in {text}]" if _is_sequence(dropped) else None


def _is_sequence(dropped: DiscardedMove) -> bool:
    """Return whether the items are in a list or a tuple."""
    point = dropped.point
    value: Value | None = value_of(point, point.call_frame, dropped.target)
    if isinstance(value, Pointer):
        assert point.state is not None
        return isinstance(point.state.heap_object(value), ListObject)
    return isinstance(value, TupleValue) or (isinstance(value, Tensor) and value.maybe_container)


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
model = nn.Linear(4, 2).to(device)
criterion = nn.CrossEntropyLoss()
"""
_USE = "    criterion(model(x), y).backward()\n"

RULE = Rule(
    code="DEV103",
    name="move-not-assigned",
    summary="The result of a tensor's move is discarded, so the tensor stays on the CPU.",
    documentation=__doc__,
    detect=detect,
    subscriptions=SUBSCRIPTIONS,
    causes=("discarded-copy",),
    concerns="values",
    invalid=(
        Example(
            "two discarded moves",
            _SETUP + "for x, y in loader:\n    x.to(device)\n    y.to(device)\n" + _USE,
            _SETUP + "for x, y in loader:\n    x = x.to(device)\n    y = y.to(device)\n" + _USE,
        ),
        Example(
            "a loop over the items",
            _SETUP + "for batch in loader:\n    for t in batch:\n        t = t.to(device)\n    x, y = batch\n" + _USE,
            _SETUP + "for batch in loader:\n    batch = [t.to(device) for t in batch]\n    x, y = batch\n" + _USE,
        ),
    ),
    valid=(
        _SETUP + "model.to(device)\nfor x, y in loader:\n    x, y = x.to(device), y.to(device)\n" + _USE,
        _SETUP + "x, y = next(iter(loader))\nx.to(device)\nprint(x.mean(), y)\n",
        _SETUP + "for x, y in loader:\n    for t in (x, y):\n        t.data = t.data.to(device)\n    print(x, y)\n",
    ),
)
