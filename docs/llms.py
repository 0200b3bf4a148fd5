"""``llms.txt`` and ``llms-full.txt`` at the root of the site: its pages, and their text, for language models.

https://llmstxt.org describes the format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["setup"]

_INDEX = "index"


def setup(app: Any) -> dict[str, bool]:
    """Write both files after the pages."""
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write(app: Any, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    texts = {name: _text(Path(app.env.doc2path(name))) for name in app.env.found_docs}
    sections = dict(_sections(texts))
    _, summary = _opening(texts[_INDEX])
    lines = ["# devfix", "", f"> {summary}"]
    for caption, names in sections.items():
        lines += ["", f"## {caption}", ""]
        lines += [f"- [{title}]({name}.html): {first}" for name in names for title, first in (_opening(texts[name]),)]
    Path(app.outdir, "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    ordered = [_INDEX, *(name for names in sections.values() for name in names)]
    full = "\n\n".join(_plain(texts[name]) for name in ordered)
    Path(app.outdir, "llms-full.txt").write_text(f"{full}\n", encoding="utf-8")


def _text(path: Path) -> str:
    """Return the Markdown of a page, with the file that it includes."""
    text = path.read_text(encoding="utf-8")
    included = re.match(r"```\{include\} (\S+)", text)
    return (path.parent / included[1]).read_text(encoding="utf-8") if included else text


def _sections(texts: dict[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the captions of the index with the pages below them, in the order of the navigation."""
    for block in re.findall(r"^```\{toctree\}\n(.*?)^```", texts[_INDEX], re.MULTILINE | re.DOTALL):
        caption = re.search(r"^:caption: (.*)$", block, re.MULTILINE)
        if caption is not None:
            yield caption[1], [page for name in _entries(block) for page in _below(name, texts)]


def _below(name: str, texts: dict[str, str]) -> Iterator[str]:
    """Yield a page, and those that its own tables of contents list."""
    yield name
    folder = name.rpartition("/")[0]
    for block in re.findall(r"^```\{toctree\}\n(.*?)^```", texts[name], re.MULTILINE | re.DOTALL):
        for entry in _entries(block):
            yield from _below(f"{folder}/{entry}", texts)


def _entries(block: str) -> list[str]:
    """Return the documents of a ``toctree``, without titles and options."""
    lines = [line.strip() for line in block.splitlines()]
    return [line.rpartition("<")[2].rstrip(">") for line in lines if line and not line.startswith(":")]


def _opening(text: str) -> tuple[str, str]:
    """Return the title of a page, and the first sentence of its first paragraph as plain text."""
    title = re.search(r"^# (.*)$", text, re.MULTILINE)
    prose = [part for part in _plain(text).split("\n\n")[1:] if not part.startswith(("#", "|", "```", "-"))]
    first = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(prose[0].split()).replace("**", "")) if prose else ""
    return (title[1] if title else ""), re.split(r"(?<=[.:])\s+(?=[A-Z`])", first)[0]


def _plain(text: str) -> str:
    """Return a page without directives and comments."""
    text = re.sub(r"^```\{.*?^```\n?", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL).strip()
