"""Available rules, with those of local modules that a configuration names."""

from __future__ import annotations

import os
from functools import partial

__all__ = ["import_configured_rules", "known_rules"]


def known_rules() -> dict[str, str]:
    """Return the name of each registered rule by code."""
    from devfix.rules.registry import all_rules

    return {rule.code: rule.name for rule in all_rules()}


def import_configured_rules(trust_plugins: bool) -> None:
    """Import the local modules that the configuration of the current directory names, if the repository is trusted.

    Args:
        trust_plugins: whether this run trusts it.

    Raises:
        devfix.config.ConfigError: the configuration is invalid, or a module cannot be imported.

    """
    from devfix import config
    from devfix.rules.trust import import_trusted

    config.load([os.curdir], known_rules(), local=partial(import_trusted, trust=trust_plugins))
