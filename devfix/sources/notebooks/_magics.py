"""IPython syntax, and the Python that stands in for it during analysis.

A stand-in keeps lines, and the columns of code that IPython runs (``%time train()``).  A comment in it carries the
original text, so that it can be restored wherever an edit has moved it.  The syntax is that of
https://ipython.readthedocs.io/en/stable/interactive/reference.html: escapes count at the beginning of a statement and
after ``=``, never inside strings and brackets.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["MARK", "MORE", "Cell", "as_written", "original", "read_cell", "reserved", "taken_back"]

#: Begins the comment of a stand-in; a private character that no source holds.
MARK = "#\uf7d0"
#: Begins the next line of the same command.
MORE = "#\uf7d1"
_RESERVED = re.compile("[\uf7d0-\uf7d5\ud800-\udfff]")
_END = "\uf7d2"  # after the escape of a line whose code is followed
_HIDDEN = str.maketrans({"\r": "\uf7d3", "\0": "\uf7d4"})
_FOUND = str.maketrans({"\uf7d3": "\r", "\uf7d4": "\0"})
_PASS, _UNKNOWN, _RUN = "pass", "get_ipython()", "pass;"

#: Cell magics whose cell is Python that runs in the notebook's namespace.
_TRANSPARENT = frozenset("time capture prun memit mprun lprun heat wandb scalene memray_flamegraph".split())
#: Cell magics whose cell is no program of the notebook, and leaves its names alone.
_INERT = frozenset(
    "! bash sh script system sx cmd html HTML javascript js latex markdown svg SVG writefile writetemplate file perl "
    "ruby pypy python2 cython R julia sql bigquery mermaid dot cpp cuda cu skip false debug_skip".split()
)
#: Line magics that run the Python after them.
_STATEMENT = re.compile(r"%(?:time|prun|memit|timeit|lprun|mprun|snakeviz)\b(?:[ \t]+-\w+(?:[ \t]+\d+)?)*[ \t]+(?=\S)")
#: Commands that IPython takes without an escape, where they are followed by what is no Python.
_AUTOMATIC = re.compile(
    r"(?:pip|pip3|conda|mamba|uv|cd|ls|ll|mkdir|rm|cp|mv|cat|pwd|apt-get|wget|unzip)(?:[ \t]+[^=\s(.,:\[].*)?$"
)
_ASSIGNED = re.compile(r"(?P<target>[^=!<>%#'\"()]+?)[ \t]*=[ \t]*[!%][ \t]*[^\s=]")
_HELP = re.compile(r"(?:%{0,2}[\w*][\w.*\[\]'\"%]*)[ \t]*\?{1,2}[ \t]*;?[ \t]*(?:#.*)?$")
_CELL_MAGIC = re.compile(r"%%(?P<name>[\w!.-]+)")

#: What makes up a line as far as its end is concerned: where strings, comments and brackets begin and end.
_PIECE = re.compile(r"\"\"\"|'''|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?|#.*|[(\[{]|[)\]}]|\\\\|.", re.DOTALL)
_QUOTED_END = {quotes: re.compile(rf"(?:\\.|[^\\])*?{quotes}", re.DOTALL) for quotes in ('"""', "'''")}


class Cell(NamedTuple):
    """A code cell as it is analysed.

    Attributes:
        text: Python, with as many lines as the source.
        unclear: why its lines cannot be analysed though they may be Python; empty if they can be.
        error: the syntax error and its line; None if there is none.
    """

    text: str
    unclear: str = ""
    error: tuple[str, int] | None = None


def reserved(source: str) -> bool:
    """Return whether a source contains a character reserved for stand-ins and cells, or half a surrogate pair."""
    return not source.isascii() and _RESERVED.search(source) is not None


def read_cell(source: str) -> Cell:
    """Return the Python that stands in for a cell's source."""
    lines = source.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    magic = _CELL_MAGIC.match(lines[first])
    if magic is not None:
        return _under_magic(lines, first, magic["name"])
    if _syntax_error(source) is None:  # no escape of IPython is Python
        return Cell(source)
    text = "\n".join(_stand_ins(lines))
    error = _syntax_error(text)
    return Cell(text) if error is None else Cell(_opaque(lines), error=error)


def _under_magic(lines: list[str], first: int, name: str) -> Cell:
    opaque = Cell(_opaque(lines))
    if name in _INERT:
        return opaque
    body = "\n".join(lines[first + 1 :])
    cell = read_cell(body)
    if name == "timeit":  # what it binds stays inside of it
        binds = cell.error is not None or any(map(_binds, ast.walk(ast.parse(cell.text))))
        return opaque if binds else _headed(lines, first, cell)
    if name in _TRANSPARENT:
        return _headed(lines, first, cell)
    return opaque if cell.error is not None or not body.strip() else Cell(opaque.text, f"%%{name}")


