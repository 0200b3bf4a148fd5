"""Classes, functions as values, and attribute access."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from devfix.flow import bundles, holding, modules, optimizers
from devfix.flow.knowledge import behaviour
from devfix.flow.knowledge_of_frameworks import MANAGED, PLACED_TRAINERS
from devfix.flow.sites import Frame
from devfix.flow.syntax import text_of
from devfix.flow.values import (
    ANYWHERE,
    CPU,
    UNKNOWN,
    Birth,
    Bound,
    Builtin,
    ClassValue,
    Const,
    DeviceValue,
    DType,
    External,
    Function,
    Namespace,
    Number,
    Partial,
    Record,
    Ref,
    Super,
    Tensor,
    TupleValue,
    Union,
    Unknown,
    Value,
    Yields,
    union,
)

if TYPE_CHECKING:
    from devfix.flow.interpreter import Interpreter

__all__ = [
    "attribute",
    "define_class",
    "define_function",
    "entered",
    "externals",
    "find_property_setter",
    "imported_name",
    "instantiate",
    "is_managed",
    "is_module_class",
    "is_placed_trainer",
    "lineage",
    "member",
]

_DTYPES = frozenset(
    "float float16 float32 float64 half double bfloat16 int int8 int16 int32 int64 long short uint8 bool complex64 "
    "complex128 cfloat cdouble".split()
)
_TENSOR_NUMBERS = frozenset("shape ndim itemsize nbytes is_sparse requires_grad is_leaf names layout grad_fn".split())
_TENSOR_TENSORS = frozenset("data T mT H mH real imag grad".split())
_MODULE_NUMBERS = frozenset(
    "in_features out_features in_channels out_channels num_features embedding_dim hidden_size num_classes "
    "num_embeddings embed_dim input_size kernel_size stride padding num_layers n_features".split()
)


# --- definitions ------------------------------------------------------------------------------------------------
def define_function(run: Interpreter, stmt: ast.FunctionDef | ast.AsyncFunctionDef) -> Value:
    """The value of a ``def``; decorators of the project are applied, others keep the function."""
    function = make_function(run, stmt)
    value: Value = function
    for decorator in reversed(stmt.decorator_list):
        value = _decorated(run, value, function, decorator)
    return value


def make_function(run: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Function:
    """A function with its defaults and its scope."""
    frame = run.frame
    assert frame is not None
    outer = frame.function.scope if frame.function is not None else ()
    in_class = frame.function is None and frame.env != frame.module.env
    scope = outer if in_class or frame.env == frame.module.env else (*outer, frame.env)
    defaults = tuple(run.evaluate(default) for default in node.args.defaults)
    keyword_defaults = tuple(None if d is None else run.evaluate(d) for d in node.args.kw_defaults)
    return Function(node, frame.module, scope, defaults=defaults, keyword_defaults=keyword_defaults)


_KINDS = {"property": "property", "staticmethod": "static", "classmethod": "class", "cached_property": "property"}


def _decorated(run: Interpreter, value: Value, function: Function, decorator: ast.expr) -> Value:
    if isinstance(decorator, ast.Name) and decorator.id in _KINDS:
        return replace(function, kind=_KINDS[decorator.id])
    if isinstance(decorator, ast.Attribute) and decorator.attr in ("setter", "getter", "deleter"):
        return replace(function, kind=decorator.attr)
    called = run.evaluate(decorator)
    if isinstance(called, External) and called.name.endswith("cached_property"):
        return replace(function, kind="property")
    if isinstance(called, (Function, Bound)) and not _only_registers(called):
        node = ast.copy_location(ast.Call(decorator, [], []), decorator)
        result = run.call(called, [value], {}, node)
        return result if isinstance(result, (Function, Bound, Partial)) else value
    return value


@lru_cache(maxsize=1024)
def _gives_back(node: ast.AST) -> bool:
    """Whether a long decorator does nothing but look at its function and give it back."""
    returns = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Return)]
    arguments = getattr(node, "args", None)
    first = arguments.args[0].arg if arguments is not None and arguments.args else ""
    long = sum(isinstance(inner, ast.stmt) for inner in ast.walk(node)) > 12
    return long and bool(returns) and all(isinstance(value, ast.Name) and value.id == first for value in returns)


def _only_registers(value: Function | Bound) -> bool:
    function = value.function if isinstance(value, Bound) else value
    return _gives_back(function.node)


def define_class(run: Interpreter, stmt: ast.ClassDef) -> Value:
    """The value of a ``class``."""
    frame = run.frame
    assert frame is not None
    bases = tuple(run.evaluate(base) for base in stmt.bases)
    env = run.new_env()
    decorators = {text_of(d.func if isinstance(d, ast.Call) else d).split(".")[-1] for d in stmt.decorator_list}
    cls = ClassValue(
        stmt, frame.module, bases, env, dataclass=bool(decorators & {"dataclass", "define", "frozen", "attrs", "s"})
    )
    with run.within(Frame(env, frame.module, frame.function and _outer(frame), parent=frame)):
        for inner in stmt.body:
            if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
                value = define_function(run, inner)
                if isinstance(value, Function):
                    value = replace(value, owner=cls)
                existing = run.now.lookup(env, inner.name)
                if isinstance(value, Function) and value.kind == "setter" and isinstance(existing, Function):
                    run.now.bind(env, f"{inner.name}.setter", value)
                else:
                    run.now.bind(env, inner.name, value)
            else:
                run.execute([inner])
                holding.keep_class_attributes(run, cls, inner)
    return cls


def _outer(frame: Frame) -> Function | None:
    """Class bodies see the enclosing function's names, and so do their methods."""
    if frame.function is None or frame.env == frame.module.env:
        return frame.function
    return replace(frame.function, scope=(*frame.function.scope, frame.env))


