"""## What it does
Finds tensors on the accelerator that NumPy, SciPy, scikit-learn or Matplotlib read: `x.numpy()`, `np.argmax(x)`,
`plt.plot(losses)` where `losses` holds tensors, `accuracy_score(targets, predictions)`. Printing, formatting,
`float(x)` and `x.item()` copy by themselves and are left alone.

## Why is this bad?
NumPy reads the CPU's memory. It refuses a tensor of another device with *can't convert cuda:0 device type tensor to
numpy*, often at the end of an epoch, when the losses of a whole list are averaged.

## Example
```python
with torch.no_grad():
    for x, y in loader:
        loss = criterion(model(x.to(device)), y.to(device))
        losses.append(loss)
print(np.mean(losses))
```

## Use instead
```python
with torch.no_grad():
    for x, y in loader:
        loss = criterion(model(x.to(device)), y.to(device))
        losses.append(loss.item())
print(np.mean(losses))
```

## Fix safety
Safe: `.cpu()` returns a tensor that is there already as it is, and `.item()` is written only for tensors of one number
in a list of which nothing but numbers is asked. `.detach()` is added where the value comes out of weights that learn.

## References
- [Tensor.numpy](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html)
- [swz30/MPRNet#128](https://github.com/swz30/MPRNet/issues/128)
- [WongKinYiu/yolor#113](https://github.com/WongKinYiu/yolor/issues/113)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.observations import HostAccess, ListAppend
from devfix.fixes.event_path import event_path
from devfix.fixes.host_transfer import as_number, each_to_cpu, to_cpu
from devfix.model import Edit, Finding, Fix, Severity
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]

# Functions of one number: a float serves them as well as an array does.
_OF_NUMBERS = frozenset("exp isnan isfinite isinf log log2 log10 sqrt float32 abs".split())


def detect(observations: Observations) -> Iterator[Finding]:
    """One finding per list, whatever reads it, and one per expression."""
    lists: dict[frozenset[int], list[HostAccess]] = {}
    for use in observations.needs_cpu.values():
        if use.kind not in ("numpy", "array"):
            continue
        keys = _lists(observations, use)
        if keys:
            lists.setdefault(keys, []).append(use)
        else:
            yield _of_one(use)
    for keys, uses in lists.items():
        yield _of_list(observations, keys, uses)


def _lists(observations: Observations, use: HostAccess) -> frozenset[int]:
    """The lists in which all that is read was kept."""
    if not use.container:
        return frozenset()
    keys = [{origin.site_id for origin in tensor.origins if origin.kind == "kept"} for tensor in use.held]
    return frozenset(key for found in keys for key in found) if all(keys) else frozenset()


def _of_one(use: HostAccess) -> Finding:
    tree = use.point.tree
    if use.container:
        edit = _each_element(use)
    elif _is_number(use):
        edit = as_number(tree, use.expression)
    else:
        edit = to_cpu(tree, use.expression, use.held)
    fixes = [Fix(f"bring `{_shown(use)}` to the CPU", (edit,))] if edit is not None else []
    return _finding(use, use.point, use.expression, fixes, [(use.point, "used", f"`{_reader(use)}` reads it here")])


def _is_number(use: HostAccess) -> bool:
    scalars = all(tensor.is_single_number for tensor in use.held)
    return scalars and use.kind == "array" and use.operation.split(".")[-1] in _OF_NUMBERS


def _each_element(use: HostAccess) -> Edit | None:
    if isinstance(use.expression, ast.GeneratorExp):
        return to_cpu(use.point.tree, use.expression.elt, use.held)
    if isinstance(use.expression, (ast.Name, ast.Attribute, ast.Subscript)):
        return each_to_cpu(use.point, use.expression, use.held)
    return None


def _of_list(observations: Observations, keys: frozenset[int], uses: list[HostAccess]) -> Finding:
    devices = [device for key in sorted(keys) for device in observations.kept[key].values()]
    asked = {name for key in keys for name in observations.kept_uses.get(key, ())}
    steps = [(device.point, "created", "a tensor on the accelerator is kept here") for device in devices]
    steps += [(use.point, "used", f"`{_reader(use)}` reads it here") for use in uses]
    fixes = []
    at_uses = [_each_element(use) for use in uses]
    if not asked & {"operand", "backward"}:
        edits = dict.fromkeys(_kept_edit(device, asked) for device in devices)
        fixes.append(Fix("keep numbers, not tensors" if not asked else "keep them on the CPU", tuple(edits)))
    if None not in at_uses:
        fixes.append(Fix("bring them to the CPU here", tuple(edit for edit in at_uses if edit is not None)))
    return _finding(uses[0], devices[0].point, devices[0].expression, fixes, steps)


def _kept_edit(device: ListAppend, asked: set[str]) -> Edit:
    tree = device.point.tree
    if device.tensor.is_single_number and not asked:
        return as_number(tree, device.expression)
    return to_cpu(tree, device.expression, (device.tensor,))


def _finding(
    use: HostAccess,
    where: ProgramPoint,
    node: ast.expr,
    fixes: list[Fix],
    steps: list[tuple[ProgramPoint, str, str]],
) -> Finding:
    holds = "holds tensors" if use.container else "is"
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if use.latent else Severity.ERROR,
        where.tree.path,
        where.tree.span(node),
        f"`{_shown(use)}` {holds} on the accelerator, and `{_reader(use)}` reads the CPU's memory",
        event_path(*steps),
        tuple(fixes),
        "" if fixes else "what is read has no expression of its own: bring it to the CPU first",
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
    summary="NumPy, Matplotlib or scikit-learn reads a tensor that is on the accelerator.",
    documentation=__doc__,
    detect=detect,
    causes=("numpy-reads-accelerator",),
    error_families=("numpy", "cpu-only"),
    invalid=(
        Example(
            "predictions as an array",
            _SETUP + "predictions = model(x).argmax(1).numpy()\n",
            _SETUP + "predictions = model(x).argmax(1).cpu().numpy()\n",
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
