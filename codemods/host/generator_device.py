"""## What it does
Checks for random numbers that are drawn from a generator on another device.

- `torch.randn(..., generator=g, device=device)` with a CPU generator;
- `random_split` or a `DataLoader` with a generator on the accelerator;
- `random_split` or `DataLoader(shuffle=True)` without a generator, if the default device is the accelerator.

## Why is this bad?
A generator can only fill tensors on its own device: PyTorch raises *Expected a 'cuda' device type for generator but
found 'cpu'*. A sampler without a generator creates one on the CPU, but draws on the default device.

## Example
```python
import torch

device = torch.device("cuda")
g = torch.Generator().manual_seed(0)
noise = torch.randn(16, 8, generator=g, device=device)
```

## Use instead
```python
import torch

device = torch.device("cuda")
g = torch.Generator().manual_seed(0)
noise = torch.randn(16, 8, generator=g).to(device)
```

## Fix safety
Safe if all numbers come from one device: they are drawn on the CPU and moved, or the generator is created on the device
of all its tensors. Unsafe if a loader or split without a generator is given one, because the batches then come in a
different order. A generator that draws for both devices is not changed.

## References
- [torch.Generator](https://docs.pytorch.org/docs/stable/generated/torch.Generator.html)
- [set_default_device](https://docs.pytorch.org/docs/stable/generated/torch.set_default_device.html)
- [dbolya/yolact#664](https://github.com/dbolya/yolact/issues/664)
- [pytorch/pytorch#118084](https://github.com/pytorch/pytorch/issues/118084)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from devfix.analysis import Interpreter, Observations
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.objects import object_at
from devfix.analysis.domain.values import ACCELERATOR, CPU, UNKNOWN_DEVICE, Device
from devfix.analysis.observations import Subscription
from devfix.analysis.observations.execution import Escaped, NumbersDrawn
from devfix.analysis.scopes import device_of, value_of, visible
from devfix.analysis.torch.rng import GeneratorObject
from devfix.fixes.event_path import event_path
from devfix.fixes.value_scope import device_for_tensor
from devfix.fixes.vendored_code import foreign_part
from devfix.model import AddKeyword, Applicability, Edit, Finding, Fix, ReplaceExpression, Severity
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]


@dataclass(frozen=True, eq=False)
class RandomDraw:
    """Random numbers are drawn from a generator on ``device`` for a tensor on ``wanted``.

    Attributes:
        kind: ``factory`` (``torch.randn``), ``method`` (``x.uniform_()``), ``split`` (``random_split``), ``loader`` or
            ``unknown`` (external code got the generator).
        point: program point of the draw.
        given: program point of the call with the generator as an argument.
        allocated_at: program point of the generator's construction; ``None`` for PyTorch's default generator.
        device: device of the generator.
        wanted: device of the tensor.
        latent: the program does not call this code.

    """

    kind: str
    point: ProgramPoint
    given: ProgramPoint
    allocated_at: ProgramPoint | None
    device: Device
    wanted: Device
    latent: bool = False


def _note_draw(interp: Interpreter, drawn: NumbersDrawn) -> None:
    """Record a draw once for each generator and device of the tensor."""
    generator = interp.heap_object(drawn.generator) if drawn.generator is not None else None
    allocated_at = generator.allocated_at if generator is not None else None
    devices = generator.devices if generator is not None else frozenset({CPU})
    device = next(iter(devices)) if len(devices) == 1 else UNKNOWN_DEVICE
    point = interp.point(drawn.node, with_state=True)
    key = (point.key, allocated_at.key if allocated_at is not None else None, drawn.wanted.kind)
    draw = RandomDraw(drawn.kind, point, drawn.given_at or point, allocated_at, device, drawn.wanted, interp.latent)
    interp.observations.record(draw, key=key)


def _note_escape(interp: Interpreter, escaped: Escaped) -> None:
    """Record a generator that is passed to code that cannot be read: its uses are unknown."""
    generator = object_at(interp, escaped.value, GeneratorObject)
    point = generator.allocated_at if generator is not None else None
    if point is not None:
        unknown = RandomDraw("unknown", point, point, point, UNKNOWN_DEVICE, UNKNOWN_DEVICE)
        interp.observations.record(unknown, key=(point.key, "unknown"))


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per generator, or per loader or split without a generator."""
    groups: dict[object, list[RandomDraw]] = {}
    for draw in observations.of(RandomDraw):
        groups.setdefault((draw.allocated_at or draw.given).key, []).append(draw)
    for group in groups.values():
        mismatches = [draw for draw in group if draw.device.differs(draw.wanted)]
        if mismatches and not foreign_part(mismatches[0].point.tree.path):
            yield _finding(observations, group, mismatches)


