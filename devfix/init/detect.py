"""Which parts fit a repository, where nobody says which."""

from __future__ import annotations

import os
from dataclasses import dataclass

__all__ = ["Wanted", "fitting"]


@dataclass(frozen=True)
class Wanted:
    """The parts to add; ``host`` is a key of :data:`devfix.init.workflow.HOSTS`, or empty for no workflow."""

    configuration: bool = False
    hook: bool = False
    host: str = ""


def fitting(root: str) -> Wanted:
    """What the repository has use for.

    A pyproject.toml beside a setup.py that has none would change how pip builds the project; a hook needs pre-commit;
    a workflow comes to others.  A file of GitLab's cannot be added to, so there it has to be asked for.
    """

    def has(*names: str) -> bool:
        return any(os.path.lexists(os.path.join(root, name)) for name in names)

    return Wanted(
        configuration=has("pyproject.toml") or not has("setup.py", "setup.cfg"),
        hook=has(".pre-commit-config.yaml"),
        host="github" if has(os.path.join(".github", "workflows")) else "",
    )
