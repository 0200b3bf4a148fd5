"""The keys of a plan: types, values, and the line of an error."""

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
from devfix.migrate.task import Limits, Publishing, Verification
from devfix.migrate.window import Window
from devfix.model import Severity
from devfix.vcs.commits import split_author

__all__ = ["Table", "defaults", "is_ref", "publishing", "rules", "verification"]

_RESULTS = ("patch", "branch", "push", "pull-request")
_FORKS = ("never", "auto", "always")
_OWNERS = "owners"
_SPLITS = ("none", _OWNERS)
_VERIFY_KEYS = ("script", "args", "module", "python", "setup", "device", "max-steps", "timeout", "memory")
#: Choices of ``devfix verify --device``; importing them from their module would be slow.
_DEVICES = ("auto", "cuda", "mps", "xpu", "npu", "sim", "sim:mps", "sim:xpu", "sim:npu", "cpu")

_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SHORT_HASH = 12  # characters
#: https://git-scm.com/docs/git-check-ref-format
_BAD_REF = re.compile(r"^[-/.]|[\s~^:?*\[\\\x00-\x1f\x7f]|\.\.|@\{|//|[/.]$|\.lock$|^@$")


def is_ref(text: str) -> bool:
    """Return whether git accepts a text as the name of a branch or tag."""
    return bool(text) and not _BAD_REF.search(text)


