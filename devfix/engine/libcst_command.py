"""Rules as LibCST commands, for people who have a codemod set-up already.

A rule module offers its command by a module ``__getattr__`` (PEP 562), so that importing it never imports LibCST::

    def __getattr__(name: str) -> object:
        if name == "ReplacedSubmodule":
            from devfix.engine.libcst_command import command_for

            return command_for(RULE)
        raise AttributeError(name)

    def __dir__() -> list[str]:  # for `python -m libcst.tool list`
        return [*globals(), "ReplacedSubmodule"]

It runs without any configuration file, because ``-x`` takes a full dotted name.  ``--no-format`` keeps LibCST from
sending changed files through a formatter (black, where none is configured)::

    python -m libcst.tool codemod -x --no-format codemods.modules.replaced_submodule.ReplacedSubmodule train.py

Where a ``.libcst.codemod.yaml`` names the package (``modules: [codemods]``), the short name does::

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
    """The LibCST command of ``rule``: ``replaced-submodule`` becomes ``ReplacedSubmodule``, in the rule's module.

    The same rule gives the same class each time: LibCST pickles it by name for its worker processes.
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
        """The rewritten module, or ``tree`` itself where there is nothing to do (no metadata, so no copy)."""
        return self.transform_module_impl(tree)

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        """The rewritten module, or ``tree`` itself where there is nothing to do."""
        from devfix.engine.fixpoint import fix_text

        text = tree.code
        fixed = fix_text(self.context.filename or "<stdin>", text, codes=(self.rule.code,))
        return tree if fixed == text else cst.parse_module(fixed, config=tree.config_for_parsing)
