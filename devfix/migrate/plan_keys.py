"""The keys of a plan: what they may hold, and which line is wrong."""

from __future__ import annotations

import difflib
import os
import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from devfix.config import ConfigError, resolve_codes
from devfix.migrate.mirrors import slug
from devfix.migrate.plan_lines import Lines
from devfix.migrate.publishing import split_author
from devfix.migrate.task import Publishing, Verification
from devfix.model import Severity

__all__ = ["Table", "defaults", "is_ref", "publishing", "rules", "verification"]

_RESULTS = ("patch", "branch", "push", "pull-request")
_VERIFY_KEYS = ("script", "args", "module", "python", "setup", "device", "max-steps", "timeout", "memory")
#: As of ``devfix verify --device``; the module that has them imports more than a plan needs.
_DEVICES = ("auto", "cuda", "mps", "xpu", "sim", "sim:mps", "sim:xpu", "cpu")


#: https://git-scm.com/docs/git-check-ref-format
_BAD_REF = re.compile(r"^[-/.]|[\s~^:?*\[\\\x00-\x1f\x7f]|\.\.|@\{|//|[/.]$|\.lock$|^@$")


def is_ref(text: str) -> bool:
    """Whether git takes a text as the name of a branch or tag."""
    return bool(text) and not _BAD_REF.search(text)