def _headed(lines: list[str], first: int, cell: Cell) -> Cell:
    head = "\n".join([*lines[:first], _PASS + "  " + MARK + _hidden(lines[first])])
    error = None if cell.error is None else (cell.error[0], cell.error[1] + first + 1)
    rest = "\n" + cell.text if first + 1 < len(lines) else ""
    return Cell(head + rest, cell.unclear, error)


def _binds(node: ast.AST) -> bool:
    stores = isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load)
    return stores or isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom)


def _opaque(lines: list[str]) -> str:
    return "\n".join((_PASS + "  " + MARK if not number else MORE) + _hidden(line) for number, line in enumerate(lines))


def _syntax_error(text: str) -> tuple[str, int] | None:
    try:
        ast.parse(text)
    except SyntaxError as error:
        return error.msg, error.lineno or 0
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error) or type(error).__name__, 0
    return None


# --- lines ----------------------------------------------------------------------------------------------------------
def _stand_ins(lines: list[str]) -> Iterator[str]:
    state = _State()
    continues = False
    for line in lines:
        if continues:
            yield MORE + _hidden(line)
            continues = line.rstrip("\r").endswith("\\")
            continue
        found = _stand_in(line) if state.at_start else None
        if found is None:
            state.read(line)
            yield line
        else:
            yield found
            continues = line.rstrip("\r").endswith("\\")


def _stand_in(line: str) -> str | None:
    """Return the stand-in for a line at the beginning of a statement; ``None`` if it is Python."""
    body = line.lstrip(" \t")
    indent = line[: len(line) - len(body)]
    body, end = body.rstrip("\r"), "\r" * line.endswith("\r")
    statement = _STATEMENT.match(body)
    if statement is not None and not body.endswith("\\"):
        prefix = statement[0]
        return f"{indent}{_RUN:<{len(prefix)}}{body[len(prefix) :]}  {MARK}{prefix}{_END}{end}"
    if body.startswith(("%", "!", "?", ",", ";", "/")) or _HELP.match(body) or _AUTOMATIC.match(body):
        return f"{indent}{_PASS}  {MARK}{_hidden(line)}"
    assigned = _ASSIGNED.match(body)
    return f"{indent}{assigned['target']} = {_UNKNOWN}  {MARK}{_hidden(line)}" if assigned else None


class _State:
    """Whether the next line begins a statement: no bracket, string or backslash is open."""

    def __init__(self) -> None:
        self._depth = 0
        self._quotes = ""
        self._backslash = False

    @property
    def at_start(self) -> bool:
        return not (self._depth or self._quotes or self._backslash)

    def read(self, line: str) -> None:
        """Process one line."""
        line = line.rstrip("\r")
        at = 0
        self._backslash = False
        while at < len(line):
            if self._quotes:
                ended = _QUOTED_END[self._quotes].match(line, at)
                if ended is None:
                    return
                at, self._quotes = ended.end(), ""
                continue
            piece = _PIECE.match(line, at)
            assert piece is not None  # its last alternative is any character
            at = piece.end()
            self._take(piece[0], at == len(line))

    def _take(self, piece: str, last: bool) -> None:
        if piece in _QUOTED_END:
            self._quotes = piece
        elif piece in "([{":
            self._depth += 1
        elif piece in ")]}":
            self._depth = max(self._depth - 1, 0)
        self._backslash = last and piece == "\\"


# --- and back -------------------------------------------------------------------------------------------------------
def original(line: str) -> str:
    """Return a line as in the notebook; raise ``ValueError`` if a stand-in does not carry its original."""
    if MORE in line:
        if not line.startswith(MORE):
            raise ValueError(line)
        return _unhidden(line[len(MORE) :])
    code, mark, hidden = line.partition("  " + MARK)
    if not mark:
        if reserved(line):
            raise ValueError(line)
        return line
    carried = _unhidden(hidden)
    prefix, ends, newline = carried.partition(_END)
    if ends:
        body = code.lstrip(" \t")
        head = f"{_RUN:<{len(prefix)}}"
        if not body.startswith(head):
            raise ValueError(line)
        return code[: len(code) - len(body)] + prefix + body[len(head) :] + newline
    if line not in (f"{_PASS}  {MARK}{hidden}", _stand_in(carried)):
        raise ValueError(line)
    return carried


def _hidden(line: str) -> str:
    """Return a line as part of a comment: without characters that would end it."""
    body = line.removesuffix("\r")
    return body.translate(_HIDDEN) + line[len(body) :]


def _unhidden(line: str) -> str:
    return line.translate(_FOUND) if not line.isascii() else line


def as_written(line: str) -> str:
    """Return a line for a person: as in the notebook, if it can be restored."""
    try:
        return original(line)
    except ValueError:
        return line


def taken_back(text: str) -> str:
    """Return a cell's source from the Python that stood in for it; raise ``ValueError`` as `original` does."""
    return "\n".join(map(original, text.split("\n")))