# --- lookup in classes ------------------------------------------------------------------------------------------
def lineage(cls: ClassValue) -> Iterator[ClassValue | External | Unknown]:
    """A class and its bases in (simplified) method resolution order."""
    seen: set[int] = set()
    stack: list[Value] = [cls]
    while stack:
        current = stack.pop(0)
        if id(current) in seen:
            continue
        seen.add(id(current))
        if isinstance(current, ClassValue):
            yield current
            stack = [*current.bases, *stack]
        elif isinstance(current, External):
            yield current
        elif isinstance(current, (Unknown, Union, Ref)):
            yield Unknown()


def externals(cls: ClassValue) -> list[str]:
    """Full names of the library classes that a project class derives from; ``"?"`` where a base is not known."""
    names = []
    for base in lineage(cls):
        if isinstance(base, External):
            names.append(base.name)
        elif isinstance(base, Unknown):
            names.append("?")
    return names


def member(run: Interpreter, cls: ClassValue, name: str, above: ClassValue | None = None) -> Value | None:
    """A class attribute, looked up along the lineage (from behind ``above``)."""
    skipping = above is not None
    for base in lineage(cls):
        if skipping:
            skipping = base is not above
            continue
        if isinstance(base, ClassValue):
            found = run.now.lookup(base.scope, name)
            if found is not None:
                return found
    return None


def is_module_class(run: Interpreter, cls: ClassValue) -> bool:
    """Whether instances are ``nn.Module`` objects, as far as the code tells."""
    names = externals(cls)
    if any(name.startswith("torch.nn.") or behaviour(name) in ("opaque-module", "placed-module") for name in names):
        return True
    own = [name for name in names if name not in ("builtins.object", "object", "abc.ABC", "typing.Generic", "?")]
    return (bool(own) or "?" in names) and isinstance(member(run, cls, "forward"), Function)


def is_managed(name: str) -> bool:
    """Whether a library places things itself."""
    return name.startswith(MANAGED)


def is_placed_trainer(record: Record) -> bool:
    """Whether an object is of a project class that derives from the ``Trainer`` of transformers."""
    names = externals(record.cls) if record.cls is not None else []
    return any(name.startswith(PLACED_TRAINERS) for name in names)


