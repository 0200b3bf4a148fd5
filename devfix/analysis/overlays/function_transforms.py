"""Function transforms of ``torch.func``: functions that return functions, and modules called with other parameters.

A transformed function calls the original one with the same arguments, and returns tensors on the devices of its
arguments (``grad``) or results (``vmap``, ``jacrev``).

https://docs.pytorch.org/docs/stable/func.api.html
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import Container, HeapObject, object_at
from devfix.analysis.domain.records import dataclass, replace
from devfix.analysis.domain.values import NONE, UNKNOWN, Const, Keywords, Pointer, Tensor, TupleValue, Value
from devfix.analysis.transfer.device_check import check_same_device, tensors_in
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS"]


@dataclass(frozen=True)
class _Derived(HeapObject):
    """A function that a transform returns; ``fields`` hold the transform's arguments by name."""

    def inner(self, interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> tuple[Value, Value]:
        """Call the original function; return its result and its auxiliary output (unknown if it has none)."""
        return _call_inner(interp, self.fields["func"], args, keywords, node, self.fields.get("has_aux", Const(False)))

    def with_aux(self, result: Value, aux: Value) -> Value:
        """Return a result as the transformed function does: beside the auxiliary output, if there is one."""
        return _with_aux((result,), aux, self.fields.get("has_aux", Const(False)))


@dataclass(frozen=True)
class _Gradient(_Derived):
    """What ``grad`` returns: a function that returns tensors like its arguments."""

    def call(
        self, interp: Interpreter, pointer: Pointer, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Return the gradient for the arguments that ``argnums`` names."""
        _, aux = self.inner(interp, args, keywords, node)
        return self.with_aux(self.gradient(interp, args), aux)

    def gradient(self, interp: Interpreter, args: Sequence[Value]) -> Value:
        """Return the gradient alone."""
        return _selected(args, self.fields.get("argnums", Const(0)), lambda value: _alike(interp, value))


@dataclass(frozen=True)
class _GradientAndValue(_Gradient):
    """What ``grad_and_value`` returns."""

    def call(
        self, interp: Interpreter, pointer: Pointer, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Return the gradient and the value."""
        value, aux = self.inner(interp, args, keywords, node)
        return TupleValue((self.gradient(interp, args), self.with_aux(value, aux)))


@dataclass(frozen=True)
class _Mapped(_Derived):
    """What ``vmap`` returns: a function of batches of the arguments."""

    def call(
        self, interp: Interpreter, pointer: Pointer, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Return a batch of results, each with a dimension more than the function's own, unless ``out_dims=None``."""
        result, _ = self.inner(interp, args, keywords, node)
        is_batched = isinstance(self.fields.get("out_dims", Const(0)), Const) and self.fields.get("out_dims") != NONE
        return _changed(result, lambda tensor: _with_dimensions(tensor) if is_batched else tensor)


@dataclass(frozen=True)
class _Jacobian(_Derived):
    """What ``jacrev``, ``jacfwd`` and ``hessian`` return: derivatives on the device of the function's result."""

    def call(
        self, interp: Interpreter, pointer: Pointer, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Return one tensor for each argument that ``argnums`` names."""
        result, aux = self.inner(interp, args, keywords, node)

        def derivative(argument: Value) -> Value:
            if not (isinstance(result, Tensor) and isinstance(argument, Tensor)):
                return UNKNOWN
            return result if argument.maybe_zero_dim else _with_dimensions(result)

        return self.with_aux(_selected(args, self.fields.get("argnums", Const(0)), derivative), aux)


@dataclass(frozen=True)
class _Product(HeapObject):
    """The function of ``vjp`` and ``linearize``: a product with vectors on the devices of ``fields["like"]``."""

    def call(
        self, interp: Interpreter, pointer: Pointer, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Check the vectors, and return the product."""
        texts = [text_of(argument) for argument in node.args]
        like = self.fields["like"]
        _check_pairs(interp, node, _items(interp, like) or [like], args, texts)
        return self.fields["product"]


# --- parts of values ------------------------------------------------------------------------------------------------
def _call_inner(
    interp: Interpreter, function: Value, args: list[Value], keywords: Keywords, node: ast.Call, has_aux: Value
) -> tuple[Value, Value]:
    """Call a function; return its result and its auxiliary output (unknown if it has none)."""
    result = interp.call(function, args, keywords, node)
    if has_aux == Const(False):
        return result, UNKNOWN
    if isinstance(result, TupleValue) and len(result.items) == 2 and has_aux == Const(True):
        return result.items[0], result.items[1]
    return UNKNOWN, UNKNOWN


def _with_aux(results: tuple[Value, ...], aux: Value, has_aux: Value) -> Value:
    """Return results as a transform does: one alone, several as a tuple, and the auxiliary output last."""
    if has_aux == Const(True):
        results = (*results, aux)
    elif has_aux != Const(False):
        return UNKNOWN
    return results[0] if len(results) == 1 else TupleValue(results)


def _selected(args: Sequence[Value], argnums: Value, change: Callable[[Value], Value]) -> Value:
    """Return ``change`` of the arguments that ``argnums`` names: a number or a tuple of numbers."""
    match argnums:
        case Const(int(index)) if -len(args) <= index < len(args):
            return change(args[index])
        case TupleValue(items):
            return TupleValue(tuple(_selected(args, item, change) for item in items))
    return UNKNOWN


def _changed(value: Value, change: Callable[[Tensor], Tensor]) -> Value:
    """Return a value with each tensor of it, and of its tuples, changed; other containers are unknown."""
    match value:
        case Tensor():
            return change(value)
        case TupleValue(items):
            return TupleValue(tuple(_changed(item, change) for item in items))
    return UNKNOWN


def _alike(interp: Interpreter, value: Value) -> Value:
    """Return tensors on the devices of those in a value, in the same containers."""
    container = object_at(interp, value, Container)
    if container is not None:
        return interp.new(container.transformed(lambda _, item: _alike(interp, item)))
    return _changed(value, lambda tensor: replace(tensor, grad=False))


def _with_dimensions(tensor: Tensor) -> Tensor:
    return replace(tensor, maybe_zero_dim=False, is_single_number=False)


def _items(interp: Interpreter, value: Value) -> list[Value] | None:
    """Return the items of a tuple or list; ``None`` if they are unknown."""
    if isinstance(value, TupleValue):
        return list(value.items)
    return interp.heap_object(value).elements(interp, value) if isinstance(value, Pointer) else None


def _check_pairs(
    interp: Interpreter, node: ast.Call, primals: Sequence[Value], vectors: Sequence[Value], texts: Sequence[str]
) -> None:
    """Check each vector against the tensor that it belongs to; a 0-dimensional CPU tensor is moved by PyTorch."""
    if len(primals) != len(vectors):
        return
    texts = texts if len(texts) == len(vectors) else ["…"] * len(vectors)
    for primal, vector, text in zip(primals, vectors, texts, strict=True):
        operands = [*tensors_in(interp, primal, "…"), *tensors_in(interp, vector, text)]
        check_same_device(interp, node, text_of(node.func), operands, allow_cpu_scalars=True)


# --- transforms -----------------------------------------------------------------------------------------------------
def _transform(kind: type[_Derived], *parameters: str) -> TransferFunction:
    """Return the code for a transform with these parameters, the function first."""

    def overlay(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
        given = dict(zip(parameters, args, strict=False)) | keywords
        options = {parameter: UNKNOWN for parameter in parameters if "**" in given} | given
        return interp.new(kind(name, fields={"func": UNKNOWN, **options}, allocated_at=interp.point(node)))

    return overlay


def _vjp(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``vjp(func, *primals)``: the result, and a function from vectors like it to a tuple like the primals."""
    has_aux = keywords.get("has_aux", Const(False))
    function, primals = (args[0], args[1:]) if args else (UNKNOWN, [])
    result, aux = _call_inner(interp, function, primals, {}, node, has_aux)
    product = TupleValue(tuple(_alike(interp, primal) for primal in primals))
    pullback = interp.new(_Product(name, fields={"like": result, "product": product}, allocated_at=interp.point(node)))
    return _with_aux((result, pullback), aux, has_aux)


def _jvp(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``jvp(func, primals, tangents)``: the result, and its derivative."""
    given = dict(zip(("func", "primals", "tangents"), args, strict=False)) | keywords
    has_aux = given.get("has_aux", Const(False))
    primals = _items(interp, given.get("primals", UNKNOWN))
    tangents = _items(interp, given.get("tangents", UNKNOWN))
    if primals is None or tangents is None or len(primals) == len(node.args):
        return UNKNOWN
    _check_pairs(interp, node, primals, tangents, [])
    result, aux = _call_inner(interp, given.get("func", UNKNOWN), primals, {}, node, has_aux)
    return _with_aux((result, _alike(interp, result)), aux, has_aux)


def _linearize(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``linearize(func, *primals)``: the result, and a function from vectors like the primals to one like it."""
    function, primals = (args[0], args[1:]) if args else (UNKNOWN, [])
    result = interp.call(function, primals, {}, node)
    fields: dict[str, Value] = {"like": TupleValue(tuple(primals)), "product": _alike(interp, result)}
    return TupleValue((result, interp.new(_Product(name, fields=fields, allocated_at=interp.point(node)))))


OVERLAYS: dict[str, TransferFunction] = {
    "torch.func.grad": _transform(_Gradient, "func", "argnums", "has_aux"),
    "torch.func.grad_and_value": _transform(_GradientAndValue, "func", "argnums", "has_aux"),
    "torch.func.hessian": _transform(_Jacobian, "func", "argnums"),
    "torch.func.jacfwd": _transform(_Jacobian, "func", "argnums", "has_aux"),
    "torch.func.jacrev": _transform(_Jacobian, "func", "argnums"),
    "torch.func.jvp": _jvp,
    "torch.func.linearize": _linearize,
    "torch.func.vjp": _vjp,
    "torch.func.vmap": _transform(_Mapped, "func", "in_dims", "out_dims"),
}
