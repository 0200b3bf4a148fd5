"""Templates of hooks, workflows and the skill: files of the repository, included in the wheel."""

from __future__ import annotations

from pathlib import Path

__all__ = ["PACKAGED", "template"]

_FOLDER = Path(__file__).parent
#: Name in the package → path in the repository; pyproject.toml maps them for the wheel.
PACKAGED = {
    "pre-commit-hooks.yaml": ".pre-commit-hooks.yaml",
    "github-review.yml": "docs/ci/github-review.yml",
    "github-post.yml": "docs/ci/github-post.yml",
    "gitlab-ci.yml": "docs/ci/gitlab-ci.yml",
    "SKILL.md": "skills/devfix/SKILL.md",
}


def template(name: str) -> bytes:
    """Return the content of a file in :data:`PACKAGED`."""
    packaged = _FOLDER / "templates" / name
    return (packaged if packaged.exists() else _FOLDER.parents[1] / PACKAGED[name]).read_bytes()