def find_property_setter(run: Interpreter, record: Record, name: str) -> Function | None:
    """The setter of a property, if the class has one."""
    found = member(run, record.cls, f"{name}.setter") if record.cls is not None else None
    return found if isinstance(found, Function) else None


# --- instances --------------------------------------------------------------------------------------------------
def instantiate(
    run: Interpreter, cls: ClassValue, args: list[Value], keywords: dict[str, Value], node: ast.Call
) -> Value:
    """An instance of a project class, with its constructor run."""
    names = externals(cls)
    if any(name.startswith("torch.optim.") and behaviour(name).startswith("optimizer") for name in names):
        from devfix.flow import optimizers

        base = next(name for name in names if name.startswith("torch.optim."))
        eager = behaviour(base) == "optimizer-eager" or optimizers.copies_parameters(cls)
        return optimizers.build(run, base, eager, args, keywords, node)
    if is_module_class(run, cls):
        opaque = any(
            name == "?" or not name.startswith(("torch.nn.Module", "builtins", "abc", "typing")) for name in names
        )
        leaf = [name for name in names if name.startswith("torch.nn.") and behaviour(name) == "module"]
        own_weights = opaque and (
            bool(leaf and leaf[0] not in ("torch.nn.Module", "torch.nn.modules.Module")) or not leaf
        )
        managed = any(is_managed(name) for name in names)
        ref = run.new(
            Record(
                "module",
                names[0] if names else "",
                cls,
                places=frozenset({ANYWHERE if managed else run.default_place}),
                weights=own_weights and "torch.nn.modules.Module" not in names,
                born=run.site(node),
            )
        )
    else:
        ref = run.new(Record("instance", cls.node.name, cls, born=run.site(node)))
        from devfix.flow import optimizers

        optimizers.note_wrapper(run, cls, [*args, *keywords.values()])
    if cls.dataclass or "typing.NamedTuple" in names:
        _fill_dataclass(run, ref, cls, args, keywords)
    constructor = member(run, cls, "__init__")
    if isinstance(constructor, Function):
        run.call(Bound(constructor, ref), args, keywords, node)
    elif any(name in _MAPPINGS for name in names):
        given = run.record(args[0]).fields if args and isinstance(args[0], Ref) else {}
        run.now.update(ref, fields={**given, **{key: value for key, value in keywords.items() if key != "**"}})
    elif run.record(ref).kind == "module" and names and names[0] != "torch.nn.Module":
        from devfix.flow import library

        library.fill_module(run, ref, names[0], args, keywords, node)
    return ref


_MAPPINGS = frozenset(
    {"builtins.dict", "collections.OrderedDict", "collections.UserDict", "easydict.EasyDict", "addict.Dict"}
)


def _fill_dataclass(run: Interpreter, ref: Ref, cls: ClassValue, args: list[Value], keywords: dict[str, Value]) -> None:
    names: list[tuple[str, ast.AnnAssign, ClassValue]] = []
    for base in reversed(list(lineage(cls))):
        if isinstance(base, ClassValue):
            names.extend(
                (stmt.target.id, stmt, base)
                for stmt in base.node.body
                if isinstance(stmt, ast.AnnAssign) and isinstance(stmt.target, ast.Name)
            )
    given = dict(zip([name for name, _, _ in names], args, strict=False)) | keywords
    for name, stmt, base in names:
        value = given.get(name)
        if value is None:
            value = run.now.lookup(base.scope, name) or UNKNOWN
            if isinstance(stmt.value, ast.Call) and text_of(stmt.value.func).split(".")[-1] in ("field", "Field"):
                value = _field_default(run, stmt.value)
        run.now.put(ref, name, value)
    post = member(run, cls, "__post_init__")
    if isinstance(post, Function):
        call = ast.copy_location(ast.Call(ast.Name("__post_init__", ast.Load()), [], []), cls.node)
        run.call(Bound(post, ref), [], {}, call)


def _field_default(run: Interpreter, call: ast.Call) -> Value:
    for keyword in call.keywords:
        if keyword.arg == "default":
            return run.evaluate(keyword.value)
        if keyword.arg in ("default_factory", "factory"):
            return run.call(
                run.evaluate(keyword.value), [], {}, ast.copy_location(ast.Call(keyword.value, [], []), call)
            )
    return UNKNOWN


