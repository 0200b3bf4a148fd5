"""Whether a project moves the weights that it saves to the CPU: they are restored to the CPU wherever it loads them.

The weights that a program loads are mostly saved by another program, so the files beside it are read, too.
"""

from __future__ import annotations

import ast
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING

from devfix.analysis.domain.device_parsing import moves_to_cpu
from devfix.syntax.bindings import parameters
from devfix.syntax.tree import SourceTree, children, text_of, walk

if TYPE_CHECKING:
    from devfix.analysis.program import Program

__all__ = ["Saved", "saved_states", "saves_on_cpu"]

MOST_FILES = 300  # Python files that are read
MOST_FOLDERS = 60
MOST_NAMES = 2_000  # in one folder; one with more holds data
MOST_DEPTH = 8  # of names and containers that hold each other

_NOT_SEARCHED = frozenset("tests test venv env node_modules site-packages build dist __pycache__".split())
_IS_TEST = re.compile(r"(?:test_.*|.*_test|conftest)\.py")
_DEVICES = re.compile(r"cuda|device|\.to\(")
_OF_TRAINING = re.compile(r"optimi[sz]er|(?:^|_)(?:optim?|sched|scheduler|scaler)s?(?:_|\d|$)", re.IGNORECASE)
_OPTIMIZER = re.compile(r"optimi[sz]er|(?:^|_)optim?s?(?:_|\d|$)", re.IGNORECASE)  # its state has tensors
_WEIGHTS = re.compile(
    r"model|net|state|weight|param|module|encoder|decoder|generator|critic|policy|queue|center|\bema\b", re.IGNORECASE
)
_SHORT = re.compile(r"[A-Z](?:_?[A-Z\d])?")  # modules of papers: G, D_A
_MAKES = re.compile(r"(?:build|create|make|get|load)_|[A-Z]")
_USES_OF_MODULES = frozenset("state_dict named_parameters parameters train eval load_state_dict".split())
_SAME_WEIGHTS = frozenset("eval train float half double items values copy state_dict".split())
_MOVES = ("to", "cpu", "cuda")
_ADDS = frozenset({"append", "extend", "setdefault", "update"})
_REBUILDS = frozenset({"dict", "OrderedDict", "list", "deepcopy", "copy"})


class Saved(Enum):
    """The device of the weights that a program saves."""

    ON_CPU = "moved to the CPU before"
    ANYWHERE = "on the device of the program, or unknown"


def saves_on_cpu(program: Program) -> bool:
    """Return whether a project moves all weights that it saves to the CPU.

    The nearest folder that saves any decides: that of the entry script with its subfolders, or one above it.
    """
    for folder in program.roots:
        found: set[Saved] = set()
        for path in _python_files(program, folder):
            text = program.text(path)
            if text is not None and ".save(" in text and "torch" in text:
                found |= _saved_in(text)
            if Saved.ANYWHERE in found:
                return False
        if found:
            return True
    return False


def _python_files(program: Program, folder: str) -> list[str]:
    """Return the files of a folder and of its subfolders, without tests; none if they are too many."""
    found: list[str] = []
    pending, searched = [folder], 0
    while pending:
        inner = pending.pop()
        searched += 1
        names = program.names(inner)
        found += [os.path.join(inner, name) for name in sorted(names) if _is_searched(name)]
        if len(found) > MOST_FILES or searched > MOST_FOLDERS:
            return []
        if len(names) <= MOST_NAMES:
            paths = (os.path.join(inner, name) for name in names - _NOT_SEARCHED if "." not in name)
            pending += [path for path in paths if os.path.isdir(path) and not os.path.islink(path)]
    return found


def _is_searched(name: str) -> bool:
    return name.endswith(".py") and _IS_TEST.fullmatch(name) is None


@lru_cache(maxsize=1024)
def _saved_in(text: str) -> frozenset[Saved]:
    try:
        return saved_states(SourceTree("", text))
    except SyntaxError:
        return frozenset()


