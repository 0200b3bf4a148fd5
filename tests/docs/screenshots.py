"""Take the screenshots of pages in docs/_static: ``python tests/docs/screenshots.py``.

Requires Chromium on PATH, playwright and Pillow.  Programs of the corpus are checked and verified in a new repository, at
a fixed date.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "docs" / "_static"
PROGRAM = ROOT / "corpus" / "batch_not_moved" / "dict_of_targets" / "broken"
MOST = 150_000  # bytes of a picture
DATE = "1767225600"  # 2026-01-01


class Picture(NamedTuple):
    """A picture: its command, theme and size, and the element that it begins with; empty for the head of the page."""

    name: str
    command: tuple[str, ...]
    theme: str
    width: int
    height: int
    begins: str = ""


PICTURES = (
    Picture("page-check", ("check", "."), "light", 1180, 1010, "section.source"),
    Picture("page-verify", ("verify", "src/main.py"), "dark", 1180, 1010),
)


def main() -> None:
    """Write the pictures."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    if browser_path is None:
        sys.exit("no Chromium on PATH")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        project = Path(folder) / "multi-task"
        _create_repository(project)
        browser = playwright.chromium.launch(executable_path=browser_path)
        for picture in PICTURES:
            file = Path(folder) / f"{picture.name}.html"
            file.write_bytes(_page(project, picture.command))
            size = {"width": picture.width, "height": picture.height}
            page = browser.new_page(viewport=size, color_scheme=picture.theme, reduced_motion="reduce")
            page.goto(file.as_uri())
            if picture.begins:
                page.locator(picture.begins).first.evaluate("one => scrollTo(0, one.offsetTop - 90)")
            interpreter = page.locator("dl.about > div", has=page.get_by_text("Interpreter", exact=True))
            interpreter.evaluate_all("all => all.forEach((one) => one.remove())")  # a path of this machine
            image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            target = STATIC / f"{picture.name}.png"
            image.save(target, optimize=True)
            page.close()
            if target.stat().st_size > MOST:
                sys.exit(f"{target.name} has {target.stat().st_size:,} bytes, more than {MOST:,}")
            print(f"{target.relative_to(ROOT)}: {target.stat().st_size:,} bytes")
        browser.close()


def _create_repository(folder: Path) -> None:
    shutil.copytree(PROGRAM, folder)
    author = {f"GIT_{who}_{what}": "devfix" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    dates = {f"GIT_{who}_DATE": f"{DATE} +0000" for who in ("AUTHOR", "COMMITTER")}
    for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "Train")):
        subprocess.run(["git", *arguments], cwd=folder, env={**os.environ, **author, **dates}, check=True)


def _page(folder: Path, command: tuple[str, ...]) -> bytes:
    arguments = [sys.executable, "-m", "devfix", *command, "--output-format", "html"]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": DATE}
    done = subprocess.run(arguments, cwd=folder, env=environment, stdout=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)} ended with {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    main()