def _finding(observations: Observations, group: list[RandomDraw], mismatches: list[RandomDraw]) -> Finding:
    first = mismatches[0]
    source = first.allocated_at or first.given
    fixes = tuple(_fixes(observations, group, mismatches))
    own, other = ("the CPU", "the accelerator") if first.device == CPU else ("the accelerator", "the CPU")
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if all(mismatch.latent for mismatch in mismatches) else Severity.ERROR,
        source.tree.path,
        source.span,
        f"a generator on {own} draws random numbers for a tensor on {other}",
        event_path(
            (
                source,
                "created",
                f"the generator is created on {own}" if first.allocated_at else "a generator on the CPU is used here",
            ),
            *(
                (mismatch.point, "used", f"random numbers are drawn for a tensor on {other} here")
                for mismatch in mismatches[:2]
            ),
        ),
        fixes,
        "" if fixes else "the generator draws for both devices, or no device expression is available",
    )


def _fixes(observations: Observations, group: list[RandomDraw], mismatches: list[RandomDraw]) -> Iterator[Fix]:
    drawn = [edits for mismatch in mismatches if (edits := _draw_and_move(mismatch)) is not None]
    if len(drawn) == len(mismatches):
        yield Fix("draw on the CPU and move the result", tuple(drawn))
    on_accelerator = [
        edit for mismatch in mismatches if (edit := _draw_on_accelerator(observations, mismatch)) is not None
    ]
    if len(on_accelerator) == len(mismatches) and len({draw.wanted for draw in group}) == 2:
        yield Fix("draw on the device of the generator", tuple(on_accelerator))
    allocated_at = mismatches[0].allocated_at
    if allocated_at is not None and len({draw.wanted for draw in group}) == 1:
        edit = _create_on(observations, allocated_at, mismatches[0].wanted == ACCELERATOR)
        if edit is not None:
            yield Fix("create the generator on the device of its tensors", (edit,))
    by_parameter = _create_on_parameter(group)
    if by_parameter is not None:
        yield Fix("create the generator on the device that the caller passes", (by_parameter,))
    passed = [edit for mismatch in mismatches if (edit := _pass_generator(observations, mismatch)) is not None]
    if len(passed) == len(mismatches):
        yield Fix("pass a generator on the default device", tuple(dict.fromkeys(passed)), Applicability.UNSAFE)


def _draw_and_move(mismatch: RandomDraw) -> Edit | None:
    """Rewrite ``torch.randn(n, generator=g, device=d)`` to ``torch.randn(n, generator=g).to(d)``."""
    call = mismatch.point.node
    if mismatch.kind != "factory" or mismatch.wanted != ACCELERATOR or not isinstance(call, ast.Call):
        return None
    named = {keyword.arg: keyword for keyword in call.keywords}
    device = named.get("device")
    if device is None or "requires_grad" in named or "out" in named:
        return None
    tree = mismatch.point.tree
    arguments = [*call.args, *(keyword for keyword in call.keywords if keyword is not device)]
    listed = ", ".join(tree.source(argument) for argument in arguments)
    code = f"{tree.source(call.func)}({listed}).to({tree.source(device.value)})"
    return ReplaceExpression(tree.path, tree.span(call), code)


