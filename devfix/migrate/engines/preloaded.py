"""What the process that workers fork from imports, once: a worker that is replaced costs milliseconds."""

from importlib import import_module

__all__ = ["MODULES"]

MODULES = (
    *("libcst", "codemods._rewrite", "devfix.migrate.work", "devfix.migrate.publishing"),
    *("devfix.report.diff", "devfix.report.json"),
)

for name in MODULES:
    import_module(name)
import_module("codemods").all_rules()
