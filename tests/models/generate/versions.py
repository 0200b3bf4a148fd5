"""Versions of PyTorch in which a name exists: ``python -m models.generate.versions 2.4=DIR 2.5=DIR ... 2.13=DIR``.

Each directory is a wheel of that version, unpacked.  Its sources are read, not run, and need not fit this machine: the
wheels for macOS, which are small, have the same names.  What is found is kept in ``versions.json``, so that the table
can be generated with one version installed.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from .names import METHODS, functions

__all__ = ["PATH", "VERSIONS", "names_in", "spans"]

PATH = Path(__file__).with_name("versions.json")
#: Versions that the table knows, in order.
VERSIONS = tuple(f"2.{minor}" for minor in range(4, 14))

_MODULES = {
    "torch.nn.functional.": "nn/functional.py",
    "torch.linalg.": "linalg/__init__.py",
    "torch.special.": "special/__init__.py",
    "torch.fft.": "fft/__init__.py",
    "torch.sparse.": "sparse/__init__.py",
    "torch.masked.": "masked/__init__.py",
    "torch.nested.": "nested/__init__.py",
}


def _body(path: Path) -> list[ast.stmt]:
    return ast.parse(path.read_text(encoding="utf-8")).body


def _defined(body: Iterable[ast.stmt], *, imports: bool = True) -> Iterator[str]:
    """Names that statements bind; properties and fields are left out."""
    for node in body:
        if isinstance(node, ast.FunctionDef):
            if not any(ast.unparse(each) == "property" for each in node.decorator_list):
                yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif imports and isinstance(node, ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)


def _class(body: Iterable[ast.stmt], name: str) -> list[ast.stmt]:
    return next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == name)


def names_in(wheel: Path, *, imports: bool = True) -> set[str]:
    """Return the names of functions and methods in an unpacked wheel, with or without those that modules import."""
    torch = wheel / "torch"
    names = {
        f"torch.{name}"
        for path in ("_C/_VariableFunctions.pyi", "functional.py", "__init__.py")
        for name in _defined(_body(torch / path), imports=imports)
    }
    methods = [
        *_defined(_class(_body(torch / "_C/__init__.pyi"), "TensorBase")),
        *_defined(_class(_body(torch / "_tensor.py"), "Tensor")),
    ]
    names |= {METHODS + name for name in methods}
    for prefix, path in _MODULES.items():
        names |= {prefix + name for name in _defined(_body(torch / path), imports=imports)}
    return {name for name in names if not name.rpartition(".")[2].startswith("_")}


def spans(wheels: dict[str, Path]) -> dict[str, dict[str, str]]:
    """Return the first version of names that came after the oldest, and the last one of those that went."""
    found = {version: names_in(wheels[version]) for version in VERSIONS}
    newest = found[VERSIONS[-1]]
    since = {
        name: next(version for version in VERSIONS if name in found[version])
        for name in functions()
        if name in newest and name not in found[VERSIONS[0]]
    }
    return {"since": dict(sorted(since.items())), "until": dict(sorted(_gone(wheels).items()))}


def _gone(wheels: dict[str, Path]) -> dict[str, str]:
    """Functions and methods that are gone, with their last version."""
    present = names_in(wheels[VERSIONS[-1]]) | functions().keys()
    found = {version: names_in(wheels[version], imports=False) - present for version in VERSIONS}
    return {name: version for version in VERSIONS for name in sorted(found[version]) if name not in _NOT_FUNCTIONS}


_NOT_FUNCTIONS = ("torch.linalg.Tensor", "torch.py_float", "torch.py_int")


if __name__ == "__main__":
    given = dict(each.split("=", 1) for each in sys.argv[1:])
    PATH.write_text(json.dumps(spans({v: Path(p) for v, p in given.items()}), indent=1) + "\n", encoding="utf-8")
