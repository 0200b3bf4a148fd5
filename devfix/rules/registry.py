"""Registry of rules: built-in ones, those of installed packages, and those of local modules."""

from __future__ import annotations

from devfix.rules.builtin import builtin_rules
from devfix.rules.rule import Rule

__all__ = ["all_rules", "rule_for", "rule_for_cause"]


def all_rules() -> tuple[Rule, ...]:
    """Return every rule, sorted by code.

    Raises:
        devfix.config.ConfigError: the rules of an installed package cannot be used.

    """
    from devfix.rules.plugins import plugin_rules

    return tuple(sorted((*builtin_rules(), *plugin_rules()), key=lambda rule: rule.code))


def rule_for(code: str) -> Rule | None:
    """Return the rule with this code (``DEV101``) or name (``batch-not-moved``); ``None`` if there is none."""
    identifier = code.strip()
    for rule in all_rules():
        if identifier.upper() == rule.code or identifier.lower() == rule.name:
            return rule
    return None


def rule_for_cause(cause: str) -> Rule | None:
    """Return the rule that explains a runtime cause (``numpy-reads-accelerator``); ``None`` if no rule declares it.

    A rule of devfix takes precedence over one of a plug-in.
    """
    from devfix.rules.plugins import plugin_rules

    return next((rule for rule in (*builtin_rules(), *plugin_rules()) if cause in rule.causes), None)
