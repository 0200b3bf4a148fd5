"""Flags of a project: its command line's options if none is given, and parameters that callers give an answer for.

All files are looked at: options are mostly declared in another file than the one that reads them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeGuard

from devfix.syntax.bindings import defaults
from devfix.syntax.declared_options import is_declared, option_attribute
from devfix.syntax.device_literals import is_cuda_literal
from devfix.syntax.machine_answers import Answers, answers_of

__all__ = [
    "NO_FLAGS",
    "UNKNOWN",
    "ProjectFlags",
    "answered_settings",
    "current",
    "flags_of",
    "is_list_of_indices",
    "prepares_devices",
    "selects_devices",
    "using",
]


#: The value of an option whose value is not known.
UNKNOWN = object()


@dataclass(frozen=True)
class ProjectFlags:
    """The flags of some files.

    Attributes:
        options: values of the options that nothing else assigns, by their attributes: ``use_gpu`` of ``--use-gpu``.
        passed: attributes that calls pass, by the parameter: ``cuda`` of ``Experiment(cuda=args.use_gpu)``.
        answers: names that may hold the answer to a query for CUDA.
        devices: keys of settings whose value is a CUDA device: ``device`` of ``device: cuda`` in YAML.  A setting of a
            module without torch is one if the program selects its devices, or forks: there, no query may replace it.
        answered: settings of a module without torch that another file replaces where CUDA is not available:
            ``if not torch.cuda.is_available(): config.device = "cpu"``.
        preparing: number of files that set ``CUDA_VISIBLE_DEVICES``, or fork, which must precede the first query.
        tried: functions that some ``try`` calls, whose handlers may catch an error of theirs.
        objects: names that only hold device objects, no strings: ``device = torch.device(args.device)``.
        imported: the parts of the names that the files import: ``layers`` of ``from model.layers import Block``.

    """

    options: Mapping[str, object] = field(default_factory=dict)
    passed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    answers: Answers = field(default_factory=Answers)
    devices: frozenset[str] = frozenset()
    answered: frozenset[str] = frozenset()
    preparing: int = 0
    imported: frozenset[str] = frozenset()
    tried: frozenset[str] = frozenset()
    objects: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        """Return all of them as text."""
        passed = sorted((name, sorted(attributes)) for name, attributes in self.passed.items())
        answers = self.answers
        known = [sorted(each) for each in (answers.names, answers.constants, answers.falses)]
        others = (sorted(each) for each in (self.devices, self.answered, self.imported, self.tried, self.objects))
        return repr((sorted(self.options.items(), key=repr), passed, known, *others, self.preparing))


_INDICES = re.compile(r"\d+(?:\s*,\s*\d+)*")
_FORKS = ("ProcessPoolExecutor", "fork", "forkpty")
_CAUGHT = ("Exception", "RuntimeError", "AssertionError", "SystemExit", "ValueError", "OSError", "EnvironmentError")
NO_FLAGS = ProjectFlags()
_NO_SETTINGS: Mapping[str, str] = MappingProxyType({})
_active: ContextVar[ProjectFlags] = ContextVar("flags", default=NO_FLAGS)


def current() -> ProjectFlags:
    """Return the flags in use."""
    return _active.get()


@contextmanager
def using(flags: ProjectFlags) -> Iterator[None]:
    """Use flags within the context."""
    token = _active.set(flags)
    try:
        yield
    finally:
        _active.reset(token)


def is_list_of_indices(value: object) -> TypeGuard[str]:
    """Return whether an option's default is a text of indices, ``"0,1"``, which programs replace by a list."""
    return isinstance(value, str) and _INDICES.fullmatch(value) is not None