@dataclass(frozen=True)
class Table:
    """One table of a plan.

    Attributes:
        file: the plan.
        lines: where its keys stand.
        path: of the table.
        values: what it holds.

    """

    #: Keys that may stand in ``[defaults]`` and in each ``[[repository]]``.
    SHARED: ClassVar[tuple[str, ...]] = (
        *("select", "ignore", "severity", "unsafe-fixes", "verify"),
        *("result", "branch", "author", "message", "timeout", "memory", "keep-mirror"),
    )

    file: str
    lines: Lines
    path: tuple[str | int, ...]
    values: Mapping[str, Any]

    def where(self, *keys: str) -> str:
        """File and line of the first of these keys that is there, else of the table."""
        key = next((key for key in keys if key in self.values), None)
        line = self.lines.of(*self.path, *(() if key is None else (key,)))
        return f"{self.file}:{line}" if line else self.file

    def error(self, message: str, *keys: str) -> ConfigError:
        """The error to raise."""
        return ConfigError(f"{self.where(*keys)}: {message}")

    def only(self, *known: str) -> None:
        """Raise ``ConfigError`` for a key that is none of these."""
        for key in self.values:
            if key not in known:
                close = difflib.get_close_matches(key, known, n=1)
                hint = f"; did you mean {close[0]!r}?" if close else f"; known are: {', '.join(known)}"
                raise self.error(f"unknown key {key!r}{hint}", key)

    def text(self, key: str, default: str = "") -> str:
        """A string."""
        value = self.values.get(key, default)
        if not isinstance(value, str):
            raise self.error(f"{key} must be a string, not {value!r}", key)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.error(f"{key} must be a list of strings, not {value!r}", key)
        return tuple(value)

    def flag(self, key: str, default: bool = False) -> bool:
        """True or false."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise self.error(f"{key} must be true or false, not {value!r}", key)
        return value

    def number(self, key: str, default: float, least: float) -> float:
        """A number, not below ``least``."""
        value = self.values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= least:
            raise self.error(f"{key} must be a number from {least:g} on, not {value!r}", key)
        return float(value)

    def one_of(self, key: str, choices: tuple[str, ...], default: str) -> str:
        """One of some words."""
        value = self.text(key, default)
        if value and value not in choices:
            raise self.error(f"{key} must be one of {', '.join(choices)}, not {value!r}", key)
        return value

    def below(self, key: str, values: Mapping[str, Any]) -> Table:
        """The same table with other values, or a table within it."""
        return Table(self.file, self.lines, (*self.path, key) if key else self.path, values)


def defaults(top: Table) -> dict[str, Any]:
    """What ``[defaults]`` says, checked."""
    given = top.values.get("defaults", {})
    if not isinstance(given, dict):
        raise top.error("defaults must be a table: [defaults]", "defaults")
    table = top.below("defaults", given)
    table.only(*Table.SHARED)
    rules(table, given)
    publishing(table, given, "")
    verification(table, {}, partly=True)
    for key, least in (("timeout", 1), ("memory", 256)):
        table.number(key, least, least)
    table.flag("keep-mirror")
    return given


def rules(table: Table, merged: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...], str, bool]:
    """Rules to select and to ignore, the severity, and whether unsafe fixes are wanted."""
    from devfix.rules.registry import all_rules

    known = {rule.code: rule.name for rule in all_rules()}
    both = table.below("", merged)
    codes = [resolve_codes(both.texts(key), known, f"{table.where(key)}: {key}") for key in ("select", "ignore")]
    severity = both.one_of("severity", tuple(each.value for each in Severity), "")
    return codes[0], codes[1], severity, both.flag("unsafe-fixes")


def publishing(table: Table, merged: Mapping[str, Any], folder: str) -> Publishing:
    """What is made of the patch; sub-folders of one repository have branches of their own."""
    both = table.below("", merged)
    kind = both.one_of("result", _RESULTS, "patch")
    branch = both.text("branch", Publishing.branch)
    if folder and "branch" not in table.values:
        branch = f"{branch}-{slug(folder)}"
    if not is_ref(branch):
        raise table.error(f"{branch!r} is no name for a branch", "branch")
    author = both.text("author", Publishing.author)
    try:
        split_author(author)
    except ValueError as error:
        raise table.error(f"author: {error}", "author") from error
    message = both.text("message", Publishing.message).strip()
    if not message:
        raise table.error("message must not be empty", "message")
    return Publishing(kind, branch, author, message)


def verification(table: Table, shared: Mapping[str, Any], partly: bool = False) -> Verification | None:
    """How the patch is proved: ``verify`` of the repository over that of the defaults; None for ``verify = false``.

    ``partly``: these are the defaults, which may leave out the script.
    """
    own = table.values.get("verify", {})
    common = shared.get("verify", {})
    if own is False or (common is False and not own):
        return None
    if not isinstance(own, dict):
        raise table.error(f"verify must be a table, or false, not {own!r}", "verify")
    merged = {**(common or {}), **own}
    if not merged:
        return None
    if common and not own and "script" not in merged:
        return None
    within = table.below("verify", own)
    within.only(*_VERIFY_KEYS)
    both = within.below("", merged)
    script = both.text("script")
    if not script and not partly:
        raise table.error("verify names no script", "verify")
    if script.startswith(("/", "..")):
        raise both.error(f"script {script!r} is not within the repository", "script")
    setup = both.text("setup")
    try:
        shlex.split(setup)
    except ValueError as error:
        raise both.error(f"setup: {error}", "setup") from error
    steps = int(both.number("max-steps", 1, 1)) if "max-steps" in merged else None
    return Verification(
        script=script,
        args=both.texts("args"),
        module=both.flag("module"),
        python=_python(both),
        setup=setup,
        device=both.one_of("device", _DEVICES, "auto"),
        max_steps=steps,
        timeout=both.number("timeout", Verification.timeout, 0.1),
        memory_mb=int(both.number("memory", Verification.memory_mb, 256)),
    )


def _python(table: Table) -> str:
    """An interpreter: a command on the path, or a file, relative to the plan."""
    given = table.text("python")
    if not given:
        return ""
    if "/" not in given:
        if shutil.which(given) is None:
            raise table.error(f"there is no command {given!r} on the path", "python")
        return given
    path = os.path.abspath(os.path.join(os.path.dirname(table.file), os.path.expanduser(given)))
    if not os.access(path, os.X_OK):
        raise table.error(f"there is no interpreter {path}", "python")
    return path
