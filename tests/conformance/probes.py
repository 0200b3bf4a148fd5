"""The table of probes: every case of :mod:`cases`, and each operator of PyTorch's database with its tensors moved.

A probe is one call.  What it does is an *outcome*, a line of text: ``ok cuda:0`` (devices of the result's tensors),
``ok`` (a result without tensors), or the exception's class and first line.  The same table runs on a real GPU, on the
stand-in runtime and on the simulated device; this module and :mod:`cases` need nothing but torch, and the operators
``expecttest`` as well.

Probes of an operator are made from up to :data:`SAMPLES` of its sample inputs.  Their names::

    2 all             sample 2, every tensor on the accelerator: what the others are compared with
    2 host1           the same, but tensor 1 stays on the CPU
    2 only1           only tensor 1 is on the accelerator
    0 zero all        tensor 1 replaced by its first element, a tensor of dimension 0 ...
    0 zero1 all
    0 zero1 host      ... which stays on the CPU, or is alone on the accelerator (only)
    0 out host        out= on the CPU, inputs on the accelerator; ``out only`` the other way
    0 inplace host1   the operator's in-place form
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_unflatten

from conformance.cases import CASES

__all__ = ["HAND", "SAMPLES", "Probe", "baseline", "names_device", "operators", "outcome", "probes"]

#: The group of the cases written by hand.
HAND = "cases"

SAMPLES = 5
_FULLY_VARIED = 2  # samples that are also tried with zero-dim tensors, out= and in place
_LONGEST = 300
_SEED = 20

_NUMBERS = re.compile(r"0x[0-9a-f]+|\[[-\d, ]*\]")


class Probe(NamedTuple):
    """One call; ``name`` is unique within its operator."""

    name: str
    call: Callable[[], Any]


def baseline(name: str) -> str | None:
    """The probe of the same call with every tensor on the accelerator; None for such a probe and for cases."""
    words = name.split(" ")
    if words[-1] == "all" or not words[0].isdigit():
        return None
    return " ".join([*words[:-1], "all"])


# "Event device type CUDA does not match blocking stream's" is about streams, not about where a tensor is.
_DEVICE_WORDS = re.compile(
    r"same device|to numpy|either on cpu|should be the same|(?<!Event )(?<!stream's )device type|DeviceType"
    r"|to be on cpu|on cpu|CPU scalars|expected device|different device|on device|to have device"
    r"|CPU tensor|must be (?:a )?CPU|get_device|a CUDA device but found|Expected .* on (?:cpu|cuda)",
    re.IGNORECASE,
)


def names_device(text: str) -> bool:
    """Whether an outcome is an error about devices, by its words."""
    return not text.startswith("ok") and _DEVICE_WORDS.search(text) is not None


def _devices(result: Any) -> str:
    found: list[str] = []
    for leaf in tree_flatten(result)[0]:
        if isinstance(leaf, Tensor):
            found.append(str(leaf.device))
        elif leaf is not None and not isinstance(leaf, (int, float, complex)):
            data = getattr(leaf, "data", None)  # a packed sequence, a parameter's holder
            if isinstance(data, Tensor):
                found.append(str(data.device))
    if len(set(found)) == 1:
        found = found[:1]
    return ",".join(found)


def _answer(result: Any) -> str:
    """A plain answer of a case, if it does not depend on numbers."""
    return str(result) if isinstance(result, (bool, str)) else ""


def outcome(call: Callable[[], Any], *, answers: bool = False) -> str:
    """What a call does, as one line."""
    torch.manual_seed(_SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = call()
            return f"ok {_devices(result) or (_answer(result) if answers else '')}".rstrip()
        except Exception as error:
            first = (str(error).strip().split("\n") or [""])[0]
            return f"{type(error).__name__}: {_NUMBERS.sub('_', first)[:_LONGEST]}"


def allow_global_flags() -> None:
    """Take back what PyTorch's test tools do when they are imported: nobody could set a backend's flags any more."""
    torch.backends.flags_frozen.__globals__["__allow_nonbracketed_mutation_flag"] = True


def operators() -> dict[str, Any]:
    """Entries of the operator database by name and variant.

    Raises:
        ImportError: without ``expecttest`` (or NumPy), which PyTorch's own test tools import.

    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
    allow_global_flags()
    found: dict[str, Any] = {}
    for op in op_db:
        name = f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name
        if not op.name.startswith("jiterator"):  # compiles CUDA source
            found.setdefault(name, op)
    return found


def _samples(op: Any) -> list[Any]:
    dtypes = op.supported_dtypes("cpu")
    if not dtypes:
        return []
    dtype = torch.float32 if torch.float32 in dtypes else sorted(dtypes, key=str)[0]
    torch.manual_seed(_SEED)
    found = []
    try:
        for sample in op.sample_inputs("cpu", dtype, requires_grad=False):
            found.append(sample)
            if len(found) == SAMPLES:
                break
    except Exception:  # samples that this build cannot make
        return found
    return found