def flags_of(files: Iterable[ast.AST], settings: Mapping[str, str] = _NO_SETTINGS) -> ProjectFlags:
    """Return the flags of the syntax trees of all files of a project.

    ``settings`` are those of its settings files that name a CUDA device, or are a flag for CUDA: ``true``, ``false``.
    """
    files = list(files)
    found: dict[str, object] = {}
    stored: set[str] = set()
    passed: dict[str, set[str]] = {}
    for file in files:
        calls: list[ast.Call] = []
        for node in ast.walk(file):
            if isinstance(node, ast.Call):
                calls.append(node)
            stored.update(_stored(node))
        for call in calls:
            if is_declared(call):
                name, value = option_attribute(call), _default(call)
                found[name] = _either(found.get(name, value), value)
            elif isinstance(call.func, ast.Attribute) and call.func.attr == "set_defaults":
                stored |= {keyword.arg for keyword in call.keywords if keyword.arg}
            else:
                for keyword in call.keywords:
                    if keyword.arg and _is_flag_of_object(keyword.value):
                        passed.setdefault(keyword.arg, set()).add(keyword.value.attr)
    split = {name for file in files for name in _split_texts(file)}
    options = {
        name: value
        for name, value in found.items()
        if name and value is not UNKNOWN and (name not in stored or (name in split and is_list_of_indices(value)))
    }
    devices = {key for key, value in settings.items() if value.startswith("cuda")}
    named = {key for file in files if not _imports_torch(file) for key in _named_devices(file)}
    preparing = sum(map(prepares_devices, files))
    if preparing:
        devices |= named
    answered = frozenset(name for file in files for name in answered_settings(file))
    given, denied = ([key for key, value in settings.items() if value == truth] for truth in ("true", "false"))
    return ProjectFlags(
        options,
        {name: frozenset(each) for name, each in passed.items()},
        answers_of(files, given, denied),
        frozenset(devices - answered),
        answered & named,
        preparing,
        frozenset(name for file in files for name in _imported(file)) if preparing else frozenset(),
        frozenset(name for file in files for name in _tried(file)),
        frozenset(name for file in files for name in _device_objects(file))
        - {name for file in files for name in _other_values(file)},
    )


def selects_devices(node: ast.AST) -> bool:
    """Return whether a node sets the devices that are visible: ``os.environ["CUDA_VISIBLE_DEVICES"] = "1"``."""
    match node:
        case ast.Subscript(slice=ast.Constant(value="CUDA_VISIBLE_DEVICES"), ctx=ast.Store() | ast.Del()):
            return True
        case ast.Call(func=ast.Attribute(attr=name), args=[ast.Constant(value="CUDA_VISIBLE_DEVICES"), *_]):
            return name in ("putenv", "setdefault", "pop", "unsetenv")
        case ast.Dict(keys=keys):
            return any(isinstance(key, ast.Constant) and key.value == "CUDA_VISIBLE_DEVICES" for key in keys)
        case ast.keyword(arg="CUDA_VISIBLE_DEVICES"):
            return True
    return False


def prepares_devices(file: ast.AST) -> bool:
    """Return whether a file selects the devices that are visible, or starts processes by forks."""
    nodes = list(ast.walk(file))
    starts = any("multiprocessing" in name for node in nodes for name in _modules(node))
    words = [getattr(node, "attr", "") or getattr(node, "id", "") or getattr(node, "value", "") for node in nodes]
    texts = {word for word in words if isinstance(word, str)}
    forks = not texts.isdisjoint(_FORKS) or (starts and texts.isdisjoint(("spawn", "forkserver")))
    return forks or any(map(selects_devices, nodes))


def answered_settings(file: ast.AST) -> Iterator[str]:
    """Yield the attributes and keys of settings that a query for CUDA decides, under an ``if`` or in a value."""
    for node in ast.walk(file):
        if isinstance(node, ast.If) and _asks(node.test):
            stmts = (*node.body, *node.orelse)
            assigned = (each for stmt in stmts for each in ast.walk(stmt) if isinstance(each, ast.Assign))
            yield from (name for each in assigned for target in each.targets for name in _key_of(target))
        elif isinstance(node, ast.Assign) and _asks(node.value):
            yield from (name for target in node.targets for name in _key_of(target))


def _asks(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Attribute) and each.attr == "is_available" for each in ast.walk(node))


def _key_of(target: ast.expr) -> Iterator[str]:
    """Yield the attribute or key of settings that an assignment sets; objects keep attributes of their own."""
    match target:
        case ast.Attribute(attr=name) if not _is_of_self(target):
            yield name
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            yield name


def _split_texts(file: ast.AST) -> Iterator[str]:
    """Yield the attributes whose text a file splits: ``opt.gpu_ids.split(",")``."""
    for node in ast.walk(file):
        match node:
            case ast.Call(func=ast.Attribute(attr="split", value=ast.Attribute(attr=name))):
                yield name


def _device_objects(file: ast.AST) -> Iterator[str]:
    """Yield the names that are assigned a device: ``device = torch.device("cuda")``."""
    for node in ast.walk(file):
        if isinstance(node, ast.Assign) and _is_device_object(node.value):
            yield from (each.id for each in node.targets if isinstance(each, ast.Name))


