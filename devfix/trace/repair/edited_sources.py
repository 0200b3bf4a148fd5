"""The program's files as a repair has made them so far: trees, the nodes at positions, and what edits make of them."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from devfix import sources
from devfix.engine.text_alignment import Alignment
from devfix.model import Edit
from devfix.sources import SourceFile
from devfix.syntax.tree import SourceTree
from devfix.trace.story import Position

__all__ = ["Texts"]

_INSTALLED = {"site-packages", "dist-packages"}  # as in a virtual environment that lies in the project


class Texts:
    """A project's files with changes over them.

    Args:
        root: the project's folder.
        changes: new contents of files, by their path within it.
        originals: what files held when they were first read; it grows, and what is made of the program shares it.

    """

    def __init__(
        self, root: Path, changes: Mapping[str, bytes] | None = None, originals: dict[str, bytes] | None = None
    ) -> None:
        self.root = root
        self.changes = dict(changes or {})
        self.originals = {} if originals is None else originals
        self._files: dict[str, SourceFile | None] = {}
        self._trees: dict[str, SourceTree | None] = {}

    def tree(self, path: str) -> SourceTree | None:
        """The tree of a file of the project by its path within it; None if it is none, or cannot be read."""
        if path not in self._trees:
            self._trees[path] = self._parse(path)
        return self._trees[path]

    def content(self, path: str) -> bytes:
        """The bytes of a file."""
        return self.changes[path] if path in self.changes else self._original(path)

    def _original(self, path: str) -> bytes:
        if path not in self.originals:
            self.originals[path] = (self.root / path).read_bytes()
        return self.originals[path]

    def text(self, path: str) -> str | None:
        """The text of a file of the project by its path within it; None if it is none, or cannot be read."""
        file = self._file(path)
        return None if file is None else file.text

    def line_before(self, path: str, line: int) -> int:
        """The line of the file as it is on the disk that a line of this text comes from, or stands beside."""
        if path not in self.changes:
            return line
        present, original = (self._decoded(path, each) for each in (self.changes[path], self._original(path)))
        return Alignment(present, original).line(line)

    @staticmethod
    def _decoded(path: str, content: bytes) -> str:
        try:
            return sources.decode(path, content).text
        except sources.SourceError:
            return content.decode("utf-8", "replace")

    def after(self, edits: Iterable[Edit]) -> Texts:
        """The same project after some edits.

        Raises:
            devfix.rewrite.RewriteError: an edit cannot be placed.

        """
        from devfix.rewrite import RewriteError, rewrite

        by_path: dict[str, list[Edit]] = {}
        for edit in edits:
            by_path.setdefault(edit.path, []).append(edit)
        changes = dict(self.changes)
        for path, group in by_path.items():
            file = self._file(path)
            assert file is not None  # edits come from its tree
            try:
                changes[path] = sources.encode(file, rewrite(file.text, group))
            except sources.SourceError as error:
                raise RewriteError(error.problem.message) from error
        return Texts(self.root, changes, self.originals)

    def node_at(self, position: Position) -> tuple[SourceTree, ast.expr | ast.stmt] | None:
        """The node that ran at a position, with its tree: an expression if one is known, else the line's statement."""
        tree = self.tree(position.file)
        if tree is None:
            return None
        if position.span is not None:
            exact = [node for node in ast.walk(tree.tree) if _spans(node, position.span)]
            expressions = [node for node in exact if isinstance(node, ast.expr)]
            found: list[ast.expr | ast.stmt] = [*expressions, *(node for node in exact if isinstance(node, ast.stmt))]
            if found:
                return tree, found[0]
        on_line = [node for node in ast.walk(tree.tree) if getattr(node, "lineno", 0) == position.line]
        calls = [node for node in on_line if isinstance(node, ast.Call)]
        statements = [node for node in on_line if isinstance(node, ast.stmt)]
        if len(calls) == 1:
            return tree, calls[0]
        return (tree, statements[0]) if statements else None

    def _file(self, path: str) -> SourceFile | None:
        if path not in self._files:
            self._files[path] = self._read(path)
        return self._files[path]

    def _read(self, path: str) -> SourceFile | None:
        whole = (self.root / path).resolve()
        if os.path.isabs(path) or not whole.is_relative_to(self.root.resolve()) or _INSTALLED & set(whole.parts):
            return None
        try:
            return sources.decode(path, self.content(path))
        except (OSError, sources.SourceError):
            return None

    def _parse(self, path: str) -> SourceTree | None:
        file = self._file(path)
        if file is None:
            return None
        try:
            return SourceTree(path, file.text)
        except SyntaxError:
            return None


def _spans(node: ast.AST, span: tuple[int, int, int, int]) -> bool:
    return (
        getattr(node, "lineno", None) == span[0]
        and getattr(node, "col_offset", None) == span[1]
        and getattr(node, "end_lineno", None) == span[2]
        and getattr(node, "end_col_offset", None) == span[3]
    )
