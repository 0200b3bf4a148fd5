"""Calls of functions and classes outside the project, one small function per behaviour of the knowledge table."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.flow import (
    arrays,
    builtin_functions,
    checkpoints,
    classes,
    copies,
    creation,
    datasets,
    distributed,
    distributions,
    frameworks,
    iteration,
    modules,
    optimizers,
)
from devfix.flow.knowledge import behaviour
from devfix.flow.meetings import meet, weights_side
from devfix.flow.places import device_argument, place_of
from devfix.flow.state import DeadPath
from devfix.flow.values import (
    ACCELERATOR,
    ANYWHERE,
    CPU,
    NONE,
    UNKNOWN,
    Birth,
    Const,
    DeviceValue,
    Keywords,
    Number,
    Partial,
    Place,
    Record,
    Ref,
    Tensor,
    TupleValue,
    Unknown,
    Value,
    Yields,
    options,
    union,
)

if TYPE_CHECKING:
    from devfix.flow.interpreter import Interpreter

__all__ = ["call", "fill_module", "note_load_use", "unknown_result"]
note_load_use = checkpoints.note_use

_MODEL_WORDS = ("Model", "For", "AutoencoderKL", "UNet", "Transformer2D")
_OTHER_WORDS = ("Tokenizer", "Processor", "Config", "Extractor", "Pipeline", "Scheduler", "Trainer", "Dataset")


def call(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Call what an import outside the project names."""
    if name.startswith("builtins."):
        return builtin_functions.call(run, name[len("builtins.") :], args, keywords, node)
    handler = _BEHAVIOURS.get(behaviour(name))
    if classes.is_managed(name) and handler is None:
        _escape(run, args, keywords)
        return Unknown(f"{name}()")
    if name.endswith((".from_pretrained", ".from_config")):
        owner = name.split(".")[-2]
        if any(word in owner for word in _MODEL_WORDS) and not any(word in owner for word in _OTHER_WORDS):
            place = _mapped(run, keywords)
            return _opaque_module(run, name, node, place)
        if name.startswith("transformers."):
            return run.new(Record("tokenizer", name, born=run.site(node)))
        return unknown_result(run, name, args, node)
    if handler is not None:
        return handler(run, name, args, keywords, node)
    if name.split(".")[-1][:1].islower():
        _hand_over(run, name, args, keywords, node)
    if may_place(name):
        _escape(run, args, keywords)
    return unknown_result(run, name, args, node, keywords)


def _mapped(run: Interpreter, keywords: Keywords) -> Place | None:
    """Where ``from_pretrained`` puts a model: ``device_map="cuda"`` moves it as a whole, ``"auto"`` shares it out.

    https://huggingface.co/docs/accelerate/concept_guides/big_model_inference
    """
    if {"load_in_8bit", "load_in_4bit", "quantization_config", "**"} & set(keywords):
        return ANYWHERE
    given = keywords.get("device_map", NONE)
    if isinstance(given, Ref):
        record = run.record(given)
        given = record.fields.get("", UNKNOWN) if record.kind == "dict" and len(record.fields) == 1 else UNKNOWN
    if given == NONE:
        return None
    known = isinstance(given, (DeviceValue, Const, Number)) and place_of(run, given) == ACCELERATOR
    run.facts.accelerated |= known
    return ACCELERATOR if known else ANYWHERE


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
    array = arrays.given_by(name, args, keywords or {}, node)
    if array is not None:
        return array
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
    if not {"reduction", "reduce", "**"} & set(keywords):
        run.now.update(ref, info=(("mean", True),))
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
    spreads = name.endswith("DistributedDataParallel")
    if len(args) > 1:
        keywords = {"device_ids": args[1], **keywords}
    for option in options(inner):
        if isinstance(option, Ref) and run.record(option).kind == "module":
            distributed.note_ids(run, option, node)
        if isinstance(option, Ref) and not spreads:
            modules.promote(run, option)
            if modules.first_place(run, option) not in (CPU, ACCELERATOR):
                modules.move(run, option, ACCELERATOR, node)
        elif isinstance(option, Ref) and run.record(option).kind == "module" and node.args:
            distributed.wrap(run, option, keywords, node)
    brought = distributed.brought_to(run, keywords) if spreads else ACCELERATOR
    ref = modules.make(run, name, node, weights=False)
    run.now.update(ref, info=(("data-parallel", True), ("brings-to", brought)))
    run.now.put(ref, "module", inner)
    return ref


