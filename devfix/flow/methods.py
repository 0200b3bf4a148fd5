"""Methods of values that devfix models: tensors, modules, containers, optimizers, devices."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.flow import (
    bundles,
    checkpoints,
    classes,
    commandline,
    containers,
    creation,
    datasets,
    frameworks,
    generators,
    hosts,
    library,
    machines,
    misuse,
    modules,
    optimizers,
)
from devfix.flow.facts import Transfer
from devfix.flow.knowledge import (
    LOOKING_METHODS,
    PAIRS,
    RANDOM_METHODS,
    REDUCTIONS,
    TENSOR_METHODS,
    UNDIFFERENTIABLE,
    behaviour,
)
from devfix.flow.knowledge_of_frameworks import RUNS_A_MODEL
from devfix.flow.meetings import meet, tensor_side, tensors_in
from devfix.flow.places import place_of, transfer_places
from devfix.flow.syntax import text_of
from devfix.flow.values import (
    ACCELERATOR,
    ANYWHERE,
    CPU,
    NONE,
    UNKNOWN,
    Birth,
    Bound,
    ClassValue,
    Const,
    DeviceValue,
    DType,
    External,
    Function,
    Number,
    Parameters,
    Place,
    Record,
    Ref,
    Super,
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
    from devfix.flow.sites import Site

__all__ = ["call_method", "call_parallel", "move_unknown"]

Keywords = dict[str, Value]

_MOVES = {
    "cuda": ACCELERATOR,
    "cpu": CPU,
    "xpu": ACCELERATOR,
    "npu": ACCELERATOR,
    "mps": ACCELERATOR,
    "hpu": ACCELERATOR,
}
_SAME_SIZE = frozenset(
    "detach clone contiguous float half double long int bool bfloat16 squeeze unsqueeze exp log log2 log10 sqrt abs "
    "neg sigmoid tanh round requires_grad_".split()
)
_PROOFS_OF_MODULE = frozenset(
    "parameters named_parameters train eval state_dict load_state_dict zero_grad requires_grad_ children modules "
    "named_modules forward buffers".split()
)


def call_method(
    run: Interpreter, receiver: Value, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value:
    """Call ``receiver.name(...)``."""
    match receiver:
        case Tensor():
            return _tensor(run, receiver, name, args, keywords, node)
        case Ref():
            return _object(run, receiver, name, args, keywords, node)
        case Super(_, inner):
            return _super(run, receiver, name, args, keywords, node)
        case DeviceValue():
            return _device(receiver, name, args)
        case Const() | Text():
            return containers.text_method(receiver, name, args)
        case TupleValue():
            return Number() if name in ("index", "count") else UNKNOWN
        case Yields(inner):
            return receiver if name == "__iter__" else inner
        case ClassValue():
            return _class(run, receiver, name, args, keywords, node)
    from devfix.flow.calls import escape

    escape(run, [*args, *keywords.values()])
    return UNKNOWN


# --- tensors ----------------------------------------------------------------------------------------------------
def _tensor(
    run: Interpreter, tensor: Tensor, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value:
    hosts.note_method(run, tensor, name, node)
    if name == "cuda" and args and isinstance(args[0], Const) and isinstance(args[0].value, bool):
        site = run.site(node)
        run.facts.flagged.setdefault(site.key, site)
    if name == "to":
        return _transfer(run, tensor, transfer_places(run, args, keywords), node)
    if name in _MOVES:
        return _transfer(run, tensor, [_own_move(run, name, args, keywords)], node)
    if name == "type" and args:
        return _transfer(run, tensor, [_type_place(option) for option in options(args[0])], node)
    if name == "type_as" and args:
        return _transfer(run, tensor, [place_of(run, args[0])], node)
    if "generator" in keywords and name in {*RANDOM_METHODS, "multinomial"}:
        generators.draw(run, keywords["generator"], tensor.place, "method", node)
    if name == "backward" and args:
        sides = [tensor_side(tensor, "…"), *tensors_in(run, args[0], text_of(node.args[0]) if node.args else "…")]
        meet(run, node, ".backward()", sides)
    if name in ("backward", "zero_", "fill_", "retain_grad", "register_hook"):
        return tensor if name.endswith("_") else NONE
    if tensor.loose:
        held = containers.loose_method(run, tensor, name, args, node)
        if held is not None:
            return held
    kind = TENSOR_METHODS.get(name, "keeps")
    if kind == "number":
        return Number()
    if kind == "needs-cpu":
        return Unknown(f"numpy.{name}()")  # `_tensors` has noted it
    if name in PAIRS and not (args and isinstance(args[0], Tensor)):
        if args or keywords or name not in REDUCTIONS:
            return creation.values_and_indices(tensor)
    elif kind == "several" and (args or keywords or name not in REDUCTIONS):
        return replace(tensor, loose=True)
    if kind in ("mixes", "pointwise"):
        assert isinstance(node.func, ast.Attribute)
        sides = [tensor_side(tensor, text_of(node.func.value))]
        for value, text in zip(
            [*args, *keywords.values()], [text_of(argument) for argument in node.args] + ["…"] * 9, strict=False
        ):
            sides.extend(tensors_in(run, value, text))
        written = sides[0] if name.endswith("_") else None
        place, births = meet(run, node, f".{name}()", sides, scalars_are_free=kind == "pointwise", written=written)
        grad = name not in UNDIFFERENTIABLE and any(side.grad for side in sides)
        scalar = kind == "pointwise" and all(side.scalar for side in sides)
        return Tensor(place, births, scalar=scalar, grad=grad, single=scalar and all(side.single for side in sides))
    if name in UNDIFFERENTIABLE:
        tensor = replace(tensor, grad=False)
    if name in REDUCTIONS and not args and "dim" not in keywords:
        return replace(tensor, scalar=True, loose=False, single=True)
    if name.startswith("new_"):
        return Tensor(tensor.place)
    single = tensor.single and name in _SAME_SIZE
    return replace(tensor, scalar=tensor.scalar and name != "unsqueeze", single=single)


def _own_move(run: Interpreter, name: str, args: list[Value], keywords: Keywords) -> Place:
    """Where ``.cuda()``, ``.cuda(index)`` or ``.cpu()`` sends a value."""
    index = args[0] if args else keywords.get("device", NONE)
    if _MOVES[name] == CPU or index == NONE:
        return _MOVES[name]
    if isinstance(index, Const) and isinstance(index.value, int):
        return machines.index_place(run, index)
    place = place_of(run, index)
    return place if run.elsewhere and place is not None and place.known else _MOVES[name]


def _type_place(value: Value) -> Place | None:
    """Where ``.type(torch.cuda.FloatTensor)`` sends a tensor; ``None`` for a dtype."""
    if isinstance(value, DType):
        return None
    name = value.name if isinstance(value, External) else str(value.value) if isinstance(value, Const) else ""
    if name.endswith("Tensor"):
        return ACCELERATOR if ".cuda." in name else CPU
    return ANYWHERE


def _transfer(run: Interpreter, tensor: Tensor, places: list[Place | None], node: ast.Call) -> Value:
    results: list[Value] = []
    for place in places:
        if place is None:
            results.append(tensor)
            continue
        run.facts.accelerated |= place == ACCELERATOR
        machines.placed(run, node, place, tensor.place)
        for birth in tensor.births:
            if birth.kind in ("batch", "made") and tensor.place == CPU:
                run.facts.transfers.append(Transfer(birth, run.site(node, remember=True), node, place.kind))
            if birth.kind == "load":
                library.note_load_use(run, tensor, "moved", node, place == ACCELERATOR)
        if place == tensor.place == CPU and all(birth.kind in ("batch", "made") for birth in tensor.births):
            results.append(replace(tensor, births=machines.arrives(run, node, CPU)))  # sent there on purpose
        elif place == tensor.place:
            results.append(tensor)
        elif place == CPU:
            results.append(replace(tensor, place=CPU, births=machines.arrives(run, node, CPU)))
        else:
            moved = replace(tensor, place=place, births=machines.arrives(run, node, place), sure=tensor.sure)
            results.append(misuse.move_leaf(run, tensor, moved, node) if place == ACCELERATOR else moved)
    return union(results)


# --- objects ----------------------------------------------------------------------------------------------------
def _object(run: Interpreter, ref: Ref, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    record = run.record(ref)
    if record.kind == "opaque":
        if name in ("to", *_MOVES):
            return _move_opaque(run, ref, name, args, keywords, node)
        if name in _PROOFS_OF_MODULE:
            modules.promote(run, ref)
            record = run.record(ref)
        elif name in LOOKING_METHODS or behaviour(f"{record.name}.{name}") == "harmless":
            return Unknown()
        elif behaviour(f"{record.name}.{name}") in ("needs-cpu", "draws"):
            return library.call(run, f"{record.name}.{name}", args, keywords, node)
        else:
            from devfix.flow.calls import escape

            escape(run, [*args, *keywords.values()])
            return library.unknown_result(run, f"{record.name}.{name}", args, node)
    if record.kind == "module":
        return _module(run, ref, name, args, keywords, node)
    if record.kind == "bundle":
        return bundles.method(run, ref, name, args, keywords, node)
    if record.kind == "framework":
        return frameworks.method(run, ref, name, args, keywords, node)
    if record.kind == "tokenizer":
        return frameworks.encoding(run, record.name, keywords, node)
    if name == "train" and classes.is_placed_trainer(record):
        return frameworks.trained(run, ref, node)
    if record.kind == "optimizer":
        for value in args:
            _note_loaded(run, value, "optimizer", node, optimizer=ref)
        if name == "step" and args:
            run.call(args[0], [], {}, node)  # a closure that computes the loss
        return optimizers.method(run, ref, name, args, node) or UNKNOWN
    if record.kind == "scaler":
        return _scaler(run, name, args, node)
    if record.kind == "scheduler":
        for value in args:
            _note_loaded(run, value, "state", node)
        return UNKNOWN
    if record.kind == "parser":
        return _parser(run, ref, name, args, keywords)
    if record.kind == "generator":
        return generators.method(run, ref, name)
    if record.kind == "loader":
        return ref if name == "__iter__" else UNKNOWN
    return containers.container_method(run, ref, name, args, keywords, node)


def move_unknown(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Something that devfix knows nothing of is sent somewhere: that much is known of it now."""
    return _move_opaque(run, run.new(Record("opaque", places=frozenset({ANYWHERE}))), name, args, keywords, node)


