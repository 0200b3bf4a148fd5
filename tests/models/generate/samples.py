"""Calls of every public function, recorded while PyTorch's operator database and a few calls of our own run."""

from __future__ import annotations

import contextlib
import functools
import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

from conformance.probes import operators

from .aliases import aliases
from .drafts import tensors_in
from .names import METHODS, functions
from .own_calls import CALLS, UNSEEN

__all__ = ["Sample", "calls_of", "operator_samples", "samples"]

_DRAWN = 80  # samples of an operator that are looked at, of which those of different forms are run


@dataclass(frozen=True)
class Sample:
    """Arguments of one call on the CPU."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @property
    def form(self) -> tuple[Any, ...]:
        """What tells calls apart: kinds of arguments, dimensions of tensors, names of keywords."""
        named = tuple((name, _form(value)) for name, value in sorted(self.kwargs.items()))
        return tuple(_form(each) for each in self.args), named

    @property
    def poverty(self) -> tuple[int, int, int]:
        """How many tensors have no element, no dimension, or one row; such calls say little."""
        tensors = [each for each in tensors_in((*self.args, *self.kwargs.values())) if not each.is_nested]
        empty = sum(tensor.numel() == 0 for tensor in tensors)
        return empty, sum(tensor.dim() == 0 for tensor in tensors), sum(1 in tensor.shape for tensor in tensors)


def _form(value: Any) -> Any:
    if isinstance(value, Tensor):
        if value.layout != torch.strided or value.is_nested:
            return str(value.layout)
        return "tensor", min(value.dim(), 3), 1 in value.shape, value.numel() == 0
    if isinstance(value, (list, tuple)):
        return type(value).__name__, _form(value[0]) if value else "empty"
    return value if isinstance(value, (str, bool)) else (type(value).__name__, value == 0)


@dataclass
class _Calls:
    """Calls by name of the function, one of each form."""

    found: dict[str, dict[Any, Sample]] = field(default_factory=dict)

    def add(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        sample = Sample(args, kwargs)
        known = self.found.setdefault(name, {})
        form = sample.form
        if form not in known:
            known[form] = Sample(tree_map(_copied, args), tree_map(_copied, kwargs))

    def of(self, name: str) -> list[Sample]:
        return list(self.found.get(name, {}).values())


def _copied(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return value
    return value.detach() if value.layout != torch.strided or value.is_nested else value.detach().clone()


class _Recorder(TorchFunctionMode):
    """Records the outermost calls of the torch API by name."""

    def __init__(self, note: Callable[[str, tuple[Any, ...], dict[str, Any]], None]) -> None:
        super().__init__()
        self.note = note

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.note(_names().get(id(func), ""), args, kwargs or {})
        return func(*args, **(kwargs or {}))


def calls_of(run: Callable[[], Any]) -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """Return the outermost calls of the torch API: name, empty if it is not public, and arguments."""
    found: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
    with contextlib.suppress(Exception), _Recorder(lambda *call: found.append(call)):
        run()
    return found


def operator_samples(op: Any, count: int) -> Iterator[Any]:
    """Yield the first samples of an operator of PyTorch's database, of one dtype."""
    dtypes = op.supported_dtypes("cpu")
    if not dtypes:
        return
    dtype = torch.float32 if torch.float32 in dtypes else sorted(dtypes, key=str)[0]
    torch.manual_seed(0)
    try:
        yield from itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=False), count)
    except Exception:  # samples that this build cannot make
        return


def _of_operator(op: Any) -> Iterator[Sample]:
    forms = set()
    for each in operator_samples(op, _DRAWN):
        sample = Sample((each.input, *each.args), dict(each.kwargs))
        if sample.form not in forms:
            forms.add(sample.form)
            yield sample


@functools.cache
def _names() -> dict[int, str]:
    """Names of functions by identity."""
    found: dict[int, str] = {}
    for name, function in functions().items():
        found.setdefault(id(function), name)
    return found


def _record(calls: _Calls, run: Callable[[], Any], wanted: set[str]) -> None:
    """Run a call, and keep the outermost calls of these names; an error is as good as a result."""

    def note(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if name in wanted:
            calls.add(name, args, kwargs)

    with contextlib.suppress(Exception), _Recorder(note):
        run()


def _forms_of(name: str) -> Iterator[str]:
    """Other names of a function: its aliases, its method and its in-place form, and those of the aliases."""
    others = [name, *_aliases_of(name), aliases().get(name, name)]
    for other in others:
        base = other.rpartition(".")[2]
        yield other
        if other in (f"torch.{base}", METHODS + base, f"torch.nn.functional.{base}"):
            yield from (f"{prefix}{base}{end}" for prefix in _SAME for end in ("", "_"))
        if other.startswith(("torch.linalg.", "torch.special.")):
            yield from (f"{prefix}{base}" for prefix in _SAME)


@functools.cache
def _aliases_of(name: str) -> tuple[str, ...]:
    return tuple(alias for alias, target in aliases().items() if target == name)


_SAME = ("torch.", METHODS, "torch.nn.functional.", "torch.special.")


@functools.cache
def _own_calls() -> _Calls:
    calls = _Calls()
    for call in CALLS:
        _record(calls, call, set(functions()))
    for name, args, kwargs in UNSEEN:
        calls.add(name, args, kwargs)
    return calls


def samples(names: Iterable[str]) -> dict[str, list[Sample]]:
    """Return the samples of each of these public names that has any."""
    wanted = set(names)
    found: dict[str, dict[Any, Sample]] = {name: {} for name in names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for calls in (*_operator_calls(wanted), _own_calls()):
            for name in calls.found:
                for other in dict.fromkeys(_forms_of(name)):
                    if other in wanted:
                        for sample in calls.of(name):
                            found[other].setdefault(sample.form, sample)
    return {name: sorted(known.values(), key=lambda each: each.poverty) for name, known in found.items()}


def _operator_calls(wanted: set[str]) -> Iterator[_Calls]:
    """Calls that the samples of operators make of the operator itself."""
    for op in operators().values():
        own = {f"torch.{name}" for name in (op.name, op.name.lstrip("_"), *(alias.name for alias in op.aliases))}
        forms = {form for name in own for form in _forms_of(name)}
        if forms & wanted:
            calls = _Calls()
            for sample in _of_operator(op):
                calls.add(f"torch.{op.name}", sample.args, sample.kwargs)
                _record(calls, lambda op=op, sample=sample: op.op(*sample.args, **sample.kwargs), forms)
            yield calls
