"""Options of a command line, as calls declare them: ``parser.add_argument("--gpu", type=int)``."""

from __future__ import annotations

import ast

__all__ = ["is_declared", "option_attribute"]

_DECLARES = ("add_argument", "option")


def is_declared(node: ast.AST) -> bool:
    """Return whether a call declares an option: ``parser.add_argument("--gpu", type=int)``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _DECLARES


def option_attribute(declaration: ast.Call) -> str:
    """Return the attribute of an option: its ``dest``, or that of its first long name; empty if it is computed."""
    names = [each.value for each in declaration.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    long = [name for name in names if name.startswith("--")] or names or [""]
    dest = next((keyword.value for keyword in declaration.keywords if keyword.arg == "dest"), None)
    if dest is not None:
        return str(dest.value) if isinstance(dest, ast.Constant) else ""
    return long[0].lstrip("-").replace("-", "_")
