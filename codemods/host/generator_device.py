"""## What it does
Finds random numbers that are drawn from a generator of another device: `torch.randn(..., generator=g, device=device)`
with a generator of the CPU, `random_split` or a `DataLoader` with a generator of the accelerator, and, where the
default device is the accelerator, what needs a generator of that device: `DataLoader(shuffle=True)`, `random_split`.

## Why is this bad?
A generator serves tensors of its own device only: PyTorch raises *Expected a 'cuda' device type for generator but found
'cpu'*. Samplers draw with a generator of the CPU of their own, on the default device.

## Example
```python
g = torch.Generator().manual_seed(0)
noise = torch.randn(16, 8, generator=g, device=device)
```

## Use instead
```python
g = torch.Generator().manual_seed(0)
noise = torch.randn(16, 8, generator=g).to(device)
```

## Fix safety
Safe where the numbers stay those of one device: they are drawn on the CPU, and moved, or the generator is made where
all its numbers are needed. Unsafe where a loader or a split is given its first generator, because batches then come in
another order. A generator that draws for both devices is left to the author.

## References
- [torch.Generator](https://docs.pytorch.org/docs/stable/generated/torch.Generator.html)
- [set_default_device](https://docs.pytorch.org/docs/stable/generated/torch.set_default_device.html)
- [dbolya/yolact#664](https://github.com/dbolya/yolact/issues/664)
- [pytorch/pytorch#118084](https://github.com/pytorch/pytorch/issues/118084)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.values import ACCELERATOR, CPU
from devfix.analysis.observations import RandomDraw
from devfix.analysis.scopes import device_of, value_of, visible
from devfix.fixes.device_expression import device_for
from devfix.fixes.event_path import event_path
from devfix.fixes.vendored_code import foreign_part
from devfix.model import AddKeyword, Applicability, Edit, Finding, Fix, ReplaceExpression, Severity
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]


def detect(observations: Observations) -> Iterator[Finding]:
    """One finding per generator, or per loader or split that has none of its own."""
    groups: dict[object, list[RandomDraw]] = {}
    for drawing in observations.random_draws.values():
        groups.setdefault((drawing.allocated_at or drawing.given).key, []).append(drawing)
    for group in groups.values():
        clashes = [drawing for drawing in group if drawing.device.differs(drawing.wanted)]
        if clashes and not foreign_part(clashes[0].point.tree.path):
            yield _finding(observations, group, clashes)


def _finding(observations: Observations, group: list[RandomDraw], clashes: list[RandomDraw]) -> Finding:
    first = clashes[0]
    source = first.allocated_at or first.given
    fixes = tuple(_fixes(observations, group, clashes))
    here, there = ("the CPU", "the accelerator") if first.device == CPU else ("the accelerator", "the CPU")
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if all(clash.latent for clash in clashes) else Severity.ERROR,
        source.tree.path,
        source.span,
        f"a generator on {here} draws random numbers for {there}",
        event_path(
            (
                source,
                "created",
                f"the generator is on {here}" if first.allocated_at else "it draws with a generator on the CPU",
            ),
            *((clash.point, "used", f"random numbers are drawn for {there} here") for clash in clashes[:2]),
        ),
        fixes,
        "" if fixes else "the generator draws for both devices, or nothing names the device",
    )


def _fixes(observations: Observations, group: list[RandomDraw], clashes: list[RandomDraw]) -> Iterator[Fix]:
    drawn = [edits for clash in clashes if (edits := _drawn_here(clash)) is not None]
    if len(drawn) == len(clashes):
        yield Fix("draw on the CPU, and move", tuple(drawn))
    placed = [edit for clash in clashes if (edit := _placed_there(observations, clash)) is not None]
    if len(placed) == len(clashes) and len({drawing.wanted for drawing in group}) == 2:
        yield Fix("draw where the generator is", tuple(placed))
    allocated_at = clashes[0].allocated_at
    if allocated_at is not None and len({drawing.wanted for drawing in group}) == 1:
        edit = _made_there(observations, allocated_at, clashes[0].wanted == ACCELERATOR)
        if edit is not None:
            yield Fix("make the generator where its numbers are needed", (edit,))
    described = _made_as_told(group)
    if described is not None:
        yield Fix("make the generator where the caller says", (described,))
    given = [edit for clash in clashes if (edit := _given(observations, clash)) is not None]
    if len(given) == len(clashes):
        yield Fix("give it a generator of the device", tuple(dict.fromkeys(given)), Applicability.UNSAFE)


def _drawn_here(clash: RandomDraw) -> Edit | None:
    """``torch.randn(n, generator=g, device=d)`` becomes ``torch.randn(n, generator=g).to(d)``."""
    call = clash.point.node
    if clash.kind != "factory" or clash.wanted != ACCELERATOR or not isinstance(call, ast.Call):
        return None
    named = {keyword.arg: keyword for keyword in call.keywords}
    device = named.get("device")
    if device is None or "requires_grad" in named or "out" in named:
        return None
    tree = clash.point.tree
    kept = [*call.args, *(keyword for keyword in call.keywords if keyword is not device)]
    listed = ", ".join(tree.source(argument) for argument in kept)
    code = f"{tree.source(call.func)}({listed}).to({tree.source(device.value)})"
    return ReplaceExpression(tree.path, tree.span(call), code)


def _placed_there(observations: Observations, clash: RandomDraw) -> Edit | None:
    """``torch.randn(n, generator=g)`` on the device of a generator that draws there for others, too."""
    call, point = clash.point.node, clash.point
    if clash.kind != "factory" or clash.wanted != CPU or not isinstance(call, ast.Call):
        return None
    if any(keyword.arg in ("device", "out", None) for keyword in call.keywords):
        return None
    device = device_for(observations, point, point.call_frame)
    return None if device is None else AddKeyword(point.tree.path, point.tree.span(call), "device", device)


def _own_generator(observations: Observations, allocated_at: ProgramPoint, call: ast.Call) -> Edit | None:
    """``torch.manual_seed(0)`` in a generator's place becomes ``torch.Generator(device=device).manual_seed(0)``."""
    device, tree = device_for(observations, allocated_at, allocated_at.call_frame), allocated_at.tree
    if device is None or not isinstance(call.func, ast.Attribute):
        return None
    made = f"{tree.source(call.func.value)}.Generator(device={device})"
    return ReplaceExpression(tree.path, tree.span(call.func.value), made)


