"""A notebook's program as it runs outside of IPython, without shell lines, each cell on its own lines."""

from __future__ import annotations

import re
import shlex
from typing import Any

from devfix.sources.notebooks._magics import MARK, MORE, as_written
from devfix.sources.notebooks._program import place_in, split

__all__ = ["located", "runnable"]

#: What changes how the rest of the notebook runs, and is done; every other command of IPython or the shell is left out.
_DONE = re.compile(r"%(?P<name>cd|env|set_env|run)[ \t]+(?P<line>.*)")
_FOLDERS = re.compile(r"[!%][ \t]*mkdir[ \t]+(?P<line>[^;&|$`*?~\\]+)$")
_ASSIGNED = re.compile(r"=[ \t]*(?P<kind>[!%])")


def runnable(text: str) -> list[dict[str, Any]]:
    """Return the cells of a program: ``number``, program ``line``, ``code`` to run, and the source, ``shown``."""
    cells = []
    for number, (line, body) in split(text).items():
        lines = body.split("\n")
        shown = "\n".join(map(as_written, lines))
        cells.append({"number": number, "line": line, "code": _code(lines), "shown": shown})
    return cells


def _code(lines: list[str]) -> str:
    head = next((line for line in lines if line.strip()), "")
    carried = head.partition(MARK)[2]
    if carried.startswith(("%%writefile", "%%file")):
        name, _, rest = carried[2:].partition(" ")
        body = "\n".join(map(as_written, lines[lines.index(head) + 1 :])) + "\n"
        call = f"get_ipython().run_cell_magic({name!r}, {rest.strip()!r}, {body!r})"
        return "\n" * lines.index(head) + call
    return "\n".join(map(_line, lines))


def _line(line: str) -> str:
    if MARK not in line or line.startswith(MORE):
        return line
    code, _, carried = line.partition("  " + MARK)
    indent, written = code[: len(code) - len(code.lstrip())], carried.strip()
    done, folders = _DONE.match(written), _FOLDERS.match(written)
    if folders is not None:
        names = [name for name in _words(folders["line"]) if not name.startswith("-")]
        return f"{indent}get_ipython().make_folders({names!r})"
    if done is not None:
        return f"{indent}get_ipython().run_line_magic({done['name']!r}, {done['line']!r})"
    assigned = _ASSIGNED.search(written)
    if assigned is not None and code.endswith("= get_ipython()"):
        return f"{code.removesuffix('get_ipython()')}{'[]' if assigned['kind'] == '!' else 'None'}"
    return code


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def located(text: str, told: Any, file: str) -> Any:
    """Return the report of a run with ``place`` (cell, line in it) beside each line of the notebook ``file``."""
    if isinstance(told, list):
        return [located(text, part, file) for part in told]
    if not isinstance(told, dict):
        return told
    found = {key: located(text, part, file) for key, part in told.items()}
    if found.get("file") == file and isinstance(found.get("line"), int):
        found["place"] = place_in(text, found["line"])
    return found
