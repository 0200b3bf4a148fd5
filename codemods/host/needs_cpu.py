"""## What it does
Checks for accelerator tensors that NumPy, SciPy, scikit-learn or Matplotlib read: `x.numpy()`, `np.argmax(x)`,
`plt.plot(losses)` if `losses` holds tensors, `accuracy_score(targets, predictions)`. Printing, formatting, `float(x)`
and `x.item()` copy to the CPU implicitly and are not reported.

## Why is this bad?
NumPy arrays are in CPU memory. Converting a tensor on another device fails with *can't convert cuda:0 device type
tensor to numpy*, often at the end of an epoch, when a list of losses is averaged.

## Example
```python
import numpy as np
import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 1).to(device)
losses = []
with torch.no_grad():
    for x in torch.rand(3, 8, 4):
        losses.append(model(x.to(device)).mean())
print(np.mean(losses))
```

## Use instead
```python
import numpy as np
import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 1).to(device)
losses = []
with torch.no_grad():
    for x in torch.rand(3, 8, 4):
        losses.append(model(x.to(device)).mean().item())
print(np.mean(losses))
```

## Fix safety
Safe: `.cpu()` returns a tensor that is already on the CPU unchanged. Where the result of an elementwise function meets
the accelerator again, PyTorch's function is used: `torch.exp(x)` for `np.exp(x)`. `.item()` is used only for
one-element tensors in a list whose elements are read only as numbers. `.detach()` is added if the tensor requires
grad. Where the program trains with the result, `np.sum(losses)` becomes `sum(losses)`, which keeps the gradient; other
functions are then reported and not edited.

## References
- [Tensor.numpy](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html)
- [swz30/MPRNet#128](https://github.com/swz30/MPRNet/issues/128)
- [WongKinYiu/yolor#113](https://github.com/WongKinYiu/yolor/issues/113)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.host._array_functions import SUBSCRIPTION, calls_that_mix, in_pytorch
from codemods.host._list_items import SUBSCRIPTIONS, ListAppend, appends_to, uses_of_items
from codemods.host._trained_results import added_in_python, is_trained
from devfix.analysis import Observations
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.observations import HostAccess
from devfix.fixes.event_path import event_path
from devfix.fixes.host_transfer import as_number, each_to_cpu, to_cpu
from devfix.fixes.optional_values import may_be_number
from devfix.model import Edit, Finding, Fix, Severity
from devfix.rules.rule import Example, Rule, command_attributes
from devfix.syntax.bindings import parameters
from devfix.syntax.tree import names_in

__all__ = ["RULE"]

# Functions of a single number, which also accept a float.
_SCALAR_FUNCTIONS = frozenset("exp isnan isfinite isinf log log2 log10 sqrt float32 abs".split())
_CONVERTS = (0, 4)  # before, ``Tensor.__array__`` returned ``self.cpu().numpy()``: torch/tensor.py in PyTorch 0.3
_NO_EXPRESSION = "no expression in the call yields only the tensors: move them to the CPU before the call"
_MAY_BE_NUMBER = "on another path, it is a number or nothing, which has no `.cpu()`"
_TRAINED = "the program trains with the result, so it needs a function of PyTorch, which keeps the gradient"


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per list of tensors, and one per expression outside such a list."""
    lists: dict[frozenset[int], list[HostAccess]] = {}
    mixing = calls_that_mix(observations)
    converts_itself = observations.release is not None and observations.release < _CONVERTS
    for use in observations.host_accesses.values():
        if use.kind not in ("numpy", "array") or (use.kind == "array" and converts_itself):
            continue
        if use.point.node in mixing:
            yield _mixing_finding(observations, use)
            continue
        if is_trained(use):
            yield _trained_finding(use)
            continue
        keys = _list_ids(observations, use)
        if keys:
            lists.setdefault(keys, []).append(use)
        else:
            yield _expression_finding(use)
    for keys, uses in lists.items():
        yield _list_finding(observations, keys, uses)


def _list_ids(observations: Observations, use: HostAccess) -> frozenset[int]:
    """Return the ids of the lists that hold all tensors read; empty if some tensor comes from elsewhere."""
    if not use.container:
        return frozenset()
    keys = [{origin.site_id for origin in tensor.origins if origin.kind == "kept"} for tensor in use.tensors]
    return frozenset(key for found in keys for key in found) if all(keys) else frozenset()


def _expression_finding(use: HostAccess) -> Finding:
    tree, reason = use.point.tree, _NO_EXPRESSION
    edit: Edit | None = None
    if use.may_be_number or _is_number_by_default(use):
        reason = _MAY_BE_NUMBER
    elif use.container:
        edit = _elements_to_cpu(use)
    elif _is_number(use):
        edit = as_number(tree, use.expression)
    else:
        edit = to_cpu(tree, use.expression, use.tensors)
    fixes = [Fix(f"move `{_shown(use)}` to the CPU", (edit,))] if edit is not None else []
    steps = [(use.point, "used", f"`{_reader(use)}` reads it here")]
    return _finding(use, use.point, use.expression, fixes, steps, reason)


def _is_number_by_default(use: HostAccess) -> bool:
    """Return whether a value is made from an argument that is a number if it is left out."""
    function = use.point.call_frame.activation.node
    return any(may_be_number(function, name) for name in names_in(use.expression))


def _mixing_finding(observations: Observations, use: HostAccess) -> Finding:
    """Return the finding on a function whose result meets the accelerator again: a copy on the CPU would not help."""
    edit = in_pytorch(observations, use.point)
    fixes = [Fix(f"use PyTorch's function in place of `{_reader(use)}`", (edit,))] if edit is not None else []
    return _finding(use, use.point, use.expression, fixes, [(use.point, "used", f"`{_reader(use)}` reads it here")])