def _move_opaque(run: Interpreter, ref: Ref, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    places = [_own_move(run, name, args, keywords)] if name in _MOVES else transfer_places(run, args, keywords)
    known = frozenset(place for place in places if place is not None)
    for place in places:
        machines.placed(run, node, place)
    if known:
        run.facts.accelerated |= ACCELERATOR in known
        site = run.site(node, remember=True)
        if ACCELERATOR in known:
            run.facts.moves.append(site)
        run.now.update(ref, places=known, moved=site)
    return ref


def _parser(run: Interpreter, ref: Ref, name: str, args: list[Value], keywords: Keywords) -> Value:
    if name == "add_argument":
        commandline.add_argument(run, ref, args, keywords)
        return UNKNOWN
    if name == "set_defaults":
        commandline.set_defaults(run, ref, keywords)
        return NONE
    if name in ("parse_args", "parse_intermixed_args"):
        return commandline.parse(run, ref)
    if name == "parse_known_args":
        return TupleValue((commandline.parse(run, ref), UNKNOWN))
    if name in ("add_argument_group", "add_mutually_exclusive_group", "add_subparsers", "add_parser"):
        return ref
    return UNKNOWN


def _scaler(run: Interpreter, name: str, args: list[Value], node: ast.Call) -> Value:
    if name == "step" and args:
        for option in options(args[0]):
            if isinstance(option, Ref):
                call_method(run, option, "step", [], {}, node)
    if name == "load_state_dict" and args:
        _note_loaded(run, args[0], "state", node)
    return args[0] if name == "scale" and args else NONE


def _note_loaded(run: Interpreter, value: Value, kind: str, node: ast.AST, optimizer: Ref | None = None) -> None:
    for tensor in checkpoints.loaded_in(run, value):
        on_accelerator = False
        if optimizer is not None:
            held = run.record(optimizer).get("held", frozenset())
            on_accelerator = any(ACCELERATOR in run.now.at(key).places for key in held if run.now.has(key))
        library.note_load_use(run, tensor, kind, node, on_accelerator)


# --- modules ----------------------------------------------------------------------------------------------------
def _module(run: Interpreter, ref: Ref, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    record = run.record(ref)
    if name == "to" or name in _MOVES or name == "to_empty":
        places = [_own_move(run, name, args, keywords)] if name in _MOVES else transfer_places(run, args, keywords)
        known = [place for place in places if place is not None]
        for place in known:
            machines.placed(run, node, place)
            modules.move(run, ref, place, node)
        moved = run.record(ref).moved
        if known == [CPU] and moved is not None:
            run.facts.moves_to_cpu.append(moved)
        if len(known) > 1:
            for _, part in modules.parts(run, ref):
                run.now.update(part, places=frozenset(known))
        return ref
    if name == "type" and args:
        target = _type_place(args[0])
        if target is not None:
            machines.placed(run, node, target)
            modules.move(run, ref, target, node)
        return ref
    if name == "requires_grad_":
        if args and args[0] == Const(False):
            for _, part in modules.parts(run, ref):
                info = run.record(part).info
                run.now.update(part, info=(*(pair for pair in info if pair[0] != "frozen"), ("frozen", True)))
        return ref
    if name in ("parameters", "named_parameters", "buffers", "named_buffers"):
        held = frozenset(part.id for _, part in modules.parts(run, ref))
        return Parameters(ref, named=name.startswith("named"), held=held)
    if name in ("children", "modules", "named_children", "named_modules"):
        listed = _listed_children(run, ref, name)
        if listed is not None:
            return listed
        inner = _submodules(run, ref, deep="modules" in name)
        return Yields(TupleValue((Text(), inner)) if name.startswith("named") else inner)
    if name == "apply" and args:
        run.call(args[0], [ref], {}, node)
        return ref
    if name == "load_state_dict":
        on_accelerator = any(ACCELERATOR in run.record(part).places for _, part in modules.parts(run, ref))
        for value in args:
            for tensor in checkpoints.loaded_in(run, value):
                library.note_load_use(run, tensor, "module", node, on_accelerator)
        return UNKNOWN
    if name in ("register_buffer", "register_parameter") and args:
        value = args[1] if len(args) > 1 else keywords.get("tensor", UNKNOWN)
        site = run.site(node, remember=True)
        _register(run, ref, args[0], value, "buffer" if name == "register_buffer" else "parameter", site)
        return NONE
    if name in ("add_module", "register_module") and len(args) == 2:
        key = str(args[0].value) if isinstance(args[0], Const) else None
        modules.attach(run, ref, key, args[1], node, weak=key is None)
        return NONE
    if name in ("append", "extend", "insert") and args:
        return _grow(run, ref, name, args, node)
    if name in ("forward", "__call__") or (name == "update" and behaviour(record.name) == "metric"):
        return run.call(ref, args, keywords, node)
    if name in RUNS_A_MODEL and modules.is_opaque(record):
        return modules.call_leaf(run, ref, args, keywords, node)
    if name in ("reset_classifier", "reset_head"):
        head = modules.make(run, f"{record.name}.{name}", node)
        modules.attach(run, ref, "head", head, node)
        return NONE
    if name == "get_submodule" and args and isinstance(args[0], Const):
        found: Value = ref
        for part_name in str(args[0].value).split("."):
            found = run.attribute(found, part_name, node)
        return found
    if name in ("keys", "values", "items", "pop", "update"):
        return containers.container_method(run, ref, name, args, keywords, node)
    if name == "state_dict":
        parameter = Tensor(modules.first_place(run, ref), (Birth("parameter", ref.id),))
        return run.new(Record("dict", rest=parameter))
    return ref if name not in ("get_classifier",) else modules.child(run, ref, "head")


def _listed_children(run: Interpreter, ref: Ref, name: str) -> Value | None:
    """``children()`` and ``named_children()`` one by one, where they are known and few."""
    record = run.record(ref)
    if "modules" in name or modules.is_opaque(record) or record.rest is not None:
        return None
    pairs = list(modules.children(run, record))
    if not 0 < len(pairs) <= 8:
        return None
    return TupleValue(
        tuple(TupleValue((Const(key), part)) if name.startswith("named") else part for key, part in pairs)
    )


def _submodules(run: Interpreter, ref: Ref, deep: bool) -> Value:
    found = [part for path, part in modules.parts(run, ref) if path and (deep or "." not in path)]
    if modules.is_opaque(run.record(ref)):
        found.append(modules.child(run, ref, "*children"))
    return union(found) if found else UNKNOWN


def _register(run: Interpreter, ref: Ref, key: Value, value: Value, kind: str, site: Site) -> None:
    if isinstance(key, Const) and isinstance(value, Tensor):
        modules.note_own(run, ref, value.place, site)
        place = run.default_place if value.place == CPU else value.place
        run.now.put(ref, str(key.value), Tensor(place, (Birth(kind, ref.id),)))
    elif isinstance(key, Const):
        run.now.put(ref, str(key.value), value)
    if isinstance(key, Const) and kind == "buffer":
        record = run.record(ref)
        named = record.get("buffers", frozenset()) | {str(key.value)}
        run.now.update(ref, info=(*(pair for pair in record.info if pair[0] != "buffers"), ("buffers", named)))


def _grow(run: Interpreter, ref: Ref, name: str, args: list[Value], node: ast.Call) -> Value:
    added = args[-1]
    items = [added]
    if name == "extend":
        from devfix.flow import iteration

        known = iteration.elements(run, added, node)
        items = known if known is not None else [iteration.element(run, added, node)]
    for item in items:
        record = run.record(ref)
        counted = run.loop_depth == 0 and record.rest is None
        modules.attach(run, ref, str(len(record.fields)) if counted else None, item, node, weak=not counted)
    return ref


def call_parallel(run: Interpreter, ref: Ref, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``DataParallel`` and ``DistributedDataParallel`` bring the inputs to the device themselves."""
    inner = run.record(ref).fields.get("module", UNKNOWN)
    brought = {key: bundles.delivered(run, value) for key, value in keywords.items()}
    return run.call(inner, [bundles.delivered(run, value) for value in args], brought, node)


# --- classes, super(), devices ------------------------------------------------------------------------------------
def _super(run: Interpreter, value: Super, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    receiver = value.receiver
    if not isinstance(receiver, Ref):
        return UNKNOWN
    record = run.record(receiver)
    if name == "__init__":
        names = classes.externals(value.owner)
        if record.kind == "module" and names and names[0] not in ("torch.nn.Module", "?"):
            library.fill_module(run, receiver, names[0], args, keywords, node)
        elif record.kind == "instance" and "torch.utils.data.DataLoader" in names:
            datasets.make_loader(run, args, keywords, node, into=receiver)
        return NONE
    if record.kind == "module":
        if name in ("forward", "__call__"):
            if record.name == "torch.nn.Sequential":
                from devfix.flow.calls import _call_sequence

                return _call_sequence(run, receiver, args, node)
            return modules.call_leaf(run, receiver, args, keywords, node)
        return _module(run, receiver, name, args, keywords, node)
    return _object(run, receiver, name, args, keywords, node)


def _class(
    run: Interpreter, cls: ClassValue, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value:
    """A class method that a library base brings: ``Net.from_pretrained(...)``."""
    if name == "__init__" and args and isinstance(args[0], Ref):
        found = classes.member(run, cls, "__init__")
        return run.call(Bound(found, args[0]), args[1:], keywords, node) if isinstance(found, Function) else NONE
    if classes.is_module_class(run, cls) and name.startswith(("from_", "load_from_")):
        names = classes.externals(cls)
        managed = "device_map" in keywords or any(classes.is_managed(base) for base in names)
        place = ANYWHERE if managed else run.default_place
        return run.new(
            Record(
                "module", names[0] if names else "", cls, places=frozenset({place}), weights=True, born=run.site(node)
            )
        )
    return UNKNOWN


def _device(device: DeviceValue, name: str, args: list[Value]) -> Value:
    if name == "startswith" and args and isinstance(args[0], Const):
        if device.place.known and isinstance(args[0].value, str):
            return Const((device.place == CPU) == args[0].value.startswith("cpu"))
        return UNKNOWN
    if name in ("lower", "strip", "format", "__str__", "replace"):
        return device
    return UNKNOWN
