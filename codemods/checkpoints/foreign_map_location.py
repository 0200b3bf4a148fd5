"""## What it does
Checks for checkpoints that are loaded to a device on which the program cannot use them.

- `map_location="cuda:1"` in a program that uses this accelerator nowhere else;
- `map_location="cuda"` in a program that also runs without an accelerator;
- `map_location="cpu"` (or `lambda storage, location: storage`) for a whole model, or for tensors, that are then used
  with tensors on the accelerator.

## Why is this bad?
A hard-coded index may exist on the author's machine only: *Attempting to deserialize object on CUDA device 1*. A model
that is mapped to the CPU stays there and fails on its first input from the accelerator.

## Example
```python
import torch

device = torch.device("cuda")
model = torch.load("model.pt", map_location="cpu", weights_only=False)
print(model(torch.rand(8, 4, device=device)))
```

## Use instead
```python
import torch

device = torch.device("cuda")
model = torch.load("model.pt", map_location=device, weights_only=False)
print(model(torch.rand(8, 4, device=device)))
```

## Fix safety
Safe: only the device of the loaded tensors changes, not their structure or values. `weights_only` is not changed. A
checkpoint that is mapped to the CPU and only fills the state of a module or an optimizer is correct and not reported,
because `load_state_dict` copies the values to the device of the parameters. If an entry of the checkpoint may be a
number, which can be combined with a tensor on any device, the finding is `latent`.

## References
- [torch.load](https://docs.pytorch.org/docs/stable/generated/torch.load.html)
- [safetensors.torch.load_file](https://huggingface.co/docs/safetensors/api/torch)
- [zijundeng/BDRAR#12](https://github.com/zijundeng/BDRAR/issues/12)
- [HGU-DLLAB/Korean-FastSpeech2-Pytorch#14](https://github.com/HGU-DLLAB/Korean-FastSpeech2-Pytorch/issues/14)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from codemods.checkpoints._saved_entries import SUBSCRIPTIONS, saved_tensors
from codemods.checkpoints.load_without_map_location import edit_of, target_of
from devfix.analysis import Observations
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.values import ACCELERATOR, CPU, Const, DeviceValue, Text, alternatives
from devfix.analysis.observations import DeviceMismatch, Loading, Operand
from devfix.analysis.scenarios import device_argument_of
from devfix.analysis.scopes import value_of
from devfix.fixes.devices.conflict_fixes import conflict_edits
from devfix.fixes.devices.conflicting_devices import DeviceConflict, device_conflicts, is_load
from devfix.fixes.event_path import event_path
from devfix.fixes.insertion_point import same_function
from devfix.fixes.value_scope import device_for_tensor
from devfix.model import AddKeyword, AppendCode, Edit, Finding, Fix, ReplaceExpression, Severity
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]

_REQUIRES_ACCELERATOR = "requires an accelerator in a program that also runs without one"
_OTHER_INDEX = re.compile(r"cuda:(?:[1-9]\d*)")


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per call of ``torch.load`` that maps to an unsuitable device."""
    reported: set[ast.Call] = set()
    conflicts = list(device_conflicts(observations))
    for conflict in conflicts:
        loading = (
            _loading_of(observations, conflict.call) if is_load(conflict.call) and conflict.mismatch is None else None
        )
        if loading is not None and conflict.call not in reported:
            reported.add(conflict.call)
            if _says_target(observations, loading):
                continue  # a caller chooses the device: another finding says which one
            found = _finding(observations, loading, _REQUIRES_ACCELERATOR, ())
            needs_accelerator = any(_needs_accelerator(observations, each) for each in conflicts)
            yield replace(found, severity=Severity.LATENT) if needs_accelerator else found
    for loading in observations.loadings.values():
        if loading.call in reported or not loading.is_mapped or loading.latent:
            continue
        index = _foreign_index(loading)
        if index is not None:
            yield _finding(observations, loading, f"maps to `{index}`, which the program uses nowhere else", ())
            continue
        uses = tuple(_uses(observations, loading))
        if uses:
            yield _finding(
                observations, loading, "loads to the CPU, but the result is used with tensors on the accelerator", uses
            )


def _says_target(observations: Observations, loading: Loading) -> bool:
    """Return whether a call maps to the expression already that a fix would write: a parameter, ``device``."""
    device_node, (target, _) = device_argument_of(loading.call), target_of(observations, loading)
    return device_node is not None and loading.point.tree.source(device_node) == target