def _parameter(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    value = args[0] if args else keywords.get("data", UNKNOWN)
    place = value.place if isinstance(value, Tensor) else CPU if isinstance(value, Unknown) else ANYWHERE
    return Tensor(place, (Birth("parameter"),))


def _same(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return args[0] if args else keywords.get("model", UNKNOWN)


def _parametrization(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """A module that computes a parameter becomes a part of the module that owns it, and computes it at once."""
    given = dict(zip(("module", "tensor_name", "parametrization"), args, strict=False)) | keywords
    owner, part = given.get("module", UNKNOWN), given.get("parametrization", UNKNOWN)
    tensor = given.get("tensor_name")
    slot = f"parametrizations.{tensor.value}" if isinstance(tensor, Const) else None
    for option in options(owner):
        if isinstance(option, Ref) and run.record(option).kind == "module" and isinstance(part, Ref):
            place = modules.first_place(run, option)
            for path, inner in modules.parts(run, part):
                if run.record(inner).weights and modules.any_place(run.record(inner)).differs(place):
                    meet(run, node, name, [weights_side(run, option, "…"), weights_side(run, inner, path)])
                    run.now.update(inner, places=frozenset({place}))  # told once, here
            modules.attach(run, option, slot, part, node, weak=slot is None)
    return owner


def _averaged(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    source = args[0] if args else UNKNOWN
    return builtin_functions.deep_copy(run, source, node)


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
    for tensor in copies.tensors_in(run, args[0]) if args else ():
        copies.note(run, tensor, node)
    return builtin_functions.deep_copy(run, args[0], node) if args else UNKNOWN


def _distribution(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    made = distributions.make(run, name, args, keywords, node)
    return made if made is not None else unknown_result(run, name, args, node, keywords)


def _divergence(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    found = distributions.diverge(run, name, args, keywords, node)
    return found if found is not None else unknown_result(run, name, args, node, keywords)


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
    raise DeadPath


def _calls(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    function = args[0] if args else keywords.get("target", keywords.get("fn", UNKNOWN))
    given: list[Value] = []
    if "target" in keywords:
        held = keywords.get("args", UNKNOWN)
        given = list(held.items) if isinstance(held, TupleValue) else []
        run.call(function, given, {}, node)
        return Unknown(f"{name}()")
    if name.startswith(("torch.multiprocessing", "torch_xla", "accelerate")):
        held = keywords.get("args", args[1] if len(args) > 1 else UNKNOWN)
        rank = [] if name.startswith("accelerate") else [Number("rank")]
        given = [*rank, *(held.items if isinstance(held, TupleValue) else ())]
    return run.call(function, given, {}, node)


def _yes(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    run.facts.asks_available = True
    return Const(not run.elsewhere)


def _no(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return Const(False)


def _number(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return Number(f"{name}()")


def _harmless(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return arrays.given_by(name, args, keywords, node) or Unknown(f"{name}()")


def _decorator(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return Unknown()


_BEHAVIOURS: dict[str, Callable[[Interpreter, str, list[Value], Keywords, ast.Call], Value]] = {
    **creation.BEHAVIOURS,
    **datasets.BEHAVIOURS,
    **frameworks.BEHAVIOURS,
    "attention": _module,
    "available": _yes,
    "averaged": _averaged,
    "calls": _calls,
    "clip": _number,
    "collective": distributed.collective,
    "ctc": _weightless,
    "data-parallel": _parallel,
    "decorator": _decorator,
    "deep-copy": _deep_copy,
    "distribution": _distribution,
    "divergence": _divergence,
    "default-dict": _default_dict,
    "exits": _exits,
    "harmless": _harmless,
    "initialized": distributed.initialized,
    "joins-paths": _joins_paths,
    "load": checkpoints.load,
    "load-file": checkpoints.load_file,
    "open-file": checkpoints.open_file,
    "loss": _loss,
    "metric": _module,
    "module": _module,
    "module-dict": _container,
    "module-list": _container,
    "namespace": _namespace,
    "no": _no,
    "number": _number,
    "opaque-module": lambda run, name, args, keywords, node: _opaque_module(run, name, node),
    "optimizer": _optimizer,
    "optimizer-eager": _optimizer,
    "ordered-dict": _dictionary,
    "parameter": _parameter,
    "parametrization": _parametrization,
    "parser": _parser,
    "process-group": distributed.init,
    "set-device": distributed.set_device,
    "partial": _partial,
    "recurrent": _module,
    "same": _same,
    "save": checkpoints.save,
    "scaler": _scaler,
    "scheduler": _scheduler,
    "sequence": _sequence,
    "sequential": _container,
    "weightless": _weightless,
}
