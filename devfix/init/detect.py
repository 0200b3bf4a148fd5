"""Detection of the setup steps that fit a repository."""

from __future__ import annotations

import os
from dataclasses import dataclass

__all__ = ["Selection", "detect_steps"]


@dataclass(frozen=True)
class Selection:
    """The steps to take; ``forge`` is a key of :data:`devfix.init.workflow.WORKFLOWS`, or empty for no workflow."""

    configuration: bool = False
    hook: bool = False
    forge: str = ""


def detect_steps(root: str) -> Selection:
    """Select the steps that fit a repository.

    A new pyproject.toml beside a setup.py would change how pip builds the project.  A hook needs pre-commit.  A GitHub
    workflow is proposed beside existing ones; GitLab's only file cannot be extended, so it must be requested.
    """

    def exists(*names: str) -> bool:
        return any(os.path.lexists(os.path.join(root, name)) for name in names)

    return Selection(
        configuration=exists("pyproject.toml") or not exists("setup.py", "setup.cfg"),
        hook=exists(".pre-commit-config.yaml"),
        forge="github" if exists(os.path.join(".github", "workflows")) else "",
    )
