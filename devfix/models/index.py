"""The index of models: what is known about a name outside the project.

A name is looked up in the stubs (those of the project, of packages, and ``stubs/`` beside this file), and then in the
table that is generated from PyTorch's schemas (``aten.json``).  Nothing is imported, and nothing is run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from devfix.models import stored_index
from devfix.models.signatures import Signature, Word, parse_signature
from devfix.models.stub_language import ROOTS, StubEntry, StubFile, StubProblem, read_folder

__all__ = [
    "Model",
    "ModelIndex",
    "built_in",
    "has_weights",
    "is_module",
    "is_operation",
    "lookup",
    "model_index",
    "root_of",
    "using",
]

_WILDCARD = "__getattr__"
_MOST_ALIASES = 8


class Model:
    """What is known about one name outside the project.

    Attributes:
        name: its canonical full name; for a wildcard the name that was looked up.
        key: the name of its entry: that of the wildcard, if one describes it.
        kind: ``function`` or ``class``.
        source: the page that documents the behaviour; ``""`` for generated entries.

    """

    def __init__(self, index: ModelIndex, name: str, entry: StubEntry, key: str = "") -> None:
        self.name = name
        self.key = key or name
        self.kind = entry.kind
        self.source = entry.source
        self._index = index
        self._entry = entry

    @cached_property
    def signatures(self) -> tuple[Signature, ...]:
        """Return the ways to call a function."""
        return tuple(parse_signature(text) for text in self._entry.texts) if self.kind == "function" else ()

    @cached_property
    def bases(self) -> tuple[str, ...]:
        """Return the classes that a class derives from, nearest first, without the root."""
        return tuple(name for name in self._lineage if name not in ROOTS)

    @cached_property
    def root(self) -> str:
        """Return the root of a class: ``Module``, ``Optimizer`` …; ``""`` for a function."""
        return next((name for name in self._lineage if name in ROOTS), "Object" if self.kind == "class" else "")

    @cached_property
    def _lineage(self) -> tuple[str, ...]:
        found: dict[str, None] = {}
        pending = list(self._entry.texts) if self.kind == "class" else []
        while pending:
            name = pending.pop(0)
            if name in found:
                continue
            found[name] = None
            base = self._index.lookup(name) if name not in ROOTS else None
            if base is not None and base.kind == "class":
                pending += base._entry.texts
        return tuple(found)

    @property
    def result(self) -> str:
        """Return the first word of a function's result: ``On``, ``Overlay`` …; ``""`` for a class."""
        return self.signatures[0].result.name if self.kind == "function" else ""

    def option(self, name: str, default: Any) -> Any:
        """Return an option of a class, or of the nearest base that sets it."""
        for owner in (self, *map(self._index.lookup, self.bases)):
            if owner is not None and name in owner._entry.options:
                return owner._entry.options[name]
        return default

    def method(self, name: str) -> Model | None:
        """Return a method of a class or of its bases; ``None`` if no stub has it."""
        for owner in (self.name, self.key, *self.bases):
            found = self._index.exact(f"{owner}.{name}")
            if found is not None:
                return found
        return None


