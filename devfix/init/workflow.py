"""The bot's workflow for GitHub or GitLab."""

from __future__ import annotations

import os

from devfix.init._steps import Addition, Part, Present, Refused, read
from devfix.init._templates import template

__all__ = ["HOSTS", "workflow"]

#: Host → the files of its workflow, and the templates that they are.
HOSTS = {
    "github": {
        ".github/workflows/devfix-review.yml": "github-review.yml",
        ".github/workflows/devfix-post.yml": "github-post.yml",
    },
    "gitlab": {".gitlab-ci.yml": "gitlab-ci.yml"},
}


def workflow(root: str, host: str) -> list[Part]:
    """The files of a host's workflow; a file that is there stays, whatever it says."""
    return [_file(os.path.join(root, name), template(source)) for name, source in HOSTS[host].items()]


def _file(path: str, text: bytes) -> Part:
    try:
        old = read(path)
    except OSError as error:
        return Refused(path, f"cannot be read: {error.strerror or error}")
    if old is None:
        return Addition(path, None, text)
    if b"devfix" in old:
        return Present(path, "devfix")
    return Refused(path, "has jobs and stages of its own, which a text of ours could break", text.decode())
