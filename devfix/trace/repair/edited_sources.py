"""The program's files with the edits of a repair: contents, trees, nodes at positions, and further edits."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from devfix import sources
from devfix.engine.edited_lines.text_alignment import Alignment
from devfix.model import Edit
from devfix.sources import SourceFile
from devfix.syntax.tree import SourceTree
from devfix.trace.failure_trace import Position

__all__ = ["EditedSources"]

_INSTALLED = {"site-packages", "dist-packages"}  # a virtual environment inside the project


class EditedSources:
    """A project's files with changes.

    Args:
        root: the project's folder.
        changes: new contents of files, by path within the project.
        originals: contents of files when they were first read; updated on reading, and shared by edited copies.

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
        """Return the tree of a file, by its path within the project; None outside of the project or if unreadable."""
        if path not in self._trees:
            self._trees[path] = self._parse(path)
        return self._trees[path]

    def content(self, path: str) -> bytes:
        """Return the bytes of a file, with its changes."""
        return self.changes[path] if path in self.changes else self._original(path)

    def _original(self, path: str) -> bytes:
        if path not in self.originals:
            self.originals[path] = (self.root / path).read_bytes()
        return self.originals[path]

    def text(self, path: str) -> str | None:
        """Return the text of a file, by its path within the project; None outside of the project or if unreadable."""
        file = self._file(path)
        return None if file is None else file.text

    def line_on_disk(self, path: str, line: int) -> int:
        """Return the line of the file on disk that a line of this text comes from, or the adjacent one."""
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

    def after(self, edits: Iterable[Edit]) -> EditedSources:
        """Return the project after further edits.

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
        return EditedSources(self.root, changes, self.originals)

    def node_at(self, position: Position) -> tuple[SourceTree, ast.expr | ast.stmt] | None:
        """Return the node at a position, with its tree: the expression, else the line's only call or statement."""
        tree = self.tree(position.file)
        if tree is None:
            return None
        if position.span is not None:
            exact = [node for node in ast.walk(tree.tree) if _has_span(node, position.span)]
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
        absolute = (self.root / path).resolve()
        if os.path.isabs(path) or not absolute.is_relative_to(self.root.resolve()) or _INSTALLED & set(absolute.parts):
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


def _has_span(node: ast.AST, span: tuple[int, int, int, int]) -> bool:
    return (
        getattr(node, "lineno", None) == span[0]
        and getattr(node, "col_offset", None) == span[1]
        and getattr(node, "end_lineno", None) == span[2]
        and getattr(node, "end_col_offset", None) == span[3]
    )
