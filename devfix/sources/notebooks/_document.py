"""A notebook file as text: its cells, the positions of their sources, and the file with other sources.

Formats 3 and 4 of https://nbformat.readthedocs.io/en/latest/format_description.html are supported.  Only the requested
values are decoded; outputs and attachments are skipped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from devfix.sources.notebooks._json import Extent, elements, members, strings_at, value_at
from devfix.sources.notebooks._literals import Spelling, respelled

__all__ = ["BadNotebook", "CodeCell", "Document", "read_document", "with_sources"]

_FORMATS = (3, 4)
#: Kernels' languages that are Python for us; a notebook without a kernel is one.
_PYTHON = ("python", "ipython", "python2", "python3", "ipython3", "")
_PASSED_OVER = ("outputs", "attachments")


class BadNotebook(ValueError):
    """A notebook that cannot be read; ``line`` counts in the file, and is 0 if there is none."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class CodeCell:
    """A code cell: ``number`` counts all cells from 1; ``start`` is the offset of its source in the file."""

    number: int
    source: str
    count: int | None
    start: int
    literals: tuple[Extent, ...]


@dataclass(frozen=True)
class Document:
    """The file's text and its code cells; ``slim`` is the notebook as values, without outputs and attachments."""

    text: str
    cells: tuple[CodeCell, ...]
    language: str
    slim: dict[str, Any] = field(compare=False)

    @property
    def is_python(self) -> bool:
        return self.language.lower() in _PYTHON


def read_document(text: str) -> Document:
    """Find the cells; raise `BadNotebook` if there is no valid notebook."""
    try:
        return _Reader(text).document()
    except json.JSONDecodeError as error:
        raise BadNotebook(f"is no valid JSON: {error.msg}", error.lineno) from error
    except RecursionError as error:
        raise BadNotebook("is nested too deeply to be a notebook") from error


def with_sources(document: Document, sources: Mapping[int, str]) -> str:
    """Return the file's text with new sources, by cell number; every other character stays."""
    spelling = Spelling(document.text)
    parts, at = [], 0
    for cell in document.cells:
        new = sources.get(cell.number, cell.source)
        if new == cell.source:
            continue
        extent, spelled = respelled(document.text, cell.start, cell.literals, new, spelling)
        parts += [document.text[at : extent.start], spelled]
        at = extent.end
    return "".join(parts) + document.text[at:]


class _Reader:
    """A reader of one file."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: list[CodeCell] = []
        self._number = 0

    def document(self) -> Document:
        start = len(self._text) - len(self._text.lstrip(" \t\r\n"))
        end = value_at(self._text, start)[1]  # the whole file is JSON
        if self._text[end:].strip(" \t\r\n"):
            raise json.JSONDecodeError("Extra data", self._text, end)
        if self._text[start : start + 1] != "{":
            raise BadNotebook("is no notebook: its JSON is no object")
        offsets = dict(members(self._text, start))
        slim = {key: self._value(at) for key, at in offsets.items() if key not in ("cells", "worksheets")}
        major = slim.get("nbformat")
        if major not in _FORMATS:
            told = "it has no nbformat" if major is None else f"nbformat {major} is none of 3 and 4"
            raise BadNotebook(f"is no notebook that can be read: {told}")
        key = "cells" if major == 4 else "worksheets"
        if key not in offsets or self._text[offsets[key]] != "[":
            raise BadNotebook(f"is no valid notebook: it has no list of {key}")
        if major == 4:
            slim["cells"] = list(self._cells(offsets["cells"], "source", "execution_count"))
        else:
            slim["worksheets"] = [self._worksheet(at) for at in elements(self._text, offsets["worksheets"])]
        return Document(self._text, tuple(self._found), _language(slim, major), slim)

    def _worksheet(self, start: int) -> dict[str, Any]:
        offsets = dict(members(self._text, start))
        slim = {key: self._value(at) for key, at in offsets.items() if key != "cells"}
        if "cells" in offsets:
            slim["cells"] = list(self._cells(offsets["cells"], "input", "prompt_number"))
        return slim

    def _cells(self, start: int, source_key: str, count_key: str) -> Iterator[dict[str, Any]]:
        for at in elements(self._text, start):
            self._number += 1
            if self._text[at] != "{":
                raise BadNotebook(f"is no valid notebook: cell {self._number} is no object", self._line(at))
            offsets = dict(members(self._text, at))
            slim = {key: self._value(place) for key, place in offsets.items() if key not in _PASSED_OVER}
            slim.update({key: [] if key == "outputs" else {} for key in _PASSED_OVER if key in offsets})
            kind = slim.get("cell_type")
            if kind is None:
                raise BadNotebook(f"is no valid notebook: cell {self._number} has no cell_type", self._line(at))
            if kind == "code":
                self._keep(slim, offsets, source_key, count_key, at)
            yield slim

    def _keep(self, slim: dict[str, Any], offsets: dict[str, int], source_key: str, count_key: str, at: int) -> None:
        if source_key not in offsets:
            raise BadNotebook(f"is no valid notebook: cell {self._number} has no {source_key}", self._line(at))
        start = offsets[source_key]
        literals = strings_at(self._text, start)
        if literals is None:
            told = f"the {source_key} of cell {self._number} is neither a string nor a list of strings"
            raise BadNotebook(f"is no valid notebook: {told}", self._line(start))
        value, count = slim[source_key], slim.get(count_key)
        source = value if isinstance(value, str) else "".join(value)
        known = count if isinstance(count, int) else None
        self._found.append(CodeCell(self._number, source, known, start, tuple(literals)))

    def _value(self, at: int) -> Any:
        return value_at(self._text, at)[0]

    def _line(self, at: int) -> int:
        return self._text.count("\n", 0, at) + 1


def _language(slim: dict[str, Any], major: int) -> str:
    """Return the declared language of the notebook; empty if it declares none."""
    metadata = slim.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    if major == 3:
        sheets = [sheet.get("cells", ()) for sheet in slim["worksheets"]]
        named = [cell.get("language") for cells in sheets for cell in cells if cell.get("cell_type") == "code"]
        return next((name for name in named if isinstance(name, str)), "")
    for holder, key in (("kernelspec", "language"), ("language_info", "name")):
        part = metadata.get(holder)
        name = part.get(key) if isinstance(part, dict) else None
        if isinstance(name, str) and name:
            return name
    part = metadata.get("kernelspec")
    name = part.get("name") if isinstance(part, dict) else None
    return _of_kernel(name) if isinstance(name, str) else ""


def _of_kernel(name: str) -> str:
    """Return the language of a kernel whose specification does not declare it (``ir``, ``julia-1.10``)."""
    known = {"ir": "R", "julia": "julia", "bash": "bash", "octave": "octave", "sagemath": "sage", "xcpp": "c++"}
    return next((language for prefix, language in known.items() if name == prefix or name.startswith(prefix + "-")), "")
