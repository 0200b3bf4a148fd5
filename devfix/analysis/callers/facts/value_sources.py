"""Sources of a value: what an expression names, creates or reads, as far as it can bring another device."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Set
from functools import lru_cache
from typing import Any

from devfix.analysis.callers.facts.certain_tensors import CertainTensors
from devfix.analysis.callers.file_names import FileNames
from devfix.analysis.torch.data import LOADER
from devfix.analysis.torch.factories import OVERLAYS
from devfix.models.index import Model, built_in, has_weights, is_operation, lookup
from devfix.syntax.tree import called_name, children

__all__ = [
    "BUILT",
    "CREATED",
    "CREATED_BY_DEFAULT",
    "FOLLOWED",
    "LOADED",
    "MOVES",
    "READ",
    "RESULT",
    "SourceCollector",
    "built_here",
    "called",
    "is_factory",
]

#: A tensor that is created on the host.
CREATED = "!"
#: The same, unless the caller passes a device.
CREATED_BY_DEFAULT = "!device"
#: A tensor where another one is when it is created; it stays there if the module is moved later.
FOLLOWED = "!follows"
#: Memory that the host reads.
READ = "~"
#: A checkpoint, whose tensors are where they were saved.
LOADED = "!load"
#: What the names of the results of operations begin with.
RESULT = "&"
#: A module of a library, whose weights are on the host until it is moved.
BUILT = "%"

#: Methods that return a tensor on the device of their argument.
MOVES = frozenset({"to", "type_as", "cuda"})
_NOTHING = frozenset[str]()
_REGISTERS = frozenset({"Parameter", "register_buffer", "register_parameter", "Buffer"})
_BESIDE = frozenset("shape device dtype ndim is_cuda requires_grad training layout itemsize __class__ __name__".split())
_NUMBERS = frozenset(
    "size dim ndimension numel nelement item tolist stride get_device data_ptr element_size is_floating_point "
    "is_complex is_contiguous startswith endswith format".split()
)
_NO_TENSORS = frozenset(
    "len isinstance issubclass range print str int float bool type hasattr repr id callable format super".split()
)
_SEQUENCES = (ast.List, ast.Tuple)
_NO_FACTORIES = frozenset({"torch.device", "torch.manual_seed"})
_HOST = frozenset({"Host", "HostItems"})
_CREATED_FROM_NUMBERS = "created from numbers"
_PLAIN = "plain"  # a function of a library that creates nothing, and reads nothing on the host


class SourceCollector:
    """Collects the sources of expressions in one function.

    A source is a name (``table``), a name with an attribute (``ops.table``), an attribute of the instance
    (``self.table``) or of any other object (``.table``), or one of the constants of this file.  ``=`` before it says
    that a device is passed to the call, ``?`` that it is the result of a call of this name,
    ``()`` that the result of such a call is called, ``^`` that this name is called with arguments, ``&`` that it is the
    result of an operation, which is on another device only if each of its operands is.

    Args:
        names: the names of the file.
        optional: the parameters that callers may leave out.
        known: what names outside the project bring, for all functions of the file.
        tensors: the certain tensors of the function, if it is one.

    """

    def __init__(
        self,
        names: FileNames,
        optional: frozenset[str],
        known: dict[str, str],
        tensors: CertainTensors | None = None,
    ) -> None:
        self._names = names
        self._optional = optional
        self._known = known
        self._tensors = tensors
        self.used: set[str] = set()
        self.passed: set[str] = set()  # to functions, which may call it
        self.operations: dict[tuple[frozenset[str], ...], str] = {}
        self._found: dict[ast.AST, frozenset[str]] = {}

    def sources(self, node: ast.AST | None) -> frozenset[str]:
        """Return the sources of a value, and note in ``used`` those that meet an operand or an argument inside."""
        if node is None or isinstance(node, ast.Constant):
            return _NOTHING
        if node not in self._found:  # a chain of calls asks for the sources of each value twice
            found = set[str]()
            _ADDERS.get(type(node), SourceCollector._parts)(self, node, found)
            self._found[node] = frozenset(found)
        return self._found[node]

    def _add(self, node: ast.AST, found: set[str]) -> None:
        """Add the sources of a value."""
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Call):
            found |= self.sources(node)
        else:
            _ADDERS.get(type(node), SourceCollector._parts)(self, node, found)

    def _parts(self, node: ast.AST, found: set[str]) -> None:
        parts: set[str] = set()
        for child in children(node):
            if isinstance(child, (ast.expr, ast.keyword)):
                self._add(child, parts)
        if isinstance(node, (ast.Compare, ast.Subscript)):
            self.used |= parts
        found |= parts

    def _name(self, node: ast.Name, found: set[str]) -> None:
        found.add(node.id)

    def _nothing(self, node: ast.AST, found: set[str]) -> None:
        """Add nothing: a constant is on no device."""

    def _conditional(self, node: ast.IfExp, found: set[str]) -> None:
        self.sources(node.test)
        self._add(node.body, found)
        self._add(node.orelse, found)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, found: set[str]) -> None:
        for generator in node.generators:
            for condition in generator.ifs:
                self.sources(condition)
        self._add(node.elt, found)

    def _dict_comprehension(self, node: ast.DictComp, found: set[str]) -> None:
        self._add(node.value, found)

    def _operation(self, node: ast.BinOp, found: set[str]) -> None:
        self.used |= self.sources(node.left)
        self.used |= self.sources(node.right)
        found |= self._result([node.left, node.right])

    def _is_tensor_operation(self, func: ast.expr) -> bool:
        """Return whether what is called is a method of a certain tensor that is an operation of PyTorch."""
        return (
            self._tensors is not None
            and isinstance(func, ast.Attribute)
            and is_operation(f"torch.Tensor.{func.attr}")
            and self._tensors.holds(func.value)
        )

    def _result(self, operands: list[ast.expr]) -> Set[str]:
        """Return the sources of the result of an operation: it is where each of its tensors is."""
        given = [item for each in operands for item in (each.elts if isinstance(each, _SEQUENCES) else [each])]
        certain = [each for each in given if self._tensors is not None and self._tensors.holds(each)]
        if self._tensors is None or not certain:
            return _NOTHING.union(*map(self.sources, given))
        tensors = tuple(dict.fromkeys(map(self.sources, certain)))
        if len(tensors) == 1 or not all(tensors):
            return tensors[0] if len(tensors) == 1 else _NOTHING
        return {self.operations.setdefault(tensors, f"{RESULT}{self._tensors.place}:{len(self.operations)}")}

    def _attribute(self, node: ast.Attribute, found: set[str]) -> None:
        base = node.value
        if node.attr in _BESIDE:
            self.sources(base)
            return
        if isinstance(base, ast.Name):
            found.add(f"{base.id}.{node.attr}")
            if base.id in ("self", "cls"):
                return
        self._add(base, found)
        found.add(f".{node.attr}")

    def _call(self, call: ast.Call, found: set[str]) -> None:
        name = called_name(call)
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        arguments = _NOTHING.union(*map(self.sources, given))
        if name in _REGISTERS or (isinstance(call.func, ast.Name) and name in _NO_TENSORS):
            return
        if any(map(_asks_for_tensors, call.keywords)):
            self.sources(call.func)
            found.add(CREATED)
            return
        if isinstance(call.func, ast.Attribute) and self._method(call.func, given, arguments, found):
            return
        full_name = self._names.full_name(call.func)
        what = self._creation(full_name)
        if what in (CREATED, LOADED):
            how = _placed(call, self._optional)
            found |= {how, *arguments} if how else {FOLLOWED}
            if what == LOADED:
                self.used.add(LOADED)
        elif what == READ:
            self.used |= {READ} if arguments else _NOTHING
        elif what == _CREATED_FROM_NUMBERS:
            found |= arguments or {CREATED}
        else:
            self.used |= arguments
            if is_operation(full_name) or self._is_tensor_operation(call.func):
                receiver = [call.func.value] if isinstance(call.func, ast.Attribute) and what == "" else []
                self.used |= _NOTHING.union(*map(self.sources, receiver))
                found |= self._result([*receiver, *given])
                return
            if self._tensors is not None and self._tensors.is_layer(call.func):
                return
            if what == FOLLOWED or name in _methods_with_result("Like"):
                found.add(FOLLOWED)
            found |= arguments
            if what == BUILT:
                found.add(BUILT)
            elif what not in (_PLAIN, FOLLOWED):
                self._callee(call, bool(arguments), found)

    def _method(self, func: ast.Attribute, given: list[ast.expr], arguments: frozenset[str], found: set[str]) -> bool:
        """Add the sources of a method of a tensor; return whether it is known as one."""
        name = func.attr
        if name in _methods_with_result("OnCPU") or (name == "to" and _names_cpu(given)):
            found.add(CREATED)
        elif name in _methods_on_host():
            self.used.add(READ)
        elif name in MOVES and not (name == "to" and given and all(map(_is_dtype, given))):
            found |= arguments
        elif name not in _NUMBERS:
            return False
        self.sources(func.value)
        return True

    def _creation(self, name: str) -> str:
        """Return what a name outside the project brings when it is called; ``""`` if it is not known."""
        if name not in self._known:
            self._known[name] = _creation(name)
        return self._known[name]

    def _callee(self, call: ast.Call, has_arguments: bool, found: set[str]) -> None:
        inner: Set[str] = self.sources(call.func)
        if isinstance(call.func, ast.Call):
            inner = called(inner)
            self.used |= built_here(inner) if has_arguments else _NOTHING
        elif isinstance(call.func, ast.Name):
            inner = {f"?{call.func.id}"}
            self.used |= {f"^{call.func.id}"} if has_arguments else _NOTHING
            self.passed |= {f"^{each.id}" for each in call.args if isinstance(each, ast.Name)}
        elif isinstance(call.func, ast.Attribute) and has_arguments:
            self.used |= self.sources(call.func.value)
        passes = any(keyword.arg == "device" for keyword in call.keywords) and not _placed(call, self._optional)
        found |= {f"={each}" for each in inner} if passes else inner


#: How the sources of a value of each kind are found; of others, those of its parts are.
_ADDERS: dict[type[ast.AST], Callable[[SourceCollector, Any, set[str]], None]] = {
    ast.Attribute: SourceCollector._attribute,
    ast.BinOp: SourceCollector._operation,
    ast.Call: SourceCollector._call,
    ast.Constant: SourceCollector._nothing,
    ast.DictComp: SourceCollector._dict_comprehension,
    ast.GeneratorExp: SourceCollector._comprehension,
    ast.IfExp: SourceCollector._conditional,
    ast.JoinedStr: SourceCollector._nothing,
    ast.ListComp: SourceCollector._comprehension,
    ast.Name: SourceCollector._name,
    ast.SetComp: SourceCollector._comprehension,
}


def called(sources: Iterable[str]) -> set[str]:
    """Return the sources of the result of calling a value with these sources."""
    found: set[str] = set()
    for source in sources:
        if source == BUILT:
            found.add(CREATED)
        elif source[0] == "?":
            found |= {source, f"(){source[1:]}"}
        else:
            found.add(f"?{source}" if source[0] not in "=(!.~&" and "." not in source else source)
    return found


def built_here(sources: Iterable[str]) -> set[str]:
    """Return the sources of a called value that are modules, built where they are called."""
    return {source for source in sources if source == CREATED or source.startswith("()")}


def is_factory(name: str) -> bool:
    """Return whether a function of a library creates a tensor on the host, unless a device is passed."""
    return _creation(name) == CREATED


def _creation(name: str) -> str:
    model = lookup(name) if name and name not in _NO_FACTORIES else None
    if model is None:
        return _PLAIN if name in _NO_FACTORIES else ""
    if model.kind == "class":
        if model.root == "Distribution":
            return _CREATED_FROM_NUMBERS
        if name in OVERLAYS or LOADER in (model.key, *model.bases) or model.method("__new__") is not None:
            return CREATED
        return BUILT if model.root != "Overlay" and has_weights(name) else _PLAIN
    results = {each.name for signature in model.signatures for each in (signature.result, *signature.result.arguments)}
    if "Module" in results:
        return BUILT
    taken = {parameter.word.name for signature in model.signatures for parameter in signature.parameters}
    if not results.isdisjoint(("Fresh", "OnCPU")) or name in OVERLAYS:
        return CREATED
    if "Overlay" in results and "Device" in taken:
        return LOADED
    if "Like" in results:
        return FOLLOWED
    return _PLAIN if taken.isdisjoint(_HOST) else READ


@lru_cache(maxsize=8)
def _methods_with_result(word: str) -> frozenset[str]:
    """Return the methods of tensors whose result has this word."""
    return frozenset(name for name, model in _tensor_methods() if word in {s.result.name for s in model.signatures})


@lru_cache(maxsize=1)
def _methods_on_host() -> frozenset[str]:
    """Return the methods of tensors that read memory on the host."""
    return frozenset(
        name
        for name, model in _tensor_methods()
        if any(parameter.word.name in _HOST for signature in model.signatures for parameter in signature.parameters)
    )


def _tensor_methods() -> list[tuple[str, Model]]:
    prefix = "torch.Tensor."
    names = [name for name in built_in().names() if name.startswith(prefix)]
    found = [(name.removeprefix(prefix), built_in().exact(name)) for name in names]
    return [(name, model) for name, model in found if model is not None]


def _placed(call: ast.Call, optional: frozenset[str]) -> str:
    """Return where a new tensor is: ``""`` for a device that is passed on."""
    for keyword in call.keywords:
        if keyword.arg is None:
            return ""
        if keyword.arg == "device":
            if isinstance(keyword.value, ast.Constant):
                return CREATED
            return CREATED_BY_DEFAULT if getattr(keyword.value, "id", "") in optional else ""
    return CREATED


def _asks_for_tensors(keyword: ast.keyword) -> bool:
    """Return whether a keyword asks a tokenizer or a processor for tensors, which it creates on the host."""
    return keyword.arg == "return_tensors" and isinstance(keyword.value, ast.Constant) and keyword.value.value == "pt"


def _names_cpu(given: list[ast.expr]) -> bool:
    return any(isinstance(each, ast.Constant) and each.value == "cpu" for node in given for each in ast.walk(node))


def _is_dtype(node: ast.expr) -> bool:
    if not isinstance(node, ast.Attribute):
        return False
    return node.attr == "dtype" or (isinstance(node.value, ast.Name) and node.value.id == "torch")