def _draw_on_accelerator(observations: Observations, mismatch: RandomDraw) -> Edit | None:
    """Pass ``device`` to ``torch.randn(n, generator=g)`` if the generator also draws for tensors on the accelerator."""
    call, point = mismatch.point.node, mismatch.point
    if mismatch.kind != "factory" or mismatch.wanted != CPU or not isinstance(call, ast.Call):
        return None
    if any(keyword.arg in ("device", "out", None) for keyword in call.keywords):
        return None
    device = device_for_tensor(observations, point, point.call_frame)
    return None if device is None else AddKeyword(point.tree.path, point.tree.span(call), "device", device)


def _seeded_generator(observations: Observations, allocated_at: ProgramPoint, call: ast.Call) -> Edit | None:
    """Rewrite ``torch.manual_seed(0)``, used as a generator, to ``torch.Generator(device=device).manual_seed(0)``."""
    device, tree = device_for_tensor(observations, allocated_at, allocated_at.call_frame), allocated_at.tree
    if device is None or not isinstance(call.func, ast.Attribute):
        return None
    generator = f"{tree.source(call.func.value)}.Generator(device={device})"
    return ReplaceExpression(tree.path, tree.span(call.func.value), generator)


def _create_on(observations: Observations, allocated_at: ProgramPoint, on_accelerator: bool) -> Edit | None:
    """Create the generator on the accelerator, or on the CPU."""
    call, tree = allocated_at.node, allocated_at.tree
    if not isinstance(call, ast.Call):
        return None
    if ast.unparse(call.func).endswith("manual_seed"):
        return _seeded_generator(observations, allocated_at, call) if on_accelerator else None
    if not on_accelerator:
        return ReplaceExpression(tree.path, tree.span(call), f"{tree.source(call.func)}()")
    device = device_for_tensor(observations, allocated_at, allocated_at.call_frame)
    if device is None:
        return None
    device_nodes = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "device")]
    if device_nodes:
        return ReplaceExpression(tree.path, tree.span(device_nodes[0]), device)
    return AddKeyword(tree.path, tree.span(call), "device", device)


def _create_on_parameter(group: list[RandomDraw]) -> Edit | None:
    """Create the generator of a helper function on the device that each caller passes and draws for."""
    origins = [(draw.allocated_at, draw.wanted) for draw in group if draw.allocated_at is not None]
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


def _pass_generator(observations: Observations, mismatch: RandomDraw) -> Edit | None:
    """Pass ``generator=torch.Generator(device=device)`` to a loader or split that has none."""
    call, point = mismatch.given.node, mismatch.given
    if mismatch.allocated_at is not None or mismatch.wanted != ACCELERATOR or not isinstance(call, ast.Call):
        return None
    if any(keyword.arg in ("generator", None) for keyword in call.keywords) or "torch" not in visible(
        point, point.call_frame
    ):
        return None
    device = device_for_tensor(observations, point, point.call_frame) or "torch.get_default_device()"
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
    summary="A generator draws random numbers for tensors on another device.",
    documentation=__doc__,
    detect=detect,
    subscriptions=(Subscription(NumbersDrawn, _note_draw), Subscription(Escaped, _note_escape)),
    causes=("generator-on-other-device",),
    error_families=("generator",),
    invalid=(
        Example(
            "a CPU generator for a tensor on the accelerator",
            _SETUP + "g = torch.Generator().manual_seed(0)\n" + _NOISE.format(", device=device"),
            _SETUP + "g = torch.Generator().manual_seed(0)\n" + _NOISE.replace("{})", ").to(device)"),
        ),
        Example(
            "a split that draws on the CPU",
            _SETUP + "g = torch.Generator(device=device).manual_seed(0)\n" + _SPLIT,
            _SETUP + "g = torch.Generator().manual_seed(0)\n" + _SPLIT,
        ),
    ),
    valid=(
        _SETUP + "g = torch.Generator(device=device)\n" + _NOISE.format(", device=device"),
        _SETUP + "g = torch.Generator().manual_seed(0)\n" + _SPLIT,
        # fixed only with --unsafe-fixes, because the loader would shuffle differently
        _SETUP
        + "torch.set_default_device(device)\n"
        + "for batch in DataLoader(TensorDataset(torch.ones(8, 4)), batch_size=2, shuffle=True):\n    print(batch)\n",
    ),
)
