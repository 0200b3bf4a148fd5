"""``torch.save`` and ``torch.load``: where a checkpoint is mapped, and where it goes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis import scenarios
from devfix.analysis.domain.values import (
    ANYWHERE,
    CPU,
    UNKNOWN,
    Birth,
    Const,
    Function,
    Place,
    Record,
    Ref,
    Tensor,
    Text,
    Unknown,
    Value,
    Yields,
    options,
)
from devfix.analysis.observations import Loading, LoadUse
from devfix.analysis.transfer.device_arguments import place_of

if TYPE_CHECKING:
    from devfix.analysis.domain.location import Site
    from devfix.analysis.interpreter import Interpreter

__all__ = [
    "joined_path",
    "load",
    "load_file",
    "loaded_in",
    "note_birth",
    "note_use",
    "of_file",
    "open_file",
    "save",
]


def _key(value: Value) -> str:
    """What identifies a file or buffer: equal keys name the same one in one run."""
    match value:
        case Const(constant):
            return repr(constant)
        case Text(symbol) | Unknown(symbol):
            return symbol
        case Ref(number):
            return f"#{number}"
    return ""


def joined_path(parts: list[Value]) -> Value:
    """``os.path.join(...)``: known by its parts."""
    keys = [_key(part) for part in parts]
    return Text(f"join({', '.join(keys)})" if all(keys) else "")


def save(run: Interpreter, name: str, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
    """``torch.save``."""
    target = args[1] if len(args) > 1 else keywords.get("f", UNKNOWN)
    if run.backend is None:  # of several processes, one may have saved it from its own device for all
        run.now.saved |= {_key(option) for option in options(target)} - {""}
    for option in options(args[0] if args else keywords.get("obj", UNKNOWN)):
        if isinstance(option, Ref) and run.record(option).kind == "dict":
            for key, value in run.record(option).fields.items():
                run.facts.entries[key] = run.facts.entries.get(key, True) and _has_dimensions(value)
    return Const(None)


def _has_dimensions(value: Value) -> bool:
    """Whether an entry is a tensor with dimensions, but for what an earlier run has saved there."""
    made = [option for option in options(value) if not (isinstance(option, Tensor) and _is_loaded(option))]
    return bool(made) and all(isinstance(o, Tensor) and o.sure and not (o.loose or o.scalar) for o in made)


def _is_loaded(value: Tensor) -> bool:
    return any(birth.kind == "load" for birth in value.births)


def load(run: Interpreter, name: str, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
    """``torch.load``."""
    mapping = args[1] if len(args) > 1 else keywords.get("map_location")
    mapped = "**" in keywords or keywords.get("map_location", Const(None)) != Const(None) or _is_given(node)
    site = run.site(node, remember=True)
    loading = run.facts.loadings.setdefault(site.key, Loading(site, node, mapped, True, run.latent))
    loading.mapped &= mapped
    source = args[0] if args else keywords.get("f", UNKNOWN)
    loading.round_trip &= all(_key(option) in run.now.saved for option in options(source))
    if not mapped:
        return Tensor(ANYWHERE, (Birth("load", _number(run, site.key)),), sure=False, loose=True)
    return _placed_at(run, ANYWHERE if mapping is None else _mapped_to(run, mapping), site, node)


def load_file(run: Interpreter, name: str, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
    """``safetensors.torch.load_file(filename, device="cpu")``: a dictionary of tensors, on the CPU unless told."""
    device = args[1] if len(args) > 1 else keywords.get("device", Const("cpu"))
    site = run.site(node, remember=True)
    run.facts.loadings.setdefault(site.key, Loading(site, node, True, latent=run.latent))
    return replace(_placed_at(run, place_of(run, device) or ANYWHERE, site, node), sure=True)  # it holds tensors only


def open_file(run: Interpreter, name: str, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
    """``safetensors.safe_open(filename, framework, device="cpu")``: a file that gives tensors by their keys."""
    device = args[2] if len(args) > 2 else keywords.get("device", Const("cpu"))
    site = run.site(node, remember=True)
    run.facts.loadings.setdefault(site.key, Loading(site, node, True, latent=run.latent))
    place = ANYWHERE if "**" in keywords else place_of(run, device) or ANYWHERE
    held = replace(_placed_at(run, place, site, node), sure=True)
    return run.new(Record("tensor-file", name, rest=held, born=site))


def of_file(run: Interpreter, ref: Ref, name: str, args: list[Value]) -> Value:
    """A method of an open file of tensors."""
    held = run.record(ref).rest
    if name in ("get_tensor", "get_slice") and isinstance(held, Tensor):
        key = args[0].value if args and isinstance(args[0], Const) else "*"
        births = tuple(replace(birth, item=(str(key),)) for birth in held.births)
        return replace(held, births=births, loose=name == "get_slice")
    return Yields(Text()) if name in ("keys", "offset_keys") else UNKNOWN


def _placed_at(run: Interpreter, place: Place, site: Site, node: ast.Call) -> Tensor:
    scenarios.placed(run, node, place)
    births = (Birth("load", _number(run, site.key)),) if place == CPU else ()
    return Tensor(place, births, sure=False, loose=True)


def _mapped_to(run: Interpreter, mapping: Value) -> Place:
    """Where ``map_location`` sends what is loaded; ``lambda storage, location: storage`` leaves it on the CPU."""
    if not isinstance(mapping, Function):
        return place_of(run, mapping) or ANYWHERE
    if isinstance(mapping.node, ast.Lambda) and mapping.node.args.args:
        body, storage = mapping.node.body, mapping.node.args.args[0].arg
        if isinstance(body, ast.Name) and body.id == storage:
            return CPU
    return ANYWHERE


def _is_given(node: ast.Call) -> bool:
    """Whether the call says where to: anything but a literal ``None`` (a parameter that may be ``None`` is the
    caller's word).
    """
    if any(isinstance(value, ast.Starred) for value in node.args):
        return True  # what is passed on may hold it
    if any(keyword.arg == "map_location" for keyword in node.keywords):
        return True  # also an explicit ``None``: the author has thought of it
    given = node.args[1:2]
    return any(not (isinstance(value, ast.Constant) and value.value is None) for value in given)


def _number(run: Interpreter, key: tuple[str, int, int]) -> int:
    return list(run.facts.loadings).index(key)


def loaded_in(run: Interpreter, value: Value, depth: int = 0) -> Iterator[Tensor]:
    """What came from ``torch.load`` in a value: itself, or what a dictionary or list of it holds."""
    for option in options(value):
        if isinstance(option, Tensor) and any(birth.kind == "load" for birth in option.births):
            yield option
        elif isinstance(option, Ref) and depth < 3 and run.record(option).kind in ("dict", "list"):
            record = run.record(option)
            for inner in (*record.fields.values(), *([record.rest] if record.rest is not None else [])):
                yield from loaded_in(run, inner, depth + 1)


def note_use(run: Interpreter, value: Tensor, kind: str, node: ast.AST, on_accelerator: bool) -> None:
    """Something loaded without ``map_location`` is used."""
    for option in options(value):
        assert isinstance(option, Tensor)
        for birth in option.births:
            note_birth(run, birth, kind, node, on_accelerator)


def note_birth(run: Interpreter, birth: Birth, kind: str, node: ast.AST, on_accelerator: bool) -> None:
    """The same, for one origin."""
    if birth.kind == "load":
        loading = list(run.facts.loadings.values())[birth.key]
        loading.uses.append(LoadUse(kind, run.site(node, remember=True), on_accelerator))
