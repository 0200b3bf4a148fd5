"""``[tool.devfix.bot]`` in pyproject.toml: without ``enabled = true`` the bot does nothing."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from devfix.config import ConfigError, did_you_mean
from devfix.migrate.publishing import split_author
from devfix.migrate.task import DEFAULT_AUTHOR, Verification

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["MODES", "BotSettings", "of_bytes"]

MODES = ("suggestions", "commit", "annotations")
_GROUP = re.compile(r"[a-z0-9][a-z0-9._-]{0,59}")
_KINDS: dict[type, str] = {bool: "true or false", int: "a number", str: "a string", dict: "a table", float: "a number"}
#: Keys of ``[tool.devfix.bot.verify]``, and what they are; named as the options of ``devfix verify``.
_RUNS: dict[str, type] = {
    **dict.fromkeys(("script", "python", "setup", "device"), str),
    "args": list,
    "module": bool,
    "max-steps": int,
    "timeout": float,
    "memory": int,
}


@dataclass(frozen=True)
class BotSettings:
    """What the bot may do in a repository.

    Attributes:
        enabled: whether it may do anything.
        mode: what a review makes of a patch: ``suggestions``, a ``commit`` on the branch, or ``annotations`` only.
        paths: what is looked at.
        draft: whether its pull requests are drafts.
        labels: of its pull requests.
        max_open, max_hourly: how many pull requests are open, and are made within an hour.
        author: of its commits, ``Name <address>``.
        groups: rules that have a pull request of their own, by name; the others are the group ``device``.
        verification: how patches are proved; ``None`` for not at all.

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


def of_bytes(raw: bytes | None, where: str = "pyproject.toml") -> BotSettings:
    """The bot's settings in the bytes of a pyproject.toml; raises ``ConfigError``."""
    if raw is None or b"devfix" not in raw:
        return BotSettings()
    try:
        document = tomllib.loads(raw.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{where}: not valid TOML: {error}") from error
    table: Any = document
    for key in ("tool", "devfix", "bot"):
        table = table.get(key, {}) if isinstance(table, dict) else {}
    if not isinstance(table, dict):
        raise ConfigError(f"{where}: tool.devfix.bot must be a table")
    return _settings(_Table(where, "tool.devfix.bot", table))


@dataclass(frozen=True)
class _Table:
    where: str
    name: str
    values: Mapping[str, Any]

    def only(self, *keys: str) -> None:
        for key in self.values:
            if key not in keys:
                raise ConfigError(f"{self.where}: unknown key {self.name}.{key}{did_you_mean(key, keys)}")

    def get(self, key: str, default: Any, kind: type | None = None) -> Any:
        kind = kind or type(default)
        if key not in self.values:
            return default
        value: Any = self.values[key]
        if kind is float and type(value) is int:
            value = float(value)
        given: type = type(value)  # not isinstance: true is no number
        if given is not kind or (kind in (int, float) and value <= 0):
            raise self.wrong(key, _KINDS[kind])
        return value

    def strings(self, key: str, default: tuple[str, ...]) -> tuple[str, ...]:
        value = self.values.get(key, list(default))
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise self.wrong(key, "a list of strings")
        return tuple(value)

    def wrong(self, key: str, right: str) -> ConfigError:
        return ConfigError(f"{self.where}: {self.name}.{key} must be {right}, not {self.values[key]!r}")


def _settings(table: _Table) -> BotSettings:
    table.only(
        *("author", "draft", "enabled", "groups", "labels", "max-hourly", "max-open", "mode", "paths", "verify"),
    )
    mode = table.get("mode", BotSettings.mode)
    if mode not in MODES:
        raise table.wrong("mode", f"one of {', '.join(MODES)}")
    author = table.get("author", BotSettings.author)
    try:
        split_author(author)
    except ValueError:
        raise table.wrong("author", "of the form 'Name <address>'") from None
    paths = table.strings("paths", BotSettings.paths)
    if any(path.startswith(("/", "~", "-")) or ".." in path.split("/") for path in paths):
        raise table.wrong("paths", "files and folders within the repository")
    return BotSettings(
        enabled=table.get("enabled", BotSettings.enabled),
        mode=mode,
        paths=paths,
        draft=table.get("draft", BotSettings.draft),
        labels=table.strings("labels", BotSettings.labels),
        max_open=table.get("max-open", BotSettings.max_open),
        max_hourly=table.get("max-hourly", BotSettings.max_hourly),
        author=author,
        groups=_groups(_Table(table.where, f"{table.name}.groups", table.get("groups", {}))),
        verification=_verification(table),
    )


def _groups(table: _Table) -> dict[str, tuple[str, ...]]:
    from devfix.config import resolve_codes
    from devfix.rules.registry import all_rules

    known = {rule.code: rule.name for rule in all_rules()}
    for name in table.values:
        if not _GROUP.fullmatch(name) or name.endswith((".lock", ".")) or ".." in name or name == "device":
            raise ConfigError(
                f"{table.where}: {table.name}.{name}: a group is named by small letters, digits and hyphens"
            )
    return {
        name: resolve_codes(table.strings(name, ()), known, f"{table.where}: {table.name}.{name}")
        for name in table.values
    }


def _verification(table: _Table) -> Verification | None:
    if "verify" not in table.values:
        return None
    runs = _Table(table.where, f"{table.name}.verify", table.get("verify", {}))
    runs.only(*_RUNS)
    if not runs.get("script", ""):
        raise ConfigError(f"{runs.where}: {runs.name}.script must name the script that is run")
    from devfix.verify.targets import CHOICES

    device = runs.get("device", Verification.device)
    if device not in CHOICES:
        raise runs.wrong("device", f"one of {', '.join(CHOICES)}")
    return Verification(
        script=runs.get("script", ""),
        args=runs.strings("args", ()),
        module=runs.get("module", Verification.module),
        python=runs.get("python", Verification.python),
        setup=runs.get("setup", Verification.setup),
        device=device,
        max_steps=runs.get("max-steps", None, int),
        timeout=runs.get("timeout", Verification.timeout),
        memory_mb=runs.get("memory", Verification.memory_mb),
    )
