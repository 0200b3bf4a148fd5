"""Calls of functions and classes outside the project, one small function per behaviour of the knowledge table."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from devfix.analysis import parameter_copies
from devfix.analysis.domain import classes
from devfix.analysis.domain.state import DeadPath
from devfix.analysis.domain.values import (
    ACCELERATOR,
    ANYWHERE,
    NONE,
    UNKNOWN,
    Const,
    DeviceValue,
    Keywords,
    Number,
    Partial,
    Place,
    Record,
    Ref,
    TupleValue,
    Unknown,
    Value,
    Yields,
)
from devfix.analysis.overlays import frameworks
from devfix.analysis.stdlib import builtins, numpy_, sequences
from devfix.analysis.torch import (
    checkpoints,
    data,
    distributed,
    distributions,
    factories,
    library_modules,
    modules,
    optimizers,
    tensor_functions,
)
from devfix.analysis.transfer import iteration
from devfix.analysis.transfer.device_arguments import place_of
from devfix.analysis.transfer.device_check import meet, weights_side
from devfix.models.index import behaviour

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["call", "note_load_use", "unknown_result"]
note_load_use = checkpoints.note_use

_MODEL_WORDS = ("Model", "For", "AutoencoderKL", "UNet", "Transformer2D")
_OTHER_WORDS = ("Tokenizer", "Processor", "Config", "Extractor", "Pipeline", "Scheduler", "Trainer", "Dataset")


def call(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Call what an import outside the project names."""
    if name.startswith("builtins."):
        return builtins.call(run, name[len("builtins.") :], args, keywords, node)
    handler = _BEHAVIOURS.get(behaviour(name))
    if classes.is_managed(name) and handler is None:
        _escape(run, args, keywords)
        return Unknown(f"{name}()")
    if name.endswith((".from_pretrained", ".from_config")):
        owner = name.split(".")[-2]
        if any(word in owner for word in _MODEL_WORDS) and not any(word in owner for word in _OTHER_WORDS):
            place = _mapped(run, keywords)
            return library_modules.opaque_module(run, name, node, place)
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
    from devfix.analysis.transfer.calls import escape

    escape(run, [*args, *keywords.values()])


def unknown_result(
    run: Interpreter, name: str, args: list[Value], node: ast.Call, keywords: Keywords | None = None
) -> Value:
    """What unknown code gives: an object of its own, or what it was given to wrap (a loader under a progress bar)."""
    array = numpy_.given_by(name, args, keywords or {}, node)
    if array is not None:
        return array
    loaders = [value for value in args if isinstance(value, Ref) and run.record(value).kind == "loader"]
    if len(loaders) == 1 and len(args) <= 3 and not name.split(".")[-1][:1].isupper():
        return Yields(iteration.element(run, loaders[0], node))
    words = {keyword.arg for keyword in node.keywords}
    constructed = name.split(".")[-1][:1].isupper() and not words & {"device", "device_map", None}
    info = (("constructed", True),) if constructed else ()
    return run.new(Record("opaque", name, places=frozenset({ANYWHERE}), born=run.site(node), info=info))


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
    for tensor in parameter_copies.tensors_in(run, args[0]) if args else ():
        parameter_copies.note(run, tensor, node)
    return builtins.deep_copy(run, args[0], node) if args else UNKNOWN


def _distribution(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    made = distributions.make(run, name, args, keywords, node)
    return made if made is not None else unknown_result(run, name, args, node, keywords)


def _divergence(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    found = distributions.diverge(run, name, args, keywords, node)
    return found if found is not None else unknown_result(run, name, args, node, keywords)


def _dictionary(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return builtins.call(run, "dict", args, keywords, node)


def _default_dict(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return run.new(Record("dict", rest=UNKNOWN))


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
    return numpy_.given_by(name, args, keywords, node) or Unknown(f"{name}()")


def _decorator(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return Unknown()


_BEHAVIOURS: dict[str, Callable[[Interpreter, str, list[Value], Keywords, ast.Call], Value]] = {
    **factories.BEHAVIOURS,
    **data.BEHAVIOURS,
    **frameworks.BEHAVIOURS,
    **library_modules.BEHAVIOURS,
    **sequences.BEHAVIOURS,
    **tensor_functions.BEHAVIOURS,
    "available": _yes,
    "calls": _calls,
    "clip": _number,
    "collective": distributed.collective,
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
    "namespace": _namespace,
    "no": _no,
    "number": _number,
    "optimizer": _optimizer,
    "optimizer-eager": _optimizer,
    "ordered-dict": _dictionary,
    "parser": _parser,
    "process-group": distributed.init,
    "set-device": distributed.set_device,
    "partial": _partial,
    "save": checkpoints.save,
    "scaler": _scaler,
    "scheduler": _scheduler,
}
