"""The definition of a rule: code, name, documentation, examples, detection."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    from devfix.analysis import Observations, Subscription
    from devfix.model import Finding

__all__ = ["DEFAULT_ERROR_FAMILIES", "Example", "Rule", "command_attributes"]


#: The families of messages in which a bug ends unless its rule says otherwise: operands on different devices.
DEFAULT_ERROR_FAMILIES = ("same-device",)


@dataclass(frozen=True)
class Example:
    """A program that the rule rewrites: a short title, and the text of the file before and after."""

    title: str
    before: str
    after: str


@dataclass(frozen=True)
class Rule:
    """One rule.

    ``documentation`` is the module docstring in Markdown with the headings What it does, Why is this bad?, Example, Use
    instead, Fix safety, References.

    ``invalid`` holds programs that the rule rewrites as shown; ``valid`` holds programs without a finding.

    ``detect`` returns the findings for the observations of one program, each with its fixes, best first.

    ``fallback``: a finding of this rule is dropped if another rule reports the same creation.

    ``unsafe``: the fixes change what the program computes or saves; ``--unsafe-fixes`` or selecting the rule applies
    them.

    ``fixable``: if false, the rule reports without fixes.

    ``default``: if false, the rule runs only if it or its family (``DEV9``) is selected by name, and then at any
    severity.

    ``subscriptions`` are called while the program is interpreted: they record what ``detect`` needs beyond the
    observations of the analysis.

    ``origin`` names the plugin that defines the rule; devfix sets it.
    """

    code: str
    name: str
    summary: str
    documentation: str
    detect: Callable[[Observations], Iterable[Finding]]
    invalid: tuple[Example, ...] = field(default=())
    valid: tuple[str, ...] = field(default=())
    fallback: bool = False
    unsafe: bool = False
    fixable: bool = True
    default: bool = True
    causes: tuple[str, ...] = ()
    error_families: tuple[str, ...] = DEFAULT_ERROR_FAMILIES
    concerns: Literal["modules", "values", ""] = ""
    subscriptions: tuple[Subscription[Any], ...] = ()
    origin: str = ""


def command_attributes(module: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for a rule's module: they create its LibCST command on first use.

    The command is named after the rule: ``MixedDevices`` for ``mixed-devices``. LibCST is imported only then.
    """

    def command_name() -> str:
        return "".join(word.capitalize() for word in sys.modules[module].RULE.name.split("-"))

    def get(name: str) -> object:
        if name[:1].isupper() and "RULE" in vars(sys.modules[module]) and name == command_name():
            # imported by name: rules may not import the engine
            command_for = importlib.import_module("devfix.engine.libcst_command").command_for
            return cast("object", command_for(sys.modules[module].RULE))
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return get, lambda: [*vars(sys.modules[module]), command_name()]
