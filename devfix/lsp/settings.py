"""Settings from the editor and pyproject.toml, and the folder of a file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from devfix import config
from devfix.config import ConfigError, Settings
from devfix.model import Severity

__all__ = ["Wishes", "folder_of", "load"]


@dataclass(frozen=True)
class Wishes:
    """The settings of the editor, under ``devfix``; empty ones fall back to pyproject.toml.

    ``verify_options`` and ``verify_arguments`` are passed to ``devfix verify`` and to the script.
    """

    enable: bool = True
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: str | None = None
    config: str | None = None
    debounce_ms: int = 20
    verify_options: tuple[str, ...] = ()
    verify_arguments: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: Any) -> Wishes:
        """Parse the settings that the editor sends: ``{"select": ["DEV1"]}``.  Raises :class:`ConfigError`."""
        if given is None:
            return cls()
        if not isinstance(given, Mapping):
            raise ConfigError(f"the editor's settings for devfix must be an object, not {given!r}")
        known = {_camel(field.name): field for field in fields(cls)}
        taken = {}
        for key, value in given.items():
            if key not in known:
                raise ConfigError(f"the editor's settings: unknown key devfix.{key}; there are: {', '.join(known)}")
            taken[known[key].name] = _checked(key, value, known[key].default)
        return cls(**taken)


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _checked(key: str, value: Any, default: Any) -> Any:
    """Return a value of the type that the key requires; ``null`` means the default."""
    if value is None:
        return default
    if isinstance(default, tuple):
        if isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(each, str) for each in value):
            return tuple(value)
        raise ConfigError(f"the editor's settings: devfix.{key} must be a list of strings, not {value!r}")
    kind: type = str if default is None else type(default)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        words = {bool: "true or false", int: "a number", str: "a string"}
        raise ConfigError(f"the editor's settings: devfix.{key} must be {words[kind]}, not {value!r}")
    return value


def load(folder: str, wishes: Wishes) -> Settings:
    """Return the settings of a folder: its pyproject.toml, overridden by the editor's.  Raises :class:`ConfigError`."""
    from devfix.rules.registry import all_rules
    from devfix.rules.trust import leave_out

    known = {rule.code: rule.name for rule in all_rules()}
    try:
        severity = Severity(wishes.severity) if wishes.severity else None
    except ValueError:
        choices = ", ".join(each.value for each in Severity)
        raise ConfigError(
            f"the editor's settings: devfix.severity must be one of {choices}, not {wishes.severity!r}"
        ) from None
    chosen = os.path.join(folder, wishes.config) if wishes.config else None
    settings = config.load([folder], known, chosen, local=leave_out)
    return config.override(settings, known, select=wishes.select, ignore=wishes.ignore, severity=severity)


def folder_of(path: str, folders: Sequence[str]) -> str | None:
    """Return the innermost workspace folder that contains a file."""
    holding = [each for each in folders if path == each or path.startswith(os.path.join(each, ""))]
    return max(holding, key=len, default=None)