def _trained_finding(use: HostAccess) -> Finding:
    """Return the finding on a result that the program trains with: a copy on the CPU would cut the gradient."""
    edit = added_in_python(use)
    fixes = [Fix(f"use Python's `sum` in place of `{_reader(use)}`", (edit,))] if edit is not None else []
    steps = [(use.point, "used", f"`{_reader(use)}` reads it here")]
    return _finding(use, use.point, use.expression, fixes, steps, _TRAINED)


def _is_number(use: HostAccess) -> bool:
    scalars = all(tensor.is_single_number for tensor in use.tensors)
    return scalars and use.kind == "array" and use.operation.split(".")[-1] in _SCALAR_FUNCTIONS


def _elements_to_cpu(use: HostAccess) -> Edit | None:
    if isinstance(use.expression, ast.GeneratorExp):
        return to_cpu(use.point.tree, use.expression.elt, use.tensors)
    if isinstance(use.expression, (ast.Name, ast.Attribute, ast.Subscript)):
        return each_to_cpu(use.point, use.expression, use.tensors)
    return None


def _list_finding(observations: Observations, keys: frozenset[int], uses: list[HostAccess]) -> Finding:
    appends, operations = appends_to(observations, keys), uses_of_items(observations, keys)
    steps = [(append.point, "created", "a tensor on the accelerator is stored here") for append in appends]
    steps += [(use.point, "used", f"`{_reader(use)}` reads it here") for use in uses]
    if any(map(_is_argument, appends)):
        return _finding(uses[0], appends[0].point, appends[0].expression, [], steps, _MAY_BE_NUMBER)
    fixes = []
    at_uses = [_elements_to_cpu(use) for use in uses]
    if not operations & {"operand", "backward"}:
        numbers = not operations and all(append.tensor.is_single_number for append in appends)
        edits = dict.fromkeys(_store_edit(append, operations) for append in appends)
        fixes.append(
            Fix("store numbers instead of tensors" if numbers else "store the tensors on the CPU", tuple(edits))
        )
    if None not in at_uses and not any(use.may_be_number for use in uses):
        fixes.append(
            Fix("move the tensors to the CPU at the call", tuple(edit for edit in at_uses if edit is not None))
        )
    return _finding(uses[0], appends[0].point, appends[0].expression, fixes, steps)


def _is_argument(append: ListAppend) -> bool:
    """Return whether a function stores what it gets: other callers may pass numbers."""
    function = append.point.call_frame.activation.node
    return isinstance(append.expression, ast.Name) and append.expression.id in parameters(function)


def _store_edit(append: ListAppend, operations: set[str]) -> Edit:
    tree = append.point.tree
    if append.tensor.is_single_number and not operations:
        return as_number(tree, append.expression)
    return to_cpu(tree, append.expression, (append.tensor,))


def _finding(
    use: HostAccess,
    point: ProgramPoint,
    node: ast.expr,
    fixes: list[Fix],
    steps: list[tuple[ProgramPoint, str, str]],
    reason: str = _NO_EXPRESSION,
) -> Finding:
    verb = "holds tensors" if use.container else "is"
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if use.latent else Severity.ERROR,
        point.tree.path,
        point.tree.span(node),
        f"`{_shown(use)}` {verb} on the accelerator, but `{_reader(use)}` reads CPU memory only",
        event_path(*steps),
        tuple(fixes),
        "" if fixes else reason,
    )


def _shown(use: HostAccess) -> str:
    return ast.unparse(use.expression)


def _reader(use: HostAccess) -> str:
    node = use.point.node
    return ast.unparse(node.func) if isinstance(node, ast.Call) and use.kind != "numpy" else use.operation


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = """\
import numpy as np
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
criterion = nn.CrossEntropyLoss()
x = torch.randn(8, 4).to(device)
y = torch.zeros(8, dtype=torch.long).to(device)
"""
_LOOP = """\
losses = []
with torch.no_grad():
    for _ in range(3):
        loss = criterion(model(x), y)
"""

RULE = Rule(
    code="DEV601",
    name="needs-cpu",
    summary="NumPy, Matplotlib or scikit-learn reads a tensor on the accelerator.",
    documentation=__doc__,
    detect=detect,
    subscriptions=(*SUBSCRIPTIONS, SUBSCRIPTION),
    causes=("numpy-reads-accelerator",),
    error_families=("numpy", "cpu-only", "split"),
    invalid=(
        Example(
            "predictions as an array",
            _SETUP + "predictions = model(x).argmax(1).numpy()\n",
            _SETUP + "predictions = model(x).argmax(1).cpu().numpy()\n",
        ),
        Example(
            "an elementwise function",
            _SETUP + "print(np.maximum(model(x).detach(), 0) * torch.ones_like(x)[:, :2])\n",
            _SETUP + "print(torch.clamp(model(x).detach(), min=0) * torch.ones_like(x)[:, :2])\n",
        ),
        Example(
            "a list of losses",
            _SETUP + _LOOP + "        losses.append(loss)\nprint(np.mean(losses))\n",
            _SETUP + _LOOP + "        losses.append(loss.item())\nprint(np.mean(losses))\n",
        ),
    ),
    valid=(
        _SETUP + "print(model(x).detach().cpu().numpy(), f'{criterion(model(x), y):.3f}')\n",
        _SETUP + _LOOP + "        losses.append(loss)\nprint(torch.stack(losses).mean().item(), float(sum(losses)))\n",
        _SETUP + "print(np.mean([float(criterion(model(x), y)) for _ in range(3)]))\n",
    ),
)