def _needs_accelerator(observations: Observations, conflict: DeviceConflict) -> bool:
    """Return whether a program fails without an accelerator at another place, where nothing can be used instead."""
    is_other = conflict.device == ACCELERATOR and not is_load(conflict.call) and conflict.mismatch is None
    return is_other and not any(edits for _, edits in conflict_edits(observations, conflict))


def _loading_of(observations: Observations, call: ast.Call) -> Loading | None:
    return next((loading for loading in observations.loadings.values() if loading.call is call), None)


def _foreign_index(loading: Loading) -> str | None:
    """Return the accelerator to which a literal maps, if nothing else in the file names it."""
    device_node, tree = device_argument_of(loading.call), loading.point.tree
    if device_node is None:
        return None
    if isinstance(device_node, ast.Dict):
        named = [node.value for node in device_node.values if isinstance(node, ast.Constant)]
    else:
        literals = (
            device_node.args
            if isinstance(device_node, ast.Call) and ast.unparse(device_node.func) == "torch.device"
            else [device_node]
        )
        named = [node.value for node in literals if isinstance(node, ast.Constant)]
    found = next((name for name in named if isinstance(name, str) and _OTHER_INDEX.fullmatch(name)), None)
    if found is None:
        return None
    in_call = len(re.findall(re.escape(found), tree.source(device_node)))
    in_file = len(re.findall(re.escape(found), tree.text))
    index = found.partition(":")[2]
    return found if in_call == in_file and f".cuda({index})" not in tree.text else None


_Use = tuple[ProgramPoint, "DeviceMismatch | None", "Operand | None"]


def _uses(observations: Observations, loading: Loading) -> Iterator[_Use]:
    """Yield the uses of the loaded values on the accelerator: calls of a whole module, or operations on its tensors."""
    for use in loading.uses:
        if use.kind == "object" and use.on_accelerator and use.device == CPU:
            yield use.point, None, None
    index = list(observations.loadings.values()).index(loading)
    for mismatch in observations.mismatches:
        for operand in mismatch.cpu:
            is_loaded_here = operand.origins and all(b.kind == "load" and b.site_id == index for b in operand.origins)
            is_tensor = not mismatch.opaque or operand.is_certain or _is_saved(observations, operand)
            if is_loaded_here and is_tensor:
                yield mismatch.point, mismatch, operand


def _may_be_a_number(observations: Observations, use: _Use) -> bool:
    """Return whether the operand may be a number: a checkpoint entry may be one unless it has a shape."""
    _, mismatch, operand = use
    takes_numbers = mismatch is not None and (mismatch.takes_numbers or mismatch.operation == "index")
    return takes_numbers and not (operand is not None and (operand.is_certain or _is_saved(observations, operand)))


def _is_saved(observations: Observations, operand: Operand) -> bool:
    """Return whether the program itself saves a tensor with dimensions under this key."""
    saved = saved_tensors(observations)
    return bool(operand.origins) and all(each.path and each.path[0] in saved for each in operand.origins)


def _finding(observations: Observations, loading: Loading, problem: str, uses: tuple[_Use, ...]) -> Finding:
    point = loading.point
    fixes = list(_fixes(observations, loading, uses))
    is_uncertain = bool(uses) and all(_may_be_a_number(observations, use) for use in uses)
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if is_uncertain else Severity.ERROR,
        point.tree.path,
        point.span,
        f"`{ast.unparse(loading.call.func)}` {problem}",
        event_path(
            (point, "loaded", "the checkpoint is loaded here"),
            *((used, "used", "used with tensors on the accelerator here") for used, _, _ in uses[:2]),
        ),
        tuple(fixes),
        "" if fixes else "no device expression is available at the call",
    )


def _fixes(observations: Observations, loading: Loading, uses: tuple[_Use, ...]) -> Iterator[Fix]:
    is_partial = any(use.kind in ("module", "optimizer", "needs-cpu", "array") for use in loading.uses)
    at_uses = list(dict.fromkeys(_at_uses(observations, uses)))
    if is_partial and at_uses:
        yield Fix("move the loaded tensors at their use", tuple(at_uses))
    target, _ = target_of(observations, loading)
    if target is not None and not (uses and target == '"cpu"'):
        target = target if _keyword(loading) == "map_location" else _as_text(loading, target)
        yield Fix(f"pass `{_keyword(loading)}={target}`", (_edit(loading, target),))
    if at_uses and not is_partial:
        yield Fix("move the loaded tensors at their use", tuple(at_uses))


