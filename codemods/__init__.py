"""The rules of devfix: one file per rule, found automatically.

A rule module holds its documentation (the module docstring), its examples, its detection on the facts of the device
flow, and a constant ``RULE``.  Importing a rule never imports LibCST; the LibCST command of a rule is made on demand.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache

from codemods._rule import Example, Rule

__all__ = ["Example", "Rule", "all_rules", "own_rules", "rule_for"]


def all_rules() -> tuple[Rule, ...]:
    """Every rule, sorted by code: those of devfix, of installed packages, and of local modules that were asked for.

    Raises :class:`devfix.config.ConfigError` for a package whose rules cannot be used.
    """
    from devfix.plugins import loaded

    return tuple(sorted((*own_rules(), *loaded()), key=lambda rule: rule.code))


@lru_cache(maxsize=1)
def own_rules() -> tuple[Rule, ...]:
    """The rules of devfix, sorted by code."""
    names = (info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    rules = (importlib.import_module(f"{__name__}.{name}").RULE for name in names)
    return tuple(sorted(rules, key=lambda rule: rule.code))


def rule_for(code: str) -> Rule | None:
    """The rule with this code (``DEV101``) or name (``batch-not-moved``); ``None`` where there is none."""
    wanted = code.strip()
    for rule in all_rules():
        if wanted.upper() == rule.code or wanted.lower() == rule.name:
            return rule
    return None