def _made_there(observations: Observations, allocated_at: ProgramPoint, on_accelerator: bool) -> Edit | None:
    """``torch.Generator()`` on the device at hand, or on the CPU."""
    call, tree = allocated_at.node, allocated_at.tree
    if not isinstance(call, ast.Call):
        return None
    if ast.unparse(call.func).endswith("manual_seed"):
        return _own_generator(observations, allocated_at, call) if on_accelerator else None
    if not on_accelerator:
        return ReplaceExpression(tree.path, tree.span(call), f"{tree.source(call.func)}()")
    device = device_for(observations, allocated_at, allocated_at.call_frame)
    if device is None:
        return None
    said = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "device")]
    if said:
        return ReplaceExpression(tree.path, tree.span(said[0]), device)
    return AddKeyword(tree.path, tree.span(call), "device", device)


def _made_as_told(group: list[RandomDraw]) -> Edit | None:
    """``torch.Generator()`` in a helper, on the device that each caller of it names and draws for."""
    origins = [(drawing.allocated_at, drawing.wanted) for drawing in group if drawing.allocated_at is not None]
    if len(origins) < len(group):
        return None
    allocated_at, _ = origins[0]
    call, function = allocated_at.node, allocated_at.call_frame.activation.node
    if not isinstance(call, ast.Call) or call.args or call.keywords or not isinstance(function, ast.FunctionDef):
        return None
    for argument in (*function.args.args, *function.args.kwonlyargs):
        name = ast.Name(argument.arg, ast.Load())
        if all(device_of(value_of(point, point.call_frame, name)) == wanted for point, wanted in origins):
            return AddKeyword(allocated_at.tree.path, allocated_at.span, "device", argument.arg)
    return None


def _given(observations: Observations, clash: RandomDraw) -> Edit | None:
    """``generator=torch.Generator(device=device)`` for a loader or split that has none."""
    call, point = clash.given.node, clash.given
    if clash.allocated_at is not None or clash.wanted != ACCELERATOR or not isinstance(call, ast.Call):
        return None
    if any(keyword.arg in ("generator", None) for keyword in call.keywords) or "torch" not in visible(
        point, point.call_frame
    ):
        return None
    device = device_for(observations, point, point.call_frame) or "torch.get_default_device()"
    return AddKeyword(point.tree.path, point.tree.span(call), "generator", f"torch.Generator(device={device})")


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = """\
import torch
from torch.utils.data import DataLoader, TensorDataset, random_split

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
"""
_NOISE = "print(torch.randn(4, generator=g{}))\n"
_SPLIT = "data = TensorDataset(torch.ones(8, 4))\nprint(random_split(data, [6, 2], generator=g))\n"

RULE = Rule(
    code="DEV603",
    name="generator-device",
    summary="A generator draws random numbers for tensors of another device.",
    documentation=__doc__,
    detect=detect,
    causes=("generator-on-other-device",),
    error_families=("generator",),
    invalid=(
        Example(
            "numbers of the CPU's generator for the accelerator",
            _SETUP + "g = torch.Generator().manual_seed(0)\n" + _NOISE.format(", device=device"),
            _SETUP + "g = torch.Generator().manual_seed(0)\n" + _NOISE.replace("{})", ").to(device)"),
        ),
        Example(
            "a split draws on the CPU",
            _SETUP + "g = torch.Generator(device=device).manual_seed(0)\n" + _SPLIT,
            _SETUP + "g = torch.Generator().manual_seed(0)\n" + _SPLIT,
        ),
    ),
    valid=(
        _SETUP + "g = torch.Generator(device=device)\n" + _NOISE.format(", device=device"),
        _SETUP + "g = torch.Generator().manual_seed(0)\n" + _SPLIT,
        # what a loader shuffles with would change: only with --unsafe-fixes
        _SETUP
        + "torch.set_default_device(device)\n"
        + "for batch in DataLoader(TensorDataset(torch.ones(8, 4)), batch_size=2, shuffle=True):\n    print(batch)\n",
    ),
)
