"""``[tool.devfix.bot]`` in pyproject.toml.  The bot does nothing without ``enabled = true``."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from devfix.config import ConfigError, did_you_mean
from devfix.migrate.task import DEFAULT_AUTHOR, Verification
from devfix.vcs.commits import split_author

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["MODES", "BotSettings", "parse_settings"]

MODES = ("suggestions", "commit", "annotations")
_GROUP_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,59}")
_TYPE_NAMES: dict[type, str] = {
    bool: "true or false",
    int: "a number",
    str: "a string",
    dict: "a table",
    float: "a number",
}
#: Keys of ``[tool.devfix.bot.verify]`` and their types; named as the options of ``devfix verify``.
_VERIFY_KEYS: dict[str, type] = {
    **dict.fromkeys(("script", "python", "setup", "device"), str),
    "args": list,
    "module": bool,
    "max-steps": int,
    "timeout": float,
    "memory": int,
}


@dataclass(frozen=True)
class BotSettings:
    """Settings of the bot.

    Attributes:
        enabled: whether the bot may act.
        mode: how a review presents the patch: ``suggestions``, a ``commit`` on the branch, or ``annotations`` only.
        paths: the files and folders to analyse.
        draft: whether pull requests are drafts.
        labels: the labels of pull requests.
        max_open, max_hourly: the limits on open pull requests, and on pull requests opened within an hour.
        author: the author of commits, ``Name <address>``.
        groups: rules with a separate pull request, by group name; all other rules form the group ``device``.
        verification: how patches are verified; ``None`` to skip verification.

    """

    enabled: bool = False
    mode: str = "suggestions"
    paths: tuple[str, ...] = (".",)
    draft: bool = True
    labels: tuple[str, ...] = ("devfix",)
    max_open: int = 10
    max_hourly: int = 2
    author: str = DEFAULT_AUTHOR
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    verification: Verification | None = None


def parse_settings(raw: bytes | None, file: str = "pyproject.toml") -> BotSettings:
    """Return the settings in a pyproject.toml.

    Args:
        raw: the content of the file; ``None`` if there is none.
        file: the name for error messages.

    Raises:
        ConfigError: the file is not valid TOML, or a setting is invalid.

    """
    if raw is None or b"devfix" not in raw:
        return BotSettings()
    try:
        document = tomllib.loads(raw.decode("utf-8"))
    except ValueError as error:  # also numbers with thousands of digits
        raise ConfigError(f"{file}: not valid TOML: {error}") from error
    except RecursionError:
        raise ConfigError(f"{file}: too deeply nested") from None
    table: Any = document
    for key in ("tool", "devfix", "bot"):
        table = table.get(key, {}) if isinstance(table, dict) else {}
    if not isinstance(table, dict):
        raise ConfigError(f"{file}: tool.devfix.bot must be a table")
    return _settings(_Table(file, "tool.devfix.bot", table))


@dataclass(frozen=True)
class _Table:
    file: str
    name: str
    values: Mapping[str, Any]

    def allow_only(self, *keys: str) -> None:
        for key in self.values:
            if key not in keys:
                raise ConfigError(f"{self.file}: unknown key {self.name}.{key}{did_you_mean(key, keys)}")

    def get(self, key: str, default: Any, expected: type | None = None) -> Any:
        expected = expected or type(default)
        if key not in self.values:
            return default
        value: Any = self.values[key]
        if expected is float and type(value) is int:
            value = float(value)
        actual: type = type(value)  # not isinstance: bool is an int
        if actual is not expected or (expected in (int, float) and value <= 0):
            raise self.error(key, _TYPE_NAMES[expected])
        return value

    def strings(self, key: str, default: tuple[str, ...]) -> tuple[str, ...]:
        value = self.values.get(key, list(default))
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise self.error(key, "a list of strings")
        return tuple(value)

    def error(self, key: str, requirement: str) -> ConfigError:
        return ConfigError(f"{self.file}: {self.name}.{key} must be {requirement}, not {self.values[key]!r}")


def _settings(table: _Table) -> BotSettings:
    table.allow_only(
        *("author", "draft", "enabled", "groups", "labels", "max-hourly", "max-open", "mode", "paths", "verify"),
    )
    mode = table.get("mode", BotSettings.mode)
    if mode not in MODES:
        raise table.error("mode", f"one of {', '.join(MODES)}")
    author = table.get("author", BotSettings.author)
    try:
        split_author(author)
    except ValueError:
        raise table.error("author", "of the form 'Name <address>'") from None
    paths = table.strings("paths", BotSettings.paths)
    if any(path.startswith(("/", "~", "-")) or ".." in path.split("/") for path in paths):
        raise table.error("paths", "files and folders within the repository")
    return BotSettings(
        enabled=table.get("enabled", BotSettings.enabled),
        mode=mode,
        paths=paths,
        draft=table.get("draft", BotSettings.draft),
        labels=table.strings("labels", BotSettings.labels),
        max_open=table.get("max-open", BotSettings.max_open),
        max_hourly=table.get("max-hourly", BotSettings.max_hourly),
        author=author,
        groups=_groups(_Table(table.file, f"{table.name}.groups", table.get("groups", {}))),
        verification=_verification(table),
    )


def _groups(table: _Table) -> dict[str, tuple[str, ...]]:
    from devfix.config import resolve_codes
    from devfix.rules.registry import all_rules

    known = {rule.code: rule.name for rule in all_rules()}
    for name in table.values:
        if not _GROUP_NAME.fullmatch(name) or name.endswith((".lock", ".")) or ".." in name or name == "device":
            raise ConfigError(
                f"{table.file}: {table.name}.{name}: the name of a group must be lower-case letters, digits and hyphens"
            )
    return {
        name: resolve_codes(table.strings(name, ()), known, f"{table.file}: {table.name}.{name}")
        for name in table.values
    }


def _verification(table: _Table) -> Verification | None:
    if "verify" not in table.values:
        return None
    verify = _Table(table.file, f"{table.name}.verify", table.get("verify", {}))
    verify.allow_only(*_VERIFY_KEYS)
    if not verify.get("script", ""):
        raise ConfigError(f"{verify.file}: {verify.name}.script must name the script to run")
    from devfix.verify.targets import CHOICES

    device = verify.get("device", Verification.device)
    if device not in CHOICES:
        raise verify.error("device", f"one of {', '.join(CHOICES)}")
    return Verification(
        script=verify.get("script", ""),
        args=verify.strings("args", ()),
        module=verify.get("module", Verification.module),
        python=verify.get("python", Verification.python),
        setup=verify.get("setup", Verification.setup),
        device=device,
        max_steps=verify.get("max-steps", None, int),
        timeout=verify.get("timeout", Verification.timeout),
        memory_mb=verify.get("memory", Verification.memory_mb),
    )
