"""``torch.Generator`` objects and what draws from them: a generator serves tensors of its own device only.

https://docs.pytorch.org/docs/stable/generated/torch.Generator.html
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis import host_access
from devfix.analysis.domain.values import (
    ACCELERATOR,
    ANYWHERE,
    CPU,
    NONE,
    UNKNOWN,
    Const,
    Keywords,
    Place,
    Record,
    Ref,
    Tensor,
    Value,
    options,
)
from devfix.analysis.observations import Drawing
from devfix.analysis.transfer.device_arguments import place_of

if TYPE_CHECKING:
    from devfix.analysis.domain.location import Site
    from devfix.analysis.interpreter import Interpreter

__all__ = ["default", "draw", "draw_of_loader", "is_generator", "lose", "make", "method", "sampler"]


def make(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``torch.Generator(device)``; on the CPU where no device is named, whatever the default device is."""
    device = args[0] if args else keywords.get("device", NONE)
    places = {CPU if option == NONE else place_of(run, option) or ANYWHERE for option in options(device)}
    run.facts.accelerated |= places == {ACCELERATOR}
    return run.new(Record("generator", name, places=frozenset(places), born=run.site(node, remember=True)))


def default(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``torch.manual_seed(0)`` gives PyTorch's own generator, which is on the CPU."""
    return run.new(Record("generator", name, places=frozenset({CPU}), born=run.site(node, remember=True)))


def is_generator(run: Interpreter, value: Value) -> bool:
    """Whether a value is a generator."""
    return isinstance(value, Ref) and run.record(value).kind == "generator"


def draw(
    run: Interpreter, generator: Value | None, wanted: Place, kind: str, node: ast.AST, site: Site | None = None
) -> None:
    """Note that ``node`` draws for a tensor at ``wanted``.

    ``kind``: ``factory``, ``method``, ``split`` or ``loader``; the last two draw with a generator on the CPU where none
    is given, the first two then with the device's own.  ``site`` is where the generator is given, if elsewhere.
    """
    if generator in (None, NONE) and kind in ("factory", "method"):
        return
    born: Site | None = None
    places = frozenset({CPU})
    if generator is not None and generator != NONE:
        if not isinstance(generator, Ref) or run.record(generator).kind != "generator":
            return
        record = run.record(generator)
        born, places = record.born, record.places
    at = run.site(node, remember=True)
    place = next(iter(places)) if len(places) == 1 else ANYWHERE
    drawing = Drawing(kind, at, site or at, born, place, wanted, run.latent)
    run.facts.drawings.setdefault((*at.key, *((born.key) if born is not None else ()), wanted.kind), drawing)


def draw_of_loader(run: Interpreter, record: Record, node: ast.AST) -> None:
    """A loader is iterated: its sampler and its workers' seed draw on the default device.

    https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.RandomSampler
    """
    given = record.fields.get("generator")
    sampler = record.fields.get("sampler")
    if isinstance(sampler, Ref) and run.record(sampler).kind == "sampler":
        held = run.record(sampler)
        own = held.fields.get("generator")
        weights = held.fields.get("weights")
        if weights is not None and own not in (None, NONE):
            if not (isinstance(weights, Tensor) and weights.place == ACCELERATOR):
                draw(run, own, run.default_place, "loader", node, held.born)
        elif own not in (None, NONE) or held.name.split(".")[-1] == "RandomSampler":
            draw(run, own, run.default_place, "loader", node, held.born)
    if given is not None and given != NONE:
        draw(run, given, run.default_place, "loader", node, record.born)
    elif record.fields.get("shuffle") == Const(True) and sampler in (None, NONE):
        draw(run, None, run.default_place, "loader", node, record.born)


def lose(run: Interpreter, ref: Ref) -> None:
    """A generator goes to code that cannot be read: nobody knows what draws from it."""
    record = run.record(ref)
    if record.born is not None:
        key = (*record.born.key, "unknown")
        site = record.born
        unknown = Drawing("unknown", site, site, site, ANYWHERE, ANYWHERE)
        run.facts.drawings.setdefault(key, unknown)


def sampler(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """A sampler of PyTorch, with the generator that it was given.

    ``WeightedRandomSampler`` draws where its weights are, with ``torch.multinomial``:
    https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.WeightedRandomSampler
    """
    weighted = name.endswith("WeightedRandomSampler")
    given = {"generator": keywords["generator"]} if "generator" in keywords else {}
    if weighted and len(args) > 3:
        given["generator"] = args[3]
    for value, expression in host_access.arguments(node, args, keywords)[: 1 if weighted else 0]:
        given["weights"] = value
        if _is_on_cpu(run, given.get("generator")):
            host_access.note(run, node, name.split(".")[-1], value, expression, "drawn")
    return run.new(Record("sampler", name, fields=given, born=run.site(node, remember=True)))


def _is_on_cpu(run: Interpreter, value: Value | None) -> bool:
    record = run.record(value) if isinstance(value, Ref) else None
    return record is not None and record.kind == "generator" and record.places == frozenset({CPU})


def method(run: Interpreter, ref: Ref, name: str) -> Value:
    """A method of a generator."""
    return ref if name in ("manual_seed", "clone_state", "graphsafe_get_state") else UNKNOWN
