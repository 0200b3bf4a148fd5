"""The texts of one run: given files, imported files, and their rewritten texts."""

from __future__ import annotations

import ast
import gc
import os
import warnings
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import accumulate

from devfix import sources
from devfix.analysis import DeviceFacts, Program
from devfix.analysis.callers.facts.file_sources import sources_of
from devfix.config import Settings
from devfix.engine.edited_lines.text_alignment import Alignment
from devfix.engine.project_models import models_of
from devfix.model import CellMap, Event, Finding
from devfix.models.index import ModelIndex
from devfix.sources import SourceError, SourceFile
from devfix.sources.device_settings import device_settings, settings_around
from devfix.sources.digest import digest
from devfix.syntax.data_literals import COLLAPSE_THRESHOLD
from devfix.syntax.node_caches import empty_node_caches
from devfix.syntax.project_flags import ProjectFlags, flags_of
from devfix.syntax.tree import SourceTree

__all__ = ["MOST_LOADED", "Workspace"]

MOST_LOADED = 6_000_000  # characters of trees in memory, between two scans; nodes take 40 bytes for each
_MOST_FACTS = 4  # the last used ones: of a project, and of folders that hide some of its modules


class Workspace:
    """The texts of one run: given files, imported files, and their rewritten texts."""

    def __init__(
        self, files: Sequence[SourceFile], settings: Settings, texts: Mapping[str, SourceFile | None] | None = None
    ) -> None:
        self.settings = settings
        self.given = {os.path.abspath(file.path): file for file in files}
        self.names = {key: file.path for key, file in self.given.items()}
        self.texts = texts or {}  # texts that replace those on disk
        self._read: dict[str, SourceFile | None] = {}
        self._trees: dict[tuple[str, str, bool], SourceTree] = {}
        self.whole = False  # analyse every line of data literals
        self._contents: dict[str, str] = {}
        self._common: str | None = None
        self._roots: dict[str, str] = {}  # folder of a given file → its project
        self._alignments: dict[str, tuple[str, Alignment]] = {}
        self.changed: dict[str, str] = {}
        self.errors: frozenset[tuple[object, ...]] = frozenset()  # of each scan, before the first edit
        self._facts: list[tuple[str, bool, DeviceFacts]] = []  # the root, and whether literals are whole
        self._facts_of: dict[str, str] = {}  # the changed texts that they hold for
        self._flags: ProjectFlags | None = None

    @cached_property
    def models(self) -> ModelIndex:
        """Return the models of this run."""
        return models_of(self.settings)

    def renew_models(self) -> bool:
        """Read changed stubs; return whether there were any."""
        before = self.models
        self.models = models_of(self.settings)
        return self.models is not before

    def put(self, file: SourceFile, given: bool = True) -> None:
        """Add or replace a file; cached results for its old text are dropped.

        A file that is not ``given`` is read if it is imported, and not edited.
        """
        key = os.path.abspath(file.path)
        self.take(key)
        if given:
            self.given[key], self.names[key] = file, file.path
        else:
            self._read[key] = file

    def take(self, key: str) -> None:
        """Remove the file at an absolute path; it will be read again."""
        read = self._read.pop(key, None)
        file = self.given.pop(key, None) or read
        if file is not None:
            shown = self.names.pop(key, file.path)
            for whole in (False, True):
                self._trees.pop((shown, file.text, whole), None)
        self._contents.pop(key, None)
        self._facts.clear()
        self._common = None

    @property
    def imported(self) -> dict[str, SourceFile | None]:
        """Return the files that were read besides the given ones, by absolute path; ``None`` for unreadable ones."""
        return dict(self._read)

    def copy(self) -> Workspace:
        """Return a workspace of the same files and cached results, whose files can be changed."""
        other = Workspace((), self.settings)
        other._flags = self._flags
        other.errors = self.errors
        other.given, other.names = dict(self.given), dict(self.names)
        other._read, other._trees, other._contents = self._read, dict(self._trees), self._contents
        return other

    def text(self, path: str) -> str | None:
        """Return the present text of a file; ``None`` if it cannot be read."""
        key = os.path.abspath(path)
        if key in self.changed:
            return self.changed[key]
        file = self._file(key)
        return None if file is None else file.text

    def rewritten(self, path: str, text: str) -> None:
        """Store a new text of a given file; raise :class:`SourceError` if the file cannot hold it."""
        key = os.path.abspath(path)
        sources.encode(self.given[key], text)
        self.changed[key] = text

    def _file(self, key: str) -> SourceFile | None:
        if key in self.given:
            return self.given[key]
        if key not in self._read:
            self._read[key] = self._outside(key)
        return self._read[key]

    def _outside(self, key: str) -> SourceFile | None:
        real = os.path.realpath(key)
        if real in self.texts:
            return self.texts[real]
        if real != key and not self._is_in_project(real):
            return None
        try:
            return sources.read(key)
        except SourceError:
            return None

    def _is_in_project(self, real: str) -> bool:
        """Return whether a file belongs to the project of a given one: a link in it may lead anywhere."""
        if sources.is_within(real, os.path.realpath(self.settings.root)):
            return True
        for folder in {os.path.dirname(given) for given in self.given}:
            if folder not in self._roots:
                self._roots[folder] = sources.own_root(folder)
        return any(sources.is_within(real, root) for root in set(self._roots.values()))

    def content(self, key: str) -> str:
        """Return a digest of the file at an absolute path, as it is now, and of its displayed name."""
        if key in self.changed:
            return self._digest(key, sources.encode(self.given[key], self.changed[key]))
        if key not in self._contents:
            file = self._file(key)
            self._contents[key] = self._digest(key, None if file is None else file.raw)
        return self._contents[key]

    def _digest(self, key: str, raw: bytes | None) -> str:
        return digest(self.names.get(key, ""), raw or b"", str(raw is None))

    def cells(self, path: str) -> CellMap | None:
        """Return the cells of a notebook; ``None`` for any other file."""
        key = os.path.abspath(path)
        file = self._file(key)
        if file is None or file.cells is None:
            return None
        if key not in self.changed:
            return file.cells
        from devfix.sources.notebooks import cells_in

        return cells_in(self.changed[key], file.cells)

    def _tree_key(self, path: str, text: str) -> tuple[str, str, bool]:
        shown = self.names.get(os.path.abspath(path), path)
        return shown, text, self.whole and len(text) >= COLLAPSE_THRESHOLD

    def parse(self, path: str, text: str) -> SourceTree:
        """Return a parsed file under its displayed name; each text is parsed once."""
        key = self._tree_key(path, text)
        shown = key[0]
        tree = self._trees.pop(key, None) or SourceTree(shown, text, collapse_data=not self.whole)
        self._trees[key] = tree  # the last used one is the last
        return tree

    def _parse_for_facts(self, path: str, text: str) -> SourceTree:
        """Return a parsed file whose nodes are in memory only if they were before."""
        key = self._tree_key(path, text)
        was_loaded = key in self._trees and self._trees[key].is_loaded
        tree = self.parse(path, text)
        if not was_loaded:
            sources_of(tree)
            tree.release()
            empty_node_caches()
        return tree

    def release_trees(self) -> None:
        """Free the nodes of trees that were not used lately, if they take too much memory.

        Nodes of earlier scans must not be used afterwards: the trees are parsed again.
        """
        used = list(accumulate(len(tree.text) for tree in reversed(self._trees.values()) if tree.is_loaded))
        if not used or used[-1] <= MOST_LOADED:
            return
        kept = bisect_right(used, MOST_LOADED // 2)
        for tree in [tree for tree in reversed(self._trees.values()) if tree.is_loaded][kept:]:
            tree.release()
        empty_node_caches()
        gc.collect()

    def flags(self) -> ProjectFlags:
        """Return the options and flags of all given files, as they were at first, and of settings files beside them."""
        if self._flags is None:
            trees = []
            for file in self.given.values():
                with suppress(SyntaxError, ValueError, RecursionError), warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # about the text of the file
                    trees.append(ast.parse(file.text))
            self._flags = flags_of(trees, self._device_settings())
        return self._flags

    def _device_settings(self) -> dict[str, str]:
        """Return the settings for CUDA in the folders of the given files; what one file turns on counts."""
        files = settings_around(self.given)
        found: dict[str, str] = {}
        for setting in device_settings(files, self.settings.exclude, self.settings.root):
            if found.get(setting.key, "false") == "false":
                found[setting.key] = setting.value
        return found

    def facts(self, path: str) -> DeviceFacts:
        """Return the device facts of a file and of those that it imports.

        They are shared by the files of a project whose imports have the same files from each of their folders.
        """
        if self._facts_of != self.changed:
            self._facts.clear()
            self._facts_of = dict(self.changed)
        root = self.root(path)
        known = (each for each in reversed(self._facts) if each[:2] == (root, self.whole))
        found = next((each for each in known if each[2].goes_on_from(path)), None)
        if found is None:
            program = Program(self.text, root, self._parse_for_facts)
            program.search_from(path)
            found = root, self.whole, DeviceFacts(program)
        else:
            self._facts.remove(found)
        self._facts = [*self._facts, found][-_MOST_FACTS:]  # the last used one is the last
        return found[2]

    def left_out(self, read: Collection[str]) -> bool:
        """Return whether lines of data literals were left out in one of these files."""
        return any(tree.has_collapsed_data and os.path.abspath(tree.path) in read for tree in self._trees.values())

    def original(self, finding: Finding) -> Finding:
        """Return a finding with positions in the given texts, so that its identity is stable."""
        if not self.changed:
            return finding
        aligned = self._aligned(finding.path)
        span = finding.span if aligned is None else aligned.span(finding.span)
        return replace(finding, span=span, events=tuple(map(self._original_event, finding.events)))

    def _original_event(self, event: Event) -> Event:
        aligned = self._aligned(event.path)
        if aligned is None:
            return event
        line, column = aligned.place(event.line, event.column)
        return replace(event, line=line, column=column)

    def given_event(self, event: Event) -> Event:
        """Return an event with the line and source of the given text."""
        aligned = self._aligned(event.path)
        return event if aligned is None else replace(event, source=aligned.there(event.line).strip())

    def given_line(self, path: str, line: int) -> int:
        """Return the line of the given text for one of the present text."""
        aligned = self._aligned(path)
        return line if aligned is None else aligned.line(line)

    def given_tree(self, path: str) -> SourceTree | None:
        """Return the tree of a file's given text; ``None`` if there is none."""
        file = self._file(os.path.abspath(path))
        with suppress(SyntaxError):
            return None if file is None else self.parse(path, file.text)
        return None

    def _aligned(self, path: str) -> Alignment | None:
        """Return the alignment of the present text of a changed file with the given one."""
        key = os.path.abspath(path)
        if key not in self.changed:
            return None
        present = self.changed[key]
        known = self._alignments.get(key)
        if known is None or known[0] != present:
            known = self._alignments[key] = present, Alignment(present, self.given[key].text)
        return known[1]

    def root(self, path: str) -> str:
        """Return the folder that bounds the program of an entry file."""
        folder = os.path.dirname(os.path.abspath(path))
        if self._common is None:
            self._common = os.path.commonpath([os.path.dirname(key) for key in self.given]) if self.given else folder
        common = self._common
        root = sources.program_root(path)
        return min((root, common), key=len) if folder.startswith(common) else root
