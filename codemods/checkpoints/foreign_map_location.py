"""## What it does
Finds checkpoints that are loaded to a place where the program cannot use them: `map_location="cuda:1"` in a program
that never speaks of that accelerator, `map_location="cuda"` in one that runs without any, and `map_location="cpu"` (or
`lambda storage, location: storage`) of a whole model, or of tensors, that then meet what lives on the accelerator.

## Why is this bad?
A hard-coded index exists on the author's machine only: *Attempting to deserialize object on CUDA device 1*. A model
that was mapped to the CPU stays there, and fails with its first input from the accelerator.

## Example
```python
model = torch.load("model.pt", map_location="cpu", weights_only=False)
output = model(images.to(device))
```

## Use instead
```python
model = torch.load("model.pt", map_location=device, weights_only=False)
output = model(images.to(device))
```

## Fix safety
Safe: values and structure of what is loaded stay the same, only the place changes. A checkpoint that is mapped to the
CPU and only fills the state of a module or an optimizer is right, and left alone; `load_state_dict` moves it. Where an
entry of the checkpoint may as well be a number, which any tensor takes, the finding is only `latent`.
`weights_only` is not touched.

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

from codemods.checkpoints.load_without_map_location import edit_of, target_of
from devfix.analysis import Observations
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.values import Const, DeviceValue, Text, alternatives
from devfix.analysis.observations import DeviceMismatch, Loading, Operand
from devfix.analysis.scenarios import device_words
from devfix.analysis.scopes import value_of
from devfix.fixes.device_expression import device_for
from devfix.fixes.devices.conflicting_devices import contradictions, loads
from devfix.fixes.event_path import event_path
from devfix.fixes.insertion_point import same_function
from devfix.model import AddKeyword, AppendCode, Edit, Finding, Fix, ReplaceExpression, Severity
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]

_OTHER_INDEX = re.compile(r"cuda:(?:[1-9]\d*)")


def detect(observations: Observations) -> Iterator[Finding]:
    """One finding for each call of ``torch.load`` that maps to a foreign place."""
    described: set[ast.Call] = set()
    for one in contradictions(observations):
        loading = _loading_at(observations, one.call) if loads(one.call) and one.mismatch is None else None
        if loading is not None and one.call not in described:
            described.add(one.call)
            yield _finding(observations, loading, "insists on an accelerator in a program that runs without", ())
    for loading in observations.loadings.values():
        if loading.call in described or not loading.mapped or loading.latent:
            continue
        index = _foreign_index(loading)
        if index is not None:
            yield _finding(observations, loading, f"maps to `{index}`, of which the program never speaks otherwise", ())
            continue
        uses = tuple(_uses(observations, loading))
        if uses:
            yield _finding(observations, loading, "leaves on the CPU what meets the accelerator", uses)


def _loading_at(observations: Observations, call: ast.Call) -> Loading | None:
    return next((loading for loading in observations.loadings.values() if loading.call is call), None)


def _foreign_index(loading: Loading) -> str | None:
    """The accelerator to which a literal maps, if nothing else in the file names it."""
    words, tree = device_words(loading.call), loading.point.tree
    if words is None:
        return None
    if isinstance(words, ast.Dict):
        named = [node.value for node in words.values if isinstance(node, ast.Constant)]
    else:
        literals = words.args if isinstance(words, ast.Call) and ast.unparse(words.func) == "torch.device" else [words]
        named = [node.value for node in literals if isinstance(node, ast.Constant)]
    found = next((name for name in named if isinstance(name, str) and _OTHER_INDEX.fullmatch(name)), None)
    if found is None:
        return None
    here = len(re.findall(re.escape(found), tree.source(words)))
    everywhere = len(re.findall(re.escape(found), tree.text))
    index = found.partition(":")[2]
    return found if here == everywhere and f".cuda({index})" not in tree.text else None


Use = tuple[ProgramPoint, "DeviceMismatch | None", "Operand | None"]


def _uses(observations: Observations, loading: Loading) -> Iterator[Use]:
    """Where what is on the CPU meets the accelerator: a whole module that is called, or tensors."""
    for use in loading.uses:
        if use.kind == "object" and use.on_accelerator:
            yield use.point, None, None
    number = list(observations.loadings.values()).index(loading)
    for mismatch in observations.mismatches:
        for operand in mismatch.cpu:
            of_this = operand.origins and all(b.kind == "load" and b.site_id == number for b in operand.origins)
            if of_this:
                yield mismatch.point, mismatch, operand


def _may_be_a_number(observations: Observations, use: Use) -> bool:
    """Whether the operation takes numbers as well: an entry of a checkpoint may be one, unless it has a shape."""
    _, mismatch, operand = use
    takes_numbers = mismatch is not None and (mismatch.takes_numbers or mismatch.operation == "index")
    return takes_numbers and not (operand is not None and (operand.is_certain or _is_saved(observations, operand)))


def _is_saved(observations: Observations, operand: Operand) -> bool:
    """Whether the program itself saves a tensor with dimensions under this key."""
    return bool(operand.origins) and all(b.path and observations.entries.get(b.path[0], False) for b in operand.origins)


def _finding(observations: Observations, loading: Loading, what: str, uses: tuple[Use, ...]) -> Finding:
    point = loading.point
    fixes = list(_fixes(observations, loading, uses))
    perhaps = bool(uses) and all(_may_be_a_number(observations, use) for use in uses)
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if perhaps else Severity.ERROR,
        point.tree.path,
        point.span,
        f"`{ast.unparse(loading.call.func)}` {what}",
        event_path(
            (point, "loaded", "the checkpoint is mapped here"),
            *((used, "used", "it meets values on the accelerator here") for used, _, _ in uses[:2]),
        ),
        tuple(fixes),
        "" if fixes else "nothing names the device where the checkpoint is loaded",
    )


def _fixes(observations: Observations, loading: Loading, uses: tuple[Use, ...]) -> Iterator[Fix]:
    partial = any(use.kind in ("module", "optimizer", "needs-cpu", "array") for use in loading.uses)
    at_uses = list(dict.fromkeys(_at_uses(observations, uses)))
    if partial and at_uses:
        yield Fix("move what is used", tuple(at_uses))
    target, _ = target_of(observations, loading)
    if target is not None and not (uses and target == '"cpu"'):
        target = target if _keyword(loading) == "map_location" else _as_text(loading, target)
        yield Fix(f"load with `{_keyword(loading)}={target}`", (_edit(loading, target),))
    if at_uses and not partial:
        yield Fix("move what is used", tuple(at_uses))


def _keyword(loading: Loading) -> str:
    return "device" if ast.unparse(loading.call.func).endswith(("load_file", "safe_open")) else "map_location"


def _as_text(loading: Loading, target: str) -> str:
    """``safetensors`` takes a device by its name (or number) only: a ``torch.device`` is refused."""
    try:
        value = value_of(loading.point, loading.point.call_frame, ast.parse(target, mode="eval").body)
    except SyntaxError:
        return target
    named = value is not None and all(
        isinstance(option, (Const, Text)) or (isinstance(option, DeviceValue) and option.text)
        for option in alternatives(value)
    )
    return target if named or target.startswith(('f"', '"')) else f"str({target})"


def _edit(loading: Loading, target: str) -> Edit:
    if _keyword(loading) == "map_location":
        return edit_of(loading, target)
    words, tree = device_words(loading.call), loading.point.tree
    if words is not None:
        return ReplaceExpression(tree.path, tree.span(words), target)
    return AddKeyword(tree.path, tree.span(loading.call), "device", target)


def _at_uses(observations: Observations, uses: tuple[Use, ...]) -> Iterator[Edit]:
    for point, mismatch, operand in uses:
        if mismatch is None or operand is None:
            return
        entry = _entry(observations, mismatch, operand)
        if entry is not None:
            yield entry
            continue
        words = device_for(observations, point, point.call_frame, mismatch.partners)
        for node in ast.walk(point.node):
            read = isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Load)
            if words and read and ast.unparse(node) == operand.text:
                yield AppendCode(point.tree.path, point.tree.span(node), f".to({words})")
                break


def _entry(observations: Observations, mismatch: DeviceMismatch, operand: Operand) -> Edit | None:
    """``mean = checkpoint["mean"].to(device)``, for a name that is read from there and given to another function."""
    origins = set(operand.origins)
    for binding in observations.bindings:
        read = binding.kind == "assign" and isinstance(binding.value, ast.Subscript)
        if (
            not read
            or binding.origin not in origins
            or same_function(mismatch.point.call_frame, binding.point.call_frame)
        ):
            continue
        words = device_for(observations, binding.point, binding.point.call_frame)
        if words and binding.value is not None and len(origins) == 1:
            return AppendCode(binding.point.tree.path, binding.point.tree.span(binding.value), f".to({words})")
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
    summary="A checkpoint is mapped to a place where the program cannot use it.",
    documentation=__doc__,
    detect=detect,
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
            "tensors that stay where they were stored",
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
