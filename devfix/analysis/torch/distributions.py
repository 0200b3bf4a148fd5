"""``torch.distributions``: parameters that are drawn from together, and values whose density they give.

Parameters are broadcast, so that one without dimensions is no exception; a distribution of plain numbers serves
tensors anywhere, and draws on the CPU.  https://docs.pytorch.org/docs/stable/distributions.html
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import (
    ANYWHERE,
    CPU,
    NONE,
    UNKNOWN,
    Birth,
    Const,
    Keywords,
    Number,
    Record,
    Ref,
    Tensor,
    Union,
    Value,
)
from devfix.analysis.transfer.device_check import Side, meet, tensor_side, tensors_in
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

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


def make(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value | None:
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
    return run.new(Record("distribution", last, fields=fields, born=run.site(node)))


def _shape(args: list[Value], keywords: Keywords) -> Value:
    """How many are drawn; None for one."""
    return args[0] if args else keywords.get("sample_shape", NONE)


def diverge(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value | None:
    """``kl_divergence(p, q)``: the parameters of both meet; ``None`` where one is not known."""
    held = [value for value in (*args, *keywords.values()) if _is_distribution(run, value)]
    if len(held) < 2:
        return None
    sides = [side for value in held for side in _parameters(run, value)]
    return _met(run, node, "kl_divergence", sides)


def method(run: Interpreter, ref: Ref, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``p.sample()``, ``p.log_prob(x)``, ``p.entropy()``."""
    sides = _parameters(run, ref)
    if name in _DRAW:
        if not sides:  # of plain numbers
            from devfix.analysis.torch import batches

            birth = Birth("made", batches.source_key(run, "made", node))
            single = _shape(args, keywords) == NONE
            return Tensor(run.default_place, (birth,) if run.default_place == CPU else (), scalar=single)
        drawn = _met(run, node, f".{name}()", sides)
        if not isinstance(drawn, Tensor):
            return drawn
        single = all(side.scalar for side in sides) and _shape(args, keywords) == NONE
        return replace(drawn, grad=drawn.grad and name == "rsample", scalar=single, single=single)
    if name in _MEASURE and args:
        given_sides = tensors_in(run, args[0], text_of(node.args[0]) if node.args else "…")
        return _met(run, node, f".{name}()", [*sides, *given_sides], free=_innermost(run, ref) in _TAKE_NUMBERS)
    if name in ("entropy", "enumerate_support"):
        return _met(run, node, f".{name}()", sides)
    return ref if name == "expand" else UNKNOWN


def attribute(run: Interpreter, ref: Ref, name: str) -> Value | None:
    """``p.mean``: lives where the parameters live; ``None`` for what is a method."""
    if name not in _ATTRIBUTES:
        return None
    places = {place for side in _parameters(run, ref) for place in side.places}
    return Tensor(places.pop()) if len(places) == 1 else Tensor(ANYWHERE)


def _is_distribution(run: Interpreter, value: Value) -> bool:
    return isinstance(value, Ref) and run.record(value).kind == "distribution"


def _innermost(run: Interpreter, ref: Ref) -> str:
    inner = next((value for value in run.record(ref).fields.values() if _is_distribution(run, value)), None)
    return _innermost(run, inner) if isinstance(inner, Ref) else run.record(ref).name


def _parameters(run: Interpreter, value: Value) -> list[Side]:
    """The parameters as operands; what is no tensor and no number may be anywhere."""
    assert isinstance(value, Ref)
    sides: list[Side] = []
    for text, held in run.record(value).fields.items():
        if _is_distribution(run, held):
            sides.extend(_parameters(run, held))
        elif isinstance(held, (Tensor, Union)):
            sides.append(tensor_side(held, text))
        elif not isinstance(held, (Const, Number)):
            sides.append(tensor_side(Tensor(ANYWHERE), text))
    return sides


def _met(run: Interpreter, node: ast.Call, consumer: str, sides: list[Side], free: bool = False) -> Value:
    if not sides:
        return Tensor(CPU)
    place, births = meet(run, node, consumer, sides, scalars_are_free=free)
    return Tensor(place, births, grad=any(side.grad for side in sides))
