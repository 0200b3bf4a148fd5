"""The bot's workflow for GitHub or GitLab."""

from __future__ import annotations

import os

from devfix.init._steps import Addition, Present, Refused, Step, read
from devfix.init._templates import template

__all__ = ["WORKFLOWS", "workflow"]

#: Forge → the files of its workflow, and their templates.
WORKFLOWS = {
    "github": {
        ".github/workflows/devfix-review.yml": "github-review.yml",
        ".github/workflows/devfix-post.yml": "github-post.yml",
    },
    "gitlab": {".gitlab-ci.yml": "gitlab-ci.yml"},
}


def workflow(root: str, forge: str) -> list[Step]:
    """Add the files of a forge's workflow; existing files stay as they are."""
    return [_file(os.path.join(root, name), template(source)) for name, source in WORKFLOWS[forge].items()]


def _file(path: str, text: bytes) -> Step:
    try:
        old = read(path)
    except OSError as error:
        return Refused(path, f"cannot be read: {error.strerror or error}")
    if old is None:
        return Addition(path, None, text)
    if b"devfix" in old:
        return Present(path, "devfix")
    return Refused(path, "defines other jobs and stages, which an addition could break", text.decode())
