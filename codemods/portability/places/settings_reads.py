"""Expressions that read a setting for a device, whose value in YAML, JSON, INI, or a module of settings, is CUDA."""

from __future__ import annotations

import ast
import re

from devfix.syntax import project_flags
from devfix.syntax.tree import SourceTree

__all__ = ["is_answered", "reads_cuda_setting"]

_SETTINGS = re.compile(
    r"(?:\w*_)?(?:args?|cfgs?|conf|configs?|configuration|hp|hparams?|opts?|options|params|settings)(?:_\w+)?",
    re.IGNORECASE,
)


def reads_cuda_setting(tree: SourceTree, node: ast.AST) -> bool:
    """Return whether an expression reads a key that settings give a CUDA device: ``config["device"]``.

    If the file gives the key a value itself, it does not read the one of the settings.
    """
    devices = project_flags.current().devices
    return bool(devices) and _reads(node, devices) and not _is_set(tree, node)


def is_answered(target: ast.expr) -> bool:
    """Return whether an assignment sets a setting that another file replaces where CUDA is not available."""
    return isinstance(target, ast.Attribute) and target.attr in project_flags.current().answered


def _reads(node: ast.AST, devices: frozenset[str]) -> bool:
    match node:
        case ast.Subscript(value=value, slice=ast.Constant(value=str(key)), ctx=ast.Load()):
            return key in devices and _holds_settings(value)
        case ast.Call(func=ast.Attribute(attr="get", value=value), args=[ast.Constant(value=str(key)), *_]):
            return key in devices and _holds_settings(value)
        case ast.Attribute(attr=key, value=value, ctx=ast.Load()):
            return key in devices and _holds_settings(value)
    return False


def _holds_settings(node: ast.expr) -> bool:
    """Return whether an object holds settings, by one of its names: ``self.cfg.train``; a tensor has a device, too."""
    names = (each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "") for each in ast.walk(node))
    return isinstance(node, (ast.Attribute, ast.Name, ast.Subscript)) and any(map(_SETTINGS.fullmatch, names))


def _is_set(tree: SourceTree, node: ast.AST) -> bool:
    keys = {str(each.value) for each in ast.walk(node) if isinstance(each, ast.Constant)}
    return ast.unparse(node) in tree.derived(_set_keys) or not tree.derived(_set_keys).isdisjoint(keys)


def _set_keys(tree: SourceTree) -> frozenset[str]:
    """Return the keys that a file itself gives values: of dictionaries, and by assignment."""
    found: set[str] = set()
    for node in tree.nodes:
        match node:
            case ast.Dict(keys=keys):
                found.update(str(key.value) for key in keys if isinstance(key, ast.Constant))
            case ast.Subscript(slice=ast.Constant(value=str(key)), ctx=ast.Store()):
                found.add(key)
            case ast.Attribute(ctx=ast.Store()):
                found.add(ast.unparse(node))
    return frozenset(found)
