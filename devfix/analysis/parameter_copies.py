"""What is made after a model's parameters: copies of them, and tensors of their shape."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import CPU, Birth, Ref, Tensor, Value, options
from devfix.analysis.observations import Copied, Sized
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["note", "note_shape", "tensors_in"]

_SHAPES = frozenset("shape size numel".split())


def note(run: Interpreter, source: Tensor, node: ast.AST) -> tuple[Birth, ...]:
    """``node`` copies ``source``: the origins of the copy, which are a parameter's where that lies on the CPU."""
    births = tuple(birth for birth in source.births if birth.kind == "parameter" and birth.key)
    if source.place != CPU or not births or run.latent:
        return ()
    key = (run.site(node).key, births[0].key)
    if key not in run.facts.copies:
        run.facts.copies[key] = Copied(Ref(births[0].key), run.site(node, remember=True))
    return births


def tensors_in(run: Interpreter, value: Value) -> Iterator[Tensor]:
    """The tensors that a value is, or that a dictionary or list of it holds."""
    for option in options(value):
        if isinstance(option, Tensor):
            yield option
        elif isinstance(option, Ref) and run.record(option).kind in ("dict", "list"):
            record = run.record(option)
            held = [*record.fields.values(), *([record.rest] if record.rest is not None else [])]
            yield from (inner for item in held for inner in options(item) if isinstance(inner, Tensor))


def note_shape(run: Interpreter, made: int, node: ast.Call) -> None:
    """A factory is called: ``torch.zeros(p.shape)`` and ``torch.zeros(p.size(0), 3)`` make what goes with ``p``."""
    for like in _shaped_like(node):
        value = run.evaluate(like)
        if isinstance(value, Tensor):
            for birth in value.births:
                if birth.kind == "parameter" and birth.key:
                    run.facts.sized[made] = Sized(text_of(like), Ref(birth.key), value.place == CPU)
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
