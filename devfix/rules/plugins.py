"""Plugin rules: from installed packages (entry points) and from modules of the analyzed repository.

Installed packages are trusted. A local module is code of the analyzed repository: it is imported only if the
configuration names it, the command allows it (``check``, ``apply``, ``rules``, ``explain``), *and* a person trusts the
repository (:mod:`devfix.rules.trust`).
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

__all__ = ["GROUP", "installed_rules", "load_local_rules", "only", "plugin_rules", "version"]

GROUP = "devfix.rules"
_CODE = re.compile(r"[A-Z]{3,10}[0-9]{3}")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_local: dict[tuple[str, str], tuple[tuple[Rule, ...], str]] = {}  # (root, module) → rules, digest of the files
_test_rules: tuple[Rule, ...] | None = None


def plugin_rules() -> tuple[Rule, ...]:
    """Return the rules of installed packages and of the local modules imported so far."""
    if _test_rules is not None:
        return _test_rules
    return (*installed_rules(), *(rule for rules, _ in _local.values() for rule in rules))


@contextmanager
def only(rule: Rule) -> Iterator[None]:
    """Make ``rule`` the only plugin rule within the context, for tests; it need not be installed."""
    global _test_rules
    before = _test_rules
    _test_rules = () if rule in _builtin_rules() else (replace(rule, origin=rule.origin or "the test"),)
    try:
        yield
    finally:
        _test_rules = before


def _builtin_rules() -> tuple[Rule, ...]:
    from devfix.rules.builtin import builtin_rules

    return builtin_rules()


def version() -> str:
    """Return a digest of all plugin rules, as part of cache keys."""
    names = [f"{each.name} {_distribution(each)}" for each in _entry_points()]
    return digest(*names, *(state for _, state in _local.values()))


@lru_cache(maxsize=1)
def installed_rules() -> tuple[Rule, ...]:
    """Return the rules of installed packages; raise :class:`ConfigError` if one cannot be used."""
    rules: list[Rule] = []
    for entry in _entry_points():
        origin = f"the plugin {entry.name!r} of {_distribution(entry)}"
        try:
            target = entry.load()
        except (Exception, SystemExit) as error:  # third-party code: any exception becomes one line
            raise _import_error(origin, error) from error
        rules += _validate(target, origin, rules)
    return tuple(rules)


def load_local_rules(names: Sequence[str], root: str) -> None:
    """Import the rules of modules in a repository; raise :class:`ConfigError` if one cannot be used."""
    for name in names:
        key = (os.path.abspath(root), name)
        if key not in _local:
            origin = f"the plugin {name!r} of tool.devfix.plugins"
            module = _import_module(*key, origin)
            _local[key] = tuple(_validate(module, origin, plugin_rules())), _digest_files(module)


@lru_cache(maxsize=1)
def _entry_points() -> tuple[EntryPoint, ...]:
    from importlib.metadata import entry_points

    return tuple(sorted(entry_points(group=GROUP), key=lambda each: (each.name, each.value)))


def _distribution(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else entry.value


def _import_module(root: str, name: str, origin: str) -> ModuleType:
    path = os.path.join(root, *name.split("."))
    package = os.path.join(path, "__init__.py")
    file = package if os.path.isfile(package) else f"{path}.py"
    if not os.path.isfile(file):
        raise ConfigError(f"{origin}: there is no {os.path.relpath(file, root)} in {root}")
    module_name = f"devfix_local_{digest(root)[:8]}_{name.replace('.', '_')}"
    search_locations = [path] if file == package else None
    spec = importlib.util.spec_from_file_location(module_name, file, submodule_search_locations=search_locations)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # for its relative imports
    sys.path.append(root)  # last: installed packages take precedence
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # code of the repository: any exception becomes one line
        del sys.modules[module_name]
        raise _import_error(origin, error) from error
    finally:
        sys.path.remove(root)
    return module


def _import_error(origin: str, error: BaseException) -> ConfigError:
    description = " ".join(f"{type(error).__name__}: {error}".split())
    return ConfigError(f"{origin} cannot be imported ({description})")


def _digest_files(module: ModuleType) -> str:
    """Return a digest of a local module's file, or of all files of its package."""
    file = module.__file__ or ""
    files = [file]
    if os.path.basename(file) == "__init__.py":
        walk = os.walk(os.path.dirname(file))
        found = (os.path.join(folder, each) for folder, _, names in walk for each in names)
        files = sorted(each for each in found if each.endswith(".py"))
    parts: list[str | bytes] = []
    for each in files:
        with open(each, "rb") as opened:
            parts += [each, opened.read()]
    return digest(*parts)


def _validate(target: Any, origin: str, known: Iterable[Rule]) -> list[Rule]:
    """Return the rules of a module (``RULE`` or ``RULES``), of a list, or a single rule, with their origin set."""
    from devfix.rules.builtin import builtin_rules
    from devfix.rules.rule import Rule

    if isinstance(target, ModuleType):
        target = getattr(target, "RULES", getattr(target, "RULE", None))
    rules = [target] if isinstance(target, Rule) else list(target) if isinstance(target, (list, tuple)) else []
    if not rules or not all(isinstance(rule, Rule) for rule in rules):
        raise ConfigError(f"{origin} defines no rules: name a Rule, a list of them, or a module with RULE or RULES")
    known_identifiers = {
        identifier: rule for rule in (*builtin_rules(), *known) for identifier in (rule.code, rule.name)
    }
    for rule in rules:
        problem = _problem(rule, known_identifiers)
        if problem:
            raise ConfigError(f"{origin}: {problem}")
        known_identifiers.update({rule.code: rule, rule.name: rule})
    return [replace(rule, origin=origin) for rule in rules]


def _is_subscription(value: Any) -> bool:
    from devfix.analysis.observations import Observation, Subscription

    if not isinstance(value, Subscription) or not callable(value.handler):
        return False
    observed: object = value.observation
    return isinstance(observed, type) and issubclass(observed, Observation)


def _problem(rule: Any, known_identifiers: dict[str, Rule]) -> str:
    """Return why a rule is invalid; empty if it is valid."""
    if not isinstance(rule.code, str) or not _CODE.fullmatch(rule.code) or rule.code.startswith("DEV"):
        return f"the code {rule.code!r} must be 3 to 10 capital letters (not DEV) and 3 digits, such as 'ACME101'"
    if not isinstance(rule.name, str) or not _NAME.fullmatch(rule.name):
        return f"{rule.code}: the name {rule.name!r} must be lowercase with hyphens, such as 'no-pinned-memory'"
    if not rule.summary or not rule.documentation or not rule.documentation.strip():
        return f"{rule.code}: a rule needs a summary and documentation"
    if not callable(rule.detect):
        return f"{rule.code}: detect must be a function that takes Observations"
    for field in ("causes", "error_families"):
        names = getattr(rule, field)
        if not isinstance(names, tuple) or not all(isinstance(name, str) and _NAME.fullmatch(name) for name in names):
            return f"{rule.code}: {field} must be a tuple of lower-case names with hyphens"
    if not isinstance(rule.subscriptions, tuple) or not all(map(_is_subscription, rule.subscriptions)):
        return f"{rule.code}: subscriptions must be a tuple of Subscription(type of observation, function)"
    if rule.concerns not in ("modules", "values", ""):
        return f"{rule.code}: concerns must be 'modules', 'values' or ''"
    for identifier in (rule.code, rule.name):
        if identifier in known_identifiers:
            return f"{identifier!r} is already used by {known_identifiers[identifier].origin or 'devfix'}"
    return ""
