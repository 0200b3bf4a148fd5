"""Available rules, with those of local modules that a configuration names."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

__all__ = ["import_configured_rules", "import_local_rules", "known_rules"]


def known_rules() -> dict[str, str]:
    """Return the name of each registered rule by code."""
    from devfix.rules.registry import all_rules

    return {rule.code: rule.name for rule in all_rules()}


def import_local_rules(names: Sequence[str], root: str) -> Mapping[str, str]:
    """Import local modules and return the names of all rules by code.

    Raises:
        devfix.config.ConfigError: a module cannot be imported.

    """
    from devfix.rules import plugins

    plugins.load_local_rules(names, root)
    return known_rules()


def import_configured_rules() -> None:
    """Import the local modules that the configuration of the current directory names.

    Raises:
        devfix.config.ConfigError: the configuration is invalid, or a module cannot be imported.

    """
    from devfix import config

    config.load([os.curdir], known_rules(), local=import_local_rules)
