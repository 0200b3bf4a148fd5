"""Rules from elsewhere: of installed packages (entry points), and of the repository itself (local modules).

An installed package is trusted as any other that is installed.  A local module runs code of the repository: it is
imported where a configuration names it *and* a command says so (``check``, ``apply``, ``rules``, ``explain``).
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

from devfix.config import ConfigError
from devfix.sources.digest import digest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from devfix.rules.rule import Rule

__all__ = ["GROUP", "installed", "loaded", "local", "only", "version"]

GROUP = "devfix.rules"
_CODE = re.compile(r"[A-Z]{3,10}[0-9]{3}")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_local: dict[tuple[str, str], tuple[tuple[Rule, ...], str]] = {}  # root and module → rules, digest of the files
_instead: tuple[Rule, ...] | None = None


def loaded() -> tuple[Rule, ...]:
    """The rules of installed packages and of the local modules that were asked for."""
    if _instead is not None:
        return _instead
    return (*installed(), *(rule for rules, _ in _local.values() for rule in rules))


@contextmanager
def only(rule: Rule) -> Iterator[None]:
    """Have one rule beside those of devfix, for a test; it need not be installed."""
    global _instead
    before, _instead = _instead, () if rule in _devfix() else (replace(rule, origin=rule.origin or "the test"),)
    try:
        yield
    finally:
        _instead = before


def _devfix() -> tuple[Rule, ...]:
    from devfix.rules.builtin import own_rules

    return own_rules()


def version() -> str:
    """Names these rules in this state, for what is kept between runs."""
    names = [f"{each.name} {_dist(each)}" for each in _entry_points()]
    return digest(*names, *(state for _, state in _local.values()))


@lru_cache(maxsize=1)
def installed() -> tuple[Rule, ...]:
    """The rules of installed packages.  Raises :class:`ConfigError` for one that cannot be used."""
    rules: list[Rule] = []
    for entry in _entry_points():
        origin = f"the plugin {entry.name!r} of {_dist(entry)}"
        try:
            given = entry.load()
        except (Exception, SystemExit) as error:  # it is another package's code: whatever it raises is told in one line
            raise _unusable(origin, error) from error
        rules += _checked(given, origin, rules)
    return tuple(rules)


def local(names: Sequence[str], root: str) -> None:
    """Import modules of a repository for their rules.  Raises :class:`ConfigError` for one that cannot be used."""
    for name in names:
        key = (os.path.abspath(root), name)
        if key not in _local:
            origin = f"the plugin {name!r} of tool.devfix.rules.plugins"
            module = _module(*key, origin)
            _local[key] = tuple(_checked(module, origin, loaded())), _state(module)


def _entry_points() -> list[EntryPoint]:
    from importlib.metadata import entry_points

    return sorted(entry_points(group=GROUP), key=lambda each: (each.name, each.value))


def _dist(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else entry.value


def _module(root: str, name: str, origin: str) -> ModuleType:
    path = os.path.join(root, *name.split("."))
    package = os.path.join(path, "__init__.py")
    file = package if os.path.isfile(package) else f"{path}.py"
    if not os.path.isfile(file):
        raise ConfigError(f"{origin}: there is no {os.path.relpath(file, root)} in {root}")
    unique = f"devfix_local_{digest(root)[:8]}_{name.replace('.', '_')}"
    inside = [path] if file == package else None
    spec = importlib.util.spec_from_file_location(unique, file, submodule_search_locations=inside)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[unique] = module  # where its own relative imports look
    sys.path.append(root)  # last: nothing that is installed is hidden by the repository
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # it is the repository's code: whatever it raises is told in one line
        del sys.modules[unique]
        raise _unusable(origin, error) from error
    finally:
        sys.path.remove(root)
    return module


def _unusable(origin: str, error: BaseException) -> ConfigError:
    told = " ".join(f"{type(error).__name__}: {error}".split())
    return ConfigError(f"{origin} cannot be imported ({told})")


def _state(module: ModuleType) -> str:
    """A digest of a local module's file, or of those of its package."""
    file = module.__file__ or ""
    files = [file]
    if os.path.basename(file) == "__init__.py":
        walked = os.walk(os.path.dirname(file))
        found = (os.path.join(folder, each) for folder, _, names in walked for each in names)
        files = sorted(each for each in found if each.endswith(".py"))
    parts: list[str | bytes] = []
    for each in files:
        with open(each, "rb") as opened:
            parts += [each, opened.read()]
    return digest(*parts)


def _checked(given: Any, origin: str, others: Iterable[Rule]) -> list[Rule]:
    """The rules of a module (``RULE`` or ``RULES``), of a rule, or of several; with where they are from."""
    from devfix.rules.builtin import own_rules
    from devfix.rules.rule import Rule

    if isinstance(given, ModuleType):
        given = getattr(given, "RULES", getattr(given, "RULE", None))
    rules = [given] if isinstance(given, Rule) else list(given) if isinstance(given, (list, tuple)) else []
    if not rules or not all(isinstance(rule, Rule) for rule in rules):
        raise ConfigError(f"{origin} gives no rules: name a Rule, a list of them, or a module with RULE or RULES")
    taken = {word: rule for rule in (*own_rules(), *others) for word in (rule.code, rule.name)}
    for rule in rules:
        problem = _problem(rule, taken)
        if problem:
            raise ConfigError(f"{origin}: {problem}")
        taken.update({rule.code: rule, rule.name: rule})
    return [replace(rule, origin=origin) for rule in rules]


def _problem(rule: Any, taken: dict[str, Rule]) -> str:
    """What is wrong with the words of a rule; empty where nothing is."""
    if not isinstance(rule.code, str) or not _CODE.fullmatch(rule.code) or rule.code.startswith("DEV"):
        return f"the code {rule.code!r} must be 3 to 10 capitals (not DEV) and 3 digits, such as 'ACME101'"
    if not isinstance(rule.name, str) or not _NAME.fullmatch(rule.name):
        return f"{rule.code}: the name {rule.name!r} must be lower case with hyphens, such as 'no-pinned-memory'"
    if not rule.summary or not rule.documentation or not rule.documentation.strip():
        return f"{rule.code}: a rule has a summary and documentation"
    if not callable(rule.detect):
        return f"{rule.code}: detect must be a function of the facts of a program"
    for field in ("causes", "error_families"):
        names = getattr(rule, field)
        if not isinstance(names, tuple) or not all(isinstance(name, str) and _NAME.fullmatch(name) for name in names):
            return f"{rule.code}: {field} must be a tuple of lower-case names with hyphens"
    if rule.concerns not in ("modules", "values", ""):
        return f"{rule.code}: concerns must be 'modules', 'values' or ''"
    for word in (rule.code, rule.name):
        if word in taken:
            return f"{word!r} is taken by {taken[word].origin or 'devfix itself'}"
    return ""
