"""Modules that the forkserver imports once, so that replacing a worker takes milliseconds."""

from importlib import import_module

__all__ = ["MODULES"]

MODULES = (
    *("libcst", "devfix.rewrite", "devfix.migrate.work", "devfix.migrate.publishing"),
    *("devfix.vcs.unified_diff", "devfix.engine.documents"),
)

for name in MODULES:
    import_module(name)
import_module("devfix.rules.registry").all_rules()
