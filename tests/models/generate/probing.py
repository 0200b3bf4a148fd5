"""What calls do on the simulated accelerator with each operand elsewhere: evidence for roles and results."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_unflatten

from conformance.probes import names_device

from .drafts import Draft, bind
from .samples import Sample

__all__ = ["Evidence", "Outcome", "Result", "Run", "probe"]

_OUTPUTS = 2  # calls with ``out=`` elsewhere


@dataclass(frozen=True)
class Result:
    """One result of a call.

    Attributes:
        kind: ``Tensor``, ``tuple``, ``list``, ``int``, ``float``, ``bool``, ``str``, ``None`` or ``Any``.
        device: of a tensor.
        dimensions: of a tensor.
        gradient: whether a tensor has a gradient, if its inputs have; None if that was not tried.
        members: of a tuple or list.

    """

    kind: str
    device: str = ""
    dimensions: int = 0
    gradient: bool | None = None
    members: tuple[Result, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """A call that mixes devices: who was elsewhere, and what came of it.

    Attributes:
        placed: parameter -> device.
        accepted: whether it worked.
        result: of an accepted call.

    """

    placed: dict[str, str]
    accepted: bool
    result: Result | None


class Run(NamedTuple):
    """A call with everything on the accelerator.

    Attributes:
        result: what it returned.
        given: parameters with an argument other than None and False.
        highest: the most dimensions of an operand.

    """

    result: Result
    given: frozenset[str]
    highest: int


@dataclass
class Evidence:
    """What the samples of one overload have shown.

    Attributes:
        full: parameter -> outcomes with a tensor of one or more dimensions elsewhere.
        scalars: parameter -> outcomes with a 0-dimensional tensor on the CPU, the others on the accelerator.
        host: parameters that must be on the CPU.
        whole: calls with everything on the accelerator.
        tensors: parameters to which a sample has given a tensor.
        outputs: whether calls were accepted that have ``out=`` on the CPU and the operands on the accelerator.

    """

    full: dict[str, list[Outcome]] = field(default_factory=dict)
    scalars: dict[str, list[Outcome]] = field(default_factory=dict)
    host: set[str] = field(default_factory=set)
    whole: list[Run] = field(default_factory=list)
    tensors: set[str] = field(default_factory=set)
    outputs: list[bool] = field(default_factory=list)


class _Call:
    """A function with arguments by parameter, whose tensors are copied and placed for every run."""

    def __init__(self, function: Callable[..., Any], sample: Sample, draft: Draft) -> None:
        self.function = function
        leaves, self.shape = tree_flatten((sample.args, sample.kwargs))
        self.leaves: list[Any] = leaves
        self.owners = _owners(sample, draft)
        bound = bind(draft, sample.args, sample.kwargs) or {}
        self.given = frozenset(name for name, value in bound.items() if value is not None and value is not False)

    def parameters(self) -> list[str]:
        """Parameters with a tensor, in order."""
        owners = (owner for leaf, owner in zip(self.leaves, self.owners, strict=True) if isinstance(leaf, Tensor))
        return list(dict.fromkeys(owners))

    def tensors(self, parameter: str) -> list[Tensor]:
        """Tensors of a parameter."""
        return [
            leaf
            for leaf, owner in zip(self.leaves, self.owners, strict=True)
            if owner == parameter and isinstance(leaf, Tensor)
        ]

    def run(self, away: Callable[[str, int], bool], *, gradients: bool = False, **more: Any) -> Any:
        """Run with the tensors on the accelerator for which ``away(parameter, number of the tensor)``."""
        leaves, counts = [], dict.fromkeys(self.owners, 0)
        for leaf, owner in zip(self.leaves, self.owners, strict=True):
            if isinstance(leaf, Tensor):
                leaf = _copied(leaf, gradients)
                if away(owner, counts[owner]):
                    leaf = leaf.cuda()
                counts[owner] += 1
            elif owner == "device" and leaf is not None:
                leaf = "cuda" if away(owner, 0) else "cpu"
            leaves.append(leaf)
        args, kwargs = tree_unflatten(leaves, self.shape)
        torch.manual_seed(0)
        return self.function(*args, **{**kwargs, **more})

    def with_number(self, parameter: str) -> _Call | None:
        """The same call with a parameter's tensor replaced by its first element."""
        changed = object.__new__(_Call)
        changed.__dict__.update(self.__dict__)
        changed.leaves = list(self.leaves)
        tensors = [
            index
            for index, leaf in enumerate(self.leaves)
            if isinstance(leaf, Tensor) and self.owners[index] == parameter
        ]
        leaf = self.leaves[tensors[0]]
        if len(tensors) > 1 or leaf.layout != torch.strided or leaf.dim() == 0 or leaf.numel() == 0:
            return None
        changed.leaves[tensors[0]] = leaf.reshape(-1)[0].clone()
        return changed


def _owners(sample: Sample, draft: Draft) -> list[str]:
    """The parameter of each leaf of a call."""
    positional = [each.name for each in draft.parameters if each.kind == "plain"]
    rest = next((each.name for each in draft.parameters if each.kind == "rest"), "")
    owners: list[str] = []
    for index, value in enumerate(sample.args):
        name = positional[index] if index < len(positional) else rest
        owners += [name] * len(tree_flatten(value)[0])
    for name, value in sample.kwargs.items():
        owners += [name] * len(tree_flatten(value)[0])
    return owners


