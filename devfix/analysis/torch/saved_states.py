"""Files of a project that save the states of modules: whether all of them move the weights to the CPU before.

Such checkpoints are restored to the CPU wherever they are loaded.  What a program saves is mostly loaded by another
one, so the files beside it are read, too.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import TYPE_CHECKING

from devfix.syntax.bindings import parameters
from devfix.syntax.tree import SourceTree, text_of, walk

if TYPE_CHECKING:
    from devfix.analysis.program import Program

__all__ = ["Saved", "saved_states", "saves_on_cpu"]

MOST_FILES = 300  # of a folder whose files are read
MOST_DEPTH = 6  # of names that hold each other

_SAVES = re.compile(r"\bimport\s+torch\b[\s\S]*\.save\(")
_DEVICES = re.compile(r"cuda|device|\.to\(")
_STATES = ("state_dict", "named_parameters", "parameters", "named_buffers")
_STATE_OF_TRAINING = re.compile("optim|sched|scaler", re.IGNORECASE)  # what is not loaded to use a module
_CONTAINERS = (ast.Dict, ast.Tuple, ast.List)
_SAME_WEIGHTS = frozenset("eval train float half double items values copy state_dict".split())
_REBUILDS = frozenset({"dict", "OrderedDict", "list", "deepcopy", "copy"})


class Saved(Enum):
    """Where the weights are that a program saves."""

    ON_CPU = "moved to the CPU before"
    ANYWHERE = "on the device of the program"


def saves_on_cpu(program: Program) -> bool:
    """Return whether a project moves all weights that it saves to the CPU.

    The nearest folder that saves any decides: that of the entry script with its subfolders, or one above it.
    """
    for folder in program.roots:
        found = {saved for tree in _trees_that_save(program, folder) for saved in saved_states(tree)}
        if found:
            return found == {Saved.ON_CPU}
    return False


def _trees_that_save(program: Program, folder: str) -> Iterator[SourceTree]:
    for path in _python_files(program, folder):
        text = program.text(path)
        if text is not None and ".save(" in text and _SAVES.search(text):
            tree = program.tree(path)
            if tree is not None:
                yield tree


def _python_files(program: Program, folder: str) -> list[str]:
    """Return the files of a folder and of its subfolders; none if they are too many."""
    found: list[str] = []
    pending = [folder]
    while pending and len(found) <= MOST_FILES:
        inner = pending.pop()
        for name in sorted(program.names(inner)):
            path = os.path.join(inner, name)
            if name.endswith(".py"):
                found.append(path)
            elif "." not in name and os.path.isdir(path) and not os.path.islink(path):
                pending.append(path)
    return found if len(found) <= MOST_FILES else []


def saved_states(tree: SourceTree) -> set[Saved]:
    """Return where the states of modules are that a file saves with ``torch.save``; empty if it saves none.

    A file that names no device converts weights, or saves data; what its functions are given may be anywhere.
    """
    names = _names_of_torch(tree)
    saves = [node for node in tree.nodes if isinstance(node, ast.Call) and _is_save(node, names) and node.args]
    if not _DEVICES.search(tree.text):
        saves = [call for call in saves if text_of(call.args[0]) in parameters(tree.function(call))]
    return {saved for call in saves for saved in _States(tree, call).of(call.args[0])}


def _names_of_torch(tree: SourceTree) -> set[str]:
    imports = [alias for node in tree.nodes if isinstance(node, ast.Import) for alias in node.names]
    return {alias.asname or alias.name for alias in imports if alias.name == "torch"}


def _is_save(call: ast.Call, names: set[str]) -> bool:
    function = call.func
    return isinstance(function, ast.Attribute) and function.attr == "save" and text_of(function.value) in names


class _States:
    """The states of modules in an expression of the function that saves it."""

    def __init__(self, tree: SourceTree, save: ast.Call) -> None:
        self._tree = tree
        self._nodes = walk(tree.function(save))
        self._save = save

    def of(self, node: ast.expr, depth: int = 0) -> set[Saved]:
        """Return where the states are that a value holds."""
        if depth > MOST_DEPTH or (not isinstance(node, _CONTAINERS) and _STATE_OF_TRAINING.search(text_of(node))):
            return set()
        match node:
            case ast.Constant():
                return set()
            case ast.Dict(values=values) | ast.Tuple(elts=values) | ast.List(elts=values):
                return {saved for value in values for saved in self._entry(value, depth + 1)}
            case ast.DictComp(value=item, generators=loops):
                return {Saved.ON_CPU} if _moves_to_cpu(item) else self.of(loops[0].iter, depth + 1)
            case ast.ListComp(elt=item, generators=loops) | ast.GeneratorExp(elt=item, generators=loops):
                return {Saved.ON_CPU} if _moves_to_cpu(item) else self.of(loops[0].iter, depth + 1)
            case ast.IfExp(body=body, orelse=orelse):
                return self.of(body, depth + 1) | self.of(orelse, depth + 1)
            case ast.Call():
                return self._of_call(node, depth)
            case ast.Name() | ast.Attribute():
                return self._of_name(node, depth)
        return {Saved.ANYWHERE}

    def _entry(self, node: ast.expr, depth: int) -> set[Saved]:
        """Return where the states are in an entry of a dictionary; numbers and settings hold none."""
        is_name = isinstance(node, (ast.Name, ast.Attribute))
        is_state = any(isinstance(inner, ast.Call) for inner in ast.walk(node)) or (is_name and self._is_module(node))
        return self.of(node, depth) if is_state or (is_name and self._bindings(text_of(node))) else set()

    def _of_call(self, node: ast.Call, depth: int) -> set[Saved]:
        if _moves_to_cpu(node):
            return {Saved.ON_CPU}
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in _SAME_WEIGHTS:
            return self.of(function.value, depth + 1)
        if text_of(function).split(".")[-1] in _REBUILDS and node.args:
            return self.of(node.args[0], depth + 1)
        keywords = [keyword.value for keyword in node.keywords]
        if text_of(function) == "dict":
            return {saved for value in keywords for saved in self._entry(value, depth + 1)}
        return {Saved.ANYWHERE}

    def _of_name(self, node: ast.expr, depth: int) -> set[Saved]:
        name = text_of(node)
        if self._is_moved_here(name):
            return {Saved.ON_CPU}
        found: set[Saved] = set()
        bindings = self._bindings(name)
        for value in bindings:
            found |= self.of(value, depth + 1) if name not in _names_in(value) else set()
        return found if bindings else {Saved.ANYWHERE}

    def _is_moved_here(self, name: str) -> bool:
        """Return whether the function moves what a name holds, all its entries, or what it is a part of."""
        for node in self._nodes:
            match node:
                case ast.Expr(value=ast.Call() as call) if _moves_to_cpu(call):
                    moved = _receiver(call)
                    if moved == name or name.startswith(moved + "."):
                        return True
                case ast.Assign(targets=[ast.Subscript(value=holder)], value=value) if text_of(holder) == name:
                    if _moves_to_cpu(value):
                        return True
        return False

    def _bindings(self, name: str) -> list[ast.expr]:
        """Return the values that the function gives a name, or an entry of it, before it saves."""
        found: list[ast.expr] = []
        for node in self._nodes:
            if not isinstance(node, ast.Assign) or node.lineno > self._save.lineno:
                continue
            for target in node.targets:
                holder = target.value if isinstance(target, ast.Subscript) else target
                if text_of(holder) == name:
                    found.append(node.value)
        return found

    def _is_module(self, node: ast.expr) -> bool:
        """Return whether the file uses a name as a module."""
        name = text_of(node)
        return any(
            isinstance(each, ast.Attribute)
            and each.attr in (*_STATES, "train", "eval", "load_state_dict")
            and text_of(each.value) == name
            for each in self._tree.nodes
        )


def _moves_to_cpu(node: ast.AST) -> bool:
    """Return whether an expression contains ``x.cpu()`` or ``x.to("cpu")``."""
    return any(
        isinstance(inner, ast.Call)
        and isinstance(inner.func, ast.Attribute)
        and (
            inner.func.attr == "cpu"
            or (inner.func.attr == "to" and any("cpu" in text_of(argument) for argument in inner.args))
        )
        for inner in ast.walk(node)
    )


def _receiver(node: ast.expr) -> str:
    """Return the name whose methods are called: ``model`` of ``model.eval().cpu()``."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
    return text_of(node)


def _names_in(node: ast.AST) -> Iterable[str]:
    return {text_of(inner) for inner in ast.walk(node) if isinstance(inner, (ast.Name, ast.Attribute))}
