"""Calls of functions and classes outside the project, one small function per behaviour of the knowledge table."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.flow import builtin_functions, checkpoints, classes, iteration, modules, optimizers
from devfix.flow.knowledge import behaviour
from devfix.flow.meetings import meet, tensors_in, weights_side
from devfix.flow.places import device_argument, place_of
from devfix.flow.syntax import text_of
from devfix.flow.values import (
    ACCELERATOR,
    ANYWHERE,
    CPU,
    NONE,
    UNKNOWN,
    Birth,
    Const,
    DeviceValue,
    Function,
    Number,
    Partial,
    Place,
    Record,
    Ref,
    Tensor,
    Text,
    TupleValue,
    Unknown,
    Value,
    Yields,
    options,
    union,
)

if TYPE_CHECKING:
    from devfix.flow.interpreter import Interpreter

__all__ = ["call", "fill_module", "make_loader", "note_load_use", "unknown_result"]

Keywords = dict[str, Value]
note_load_use = checkpoints.note_use

_MODEL_WORDS = ("Model", "For", "AutoencoderKL", "UNet", "Transformer2D")
_OTHER_WORDS = ("Tokenizer", "Processor", "Config", "Extractor", "Pipeline", "Scheduler", "Trainer", "Dataset")


def call(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Call what an import outside the project names."""
    if name.startswith("builtins."):
        return builtin_functions.call(run, name[len("builtins.") :], args, keywords, node)
    if classes.is_managed(name):
        _escape(run, args, keywords)
        return Unknown(f"{name}()")
    if name.endswith((".from_pretrained", ".from_config")):
        owner = name.split(".")[-2]
        if any(word in owner for word in _MODEL_WORDS) and not any(word in owner for word in _OTHER_WORDS):
            place = ANYWHERE if {"device_map", "load_in_8bit", "load_in_4bit", "**"} & set(keywords) else None
            return _opaque_module(run, name, node, place)
        return unknown_result(run, name, args, node)
    handler = _BEHAVIOURS.get(behaviour(name))
    if handler is not None:
        return handler(run, name, args, keywords, node)
    if name.split(".")[-1][:1].islower():
        _hand_over(run, name, args, keywords, node)
    if may_place(name):
        _escape(run, args, keywords)
    return unknown_result(run, name, args, node, keywords)


def may_place(name: str) -> bool:
    """Whether code of this name may move what it is given: classes that wrap, functions that prepare or train."""
    last = name.split(".")[-1]
    return last[:1].isupper() or any(word in last.lower() for word in _PLACING_WORDS)


_PLACING_WORDS = (
    "accelerat batch_to convert cuda deploy device dispatch distribut engine fit gpu init launch load main move "
    "offload parallel place prepare run set_up setup shard to_ train wrap"
).split()


