"""What is made after a model's parameters: copies of them, and tensors of their shape."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import CPU, Origin, Pointer, Tensor, Value, alternatives
from devfix.analysis.observations import ParameterCopy, ShapeDependency
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["note", "note_shape", "tensors_in"]

_SHAPES = frozenset("shape size numel".split())


def note(interp: Interpreter, source: Tensor, node: ast.AST) -> tuple[Origin, ...]:
    """``node`` copies ``source``: the origins of the copy, which are a parameter's where that lies on the CPU."""
    origins = tuple(origin for origin in source.origins if origin.kind == "parameter" and origin.site_id)
    if source.device != CPU or not origins or interp.latent:
        return ()
    key = (interp.point(node).key, origins[0].site_id)
    if key not in interp.observations.copies:
        interp.observations.copies[key] = ParameterCopy(
            Pointer(origins[0].site_id), interp.point(node, with_state=True)
        )
    return origins


def tensors_in(interp: Interpreter, value: Value) -> Iterator[Tensor]:
    """The tensors that a value is, or that a dictionary or list of it holds."""
    for option in alternatives(value):
        if isinstance(option, Tensor):
            yield option
        elif isinstance(option, Pointer) and interp.heap_object(option).kind in ("dict", "list"):
            obj = interp.heap_object(option)
            held = obj.contents
            yield from (inner for item in held for inner in alternatives(item) if isinstance(inner, Tensor))


def note_shape(interp: Interpreter, made: int, node: ast.Call) -> None:
    """A factory is called: ``torch.zeros(p.shape)`` and ``torch.zeros(p.size(0), 3)`` make what goes with ``p``."""
    for like in _shaped_like(node):
        value = interp.evaluate(like)
        if isinstance(value, Tensor):
            for origin in value.origins:
                if origin.kind == "parameter" and origin.site_id:
                    interp.observations.sized[made] = ShapeDependency(
                        text_of(like), Pointer(origin.site_id), value.device == CPU
                    )
                    return


def _shaped_like(node: ast.Call) -> Iterator[ast.expr]:
    """The names of which the arguments of a call ask for shapes."""
    for argument in (*node.args, *(keyword.value for keyword in node.keywords if keyword.arg == "size")):
        for inner in ast.walk(argument):
            if isinstance(inner, ast.Attribute) and inner.attr in _SHAPES:
                base = inner.value
                while isinstance(base, ast.Attribute) and base.attr in ("data", "grad"):
                    base = base.value
                if isinstance(base, ast.Name):
                    yield base