class _Call:
    """One function with arguments, whose tensors are copied and placed for every call."""

    def __init__(self, function: Callable[..., Any], leaves: list[Any], shape: Any) -> None:
        self.function = function
        self.leaves = leaves
        self.shape = shape
        self.places = [index for index, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]

    def __call__(self, away: set[int]) -> Any:
        """Run with the tensors of these positions on the accelerator."""
        leaves = list(self.leaves)
        for position, index in enumerate(self.places):
            copied = _copied(leaves[index])
            leaves[index] = copied.cuda() if position in away else copied
        if not away:  # all on the CPU: the sample as it is made
            leaves = ["cpu" if leaf == "cuda" and isinstance(leaf, str) else leaf for leaf in leaves]
        args, kwargs = tree_unflatten(leaves, self.shape)
        return self.function(*args, **kwargs)

    def works(self) -> bool:
        """Whether the CPU can run it at all."""
        return outcome(lambda: self(set())).startswith("ok")

    def with_number(self, position: int) -> _Call | None:
        """The same call with one tensor replaced by its first element."""
        index = self.places[position]
        leaf = self.leaves[index]
        if leaf.layout != torch.strided or leaf.dim() == 0 or leaf.numel() == 0:
            return None
        leaves = list(self.leaves)
        leaves[index] = leaf.reshape(-1)[0].clone()
        return _Call(self.function, leaves, self.shape)


def _copied(tensor: Tensor) -> Tensor:
    if tensor.layout != torch.strided:
        return tensor.detach()
    return tensor.detach().clone()


def _call(function: Callable[..., Any], sample: Any) -> _Call:
    keywords = {name: ("cuda" if name == "device" else value) for name, value in sample.kwargs.items()}
    leaves, shape = tree_flatten(((sample.input, *sample.args), keywords))
    return _Call(function, leaves, shape)


def _placements(prefix: str, call: _Call) -> Iterator[Probe]:
    """All tensors on the accelerator, then each left behind, then each moved alone."""
    everything = set(range(len(call.places)))
    yield Probe(f"{prefix} all", lambda: call(everything))
    if len(everything) < 2:
        return
    for position in sorted(everything):
        yield Probe(f"{prefix} host{position}", lambda position=position: call(everything - {position}))
    if len(everything) > 2:
        for position in sorted(everything):
            yield Probe(f"{prefix} only{position}", lambda position=position: call({position}))


def _numbers(prefix: str, call: _Call) -> Iterator[Probe]:
    """Each tensor in turn as a tensor of dimension 0, on the other device than the rest."""
    everything = set(range(len(call.places)))
    for position in sorted(everything) if len(everything) > 1 else ():
        scalar = call.with_number(position)
        if scalar is None or not scalar.works():
            continue
        name = f"{prefix} zero{position}"
        yield Probe(f"{name} all", lambda scalar=scalar: scalar(everything))
        yield Probe(f"{name} host", lambda scalar=scalar, position=position: scalar(everything - {position}))
        yield Probe(f"{name} only", lambda scalar=scalar, position=position: scalar({position}))


def _outputs(prefix: str, call: _Call) -> Iterator[Probe]:
    """``out=`` elsewhere than the inputs."""
    everything = set(range(len(call.places)))
    try:
        expected = call(set())
    except Exception:
        return
    results = expected if isinstance(expected, (tuple, list)) else (expected,)
    if not everything or not results or not all(isinstance(each, Tensor) for each in results):
        return

    def run(inputs: set[int], away: bool) -> Any:
        made = [torch.empty_like(each, device="cuda" if away else "cpu") for each in results]
        out = tuple(made) if isinstance(expected, (tuple, list)) else made[0]
        with_out = _Call(lambda *args, **kwargs: call.function(*args, **kwargs, out=out), call.leaves, call.shape)
        return with_out(inputs)

    if not outcome(lambda: run(set(), False)).startswith("ok"):
        return
    yield Probe(f"{prefix} out all", lambda: run(everything, True))
    yield Probe(f"{prefix} out host", lambda: run(everything, False))
    yield Probe(f"{prefix} out only", lambda: run(set(), True))


def _of_operator(op: Any) -> Iterator[Probe]:
    for number, sample in enumerate(_samples(op)):
        call = _call(op.op, sample)
        if not call.works():
            continue
        yield from _placements(f"{number}", call)
        if number >= _FULLY_VARIED:
            continue
        yield from _numbers(f"{number}", call)
        if op.supports_out:
            yield from _outputs(f"{number}", call)
        if op.inplace_variant is not None:
            in_place = _call(op.inplace_variant, sample)
            if in_place.works():
                yield from _placements(f"{number} inplace", in_place)
                yield from _numbers(f"{number} inplace", in_place)


def probes(group: str, entries: dict[str, Any]) -> Iterator[Probe]:
    """The probes of one operator, or of :data:`HAND`."""
    if group == HAND:
        yield from (Probe(name, call) for name, call in CASES.items())
    else:
        yield from _of_operator(entries[group])