def _hand_over(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> None:
    """A function that cannot be read gets a loader, a device and a module whose parts live in two places."""
    given = [*args, *keywords.values()]
    loaders = any(isinstance(value, Ref) and run.record(value).kind == "loader" for value in given)
    devices = any(isinstance(value, DeviceValue) for value in given)
    for value in given:
        if loaders and devices and isinstance(value, Ref) and run.record(value).kind == "module":
            weighted = [(path, part) for path, part in modules.parts(run, value) if run.record(part).weights]
            meet(
                run, node, name.split(".")[-1], [weights_side(run, part, path) for path, part in weighted], opaque=True
            )


def _escape(run: Interpreter, args: list[Value], keywords: Keywords) -> None:
    from devfix.flow.calls import escape

    escape(run, [*args, *keywords.values()])


def unknown_result(
    run: Interpreter, name: str, args: list[Value], node: ast.Call, keywords: Keywords | None = None
) -> Value:
    """What unknown code gives: an object of its own, or what it was given to wrap (a loader under a progress bar)."""
    loaders = [value for value in args if isinstance(value, Ref) and run.record(value).kind == "loader"]
    if len(loaders) == 1 and len(args) <= 3 and not name.split(".")[-1][:1].isupper():
        return Yields(iteration.element(run, loaders[0], node))
    words = {keyword.arg for keyword in node.keywords}
    constructed = name.split(".")[-1][:1].isupper() and not words & {"device", "device_map", None}
    info = (("constructed", True),) if constructed else ()
    return run.new(Record("opaque", name, places=frozenset({ANYWHERE}), born=run.site(node), info=info))


# --- modules ----------------------------------------------------------------------------------------------------
def _module(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if name in ("torch.nn.Module", "torch.nn.functional"):
        return modules.make(run, name, node, weights=False)
    ref = modules.make(run, name, node, device_argument(run, keywords), weights=not _without_weights(name, keywords))
    for index, value in enumerate(args):
        if isinstance(value, Ref) and run.record(value).kind == "module":
            modules.attach(run, ref, str(index), value, node)
    return ref


def _without_weights(name: str, keywords: Keywords) -> bool:
    """Normalisation layers that learn nothing and keep no statistics."""
    last, off = name.split(".")[-1], Const(False)
    if last.startswith("InstanceNorm"):
        given = ("affine", "track_running_stats")
        return all(keywords.get(key, off) == off for key in given)
    if last.startswith("BatchNorm"):
        return keywords.get("affine") == off and keywords.get("track_running_stats") == off
    return keywords.get("affine") == off or keywords.get("elementwise_affine") == off


def _opaque_module(run: Interpreter, name: str, node: ast.Call, place: Place | None = None) -> Value:
    ref = modules.make(run, name, node, place)
    run.now.update(ref, info=(("opaque", True),))
    return ref


def _weightless(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return modules.make(run, name, node, weights=False)


def _loss(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    ref = modules.make(run, name, node, weights=False)
    for key in ("weight", "pos_weight"):
        value = keywords.get(key) or (args[0] if key == "weight" and args else None)
        if isinstance(value, Tensor):
            run.now.put(ref, key, replace(value, births=(Birth("buffer", ref.id),)))
            run.now.update(ref, weights=True, places=frozenset({value.place}))
        elif value is not None and value != NONE:
            run.now.update(ref, weights=True, places=frozenset({ANYWHERE}))
    return ref


def fill_module(run: Interpreter, ref: Ref, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> None:
    """The constructor of a library base class runs on a project instance."""
    kind = behaviour(name)
    if kind in ("sequential", "module-list", "module-dict"):
        _fill(run, ref, kind, args, node)
        run.now.update(ref, weights=False)
    elif kind in ("weightless", "loss"):
        run.now.update(ref, weights=False)


def _container(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    ref = modules.make(run, name, node, weights=False)
    _fill(run, ref, behaviour(name), args, node)
    return ref


def _fill(run: Interpreter, ref: Ref, kind: str, args: list[Value], node: ast.Call) -> None:
    source = args[0] if args else None
    if kind == "sequential" and not (len(args) == 1 and isinstance(source, Ref) and run.record(source).kind == "dict"):
        items = {str(index): value for index, value in enumerate(args)}
        starred = any(isinstance(argument, ast.Starred) for argument in node.args)
        if starred and len(args) == len(node.args):
            run.now.update(ref, rest=union(args))
            return
        run.now.update(ref, fields={**run.record(ref).fields, **items})
    elif isinstance(source, Ref) and run.record(source).kind in ("list", "dict", "module"):
        given = run.record(source)
        fields = (
            {str(i): value for i, value in enumerate(given.fields.values())} if kind == "module-list" else given.fields
        )
        run.now.update(ref, fields=dict(fields), rest=given.rest)
    elif isinstance(source, Yields):
        run.now.update(ref, rest=source.element)
    elif isinstance(source, TupleValue):
        run.now.update(ref, fields={str(i): value for i, value in enumerate(source.items)})


def _parallel(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    inner = args[0] if args else keywords.get("module", UNKNOWN)
    for option in options(inner):
        if isinstance(option, Ref) and name.endswith("DataParallel") and "Distributed" not in name:
            modules.promote(run, option)
            if modules.first_place(run, option) != ACCELERATOR:
                modules.move(run, option, ACCELERATOR, node)
    ref = modules.make(run, name, node, weights=False)
    run.now.update(ref, info=(("data-parallel", True),))
    run.now.put(ref, "module", inner)
    return ref


def _parameter(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    value = args[0] if args else keywords.get("data", UNKNOWN)
    place = value.place if isinstance(value, Tensor) else CPU if isinstance(value, Unknown) else ANYWHERE
    return Tensor(place, (Birth("parameter"),))


def _same(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return args[0] if args else keywords.get("model", UNKNOWN)


def _averaged(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    source = args[0] if args else UNKNOWN
    return builtin_functions.deep_copy(run, source, node)


# --- tensors ----------------------------------------------------------------------------------------------------
def _sides(run: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> list[object]:
    texts = [text_of(argument) for argument in node.args] + ["…"] * len(args)
    named = {keyword.arg: text_of(keyword.value) for keyword in node.keywords}
    pairs = [
        *zip(args, texts, strict=False),
        *((value, named.get(key, key)) for key, value in keywords.items() if key != "out"),
    ]
    return [side for value, text in pairs for side in tensors_in(run, value, text)]


def _mixes(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    sides = _sides(run, args, keywords, node)
    place, births = meet(run, node, name.split(".")[-1], sides)  # type: ignore[arg-type]
    return Tensor(place, births)


def _pointwise(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    sides = _sides(run, args, keywords, node)
    place, births = meet(run, node, name.split(".")[-1], sides, scalars_are_free=True)  # type: ignore[arg-type]
    return Tensor(place, births)


def _keeps_first(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    for value in [*args, *keywords.values()]:
        for option in options(value):
            if isinstance(option, Tensor):
                several = name.split(".")[-1] in ("max", "min", "sort", "topk", "split", "chunk", "unbind", "meshgrid")
                return replace(option, loose=option.loose or several, scalar=False)
            if isinstance(option, Ref) and run.record(option).kind == "list":
                inner = iteration.element(run, option, node)
                if isinstance(inner, Tensor):
                    return inner
    return UNKNOWN


def _keeps_list(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    inner = iteration.element(run, args[0], node) if args else UNKNOWN
    return inner if isinstance(inner, Tensor) else Tensor(ANYWHERE)


def _factory(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    place = device_argument(run, keywords) or run.default_place
    run.facts.accelerated |= place == ACCELERATOR
    births = (_made(run, node),) if place == CPU else ()
    scalar = name.endswith("scalar_tensor")
    return Tensor(place, births, scalar=scalar)


def _made(run: Interpreter, node: ast.Call) -> Birth:
    return Birth("made", iteration.source_key(run, "made", node))


def _from_data(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    place = device_argument(run, keywords)
    source = args[0] if args else keywords.get("data", UNKNOWN)
    if place is None:
        held = [option for option in options(source) if isinstance(option, Tensor)]
        place = held[0].place if held and not name.endswith("torch.tensor") else run.default_place
        if isinstance(source, Tensor):
            place = source.place
    scalar = isinstance(source, (Number, Const)) and not isinstance(getattr(source, "value", 0), str)
    return Tensor(place, (_made(run, node),) if place == CPU else (), scalar=scalar)


def _from_cpu(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if args and isinstance(args[0], Tensor):
        note_load_use(run, args[0], "array", node, False)
    return Tensor(CPU, (_made(run, node),))


def _normal(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    held = [value for value in args if isinstance(value, Tensor)]
    return Tensor(held[0].place) if held else _factory(run, name, args, keywords, node)


def _like(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    place = device_argument(run, keywords)
    source = args[0] if args else UNKNOWN
    if place is not None:
        return Tensor(place)
    return union(Tensor(option.place) if isinstance(option, Tensor) else Tensor(ANYWHERE) for option in options(source))


def _accelerator_factory(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    run.facts.accelerated = True
    return Tensor(ACCELERATOR)


def _tensor_same(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return args[0] if args else UNKNOWN


def _is_tensor(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if args and isinstance(args[0], Tensor) and args[0].sure:
        return Const(True)
    if args and isinstance(args[0], (Text, Const, Number)):
        return Const(False)
    return UNKNOWN


def _pack(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    lengths = args[1] if len(args) > 1 else keywords.get("lengths")
    if isinstance(lengths, Tensor) and lengths.place == ACCELERATOR:
        site = run.site(node)
        run.facts.needs_cpu.setdefault(site.key, site)
    first = args[0] if args else UNKNOWN
    return replace(first, loose=True) if isinstance(first, Tensor) else UNKNOWN


def _pad_packed(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    first = args[0] if args else UNKNOWN
    return TupleValue((first if isinstance(first, Tensor) else Tensor(ANYWHERE), Tensor(CPU)))


def _needs_cpu(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    for value in args:
        if isinstance(value, Tensor) and value.place == ACCELERATOR:
            site = run.site(node)
            run.facts.needs_cpu.setdefault(site.key, site)
    return Unknown(f"{name}()")


def _needs_cpu_state(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    for value in args:
        for option in options(value):
            if isinstance(option, Tensor):
                note_load_use(run, option, "needs-cpu", node, False)
    return NONE


# --- devices ----------------------------------------------------------------------------------------------------
def _device(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    value = args[0] if args else keywords.get("type", UNKNOWN)
    found = []
    for option in options(value):
        named = not isinstance(option, (Unknown, Text, Ref))
        place = place_of(run, option) if named else ACCELERATOR  # whatever it is, the run was told to use it
        found.append(DeviceValue(place if place is not None else ANYWHERE, symbol=getattr(option, "symbol", "")))
    return union(found)


def _accelerator_device(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return DeviceValue(ACCELERATOR)


def _default_device(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    place = place_of(run, args[0]) if args else None
    run.default_place = place or CPU
    return NONE


def _default_type(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    text = str(getattr(args[0], "value", getattr(args[0], "name", ""))) if args else ""
    run.default_place = ACCELERATOR if "cuda" in text else CPU
    return NONE


# --- data -------------------------------------------------------------------------------------------------------
def make_loader(
    run: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call, into: Ref | None = None
) -> Value:
    """A ``DataLoader``; what it yields is worked out when it is iterated."""
    fields: dict[str, Value] = {"dataset": args[0] if args else keywords.get("dataset", UNKNOWN)}
    if "collate_fn" in keywords:
        fields["collate_fn"] = keywords["collate_fn"]
    pinned = keywords.get("pin_memory")
    known: bool | None = False if pinned is None else None
    if isinstance(pinned, Const):
        known = bool(pinned.value)
    elif pinned is not None:
        known = True
    if "**" in keywords:
        known = True if known is False else known
    record = Record(
        "loader", "torch.utils.data.DataLoader", fields=fields, born=run.site(node), info=(("pinned", known),)
    )
    if into is not None:
        held = run.record(into)
        run.now.write(into.id, replace(record, cls=held.cls, fields={**held.fields, **fields}))
        return into
    return run.new(record)


def _loader(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return make_loader(run, args, keywords, node)


def _tensor_dataset(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    items = tuple(replace(value, births=()) if isinstance(value, Tensor) else value for value in args)
    starred = any(isinstance(argument, ast.Starred) for argument in node.args)
    unknown = starred or any(not isinstance(value, Tensor) for value in items)
    sample: Value = TupleValue(items)
    if starred and not all(isinstance(value, Tensor) for value in items):
        sample = Tensor(ANYWHERE, loose=True)
    elif unknown:
        sample = TupleValue(tuple(v if isinstance(v, Tensor) else Tensor(_data_place(v)) for v in items))
    return run.new(Record("dataset", name, fields={"sample": sample}, born=run.site(node)))


def _data_place(value: Value) -> Place:
    """A tensor of unknown origin inside a dataset: nothing has sent it to a device that devfix has seen."""
    return ANYWHERE


def _same_dataset(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    source = args[0] if args else UNKNOWN
    if name.endswith("ConcatDataset"):
        source = iteration.element(run, source, node)
    return run.new(Record("dataset", name, fields={"dataset": source}, born=run.site(node)))


def _split_dataset(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    part = _same_dataset(run, name, args, keywords, node)
    lengths = args[1] if len(args) > 1 else keywords.get("lengths", UNKNOWN)
    known = iteration.elements(run, lengths, node)
    return TupleValue((part,) * len(known)) if known else Yields(part)


def _image_dataset(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    transform = keywords.get("transform", args[1] if len(args) > 1 else NONE)
    image = Tensor(CPU)
    if isinstance(transform, (Function, Ref)) and not _of_torchvision(run, transform):
        image = Tensor(CPU, sure=False, loose=True)  # a transform of the project may give several views
    sample = TupleValue((image, Number()))
    return run.new(Record("dataset", name, fields={"sample": sample}, born=run.site(node)))


def _of_torchvision(run: Interpreter, value: Value) -> bool:
    return isinstance(value, Ref) and run.record(value).name.startswith("torchvision.")


def _default_collate(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return iteration.collate(run, iteration.element(run, args[0], node)) if args else UNKNOWN


def _passes(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return args[0] if args else keywords.get("iterable", keywords.get("sequence", UNKNOWN))


def _chain(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if name.endswith("from_iterable"):
        args = [iteration.element(run, value, node) for value in args]
    return run.new(Record("list", rest=union(_held(run, value, node) for value in args)))


def _held(run: Interpreter, value: Value, node: ast.AST) -> Value:
    return iteration.element(run, value, node)


def _zip_longest(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return Yields(TupleValue(tuple(iteration.element(run, value, node) for value in args)))


# --- optimizers and the rest --------------------------------------------------------------------------------------
def _optimizer(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return optimizers.build(run, name, behaviour(name) == "optimizer-eager", args, keywords, node)


def _scheduler(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return run.new(Record("scheduler", name, fields={"optimizer": args[0]} if args else {}, born=run.site(node)))


def _scaler(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return run.new(Record("scaler", name, born=run.site(node)))


def _partial(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return Partial(args[0], tuple(args[1:]), tuple(keywords.items())) if args else UNKNOWN


def _deep_copy(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return builtin_functions.deep_copy(run, args[0], node) if args else UNKNOWN


def _dictionary(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return builtin_functions.call(run, "dict", args, keywords, node)


def _default_dict(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return run.new(Record("dict", rest=UNKNOWN))


def _sequence(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return builtin_functions.call(run, "list", args, keywords, node)


def _namespace(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    fields = dict(keywords)
    if args and isinstance(args[0], Ref) and run.record(args[0]).kind == "dict":
        fields = {**run.record(args[0]).fields, **fields}
    return run.new(Record("instance", "namespace", fields=fields))


def _parser(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return run.new(Record("parser", name))


def _joins_paths(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return checkpoints.joined_path(args)


def _exits(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    from devfix.flow.statements import DeadPath

    raise DeadPath


def _calls(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    function = args[0] if args else keywords.get("target", keywords.get("fn", UNKNOWN))
    given: list[Value] = []
    if "target" in keywords:
        held = keywords.get("args", UNKNOWN)
        given = list(held.items) if isinstance(held, TupleValue) else []
        run.call(function, given, {}, node)
        return Unknown(f"{name}()")
    if name.startswith("torch.multiprocessing"):
        held = keywords.get("args", args[1] if len(args) > 1 else UNKNOWN)
        given = [Number("rank"), *(held.items if isinstance(held, TupleValue) else ())]
    return run.call(function, given, {}, node)


def _yes(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return Const(True)


def _no(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return Const(False)


def _number(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return Number(f"{name}()")


def _harmless(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return Unknown(f"{name}()")


def _decorator(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return Unknown()


_BEHAVIOURS: dict[str, Callable[[Interpreter, str, list[Value], Keywords, ast.Call], Value]] = {
    "accelerator-device": _accelerator_device,
    "accelerator-factory": _accelerator_factory,
    "attention": _module,
    "available": _yes,
    "averaged": _averaged,
    "calls": _calls,
    "chain": _chain,
    "clip": _number,
    "ctc": _weightless,
    "data-parallel": _parallel,
    "decorator": _decorator,
    "deep-copy": _deep_copy,
    "default-collate": _default_collate,
    "default-device": _default_device,
    "default-dict": _default_dict,
    "default-type": _default_type,
    "device": _device,
    "exits": _exits,
    "factory": _factory,
    "from-cpu": _from_cpu,
    "from-data": _from_data,
    "functional-init": _keeps_first,
    "harmless": _harmless,
    "image-dataset": _image_dataset,
    "is-tensor": _is_tensor,
    "joins-paths": _joins_paths,
    "keeps-first": _keeps_first,
    "keeps-list": _keeps_list,
    "like": _like,
    "load": checkpoints.load,
    "loader": _loader,
    "loss": _loss,
    "mixes": _mixes,
    "module": _module,
    "module-dict": _container,
    "module-list": _container,
    "namespace": _namespace,
    "needs-cpu": _needs_cpu,
    "needs-cpu-state": _needs_cpu_state,
    "no": _no,
    "normal": _normal,
    "number": _number,
    "opaque-module": lambda run, name, args, keywords, node: _opaque_module(run, name, node),
    "optimizer": _optimizer,
    "optimizer-eager": _optimizer,
    "ordered-dict": _dictionary,
    "pack": _pack,
    "pad-packed": _pad_packed,
    "parameter": _parameter,
    "parser": _parser,
    "partial": _partial,
    "passes": _passes,
    "pointwise": _pointwise,
    "recurrent": _module,
    "same": _same,
    "same-dataset": _same_dataset,
    "save": checkpoints.save,
    "scaler": _scaler,
    "scheduler": _scheduler,
    "sequence": _sequence,
    "sequential": _container,
    "split-dataset": _split_dataset,
    "tensor-dataset": _tensor_dataset,
    "tensor-same": _tensor_same,
    "weightless": _weightless,
    "zip-longest": _zip_longest,
}