def _copied(tensor: Tensor, gradients: bool) -> Tensor:
    copied = tensor.detach()
    if gradients and (copied.is_floating_point() or copied.is_complex()):
        copied.requires_grad_()
    return copied.clone() if tensor.layout == torch.strided else copied


def _attempt(run: Callable[[], Any]) -> tuple[bool, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return True, run()
        except Exception as error:
            return False, error


def _result(value: Any) -> Result:
    if isinstance(value, Tensor):
        return Result("Tensor", str(value.device), value.dim(), value.requires_grad)
    if isinstance(value, (tuple, list)):
        kind = "list" if isinstance(value, list) else "tuple"
        return Result(kind, members=tuple(_result(each) for each in value))
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return Result(kind.__name__)
    return Result("None" if value is None else "Any")


def _with_gradients(result: Result, tried: Result | None) -> Result:
    """Put what a run with gradients said into the result of one without."""
    if tried is None:
        return Result(
            result.kind,
            result.device,
            result.dimensions,
            None,
            tuple(_with_gradients(each, None) for each in result.members),
        )
    members = tuple(_with_gradients(each, other) for each, other in zip(result.members, tried.members, strict=False))
    return Result(result.kind, result.device, result.dimensions, tried.gradient, members)


def probe(function: Callable[..., Any], draft: Draft, found: list[Sample]) -> Evidence:
    """Run the samples that an overload takes, with each operand elsewhere. A simulator must be active."""
    evidence = Evidence()
    for sample in found:
        call = _Call(function, sample, draft)
        _probe(call, evidence)
        if len(evidence.outputs) < _OUTPUTS and draft.parameter("out") is not None and call.parameters():
            evidence.outputs.extend(_output(call))
    return evidence


def _output(call: _Call) -> Iterator[bool]:
    """Whether ``out=`` may be on the CPU; nothing if the call takes none."""
    works, value = _attempt(lambda: call.run(lambda *_: False))
    results = value if isinstance(value, (tuple, list)) else (value,)
    if not works or not results or not all(isinstance(each, Tensor) and each.numel() for each in results):
        return

    def run(inputs: bool) -> Any:
        out = tuple(torch.empty_like(each, device="cpu") for each in results)
        return call.run(lambda *_: inputs, out=out if isinstance(value, (tuple, list)) else out[0])

    if _attempt(lambda: run(False))[0]:
        yield _attempt(lambda: run(True))[0]


def _probe(call: _Call, evidence: Evidence) -> None:
    works, _ = _attempt(lambda: call.run(lambda *_: False))
    if not works:
        return
    names = call.parameters()
    evidence.tensors.update(names)
    fine, value = _attempt(lambda: call.run(lambda *_: True))
    if not fine:
        if names_device(f"Error: {value}"):
            evidence.host.update(_host(call, names))
        if not evidence.host:
            return
        host = evidence.host
        fine, value = _attempt(lambda: call.run(lambda name, _: name not in host))
        names = [name for name in names if name not in host]
        if not fine:
            return
    differentiable, tried = _attempt(lambda: call.run(lambda *_: False, gradients=True))
    has_gradients = any(
        tensor.is_floating_point() or tensor.is_complex() for name in names for tensor in call.tensors(name)
    )
    result = _with_gradients(
        _result(value), (_result(tried) if differentiable else None) if has_gradients else _result(value)
    )
    highest = max((tensor.dim() for name in names for tensor in call.tensors(name)), default=0)
    evidence.whole.append(Run(result, call.given, highest))
    for name in names:
        for outcome, scalar in _mixes(call, name, names, evidence.host):
            (evidence.scalars if scalar else evidence.full).setdefault(name, []).append(outcome)


def _host(call: _Call, names: list[str]) -> Iterator[str]:
    """Parameters that let a call work that fails with everything on the accelerator."""
    for name in names:
        if _attempt(lambda name=name: call.run(lambda each, _: each != name))[0]:
            yield name


def _outcome(call: _Call, names: list[str], away: Callable[[str, int], bool]) -> Outcome:
    accepted, value = _attempt(lambda: call.run(away))
    placed = {name: "cuda:0" if away(name, 0) else "cpu" for name in names}
    return Outcome(placed, accepted, _result(value) if accepted else None)


def _mixes(call: _Call, name: str, names: list[str], host: set[str]) -> Iterator[tuple[Outcome, bool]]:
    tensors = call.tensors(name)
    if len(tensors) > 1:
        yield _outcome(call, names, lambda each, number: each not in host and (each != name or number > 0)), False
    if len(names) < 2 or any(tensor.numel() == 0 for other in names for tensor in call.tensors(other)):
        return
    zero = all(tensor.dim() == 0 for tensor in tensors)
    yield _outcome(call, names, lambda each, _: each not in host and each != name), zero
    if not zero:
        yield _outcome(call, names, lambda each, _: each == name), False
        scalar = call.with_number(name)
        if scalar is not None and _attempt(lambda: scalar.run(lambda *_: False))[0]:
            yield _outcome(scalar, names, lambda each, _: each not in host and each != name), True
    if zero and any(tensor.dim() > 0 for other in names if other != name for tensor in call.tensors(other)):
        yield _outcome(call, names, lambda each, _: each == name), False