def _keyword(loading: Loading) -> str:
    return "device" if ast.unparse(loading.call.func).endswith(("load_file", "safe_open")) else "map_location"


def _as_text(loading: Loading, target: str) -> str:
    """Convert a device expression to a string or number: ``safetensors`` rejects a ``torch.device``."""
    try:
        value = value_of(loading.point, loading.point.call_frame, ast.parse(target, mode="eval").body)
    except SyntaxError:
        return target
    is_text = value is not None and all(
        isinstance(option, (Const, Text)) or (isinstance(option, DeviceValue) and option.text)
        for option in alternatives(value)
    )
    return target if is_text or target.startswith(('f"', '"')) else f"str({target})"


def _edit(loading: Loading, target: str) -> Edit:
    if _keyword(loading) == "map_location":
        return edit_of(loading, target)
    device_node, tree = device_argument_of(loading.call), loading.point.tree
    if device_node is not None:
        return ReplaceExpression(tree.path, tree.span(device_node), target)
    return AddKeyword(tree.path, tree.span(loading.call), "device", target)


def _at_uses(observations: Observations, uses: tuple[_Use, ...]) -> Iterator[Edit]:
    for point, mismatch, operand in uses:
        if mismatch is None or operand is None:
            return
        entry = _entry_move(observations, mismatch, operand)
        if entry is not None:
            yield entry
            continue
        device = device_for_tensor(observations, point, point.call_frame, mismatch.partners)
        for node in ast.walk(point.node):
            is_read = isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Load)
            if device and is_read and ast.unparse(node) == operand.text:
                yield AppendCode(point.tree.path, point.tree.span(node), f".to({device})")
                break


def _entry_move(observations: Observations, mismatch: DeviceMismatch, operand: Operand) -> Edit | None:
    """Return the edit ``mean = checkpoint["mean"].to(device)`` for an entry that is passed to another function."""
    origins = set(operand.origins)
    for binding in observations.bindings:
        is_read = binding.kind == "assign" and isinstance(binding.value, ast.Subscript)
        if (
            not is_read
            or binding.origin not in origins
            or same_function(mismatch.point.call_frame, binding.point.call_frame)
        ):
            continue
        device = device_for_tensor(observations, binding.point, binding.point.call_frame)
        if device and binding.value is not None and len(origins) == 1:
            return AppendCode(binding.point.tree.path, binding.point.tree.span(binding.value), f".to({device})")
    return None


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
x = torch.ones(3, 4, device=device)
"""

RULE = Rule(
    code="DEV302",
    name="foreign-map-location",
    summary="A checkpoint is mapped to a device on which the program cannot use it.",
    documentation=__doc__,
    detect=detect,
    subscriptions=SUBSCRIPTIONS,
    causes=("loaded-with-map-location",),
    error_families=("same-device", "load", "rng-state", "ordinal"),
    invalid=(
        Example(
            "an accelerator of the author's machine",
            _SETUP + 'model.load_state_dict(torch.load("model.pt", map_location="cuda:1"))\n',
            _SETUP + 'model.load_state_dict(torch.load("model.pt", map_location=device))\n',
        ),
        Example(
            "a whole model on the CPU",
            _SETUP + 'teacher = torch.load("teacher.pt", map_location="cpu", weights_only=False)\nprint(teacher(x))\n',
            _SETUP + 'teacher = torch.load("teacher.pt", map_location=device, weights_only=False)\nprint(teacher(x))\n',
        ),
        Example(
            "tensors that stay in CPU storage",
            _SETUP + 'bank = torch.load("bank.pt", lambda storage, loc: storage)\nprint(x @ bank["keys"].t())\n',
            _SETUP + 'bank = torch.load("bank.pt", device)\nprint(x @ bank["keys"].t())\n',
        ),
    ),
    valid=(
        _SETUP + 'model.load_state_dict(torch.load("model.pt", map_location="cpu"))\n',
        _SETUP + 'teacher = torch.load("teacher.pt", map_location="cpu").to(device)\nprint(teacher(x))\n',
        _SETUP
        + 'state = torch.load("state.pt", map_location=lambda storage, loc: storage)\nprint(x * state["scale"])\n',
        'import torch\n\ndevice = "cuda:1"\nstate = torch.load("state.pt", map_location="cuda:1")\n',
    ),
)
