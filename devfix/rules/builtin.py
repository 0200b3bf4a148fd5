"""Built-in rules: the modules of ``codemods`` that define a constant ``RULE``.

The package is imported by name and nowhere else in devfix. Adding a file adds a rule.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from devfix.rules.rule import Rule

__all__ = ["builtin_rules", "code_folders", "rule_files"]

_PACKAGE = "codemods"


@lru_cache(maxsize=1)
def builtin_rules() -> tuple[Rule, ...]:
    """Return the rules of ``codemods``, sorted by code."""
    modules = (importlib.import_module(name) for name in _module_names())
    found = (getattr(module, "RULE", None) for module in modules)
    return tuple(sorted((rule for rule in found if isinstance(rule, Rule)), key=lambda rule: rule.code))


def code_folders() -> list[str]:
    """Return the folders of devfix's code: the package ``devfix`` and the rules."""
    import devfix

    return [*devfix.__path__, *(str(folder) for folder in _package_folders())]


def rule_files() -> Iterator[Path]:
    """Yield the files of ``codemods`` that may define a rule, without importing them."""
    for folder in _package_folders():
        yield from sorted(path for path in folder.glob("*/*.py") if not path.name.startswith("_"))


def _package_folders() -> list[Path]:
    spec = find_spec(_PACKAGE)
    return [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec else []


def _module_names() -> Iterator[str]:
    for group in pkgutil.iter_modules([str(folder) for folder in _package_folders()]):
        if group.ispkg:
            paths = [str(folder / group.name) for folder in _package_folders()]
            yield from (
                f"{_PACKAGE}.{group.name}.{info.name}" for info in pkgutil.iter_modules(paths) if not info.ispkg
            )
