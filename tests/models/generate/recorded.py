"""The table beside recordings of CUDA builds: calls of the operator database, and what became of each placement."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from torch import Tensor
from torch.utils._pytree import tree_flatten

from conformance.probes import names_device, operators
from devfix.models.signatures import Signature, Word, parse_signature

from .drafts import OPERAND, Draft, Parameter, bind, tensors_in
from .samples import calls_of, operator_samples

__all__ = ["Answer", "answers"]

_SAMPLES = 5  # of an operator, as in the recordings
_WITH_TENSORS = frozenset({"On", "Scalar", "Written", "Host", "Any"})


class Answer(NamedTuple):
    """One placement: what the table says, and what the recording says.

    ``told`` and ``recorded`` are ``refused``, or the device of the result; ``told`` is empty if the table does not say
    where the result is.
    """

    name: str
    probe: str
    told: str
    recorded: str

    @property
    def agrees(self) -> bool:
        """Whether both refuse, or both accept with the result on the same device."""
        if "refused" in (self.told, self.recorded):
            return self.told == self.recorded
        return not self.told or self.told == self.recorded


def answers(table: dict[str, Any], recorded: dict[str, dict[str, str]]) -> Iterator[Answer]:
    """Yield the placements of each recorded call that is one call of a function in the table.

    Calls with empty tensors are left out: some functions return before they look at devices.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for group, op in operators().items():
            if group not in recorded:
                continue
            for number, sample in enumerate(operator_samples(op, _SAMPLES)):
                for prefix, function in ((f"{number} ", op.op), (f"{number} inplace ", op.inplace_variant)):
                    outcomes = _outcomes(recorded[group], prefix)
                    if outcomes and function is not None:
                        yield from _of_call(table, function, sample, outcomes)


def _outcomes(probes: dict[str, str], prefix: str) -> dict[str, str]:
    """Outcomes by placement (``all``, ``host1``, ``only0``), if the call works on the accelerator at all."""
    found = {name.removeprefix(prefix): text for name, text in probes.items() if name.startswith(prefix)}
    plain = {name: text for name, text in found.items() if " " not in name}
    return plain if plain.get("all", "").startswith("ok") else {}


def _of_call(
    table: dict[str, Any], function: Callable[..., Any], sample: Any, outcomes: dict[str, str]
) -> Iterator[Answer]:
    arguments = ((sample.input, *sample.args), sample.kwargs)
    tensors = [leaf for leaf in tree_flatten(arguments)[0] if isinstance(leaf, Tensor)]
    calls = calls_of(lambda: function(*arguments[0], **arguments[1]))
    if len(calls) != 1 or any(tensor.numel() == 0 for tensor in tensors):
        return
    name, args, kwargs = calls[0]
    texts = table["functions"].get(table["aliases"].get(name, name), ())
    for signature in map(parse_signature, texts):
        bound = bind(_draft(signature), args, kwargs)
        if bound is not None:
            for placement, text in outcomes.items():
                devices = _devices(tensors, placement)
                if names_device(text) or text.startswith("ok"):
                    said = "refused" if names_device(text) else text.removeprefix("ok").strip()
                    yield Answer(name, placement, _told(signature, bound, devices), said)
            return


def _draft(signature: Signature) -> Draft:
    return Draft(
        tuple(
            Parameter(
                each.name,
                OPERAND if each.word.name in _WITH_TENSORS else each.word.name,
                "plain" if each.kind == "positional" else each.kind,
                each.optional,
                each.word.name in ("Scalar", "Any"),
            )
            for each in signature.parameters
        )
    )


def _devices(tensors: list[Tensor], placement: str) -> dict[int, str]:
    """Devices of tensors by identity: ``host1`` leaves the second on the CPU, ``only1`` moves it alone."""
    kind, number = placement.rstrip("0123456789"), int("".join(filter(str.isdigit, placement)) or -1)
    away = {"all": lambda index: True, "host": lambda index: index != number, "only": lambda index: index == number}
    return {id(tensor): "cuda:0" if away[kind](index) else "cpu" for index, tensor in enumerate(tensors)}


def _told(signature: Signature, bound: dict[str, Any], devices: dict[int, str]) -> str:
    """What a signature says about a call: ``refused``, a device, or nothing."""
    common: set[str] = set()
    own: dict[str, str] = {}
    for parameter in signature.parameters:
        for tensor in tensors_in(bound.get(parameter.name)):
            device, word = devices.get(id(tensor), "cpu"), parameter.word.name
            own.setdefault(parameter.name, device)
            joins = word == "Scalar" and tensor.dim() == 0 and device == "cpu"
            if word == "Host" and device != "cpu":
                return "refused"
            if parameter.is_operand and not joins:
                common.add(device)
    if len(common) > 1:
        return "refused"
    return _place(signature.result, common.pop() if common else "cpu", own)


def _place(word: Word, common: str, own: dict[str, str]) -> str:
    if word.name in ("On", "Integral", "Number", "Reduced", "Vector"):
        return common
    if word.name == "Of":
        return own.get(word.arguments[0].name, "")
    return "cpu" if word.name == "OnCPU" else ""
