"""``torch.distributions``: parameters, samples and log probabilities.

Parameters are broadcast when a distribution is created, so 0-dim parameters must also be on the same device.  A
distribution of Python numbers accepts tensors on any device, and samples on the CPU.
https://docs.pytorch.org/docs/stable/distributions.html
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import HeapObject, object_at
from devfix.analysis.domain.records import dataclass, replace
from devfix.analysis.domain.values import (
    CPU,
    NONE,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Const,
    Keywords,
    Number,
    Origin,
    Pointer,
    Tensor,
    Union,
    Value,
    alternatives,
)
from devfix.analysis.torch import data_sources
from devfix.analysis.transfer.device_check import OperandSet, check_same_device, tensor_operands, tensors_in
from devfix.syntax.tree import argument_texts, text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["DistributionObject", "kl_divergence", "make"]

_DISTRIBUTIONS = frozenset(
    "Bernoulli Beta Binomial Categorical Cauchy Chi2 ContinuousBernoulli Dirichlet Exponential Gamma Geometric Gumbel "
    "HalfNormal Independent Laplace LogNormal LowRankMultivariateNormal Multinomial MultivariateNormal "
    "NegativeBinomial Normal OneHotCategorical Pareto Poisson RelaxedBernoulli RelaxedOneHotCategorical StudentT "
    "Uniform VonMises Weibull".split()
)
#: Distributions that do not broadcast the value: a 0-dim value may be on the CPU.
_ACCEPT_SCALAR_VALUE = frozenset("Cauchy Exponential Gumbel Laplace Normal LogNormal StudentT Uniform".split())
_SAMPLE_METHODS = frozenset("sample rsample sample_n".split())
_PROBABILITY_METHODS = frozenset("log_prob cdf icdf".split())
_ATTRIBUTES = frozenset("mean mode stddev variance loc scale probs logits rate concentration".split())


@dataclass(frozen=True)
class DistributionObject(HeapObject):
    """A distribution: its parameters are fields, by their text in the call."""

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method: ``p.sample()``, ``p.log_prob(x)``, ``p.entropy()``."""
        operands = _parameters(interp, self)
        if name in _SAMPLE_METHODS:
            return _sample(interp, operands, name, _shape(args, keywords), node)
        if name in _PROBABILITY_METHODS and args:
            given = tensors_in(interp, args[0], text_of(node.args[0]) if node.args else "…")
            if not (given or operands or all(isinstance(option, (Const, Number)) for option in alternatives(args[0]))):
                return Tensor(UNKNOWN_DEVICE)
            is_free = _innermost(interp, self) in _ACCEPT_SCALAR_VALUE
            return _check(interp, node, f".{name}()", [*operands, *given], scalars_are_free=is_free)
        if name in ("entropy", "enumerate_support"):
            return _check(interp, node, f".{name}()", operands)
        return pointer if name == "expand" else UNKNOWN

    def other_attribute(self, interp: Interpreter, pointer: Pointer, name: str, node: ast.AST) -> Value:
        """Return ``p.mean`` and the like, on the parameters' device, or a method."""
        if name not in _ATTRIBUTES:
            return super().other_attribute(interp, pointer, name, node)
        devices = {device for operand in _parameters(interp, self) for device in operand.devices}
        return Tensor(devices.pop()) if len(devices) == 1 else Tensor(UNKNOWN_DEVICE)


def make(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value | None:
    """Create a distribution: ``Normal(loc, scale)``; return ``None`` if the class is not a known distribution."""
    last = name.split(".")[-1]
    if last not in _DISTRIBUTIONS:
        return None
    texts, named = argument_texts(node)
    fields = dict(zip([*texts, *(["…"] * len(args))], args, strict=False))
    fields.update((named.get(key, key), value) for key, value in keywords.items() if key != "validate_args")
    if last == "Independent":
        fields = dict(list(fields.items())[:1])  # the second argument is a number of dimensions
    return interp.new(DistributionObject(last, fields=fields, allocated_at=interp.point(node)))


def _shape(args: list[Value], keywords: Keywords) -> Value:
    """Return the sample shape; ``None`` for one sample."""
    return args[0] if args else keywords.get("sample_shape", NONE)


def kl_divergence(
    interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value | None:
    """Check ``kl_divergence(p, q)``; return ``None`` if a distribution is unknown."""
    given = [object_at(interp, value, DistributionObject) for value in (*args, *keywords.values())]
    distributions = [obj for obj in given if obj is not None]
    if len(distributions) < 2:
        return None
    operands = [operand for obj in distributions for operand in _parameters(interp, obj)]
    return _check(interp, node, "kl_divergence", operands)


def _sample(interp: Interpreter, operands: list[OperandSet], name: str, shape: Value, node: ast.Call) -> Value:
    if not operands:  # parameters are Python numbers
        origin = Origin("made", data_sources.source_key(interp, "made", node))
        origins = (origin,) if interp.default_device == CPU else ()
        return Tensor(interp.default_device, origins, maybe_zero_dim=shape == NONE)
    sample = _check(interp, node, f".{name}()", operands)
    is_single_number = all(operand.maybe_zero_dim for operand in operands) and shape == NONE
    grad = sample.grad and name == "rsample"
    return replace(sample, grad=grad, maybe_zero_dim=is_single_number, is_single_number=is_single_number)


def _innermost(interp: Interpreter, obj: DistributionObject) -> str:
    """Return the class of the distribution that ``Independent`` wraps, or of the distribution itself."""
    inner = (object_at(interp, value, DistributionObject) for value in obj.fields.values())
    found = next((each for each in inner if each is not None), None)
    return obj.name if found is None else _innermost(interp, found)


def _parameters(interp: Interpreter, obj: DistributionObject) -> list[OperandSet]:
    """Return the parameters as operands; the device of unknown values is unknown."""
    operands: list[OperandSet] = []
    for text, parameter in obj.fields.items():
        inner = object_at(interp, parameter, DistributionObject)
        if inner is not None:
            operands.extend(_parameters(interp, inner))
        elif isinstance(parameter, (Tensor, Union)):
            operands.append(tensor_operands(parameter, text))
        elif not isinstance(parameter, (Const, Number)):
            operands.append(tensor_operands(Tensor(UNKNOWN_DEVICE), text))
    return operands


def _check(
    interp: Interpreter, node: ast.Call, operation: str, operands: list[OperandSet], scalars_are_free: bool = False
) -> Tensor:
    if not operands:
        return Tensor(CPU)
    device, origins = check_same_device(interp, node, operation, operands, allow_cpu_scalars=scalars_are_free)
    return Tensor(
        device,
        origins,
        maybe_zero_dim=all(operand.maybe_zero_dim for operand in operands),
        grad=any(operand.grad for operand in operands),
    )
