"""The rules of devfix: the modules of ``codemods`` that have a constant ``RULE``.

The package is loaded by name; nothing in devfix imports it otherwise.  A new rule is a new file.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from devfix.rules.rule import Rule

__all__ = ["code_folders", "own_rules", "rule_files"]

_PACKAGE = "codemods"


@lru_cache(maxsize=1)
def own_rules() -> tuple[Rule, ...]:
    """Return the rules of ``codemods``, sorted by code."""
    modules = (importlib.import_module(name) for name in _module_names())
    found = (getattr(module, "RULE", None) for module in modules)
    return tuple(sorted((rule for rule in found if isinstance(rule, Rule)), key=lambda rule: rule.code))


def code_folders() -> list[str]:
    """Return the folders of devfix's code: those of ``devfix`` itself and of the rules."""
    import devfix

    return [*devfix.__path__, *(str(folder) for folder in _folders())]


def rule_files() -> Iterator[Path]:
    """Yield the files that may define a rule of ``codemods``, without importing them."""
    for folder in _folders():
        yield from sorted(path for path in folder.glob("*/*.py") if not path.name.startswith("_"))


def _folders() -> list[Path]:
    spec = find_spec(_PACKAGE)
    return [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec else []


def _module_names() -> Iterator[str]:
    for group in pkgutil.iter_modules([str(folder) for folder in _folders()]):
        if group.ispkg:
            inside = [str(folder / group.name) for folder in _folders()]
            yield from (
                f"{_PACKAGE}.{group.name}.{info.name}" for info in pkgutil.iter_modules(inside) if not info.ispkg
            )
