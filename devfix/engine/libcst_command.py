"""Rules as LibCST commands, for existing codemod set-ups.

A rule's module creates its command on first use (``devfix.rules.rule.command_attributes``), so that importing a rule
never imports LibCST.  A command needs no configuration file, because ``-x`` takes a full dotted name; ``--no-format``
keeps LibCST from formatting changed files::

    python -m libcst.tool codemod -x --no-format codemods.modules.replaced_submodule.ReplacedSubmodule train.py

If a ``.libcst.codemod.yaml`` lists the package (``modules: [codemods.modules]``), the short name is enough::

    python -m libcst.tool codemod --no-format replaced_submodule.ReplacedSubmodule train.py
"""

from __future__ import annotations

from abc import ABC
from functools import cache

import libcst as cst
from libcst.codemod import CodemodCommand

from devfix.rules.rule import Rule

__all__ = ["command_for"]


@cache
def command_for(rule: Rule) -> type[CodemodCommand]:
    """Return the LibCST command of a rule: ``replaced-submodule`` becomes ``ReplacedSubmodule``, in the rule's module.

    The same rule returns the same class, because LibCST pickles it by name for its worker processes.
    """
    name = "".join(word.capitalize() for word in rule.name.split("-"))
    members = {
        "__doc__": rule.summary,
        "__module__": rule.detect.__module__,
        "DESCRIPTION": rule.summary,
        "rule": rule,
    }
    return type(name, (_RuleCommand,), members)


class _RuleCommand(CodemodCommand, ABC):  # ABC: `libcst.tool list` then leaves it out
    """Runs the engine with one rule on a module."""

    rule: Rule

    def transform_module(self, tree: cst.Module) -> cst.Module:
        """Return the rewritten module, or ``tree`` itself if nothing changes (no metadata, so no copy)."""
        return self.transform_module_impl(tree)

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        """Return the rewritten module, or ``tree`` itself if nothing changes."""
        from devfix.engine.fixpoint import fix_text

        text = tree.code
        fixed = fix_text(self.context.filename or "<stdin>", text, codes=(self.rule.code,))
        return tree if fixed == text else cst.parse_module(fixed, config=tree.config_for_parsing)
