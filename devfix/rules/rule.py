"""What a rule is: code, name, documentation, examples, detection."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, cast

if TYPE_CHECKING:
    from devfix.analysis import Observations
    from devfix.model import Finding

__all__ = ["Example", "Rule", "command_attributes"]


@dataclass(frozen=True)
class Example:
    """A program that the rule rewrites: whole file text before and after, and a short title."""

    title: str
    before: str
    after: str


@dataclass(frozen=True)
class Rule:
    """One rule.

    ``documentation`` is the module docstring in Markdown with the headings What it does, Why is this bad?, Example,
    Use instead, Fix safety, References.  ``invalid`` are rewritten by the rule as shown, ``valid`` are programs that
    it leaves alone.  ``detect`` turns the facts of one program into findings, best fix first.  The findings of a
    ``fallback`` rule give way to those of any other rule that tells of the same creation.  The fixes of an
    ``unsafe`` rule change what the program computes or saves: ``--unsafe-fixes`` applies them, or its own command.
    ``causes`` are the runtime causes that this rule explains: when ``devfix trace`` establishes one of them, it names
    the rule.  A cause is a kebab-case name, such as ``numpy-reads-accelerator``; the modules of
    ``devfix.trace.diagnosis`` list them.
    ``error_families`` are the families of error messages that a finding of this rule can end in
    (:data:`devfix.verify.probe.messages.DEVICE_MESSAGES`), such as ``numpy``; ``same-device`` is a device mismatch in
    general.  ``concerns`` is ``modules`` if the misplaced values are parameters, buffers and attributes of modules,
    ``values`` if they are other tensors, and empty if they may be either.  ``devfix trace --log`` ranks findings by
    both.
    ``origin`` says where a rule of somebody else is from; devfix fills it in.
    A rule that is not ``default`` is used only where it, or its family (``DEV9``), is selected by name, and then at any
    severity.
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
    default: bool = True
    causes: tuple[str, ...] = ()
    error_families: tuple[str, ...] = ("same-device",)
    concerns: Literal["modules", "values", ""] = ""
    origin: str = ""


def command_attributes(module: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a rule's module: its LibCST command, made (and LibCST imported) on demand.

    The command has the rule's name in capitals and lower case: ``MixedDevices`` for ``mixed-devices``.
    """

    def command_name() -> str:
        return "".join(word.capitalize() for word in sys.modules[module].RULE.name.split("-"))

    def get(name: str) -> object:
        if name[:1].isupper() and "RULE" in vars(sys.modules[module]) and name == command_name():
            # by name: the engine lies above the rules, and runs them
            command_for = importlib.import_module("devfix.engine.libcst_command").command_for
            return cast("object", command_for(sys.modules[module].RULE))
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return get, lambda: [*vars(sys.modules[module]), command_name()]