def _other_values(file: ast.AST) -> Iterator[str]:
    """Yield the names that hold something else than a device somewhere: ``device = "cpu"``, ``def f(device="cpu")``."""
    for node in ast.walk(file):
        if isinstance(node, ast.Assign) and not _is_device_object(node.value):
            yield from (each.id for each in node.targets if isinstance(each, ast.Name))
        elif isinstance(node, ast.arguments):
            given = defaults(node).items()
            yield from (each.arg for each, default in given if isinstance(default, ast.Constant) and default.value)


def _is_device_object(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "device"
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "torch"
    )


def _tried(file: ast.AST) -> Iterator[str]:
    for node in ast.walk(file):
        if isinstance(node, ast.Try) and any(map(_may_catch, node.handlers)):
            for each in (each for stmt in node.body for each in ast.walk(stmt)):
                if isinstance(each, ast.Call):
                    yield each.func.attr if isinstance(each.func, ast.Attribute) else getattr(each.func, "id", "")


def _may_catch(handler: ast.ExceptHandler) -> bool:
    caught = ast.unparse(handler.type) if handler.type is not None else "Exception"
    goes_on = not isinstance(handler.body[-1], ast.Raise) and "exit(" not in ast.unparse(handler.body[-1])
    return any(name in caught for name in _CAUGHT) and (goes_on or "Exception" not in caught)


def _modules(node: ast.AST) -> Iterator[str]:
    """Yield the names of the modules that a node imports, or takes names from."""
    match node:
        case ast.Import(names=names):
            yield from (each.name for each in names)
        case ast.ImportFrom(module=module, names=names):
            yield from (f"{module}.{each.name}" if module else each.name for each in names)


def _imported(file: ast.AST) -> Iterator[str]:
    for node in ast.walk(file):
        for name in _modules(node):
            yield from name.split(".")


def _imports_torch(file: ast.AST) -> bool:
    imports = (node for node in ast.walk(file) if isinstance(node, (ast.Import, ast.ImportFrom)))
    return any("torch" in ast.unparse(node) for node in imports)


def _named_devices(file: ast.AST) -> Iterator[str]:
    """Yield the attributes and keys of a module of settings whose value is a CUDA device."""
    for node in ast.walk(file):
        match node:
            case ast.Assign(targets=[ast.Attribute(attr=name) as target], value=value):
                if is_cuda_literal(value) and not _is_of_self(target):
                    yield name
            case ast.Dict(keys=keys, values=values):
                named = (key for key, value in zip(keys, values, strict=True) if is_cuda_literal(value))
                yield from (str(key.value) for key in named if isinstance(key, ast.Constant))


def _either(one: object, other: object) -> object:
    """Return the value of an option that two programs declare: what one of them asks for by default counts."""
    if one == other:
        return one
    return True if isinstance(one, bool) and isinstance(other, bool) else UNKNOWN


def _stored(node: ast.AST) -> Iterator[str]:
    """Yield the attributes that a node may set: by assignment, by name, in a class, or as a property."""
    match node:
        case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()) if not _is_of_self(node):
            yield name
        case ast.Subscript(slice=ast.Constant(value=str(name)), ctx=ast.Store()):
            yield name
        case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(value=str(name)), *_]):
            yield name
        case ast.ClassDef(body=body):
            for each in body:
                if isinstance(each, (ast.Assign, ast.AnnAssign)):
                    targets = each.targets if isinstance(each, ast.Assign) else [each.target]
                    yield from (target.id for target in targets if isinstance(target, ast.Name))
                elif isinstance(each, ast.FunctionDef) and each.decorator_list:
                    yield each.name


def _is_of_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _is_flag_of_object(value: ast.expr) -> TypeGuard[ast.Attribute]:
    return isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name)


def _default(declaration: ast.Call) -> object:
    keywords = {keyword.arg: keyword.value for keyword in declaration.keywords}
    if "default" in keywords:
        value = _literal(keywords["default"])
        kind = keywords.get("type")
        is_kept = kind is None or (isinstance(kind, ast.Name) and kind.id == "str")
        return value if is_kept or not isinstance(value, str) else UNKNOWN
    action = _literal(keywords["action"]) if "action" in keywords else "store"
    return {"store_true": False, "store_false": True, "store": None}.get(str(action), UNKNOWN)


def _literal(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return UNKNOWN