def entered(run: Interpreter, value: Value, node: ast.AST) -> Value:
    """What ``with value as x`` binds."""
    if isinstance(value, Yields):
        return value.element  # a generator under contextlib.contextmanager
    if isinstance(value, Ref) and run.record(value).cls is not None:
        enter = attribute(run, value, "__enter__", node)
        if isinstance(enter, Bound):
            return run.call(enter, [], {}, ast.copy_location(ast.Call(ast.Name("enter", ast.Load()), [], []), node))
    return value


# --- imports ----------------------------------------------------------------------------------------------------
def imported_name(run: Interpreter, base: Value, name: str, stmt: ast.ImportFrom) -> Value:
    """What ``from base import name`` binds."""
    if isinstance(base, Namespace):
        found = run.global_name(base.module, name)
        if found is not None:
            return found
        inner = run.imported(f"{stmt.module}.{name}" if stmt.module else name, stmt.level)
        return inner if isinstance(inner, Namespace) else Unknown(f"{base.module.name}.{name}")
    return attribute(run, base, name, stmt)


# --- attributes -------------------------------------------------------------------------------------------------
def attribute(run: Interpreter, value: Value, name: str, node: ast.AST) -> Value:
    """``value.name``."""
    match value:
        case Union(alternatives):
            return union(attribute(run, option, name, node) for option in alternatives)
        case External(full):
            known = full.split(".")[0] in ("torch", "numpy") and name in _DTYPES and full.count(".") == 0
            return DType() if known else External(f"{full}.{name}")
        case Namespace(module):
            found = run.global_name(module, name)
            if found is not None:
                return found
            inner = run.imported(f"{module.name}.{name}") if module.name != "__main__" else UNKNOWN
            return inner if isinstance(inner, Namespace) else Unknown(f"{module.name}.{name}")
        case Ref():
            return _attribute_of_record(run, value, name, node)
        case Tensor():
            return _attribute_of_tensor(value, name)
        case Super(owner, receiver):
            return _attribute_of_super(run, owner, receiver, name)
        case ClassValue():
            found = member(run, value, name)
            if isinstance(found, Function) and found.kind == "class":
                return Bound(found, value)
            return found if found is not None else Builtin(value, name)
        case TupleValue(items) if len(items) == 2 and name in ("values", "indices"):
            return items[name == "indices"]
        case DeviceValue(symbol=symbol):
            if name == "type":
                return replace(value, text=True)
            return Number(f"{symbol}.index") if name == "index" else Builtin(value, name)
        case Unknown(symbol) | Number(symbol):
            return Unknown(f"{symbol}.{name}" if symbol else "")
    return Builtin(value, name)


def _attribute_of_tensor(value: Tensor, name: str) -> Value:
    if name == "device":
        return DeviceValue(value.place)
    if name == "dtype":
        return DType()
    if name == "is_cuda":
        return Const(value.place != CPU) if value.place.known else UNKNOWN
    if name in _TENSOR_NUMBERS:
        return UNKNOWN
    if name in _TENSOR_TENSORS:
        return replace(value, grad=False) if name in ("data", "grad") else value
    if value.loose:
        births = tuple(Birth(birth.kind, birth.key, (*birth.item, f".{name}")) for birth in value.births)
        return replace(value, births=births)
    return Builtin(value, name)


def _attribute_of_super(run: Interpreter, owner: ClassValue, receiver: Value, name: str) -> Value:
    cls = run.record(receiver).cls if isinstance(receiver, Ref) else receiver
    found = member(run, cls, name, above=owner) if isinstance(cls, ClassValue) else None
    if isinstance(found, Function):
        return Bound(found, receiver) if found.kind in ("function", "class") else found
    if found is not None:
        return found
    return Builtin(Super(owner, receiver), name)


