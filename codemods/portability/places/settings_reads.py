"""Expressions that read a setting for a device, whose value in a YAML or JSON file is CUDA."""

from __future__ import annotations

import ast
import re

from devfix.syntax import project_flags

__all__ = ["reads_cuda_setting"]

_SETTINGS = re.compile(
    r"(?:\w*_)?(?:args?|cfgs?|conf|configs?|configuration|hp|hparams?|opts?|options|params|settings)(?:_\w+)?",
    re.IGNORECASE,
)


def reads_cuda_setting(node: ast.AST) -> bool:
    """Return whether an expression reads a key that a settings file gives a CUDA device: ``config["device"]``."""
    devices = project_flags.current().devices
    if not devices:
        return False
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