def saved_states(tree: SourceTree) -> frozenset[Saved]:
    """Return the devices of the weights that a file saves with ``torch.save``; empty if it saves none.

    A file that names no device converts weights, or saves data; its functions may be given values on any device.
    """
    saves = list(_saves(tree))
    if not _DEVICES.search(tree.text):
        saves = [call for call in saves if _saves_given(tree, call)]
    modules = frozenset(
        text_of(node.value) for node in tree.nodes if isinstance(node, ast.Attribute) and node.attr in _USES_OF_MODULES
    )
    functions: dict[ast.AST, _Function] = {}
    found: set[Saved] = set()
    for call in saves:
        function = tree.function(call)
        if function not in functions:
            functions[function] = _Function(function)
        found |= _Values(tree, functions[function], modules, call).devices_of(_saved(call))
    return frozenset(found)


def _saves_given(tree: SourceTree, call: ast.Call) -> bool:
    """Return whether a function saves weights that it is given, or those of its object."""
    value = _saved(call)
    given = _names_in(value).intersection(parameters(tree.function(call)))
    return bool(given) and (text_of(value) in given or bool(_WEIGHTS.search(text_of(value))))


def _saved(call: ast.Call) -> ast.expr:
    return next((each.value for each in call.keywords if each.arg == "obj"), None) or call.args[0]


def _saves(tree: SourceTree) -> Iterator[ast.Call]:
    modules, functions = {"torch"}, set[str]()
    for node in tree.nodes:
        if isinstance(node, ast.Import):
            modules |= {alias.asname for alias in node.names if alias.name == "torch" and alias.asname}
        elif isinstance(node, ast.ImportFrom) and node.module == "torch":
            functions |= {alias.asname or alias.name for alias in node.names if alias.name == "save"}
    for node in tree.nodes:
        match node:
            case ast.Call(func=ast.Attribute(attr="save", value=module)) if text_of(module) in modules:
                is_save = True
            case ast.Call(func=ast.Name(id=name)):
                is_save = name in functions
            case _:
                continue
        if is_save and (node.args or any(each.arg == "obj" for each in node.keywords)):
            yield node