def _attribute_of_record(run: Interpreter, ref: Ref, name: str, node: ast.AST) -> Value:
    record = run.record(ref)
    if name == "state" and record.kind == "optimizer":
        optimizers.note_state_read(run, ref)
    if name in record.fields and record.kind not in ("dict", "list", "set"):
        return record.fields[name]
    if record.cls is not None:
        found = member(run, record.cls, name)
        if isinstance(found, Function):
            if found.kind == "property":
                call = ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [], []), node)
                return run.call(Bound(found, ref), [], {}, call)
            if found.kind == "static":
                return found
            return Bound(found, record.cls if found.kind == "class" else ref)
        if isinstance(found, Partial | Bound):
            return found
        if found is not None:
            return found
        if name == "__class__":
            return record.cls
    if record.kind == "module":
        return _attribute_of_module(run, ref, record, name)
    if record.kind in ("instance", "parser-result"):
        if name == "__dict__":
            return ref
        getter = member(run, record.cls, "__getattr__") if record.cls is not None else None
        if isinstance(getter, Function):
            call = ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [], []), node)
            return run.call(Bound(getter, ref), [Const(name)], {}, call)
        if name in ("items", "keys", "values") and record.cls is not None and "?" not in externals(record.cls):
            return Builtin(ref, name)  # of its ``__dict__``
        if name == "train" and is_placed_trainer(record):
            return Builtin(ref, name)
        return Unknown(f"{record.name or 'object'}#{ref.id}.{name}")
    if record.kind == "bundle":
        held = bundles.attribute(run, ref, name)
        return held if held is not None else Builtin(ref, name)
    if record.kind == "opaque":
        return Builtin(ref, name)
    if record.kind == "dataset" and name in ("data", "_data"):
        from devfix.flow import iteration

        return iteration.whole_of(run, ref, node)
    if record.kind == "loader" and name in ("dataset", "collate_fn"):
        return record.fields.get(name, UNKNOWN)
    if record.kind in ("optimizer", "scaler", "scheduler") and name in ("param_groups", "state", "optimizer"):
        return record.fields.get(name, UNKNOWN)
    return Builtin(ref, name)


def _attribute_of_module(run: Interpreter, ref: Ref, record: Record, name: str) -> Value:
    if name in ("_modules", "_parameters", "_buffers"):
        return ref
    if name == "training":
        return UNKNOWN
    if name == "device":
        return DeviceValue(modules.first_place(run, ref))
    if name in ("weight", "bias") and record.weights and record.cls is None:
        return Tensor(modules.any_place(record), (Birth("parameter", ref.id),))
    if name in ("affine", "track_running_stats", "elementwise_affine") and record.cls is None:
        return Const(True)  # PyTorch's defaults
    if name in _MODULE_NUMBERS:
        return Number()
    if name in MODULE_METHODS:
        return Builtin(ref, name)
    if record.get("data-parallel"):
        return UNKNOWN
    if record.name.startswith(("torch_geometric.", "dgl.")):
        return Builtin(ref, name)  # their methods take indices, which may lie elsewhere
    if record.name.startswith("torch.nn.") and "Transformer" not in record.name:
        return Builtin(ref, name)  # PyTorch's layers have no parts
    if modules.is_opaque(record) and not name.startswith("_"):
        return modules.child(run, ref, name) if name not in ("config", "hparams", "name", "cfg") else UNKNOWN
    if record.cls is not None and record.weights:
        return UNKNOWN
    return Builtin(ref, name)


MODULE_METHODS = frozenset(
    "to cuda cpu xpu npu half float double bfloat16 train eval requires_grad_ zero_grad apply parameters "
    "named_parameters children named_children modules named_modules buffers named_buffers state_dict load_state_dict "
    "register_buffer register_parameter add_module register_module register_forward_hook "
    "register_forward_pre_hook register_backward_hook register_full_backward_hook append extend insert get_submodule "
    "share_memory type compile to_empty forward __call__ keys values items pop update reset_classifier reset_head "
    "get_classifier extra_repr reset_parameters set_grad_checkpointing gradient_checkpointing_enable "
    "print_trainable_parameters resize_token_embeddings save_pretrained no_sync".split()
)

__all__ += ["MODULE_METHODS", "make_function"]
