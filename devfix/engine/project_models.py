"""The models of a project: its own stubs, those of installed packages, and what comes with devfix."""

from __future__ import annotations

import os

from devfix.config import Settings
from devfix.model import Problem
from devfix.models.index import ModelIndex, model_index
from devfix.models.stored_index import content_of, package_folders

__all__ = ["models_of", "stub_problems"]


def models_of(settings: Settings) -> ModelIndex:
    """Return the models for a run with these settings."""
    folders = _folders(settings)
    return model_index(folders, content_of(folders))


def stub_problems(models: ModelIndex) -> list[Problem]:
    """Return what is wrong with the stubs, by file and line; the rest of the stubs is used."""
    return [
        Problem(os.path.relpath(each.path), f"stub: {each.message}", each.line, f"the {each.left_out} is left out")
        for each in models.problems
    ]


def _folders(settings: Settings) -> tuple[str, ...]:
    own = tuple(os.path.join(settings.root, folder) for folder in settings.models)
    return (*package_folders(), *own)