class _Function:
    """What a function binds and moves, by the names."""

    def __init__(self, node: ast.AST) -> None:
        self.bindings: dict[str, list[ast.Assign]] = defaultdict(list)
        self.entries: dict[str, list[ast.Assign]] = defaultdict(list)
        self.moves: dict[str, list[ast.Call]] = defaultdict(list)
        self.additions: dict[str, list[ast.Call]] = defaultdict(list)
        for each in _own(node):
            match each:
                case ast.Assign(targets=[ast.Subscript(value=holder)]):
                    self.entries[text_of(holder)].append(each)
                case ast.Assign(targets=[target]):
                    self.bindings[text_of(target)].append(each)
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=holder, attr=attr)) as call) if attr in _ADDS:
                    self.additions[text_of(holder)].append(call)
                case ast.Expr(value=ast.Call(func=ast.Attribute()) as call) if _last_move(call) is not None:
                    self.moves[_receiver(call)].append(call)


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function, or of a module, without those of the functions and classes in it."""
    pending = [*children(node)]
    while pending:
        each = pending.pop()
        yield each
        if not isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            pending += children(each)


class _Values:
    """The weights in the value that a call saves."""

    def __init__(self, tree: SourceTree, function: _Function, modules: frozenset[str], save: ast.Call) -> None:
        self._tree = tree
        self._function = function
        self._modules = modules
        self._save = save
        self._around = set(tree.ancestors(save))
        self._known: dict[str, set[Saved]] = {}  # names, also those that are being followed

    def devices_of(self, node: ast.expr, depth: int = 0) -> set[Saved]:
        """Return the devices of the weights in a value; empty if it holds none."""
        if depth > MOST_DEPTH:
            return {Saved.ANYWHERE}
        match node:
            case ast.Constant():
                return set()
            case ast.Dict(keys=keys, values=values):
                pairs = zip(keys, values, strict=True)
                return self._all([self._entry(text_of(key) if key else "**", value, depth) for key, value in pairs])
            case ast.Tuple(elts=values) | ast.List(elts=values):
                return self._all([self._entry("", value, depth) for value in values])
            case ast.DictComp(value=item, generators=[loop]):
                return self._items(item, loop.iter, depth)
            case ast.ListComp(elt=item, generators=[loop]) | ast.GeneratorExp(elt=item, generators=[loop]):
                parts = item.elts if isinstance(item, (ast.Tuple, ast.List)) else []
                return self._items(parts[-1] if parts else item, loop.iter, depth)
            case ast.IfExp(body=body, orelse=orelse):
                return self.devices_of(body, depth + 1) | self.devices_of(orelse, depth + 1)
            case ast.Call():
                return self._of_call(node, depth)
            case ast.Name() | ast.Attribute():
                return self._of_name(node, depth)
        return {Saved.ANYWHERE}

    @staticmethod
    def _all(found: list[set[Saved]]) -> set[Saved]:
        return set().union(*found)

    def _entry(self, key: str, node: ast.expr, depth: int) -> set[Saved]:
        """Return the devices of the weights in an entry; numbers, settings and the state of training hold none."""
        if isinstance(node, (ast.Name, ast.Attribute)):
            name = text_of(node)
            is_known = name in self._modules or name in self._function.bindings or key == "**"
            if not is_known and not _WEIGHTS.search(key + name) and not _SHORT.fullmatch(name.rpartition(".")[2]):
                return set()
            if not is_known and _OF_TRAINING.search(name):
                return set()
        is_state = isinstance(node, ast.Call) and text_of(node.func).endswith(".state_dict")
        if is_state and _OPTIMIZER.search(_receiver(node).rpartition(".")[2]):
            return {Saved.ANYWHERE}  # its state stays where the parameters were, also if the module is moved
        return self.devices_of(node, depth + 1)

    def _items(self, item: ast.expr, source: ast.expr, depth: int) -> set[Saved]:
        """Return the devices of the items that a comprehension makes of the entries of a state."""
        held = self.devices_of(source, depth + 1)
        return {Saved.ON_CPU} if held and _goes_to_cpu(item) else held

    def _of_call(self, node: ast.Call, depth: int) -> set[Saved]:
        function = node.func
        if text_of(function).split(".")[-1] in _REBUILDS and (node.args or node.keywords):
            kept = [self.devices_of(argument, depth + 1) for argument in node.args[:1]]
            return self._all([*kept, *(self._entry(str(each.arg), each.value, depth) for each in node.keywords)])
        if not isinstance(function, ast.Attribute):
            return {Saved.ANYWHERE}
        if function.attr in _MOVES:
            if not self._holds_weights(function.value):
                return set()  # data
            return {Saved.ON_CPU} if _goes_to_cpu(node) else {Saved.ANYWHERE}
        if function.attr == "state_dict" and _OF_TRAINING.search(_receiver(node).rpartition(".")[2]):
            return set()
        move = _last_move(function.value) if function.attr == "state_dict" else None
        if move is not None:
            return {Saved.ON_CPU} if _goes_to_cpu(move) else {Saved.ANYWHERE}
        if function.attr in _SAME_WEIGHTS:
            found = self.devices_of(function.value, depth + 1)
            return found or ({Saved.ANYWHERE} if function.attr == "state_dict" else set())
        return {Saved.ANYWHERE}

    def _holds_weights(self, node: ast.expr) -> bool:
        """Return whether a moved value is a module or its state: not what a module computes."""
        while isinstance(node, ast.Call):
            name = text_of(node.func).rpartition(".")[2]
            if name in _REBUILDS or name == "state_dict":
                return True
            if text_of(node.func) not in self._modules and _MAKES.match(name):
                return True
            if not isinstance(node.func, ast.Attribute):
                return False
            node = node.func.value
        return text_of(node) in self._modules or bool(_WEIGHTS.search(text_of(node)))

    def _of_name(self, node: ast.expr, depth: int) -> set[Saved]:
        name = text_of(node)
        if name not in self._known:
            self._known[name] = {Saved.ANYWHERE}  # of `a = b` and `b = a`
            found = self._steps_of(name, depth)
            self._known[name] = found or ({Saved.ANYWHERE} if name in self._modules else found)
        return self._known[name]

    def _steps_of(self, name: str, depth: int) -> set[Saved]:
        """Return where the statements that bind, fill and move a name leave what it holds."""
        if self._moves_entries(name):
            return {Saved.ON_CPU}
        function = self._function
        filled = [*function.entries.get(name, ()), *function.additions.get(name, ())]
        steps = [*function.bindings.get(name, ()), *filled, *self._moves_of(name)]
        steps = sorted((step for step in steps if step.lineno < self._save.lineno), key=lambda step: step.lineno)
        found: set[Saved] = set()
        is_known = False
        for step in steps:
            if isinstance(step, ast.Call) and _last_move(step) is None:
                given = [("", each) for each in step.args[-1:]]
                given += [(str(each.arg), each.value) for each in step.keywords]
                found = found.union(*(self._entry(key, value, depth) for key, value in given))
                continue
            if isinstance(step, ast.Call):
                place = {Saved.ON_CPU} if _goes_to_cpu(step) and self._always_precedes(step) else {Saved.ANYWHERE}
            elif isinstance(step.targets[0], ast.Subscript):
                found = found | self._entry(text_of(step.targets[0].slice), step.value, depth)
                continue
            elif name in _names_in(step.value):
                place = self._moved_itself(step)
                if not place:
                    continue
            else:
                place = self.devices_of(step.value, depth + 1)
            found = place if self._always_precedes(step) else found | place
            is_known = True
        return found if is_known or found else {Saved.ANYWHERE}

    def _moved_itself(self, step: ast.Assign) -> set[Saved]:
        """Return where ``model = model.cpu()`` leaves a name; empty if it is not moved."""
        if not isinstance(step.value, ast.Call) or _last_move(step.value) is None:
            return set()
        return {Saved.ON_CPU} if _goes_to_cpu(step.value) else {Saved.ANYWHERE}

    def _moves_of(self, name: str) -> list[ast.Call]:
        """Return the moves of what a name holds, or of what it is a part of."""
        parts = name.split(".")
        names = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
        return [call for each in names for call in self._function.moves.get(each, ())]

    def _moves_entries(self, name: str) -> bool:
        """Return whether a loop over a state moves its entries: ``for key in state: state[key] = state[key].cpu()``."""
        for step in self._function.entries.get(name, ()):
            loop = self._tree.parents[step]
            is_of_state = isinstance(loop, ast.For) and name in _names_in(loop.iter)
            if is_of_state and _goes_to_cpu(step.value) and step.lineno < self._save.lineno:
                later = [*self._function.bindings.get(name, ()), *self._moves_of(name)]
                return not any(step.lineno < each.lineno < self._save.lineno for each in later)
        return False

    def _always_precedes(self, node: ast.AST) -> bool:
        """Return whether the save is not reached without a statement: no condition is around it alone."""
        branches = (ast.If, ast.For, ast.While, ast.Try, ast.IfExp, ast.match_case)
        return all(each in self._around for each in self._tree.ancestors(node) if isinstance(each, branches))


def _last_move(node: ast.expr) -> ast.Call | None:
    """Return the outermost move in a chain of calls: ``x.cuda().cpu()`` of ``x.cuda().cpu().eval()``."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _MOVES:
            return node
        node = node.func.value
    return None


def _goes_to_cpu(node: ast.expr) -> bool:
    """Return whether the last move of a chain is ``cpu()`` or ``to("cpu")``, on each side of a choice."""
    if isinstance(node, ast.IfExp):
        return _goes_to_cpu(node.body) and _goes_to_cpu(node.orelse)
    move = _last_move(node)
    return move is not None and moves_to_cpu(move)


def _receiver(node: ast.expr) -> str:
    """Return the name at the start of a chain of calls: ``model.net`` of ``model.net.eval().cpu()``."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
    return text_of(node)


def _names_in(node: ast.AST) -> set[str]:
    return {text_of(inner) for inner in walk(node) if isinstance(inner, (ast.Name, ast.Attribute))}
