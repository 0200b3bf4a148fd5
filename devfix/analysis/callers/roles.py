"""Roles of functions: what runs on the accelerator, and what runs on the CPU on CPU data."""

from __future__ import annotations

import ast
from enum import Enum
from pathlib import PurePath

from devfix.analysis.callers.file_names import FileNames, names_of
from devfix.syntax.tree import SourceTree

__all__ = ["Role", "role"]


class Role(Enum):
    """Where a function runs."""

    MODULE_METHOD = "method of a module"
    FUNCTION = "function or method on tensors of the caller"
    HOST = "runs on the CPU, on CPU data"
    TEST = "test, benchmark or example"
    SCRIPT = "part of a program that is run as a file"


_TEST_FOLDERS = frozenset("test tests testing conformance benchmark benchmarks".split())
_HOST_BASES = ("Dataset", "Sampler", "DataModule", "Collator", "DatasetFolder", "VisionDataset", "ImageFolder")
_HOST_NAMES = ("collate", "worker_init", "plot", "visuali", "preprocess", "tokenize")


def role(function: ast.FunctionDef | ast.AsyncFunctionDef, owner: ast.ClassDef | None, tree: SourceTree) -> Role:
    """Return the role of a function.

    Args:
        function: a function or method of the file.
        owner: the class of a method.
        tree: the file.

    """
    names = names_of(tree)
    if _is_test(tree.path, function, owner):
        return Role.TEST
    if owner is not None and names.is_module(owner):
        return Role.MODULE_METHOD
    if (owner is not None and _is_host_class(owner, names)) or any(part in function.name for part in _HOST_NAMES):
        return Role.HOST
    return Role.FUNCTION


def _is_test(path: str, function: ast.FunctionDef | ast.AsyncFunctionDef, owner: ast.ClassDef | None) -> bool:
    parts = PurePath(path).parts
    name = parts[-1] if parts else ""
    in_tests = bool(_TEST_FOLDERS & set(parts[:-1])) or name.startswith("test_") or name == "conftest.py"
    return in_tests or function.name.startswith("test_") or (owner is not None and owner.name.startswith("Test"))


def _is_host_class(owner: ast.ClassDef, names: FileNames) -> bool:
    return any(names.full_name(base).endswith(_HOST_BASES) for base in owner.bases)
