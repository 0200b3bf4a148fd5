"""The hooks and workflows that the repository shows to its readers: in a wheel they are part of the package."""

from __future__ import annotations

from pathlib import Path

__all__ = ["PACKAGED", "template"]

_HERE = Path(__file__).parent
#: Name in the package → where the file stands in the repository (pyproject.toml says the same to the wheel).
PACKAGED = {
    "pre-commit-hooks.yaml": ".pre-commit-hooks.yaml",
    "github-review.yml": "docs/ci/github-review.yml",
    "github-post.yml": "docs/ci/github-post.yml",
    "gitlab-ci.yml": "docs/ci/gitlab-ci.yml",
}


def template(name: str) -> bytes:
    """The content of a file in :data:`PACKAGED`."""
    packaged = _HERE / "templates" / name
    return (packaged if packaged.exists() else _HERE.parents[1] / PACKAGED[name]).read_bytes()