class ModelIndex:
    """Models by full name; ``content`` is a digest of the stubs that do not come with devfix."""

    def __init__(self, stubs: StubFile, table: dict[str, Any], content: str = "") -> None:
        self.content = content
        self._stubs = stubs
        self._functions: dict[str, list[str]] = table.get("functions", {})
        self._aliases: dict[str, str] = table.get("aliases", {})
        self._known: dict[str, Model | None] = {}

    @property
    def problems(self) -> tuple[StubProblem, ...]:
        """Return what is wrong with the stubs."""
        return tuple(self._stubs.problems)

    def extended(self, stubs: StubFile, content: str) -> ModelIndex:
        """Return an index in which these stubs come first."""
        joined = StubFile()
        joined.update(self._stubs)
        joined.update(stubs)
        return ModelIndex(joined, {"functions": self._functions, "aliases": self._aliases}, content)

    def names(self) -> Iterator[str]:
        """Yield every name with an entry of its own."""
        yield from self._stubs.entries
        yield from (name for name in self._functions if name not in self._stubs.entries)

    def lookup(self, name: str) -> Model | None:
        """Return what is known about a full name; ``None`` if nothing is."""
        if name not in self._known:
            self._known[name] = self._find(name, _MOST_ALIASES)
        return self._known[name]

    def exact(self, name: str) -> Model | None:
        """Return the entry of a name or of what it is another name of, without wildcards."""
        for _ in range(_MOST_ALIASES):
            entry = self._stubs.entries.get(name)
            if entry is None:
                break
            if entry.kind != "alias":
                return Model(self, name, entry)
            name = entry.texts[0]
        texts = self._functions.get(self._aliases.get(name, name))
        if texts is not None:
            return Model(self, name, StubEntry("function", texts))
        return None

    @cached_property
    def _packages(self) -> frozenset[str]:
        """Return the first parts of all names: most names of a program begin with none of them."""
        stubs = self._stubs
        known = (stubs.entries, stubs.modules, stubs.module_aliases, self._functions, self._aliases)
        return frozenset(name.partition(".")[0] for names in known for name in names)

    def _find(self, name: str, aliases: int) -> Model | None:
        """Find a name; ``aliases`` is how many more modules that are other names may be followed."""
        if name.partition(".")[0] not in self._packages:
            return None
        found = self.exact(name) or self._inherited(name) or self._through_module(name, aliases)
        return found or self._through_package(name) or self._wildcard(name)

    def _inherited(self, name: str) -> Model | None:
        """Find a method of a base class."""
        owner, _, method = name.rpartition(".")
        found = self.exact(owner)
        return found.method(method) if found is not None and found.kind == "class" else None

    def _through_module(self, name: str, aliases: int) -> Model | None:
        """Follow ``from other import *``."""
        for module, rest in _splits(name):
            target = self._stubs.module_aliases.get(module)
            if target is not None:
                return self._find(f"{target}.{rest}", aliases - 1) if aliases else None
        return None

    def _through_package(self, name: str) -> Model | None:
        """Find a class in the nearest package: ``torch.utils.data.dataloader.DataLoader`` in ``torch.utils.data``."""
        parts = name.split(".")
        first = next((index for index, part in enumerate(parts) if part[:1].isupper()), None)
        if first is None:
            return None
        for end in range(first, 1, -1):
            if ".".join(parts[:end]) in self._stubs.modules:
                return None
            found = self.exact(".".join([*parts[: end - 1], *parts[first:]]))
            if found is not None:
                return found
        return None

    def _wildcard(self, name: str) -> Model | None:
        for module, _ in _splits(name):
            entry = self._stubs.entries.get(f"{module}.{_WILDCARD}")
            if entry is not None:
                return Model(self, name, entry, f"{module}.{_WILDCARD}")
        return None


def _splits(name: str) -> Iterator[tuple[str, str]]:
    """Yield a name as module and rest, the longest module first."""
    parts = name.split(".")
    for end in range(len(parts) - 1, 0, -1):
        yield ".".join(parts[:end]), ".".join(parts[end:])


@lru_cache(maxsize=1)
def built_in() -> ModelIndex:
    """Return the index of what comes with devfix."""
    return ModelIndex(*stored_index.load())


@lru_cache(maxsize=64)
def model_index(folders: tuple[str, ...], content: str) -> ModelIndex:
    """Return an index in which the stubs of these folders come first, later folders before earlier ones.

    Args:
        folders: folders of stubs.
        content: a digest of their content (:func:`devfix.models.stored_index.content_of`).

    """
    index = built_in()
    for folder in folders:
        index = index.extended(read_folder(Path(folder)), content)
    return index


_active: ContextVar[ModelIndex | None] = ContextVar("models", default=None)


@contextmanager
def using(index: ModelIndex) -> Iterator[None]:
    """Use an index within the context."""
    token = _active.set(index)
    try:
        yield
    finally:
        _active.reset(token)


def lookup(name: str) -> Model | None:
    """Return what the index in use knows about a full name; ``None`` if nothing."""
    return (_active.get() or built_in()).lookup(name)


def root_of(name: str) -> str:
    """Return the root of a class outside the project; ``""`` if it is no known class."""
    model = lookup(name)
    return model.root if model is not None else ""


def is_module(name: str) -> bool:
    """Return whether a library class is a module, or a library function creates one."""
    model = lookup(name)
    return model is not None and (model.root in ("Module", "Loss", "Placed") or model.result == "Module")


def is_operation(name: str) -> bool:
    """Return whether a function or method of a library returns tensors where its tensors are."""
    model = lookup(name) if name else None
    signatures = model.signatures if model is not None else ()
    return bool(signatures) and all(_is_placed(signature.result) for signature in signatures)


def _is_placed(word: Word) -> bool:
    """Return whether a result is where the operands are, or a sequence of such results."""
    if word.name in ("list", "tuple"):
        return bool(word.arguments) and all(map(_is_placed, word.arguments))
    return word.name in _AT_OPERANDS


_AT_OPERANDS = frozenset({"On", "Vector", "Number", "Reduced", "Integral"})


def has_weights(name: str) -> bool:
    """Return whether a library class is a layer with weights of its own; a bare ``torch.nn.Module`` may be one."""
    model = lookup(name)
    if model is None:
        return False
    return model.name == "torch.nn.Module" or (model.root == "Module" and bool(model.option("weights", True)))
