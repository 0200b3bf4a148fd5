"""The rules that a command knows: also those of local modules, where a configuration names them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

__all__ = ["import_configured_rules", "import_local_rules", "known_rules"]


def known_rules() -> dict[str, str]:
    """Code and name of every rule."""
    from devfix.rules.registry import all_rules

    return {rule.code: rule.name for rule in all_rules()}


def import_local_rules(names: Sequence[str], root: str) -> Mapping[str, str]:
    """The same after local modules have been imported.  Raises :class:`devfix.config.ConfigError`."""
    from devfix.rules import plugins

    plugins.load_local_rules(names, root)
    return known_rules()


def import_configured_rules() -> None:
    """Import the local modules that the configuration of the current folder names.  Raises as :func:`import_local_rules`."""
    from devfix import config

    config.load([os.curdir], known_rules(), local=import_local_rules)
