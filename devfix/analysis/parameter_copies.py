"""Copies of a model's parameters, and tensors that are created with a parameter's shape."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import Container, object_at
from devfix.analysis.domain.values import CPU, Origin, Pointer, Tensor, Value, alternatives
from devfix.analysis.observations import ParameterCopy, ShapeDependency
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["note_copy", "note_shape", "tensors_in"]

_SHAPE_ATTRIBUTES = frozenset("shape size numel".split())


def note_copy(interp: Interpreter, source: Tensor, node: ast.AST) -> tuple[Origin, ...]:
    """Record that ``node`` copies ``source``; return the origins of the copy, if it is a copy of a CPU parameter."""
    origins = tuple(origin for origin in source.origins if origin.kind == "parameter" and origin.site_id)
    if source.device != CPU or not origins or interp.latent:
        return ()
    key = (interp.point(node).key, origins[0].site_id)
    if key not in interp.observations.parameter_copies:
        interp.observations.parameter_copies[key] = ParameterCopy(
            Pointer(origins[0].site_id), interp.point(node, with_state=True)
        )
    return origins


def tensors_in(interp: Interpreter, value: Value) -> Iterator[Tensor]:
    """Yield the tensors among a value's alternatives and in its lists and dictionaries."""
    for option in alternatives(value):
        if isinstance(option, Tensor):
            yield option
        elif (container := object_at(interp, option, Container)) is not None:
            contents = [inner for item in container.contents for inner in alternatives(item)]
            yield from (inner for inner in contents if isinstance(inner, Tensor))


def note_shape(interp: Interpreter, created: int, node: ast.Call) -> None:
    """Record the parameter whose shape a factory call uses: ``torch.zeros(p.shape)``, ``torch.zeros(p.size(0), 3)``.

    ``created`` is the key of the created tensor.
    """
    for name in _names_with_shape(node):
        value = interp.evaluate(name)
        if isinstance(value, Tensor):
            for origin in value.origins:
                if origin.kind == "parameter" and origin.site_id:
                    interp.observations.shape_dependencies[created] = ShapeDependency(
                        text_of(name), Pointer(origin.site_id), value.device == CPU
                    )
                    return


def _names_with_shape(node: ast.Call) -> Iterator[ast.expr]:
    """Yield the names whose shape the arguments of a call use."""
    for argument in (*node.args, *(keyword.value for keyword in node.keywords if keyword.arg == "size")):
        for inner in ast.walk(argument):
            if isinstance(inner, ast.Attribute) and inner.attr in _SHAPE_ATTRIBUTES:
                base = inner.value
                while isinstance(base, ast.Attribute) and base.attr in ("data", "grad"):
                    base = base.value
                if isinstance(base, ast.Name):
                    yield base
