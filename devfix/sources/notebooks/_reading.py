"""From a notebook's bytes to a source file, and back."""

from __future__ import annotations

import codecs
from collections import Counter
from importlib.util import find_spec

from devfix.model import Problem
from devfix.sources._source_file import SourceError, SourceFile, as_text
from devfix.sources.notebooks._document import BadNotebook, Document, read_document, with_sources
from devfix.sources.notebooks._magics import reserved
from devfix.sources.notebooks._program import Misplaced, Program, program_of, sources_of

__all__ = ["decode_notebook", "encode_notebook"]

_WORD = b"torch"  # a notebook without it has nothing to find, and is not parsed
_OPEN_AND_SAVE = "open and save it in Jupyter, or exclude it"
_LONGEST = 120  # characters of a message that quotes what is wrong


def decode_notebook(path: str, raw: bytes) -> SourceFile:
    """Return the program of a notebook's cells as a source file.

    A notebook in another language has no text, and a note.  Raise `SourceError` if the bytes are not a notebook of
    nbformat 3 or 4, or nbformat is missing.
    """
    if _WORD not in raw:
        return SourceFile(path, raw, "")
    bom = raw.startswith(codecs.BOM_UTF8)
    document = _document(path, raw)
    if not document.is_python:
        return SourceFile(path, raw, "", notes=(Problem(path, f"a notebook of {document.language}, left alone"),))
    notes = _remarks(path, document)
    if any(reserved(cell.source) for cell in document.cells):
        told = "holds private characters, or halves of characters, which cannot be analysed"
        raise SourceError(Problem(path, told, hint="exclude it"))
    program = program_of(path, document)
    return SourceFile(path, raw, program.text, "utf-8", bom, program.cells, _problems(path, program), notes)


def encode_notebook(source: SourceFile, new_text: str) -> bytes:
    """Return the notebook's bytes for an edited program; only changed source lines are written anew.

    Raise `SourceError` if an edit crosses the border of cells, or changes IPython syntax.
    """
    document = _document(source.path, source.raw)
    try:
        text = with_sources(document, sources_of(document, new_text))
    except Misplaced as error:
        raise SourceError(Problem(source.path, str(error), hint="edit it by hand")) from error
    body = text.encode()
    return codecs.BOM_UTF8 + body if source.bom else body


def _document(path: str, raw: bytes) -> Document:
    try:
        return read_document(as_text(raw))
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise SourceError(Problem(path, "not valid utf-8, as JSON has to be", line, "save it as UTF-8")) from error
    except BadNotebook as error:
        raise SourceError(Problem(path, str(error), error.line, _OPEN_AND_SAVE)) from error


def _problems(path: str, program: Program) -> tuple[Problem, ...]:
    hint = "the other cells were read"
    return tuple(Problem(path, f"cannot be parsed: {told}", line, hint) for line, told in program.errors)


def _remarks(path: str, document: Document) -> tuple[Problem, ...]:
    """Yield the validation errors of nbformat, without those of outputs."""
    if find_spec("nbformat") is None:
        missing = Problem(path, "cannot be read without nbformat", hint="pip install 'devfix[notebook]'")
        raise SourceError(missing, lacks="notebook")
    from nbformat.validator import iter_validate

    found = []
    errors = iter_validate(document.slim, relax_add_props=True)  # type: ignore[no-untyped-call]  # it has no types
    worst = next((error for error in errors if error.validator != "additionalProperties"), None)
    if worst is not None:
        where = "/".join(map(str, worst.absolute_path))
        told = f"not valid by nbformat: {where + ': ' if where else ''}{worst.message[:_LONGEST]}"
        found.append(Problem(path, told, hint="it was read all the same"))
    ids = Counter(cell["id"] for cell in document.slim.get("cells", ()) if isinstance(cell.get("id"), str))
    twice = [name for name, count in ids.items() if count > 1]
    if twice:
        found.append(Problem(path, f"several cells have the id {twice[0]!r}", hint="it was read all the same"))
    return tuple(found)
