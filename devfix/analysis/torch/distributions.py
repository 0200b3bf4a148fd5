"""``torch.distributions``: parameters that are drawn from together, and values whose density they give.

Parameters are broadcast, so that one without dimensions is no exception; a distribution of plain numbers serves
tensors anywhere, and draws on the CPU.  https://docs.pytorch.org/docs/stable/distributions.html
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import (
    CPU,
    NONE,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Const,
    HeapObject,
    Keywords,
    Number,
    Origin,
    Pointer,
    Tensor,
    Union,
    Value,
)
from devfix.analysis.torch import data_sources
from devfix.analysis.transfer.device_check import OperandSet, check_same_device, tensor_operands, tensors_in
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["attribute", "diverge", "make", "method"]

_OWN = frozenset(
    "Bernoulli Beta Binomial Categorical Cauchy Chi2 ContinuousBernoulli Dirichlet Exponential Gamma Geometric Gumbel "
    "HalfNormal Independent Laplace LogNormal LowRankMultivariateNormal Multinomial MultivariateNormal "
    "NegativeBinomial Normal OneHotCategorical Pareto Poisson RelaxedBernoulli RelaxedOneHotCategorical StudentT "
    "Uniform VonMises Weibull".split()
)
#: The value is not broadcast beforehand: one without dimensions may be on the CPU.
_TAKE_NUMBERS = frozenset("Cauchy Exponential Gumbel Laplace Normal LogNormal StudentT Uniform".split())
_DRAW = frozenset("sample rsample sample_n".split())
_MEASURE = frozenset("log_prob cdf icdf".split())
_ATTRIBUTES = frozenset("mean mode stddev variance loc scale probs logits rate concentration".split())


def make(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value | None:
    """``Normal(loc, scale)``: an object that holds its parameters; ``None`` for what is no distribution."""
    last = name.split(".")[-1]
    if last not in _OWN:
        return None
    texts = [text_of(argument) for argument in node.args] + ["…"] * len(args)
    named = {keyword.arg: text_of(keyword.value) for keyword in node.keywords}
    fields = dict(zip(texts, args, strict=False))
    fields.update((named.get(key, key), value) for key, value in keywords.items() if key != "validate_args")
    if last == "Independent":
        fields = dict(list(fields.items())[:1])  # the second is a number of dimensions
    return interp.new(HeapObject("distribution", last, fields=fields, allocated_at=interp.point(node)))


def _shape(args: list[Value], keywords: Keywords) -> Value:
    """How many are drawn; None for one."""
    return args[0] if args else keywords.get("sample_shape", NONE)


def diverge(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value | None:
    """``kl_divergence(p, q)``: the parameters of both meet; ``None`` where one is not known."""
    held = [value for value in (*args, *keywords.values()) if _is_distribution(interp, value)]
    if len(held) < 2:
        return None
    operands = [operand for value in held for operand in _parameters(interp, value)]
    return _met(interp, node, "kl_divergence", operands)


def method(
    interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value:
    """``p.sample()``, ``p.log_prob(x)``, ``p.entropy()``."""
    operands = _parameters(interp, pointer)
    if name in _DRAW:
        if not operands:  # of plain numbers
            origin = Origin("made", data_sources.source_key(interp, "made", node))
            is_single_number = _shape(args, keywords) == NONE
            return Tensor(
                interp.default_device,
                (origin,) if interp.default_device == CPU else (),
                maybe_zero_dim=is_single_number,
            )
        drawn = _met(interp, node, f".{name}()", operands)
        if not isinstance(drawn, Tensor):
            return drawn
        is_single_number = all(operand.maybe_zero_dim for operand in operands) and _shape(args, keywords) == NONE
        return replace(
            drawn,
            grad=drawn.grad and name == "rsample",
            maybe_zero_dim=is_single_number,
            is_single_number=is_single_number,
        )
    if name in _MEASURE and args:
        given_sides = tensors_in(interp, args[0], text_of(node.args[0]) if node.args else "…")
        return _met(
            interp, node, f".{name}()", [*operands, *given_sides], free=_innermost(interp, pointer) in _TAKE_NUMBERS
        )
    if name in ("entropy", "enumerate_support"):
        return _met(interp, node, f".{name}()", operands)
    return pointer if name == "expand" else UNKNOWN


def attribute(interp: Interpreter, pointer: Pointer, name: str) -> Value | None:
    """``p.mean``: lives where the parameters live; ``None`` for what is a method."""
    if name not in _ATTRIBUTES:
        return None
    devices = {device for operand in _parameters(interp, pointer) for device in operand.devices}
    return Tensor(devices.pop()) if len(devices) == 1 else Tensor(UNKNOWN_DEVICE)


def _is_distribution(interp: Interpreter, value: Value) -> bool:
    return isinstance(value, Pointer) and interp.heap_object(value).kind == "distribution"


def _innermost(interp: Interpreter, pointer: Pointer) -> str:
    inner = next(
        (value for value in interp.heap_object(pointer).fields.values() if _is_distribution(interp, value)), None
    )
    return _innermost(interp, inner) if isinstance(inner, Pointer) else interp.heap_object(pointer).name


def _parameters(interp: Interpreter, value: Value) -> list[OperandSet]:
    """The parameters as operands; what is no tensor and no number may be anywhere."""
    assert isinstance(value, Pointer)
    operands: list[OperandSet] = []
    for text, held in interp.heap_object(value).fields.items():
        if _is_distribution(interp, held):
            operands.extend(_parameters(interp, held))
        elif isinstance(held, (Tensor, Union)):
            operands.append(tensor_operands(held, text))
        elif not isinstance(held, (Const, Number)):
            operands.append(tensor_operands(Tensor(UNKNOWN_DEVICE), text))
    return operands


def _met(interp: Interpreter, node: ast.Call, consumer: str, operands: list[OperandSet], free: bool = False) -> Value:
    if not operands:
        return Tensor(CPU)
    device, origins = check_same_device(interp, node, consumer, operands, allow_cpu_scalars=free)
    return Tensor(device, origins, grad=any(operand.grad for operand in operands))
