"""## What it does
Finds calls of `torch.load` without `map_location`, and gives each the device that the checkpoint goes to: the
program's own device expression, or `"cpu"` where the checkpoint only feeds a state dict of a module that moves later.

## Why is this bad?
`torch.load` puts every tensor back where it was saved. A checkpoint from `cuda:3` fails on a machine with one
accelerator, one from a GPU fails on a machine without, and both take memory on a device that the program did not
choose.

## Example
```python
checkpoint = torch.load(args.resume)
```

## Use instead
```python
checkpoint = torch.load(args.resume, map_location=device)
```

## Fix safety
Safe: values and structure of what is loaded stay the same, only the place changes. `weights_only` is not touched. A
file that the same run has saved before is left alone, unless several processes share it: its tensors come back to
where they were.

## References
- [torch.load](https://docs.pytorch.org/docs/stable/generated/torch.load.html)
- [pytorch/examples@ee964a2](https://github.com/pytorch/examples/commit/ee964a2)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.values import ACCELERATOR, Number
from devfix.analysis.observations import Loading
from devfix.analysis.scopes import module_names, value_of
from devfix.fixes.event_path import event_path
from devfix.fixes.insertion_point import device_at, last_move
from devfix.model import AddKeyword, Edit, Finding, Fix, ReplaceExpression, Severity
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE", "edit_of", "target_of"]


def detect(observations: Observations) -> Iterator[Finding]:
    """One finding per call of ``torch.load`` that says nothing about the place."""
    for loading in observations.loadings.values():
        arrays = bool(loading.uses) and all(use.kind == "array" for use in loading.uses)
        compared = isinstance(loading.point.tree.parents.get(loading.call), ast.Compare)  # with a string or a number
        settled = loading.mapped or loading.round_trip or arrays or compared
        if not settled and not _handled_elsewhere(loading):
            yield _finding(observations, loading)


def _handled_elsewhere(loading: Loading) -> bool:
    """Whether the call is one side of a choice whose other side maps: the author has thought of both machines."""
    tree = loading.point.tree
    for parent in tree.ancestors(loading.call):
        if isinstance(parent, (ast.If, ast.IfExp, ast.Try)):
            keywords = {node.arg for node in ast.walk(parent) if isinstance(node, ast.keyword)}
            if "map_location" in keywords and _chooses(parent):
                return True
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            break
    return False


def _chooses(node: ast.If | ast.IfExp | ast.Try) -> bool:
    """Whether the two sides are for machines with and without the accelerator."""
    if isinstance(node, ast.Try):
        return True
    words = ("cuda", "gpu", "cpu", "device", "mps")
    return bool(node.orelse) and any(word in ast.unparse(node.test).lower() for word in words)


def _finding(observations: Observations, loading: Loading) -> Finding:
    point = loading.point
    target, reason = target_of(observations, loading)
    fixes: tuple[Fix, ...] = ()
    if target is not None:
        fixes = (Fix(f"load with `map_location={target}`", (edit_of(loading, target),)),)
    uses = [(use.point, "used", _USES.get(use.kind, "it is used here")) for use in loading.uses[:2]]
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if loading.latent else Severity.ERROR,
        point.tree.path,
        point.span,
        "`torch.load` without `map_location` puts tensors back on the device that they were saved from",
        event_path((point, "loaded", "the checkpoint comes back where it was saved"), *uses),
        fixes,
        reason,
    )


_USES = {
    "module": "it fills a module here",
    "optimizer": "it fills an optimizer here",
    "tensor": "its tensors meet others here",
    "moved": "it is moved here",
    "object": "it is used as a module here",
}


def target_of(observations: Observations, loading: Loading) -> tuple[str | None, str]:
    """The device expression for this call."""
    point = loading.point
    elsewhere = [use for use in loading.uses if use.on_accelerator or use.kind in ("tensor", "object")]
    # a state dict that fills a module on the CPU wants no device; a module that moves later takes its weights along
    only_module_on_cpu = bool(loading.uses) and all(
        use.kind in ("module", "state", "moved") and not use.on_accelerator for use in loading.uses
    )
    move = last_move(observations.moves, max([point.time, *(use.point.time for use in loading.uses)]))
    like = move.arguments if move is not None and not move.legacy else None
    device = device_at(point, point.call_frame, observations.preferred_device, like=like)
    if any(use.kind == "needs-cpu" for use in loading.uses):
        return '"cpu"', ""
    if only_module_on_cpu:
        return '"cpu"', ""
    if device is not None:
        node = ast.parse(device, mode="eval").body
        index = isinstance(value_of(point, point.call_frame, node), Number)
        return (f'f"cuda:{{{device}}}"' if index else device), ""
    direct = [use for use in elsewhere if use.kind in ("tensor", "object") and use.on_accelerator]
    if direct:
        names = module_names(point, point.call_frame, _accelerated(loading))
        if names:
            return f"next({names[0]}.parameters()).device", ""
        return (
            None,
            "its tensors are used on the accelerator, and the device has no name where the checkpoint is loaded",
        )
    return '"cpu"', ""


def _accelerated(loading: Loading) -> set[int]:
    memory = loading.point.state
    assert memory is not None
    return {key for key, obj in memory.heap_objects() if obj.kind == "module" and ACCELERATOR in obj.devices}


def edit_of(loading: Loading, target: str) -> Edit:
    """The keyword, or the replacement of a ``None`` that stands in its place."""
    tree, call = loading.point.tree, loading.call
    if len(call.args) > 1 and not isinstance(call.args[1], ast.Starred):
        return ReplaceExpression(tree.path, tree.span(call.args[1]), target)
    for keyword in call.keywords:
        if keyword.arg == "map_location":
            return ReplaceExpression(tree.path, tree.span(keyword.value), target)
    return AddKeyword(tree.path, tree.span(call), "map_location", target)


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2)
"""

RULE = Rule(
    code="DEV301",
    name="load-without-map-location",
    summary="`torch.load` without `map_location` puts tensors back where they were saved.",
    documentation=__doc__,
    detect=detect,
    causes=("loaded-without-map-location", "rng-state-on-accelerator"),
    error_families=("same-device", "load", "rng-state", "absent"),
    invalid=(
        Example(
            "into a module on the device",
            _SETUP + 'model.to(device)\nmodel.load_state_dict(torch.load("model.pt"))\n',
            _SETUP + 'model.to(device)\nmodel.load_state_dict(torch.load("model.pt", map_location=device))\n',
        ),
        Example(
            "into a module that moves later",
            _SETUP + 'model.load_state_dict(torch.load("model.pt"))\nmodel.to(device)\n',
            _SETUP + 'model.load_state_dict(torch.load("model.pt", map_location="cpu"))\nmodel.to(device)\n',
        ),
    ),
    valid=(
        _SETUP + 'model.load_state_dict(torch.load("model.pt", map_location="cpu"))\n',
        _SETUP + 'model.load_state_dict(torch.load("model.pt", device))\n',
        _SETUP + "import io\n\nbuffer = io.BytesIO()\ntorch.save(model.state_dict(), buffer)\nbuffer.seek(0)\n"
        "model.load_state_dict(torch.load(buffer))\n",
    ),
)
