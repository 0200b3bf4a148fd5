"""Reference pages that are generated from the code when the site is built.

They are written to ``docs/reference/rules`` and ``docs/reference/schemas``, which git ignores.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reference_pages import rules, schemas

__all__ = ["pages", "setup", "write"]


def pages() -> dict[str, str]:
    """Return all generated pages: path under ``docs/`` → Markdown."""
    return {**rules.pages(), **schemas.pages()}


def write(docs: Path) -> None:
    """Write the pages: skip unchanged files, and delete obsolete ones."""
    made = pages()
    for folder in {(docs / name).parent for name in made}:
        for old in folder.glob("*.md"):
            if old.relative_to(docs).as_posix() not in made:
                old.unlink()
    for name, text in made.items():
        page = docs / name
        page.parent.mkdir(parents=True, exist_ok=True)
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Generate the pages before Sphinx searches for source files."""
    app.connect("builder-inited", lambda app: write(Path(app.srcdir)))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