@dataclass(frozen=True)
class Table:
    """A table of a plan.

    Attributes:
        file: the path of the plan.
        lines: the lines of its keys.
        path: the path of the table in the plan.
        values: the table's content.

    """

    #: Keys that may stand in ``[defaults]`` and in each ``[[repository]]``.
    SHARED: ClassVar[tuple[str, ...]] = (
        *("select", "ignore", "severity", "unsafe-fixes", "verify"),
        *("result", "branch", "author", "message", "labels", "reviewers", "draft", "fork", "fork-owner", "split"),
        *("timeout", "memory", "max-fetch", "keep-mirror"),
    )
    #: Keys that may stand in ``[defaults]`` only.
    PLAN: ClassVar[tuple[str, ...]] = ("max-open", "max-hourly", "window")

    file: str
    lines: Lines
    path: tuple[str | int, ...]
    values: Mapping[str, Any]

    def location(self, *keys: str) -> str:
        """Return file and line of the first of these keys that is present, else of the table."""
        key = next((key for key in keys if key in self.values), None)
        line = self.lines.line_of(*self.path, *(() if key is None else (key,)))
        return f"{self.file}:{line}" if line else self.file

    def error(self, message: str, *keys: str) -> ConfigError:
        """Return the error to raise for a key."""
        return ConfigError(f"{self.location(*keys)}: {message}")

    def allow_only(self, *known: str) -> None:
        """Raise ``ConfigError`` for an unknown key."""
        for key in self.values:
            if key not in known:
                close = difflib.get_close_matches(key, known, n=1)
                hint = f"; did you mean {close[0]!r}?" if close else f"; known keys: {', '.join(known)}"
                raise self.error(f"unknown key {key!r}{hint}", key)

    def text(self, key: str, default: str = "") -> str:
        """Return a string."""
        value = self.values.get(key, default)
        if not isinstance(value, str):
            raise self.error(f"{key} must be a string, not {value!r}", key)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of strings."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.error(f"{key} must be a list of strings, not {value!r}", key)
        return tuple(value)

    def flag(self, key: str, default: bool = False) -> bool:
        """Return a boolean."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise self.error(f"{key} must be true or false, not {value!r}", key)
        return value

    def number(self, key: str, default: float, least: float) -> float:
        """Return a number of at least ``least``."""
        value = self.values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= least:
            raise self.error(f"{key} must be a number, at least {least:g}, not {value!r}", key)
        return float(value)

    def one_of(self, key: str, choices: tuple[str, ...], default: str) -> str:
        """Return one of the choices."""
        value = self.text(key, default)
        if value and value not in choices:
            raise self.error(f"{key} must be one of {', '.join(choices)}, not {value!r}", key)
        return value

    def child(self, key: str, values: Mapping[str, Any]) -> Table:
        """Return a table within this one; with an empty key, this table with other values."""
        return Table(self.file, self.lines, (*self.path, key) if key else self.path, values)


def defaults(top: Table) -> dict[str, Any]:
    """Return the content of ``[defaults]``, checked."""
    given = top.values.get("defaults", {})
    if not isinstance(given, dict):
        raise top.error("defaults must be a table: [defaults]", "defaults")
    table = top.child("defaults", given)
    table.allow_only(*Table.SHARED, *Table.PLAN)
    rules(table, given)
    publishing(table, given, "", "")
    verification(table, {}, allow_missing_script=True)
    for key, least in (("timeout", 1), ("memory", 256), ("max-fetch", 1)):
        table.number(key, least, least)
    table.flag("keep-mirror")
    return given


def rules(table: Table, merged: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...], str, bool]:
    """Return the selected and ignored rules, the severity, and whether to apply unsafe fixes."""
    from devfix.rules.registry import all_rules

    known = {rule.code: rule.name for rule in all_rules()}
    combined = table.child("", merged)
    codes = [resolve_codes(combined.texts(key), known, f"{table.location(key)}: {key}") for key in ("select", "ignore")]
    severity = combined.one_of("severity", tuple(each.value for each in Severity), "")
    return codes[0], codes[1], severity, combined.flag("unsafe-fixes")


def publishing(table: Table, merged: Mapping[str, Any], ref: str, folder: str) -> Publishing:
    """Return how to publish the patch; each ref and each sub-folder of a repository has a separate branch."""
    combined = table.child("", merged)
    kind = combined.one_of("result", _RESULTS, "patch")
    branch = combined.text("branch", Publishing.branch)
    if "branch" not in table.values:
        short_ref = ref[:_SHORT_HASH] if _HASH.fullmatch(ref) else ref
        branch = "-".join([branch, *(slug(part) for part in (short_ref, folder) if part)])
    if not is_ref(branch):
        raise table.error(f"{branch!r} is not a valid branch name", "branch")
    author = combined.text("author", Publishing.author)
    try:
        split_author(author)
    except ValueError as error:
        raise table.error(f"author: {error}", "author") from error
    message = combined.text("message", Publishing.message).strip()
    if not message:
        raise table.error("message must not be empty", "message")
    owner_reviews = combined.values.get("reviewers") == _OWNERS
    return Publishing(
        *(kind, branch, author, message),
        labels=combined.texts("labels"),
        reviewers=() if owner_reviews else combined.texts("reviewers"),
        draft=combined.flag("draft", Publishing.draft),
        fork=combined.one_of("fork", _FORKS, Publishing.fork),
        fork_owner=combined.text("fork-owner"),
        split=combined.one_of("split", _SPLITS, "none") == _OWNERS,
        owner_reviews=owner_reviews,
        limits=_limits(combined),
    )


def _limits(table: Table) -> Limits:
    window = table.text("window")
    try:
        if window:
            Window.parse(window)
    except ValueError as error:
        raise table.error(f"window: {error}", "window") from error
    return Limits(
        max_open=int(table.number("max-open", Limits.max_open, 1)),
        max_hourly=int(table.number("max-hourly", Limits.max_hourly, 1)),
        window=window,
    )


def verification(table: Table, shared: Mapping[str, Any], allow_missing_script: bool = False) -> Verification | None:
    """Return how to verify the patch; ``None`` for ``verify = false``.

    Args:
        table: the repository's table, whose ``verify`` overrides the default.
        shared: the content of ``[defaults]``.
        allow_missing_script: whether the script may be missing, as in ``[defaults]``.

    """
    table_values = table.values.get("verify", {})
    common = shared.get("verify", {})
    if table_values is False or (common is False and not table_values):
        return None
    if not isinstance(table_values, dict):
        raise table.error(f"verify must be a table, or false, not {table_values!r}", "verify")
    merged = {**(common or {}), **table_values}
    if not merged:
        return None
    if common and not table_values and "script" not in merged:
        return None
    within = table.child("verify", table_values)
    within.allow_only(*_VERIFY_KEYS)
    combined = within.child("", merged)
    script = combined.text("script")
    if not script and not allow_missing_script:
        raise table.error("verify must name a script", "verify")
    if script.startswith(("/", "..")):
        raise combined.error(f"script {script!r} is not within the repository", "script")
    setup = combined.text("setup")
    try:
        shlex.split(setup)
    except ValueError as error:
        raise combined.error(f"setup: {error}", "setup") from error
    steps = int(combined.number("max-steps", 1, 1)) if "max-steps" in merged else None
    return Verification(
        script=script,
        args=combined.texts("args"),
        module=combined.flag("module"),
        python=_python(combined),
        setup=setup,
        device=combined.one_of("device", _DEVICES, "auto"),
        max_steps=steps,
        timeout=combined.number("timeout", Verification.timeout, 0.1),
        memory_mb=int(combined.number("memory", Verification.memory_mb, 256)),
    )


def _python(table: Table) -> str:
    """Return an interpreter: a command on the path, or a file relative to the plan."""
    given = table.text("python")
    if not given:
        return ""
    if "/" not in given:
        if shutil.which(given) is None:
            raise table.error(f"the command {given!r} is not on the path", "python")
        return given
    path = os.path.abspath(os.path.join(os.path.dirname(table.file), os.path.expanduser(given)))
    if not os.access(path, os.X_OK):
        raise table.error(f"no such interpreter: {path}", "python")
    return path
