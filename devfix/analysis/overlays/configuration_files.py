"""Configuration files of the project: found beside the script, and read as data."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from devfix.analysis.domain.records import dataclass

if TYPE_CHECKING:
    from devfix.analysis.program import Program
    from devfix.syntax.tree import SourceTree

__all__ = ["Tagged", "best_files", "read_file"]

_SUFFIXES = (".yaml", ".yml")
_MOST_FILES = 40
_MOST_CONFIGURATIONS = 3
_LARGEST = 200_000  # characters


@dataclass(frozen=True)
class Tagged:
    """A YAML node with a tag of an application: ``!new:torch.nn.Linear``; ``tag`` is without the exclamation mark."""

    tag: str
    content: object


def best_files(program: Program, tree: SourceTree, marks: tuple[str, ...]) -> list[str]:
    """Return the YAML files in the script's folder, or one below it, that define keys which the script reads.

    A command line names the file, so it is not known: the first defines most of these keys, each further one some that
    those before it do not.  Only files that contain one of ``marks`` count.
    """
    read = _read_keys(tree)
    found: dict[str, frozenset[str]] = {}
    for path in _files(program, os.path.dirname(os.path.abspath(tree.path))):
        text = program.text(path)
        if text is None or len(text) > _LARGEST or not any(mark in text for mark in marks):
            continue
        found[path] = read.intersection(map(str, _parsed(text) or ()))
    chosen: list[str] = []
    known: set[str] = set()
    for path in sorted(found, key=lambda path: -len(found[path])):
        if not found[path] <= known and len(chosen) < _MOST_CONFIGURATIONS:
            chosen.append(path)
            known |= found[path]
    return chosen


def read_file(program: Program, path: str) -> Mapping[object, object] | None:
    """Return the mapping in a YAML file; ``None`` if there is none, or if it cannot be read."""
    text = program.text(path)
    return None if text is None or len(text) > _LARGEST else _parsed(text)


def _files(program: Program, folder: str) -> Iterator[str]:
    """Yield the YAML files of a folder and of the folders in it, in the order of their paths."""
    names = sorted(program.names(folder))
    found = [os.path.join(folder, name) for name in names if name.endswith(_SUFFIXES)]
    for name in names:
        inner = os.path.join(folder, name)
        if "." not in name and os.path.isdir(inner):
            found += [os.path.join(inner, each) for each in sorted(program.names(inner)) if each.endswith(_SUFFIXES)]
    yield from found[:_MOST_FILES]


def _read_keys(tree: SourceTree) -> frozenset[str]:
    """Return the strings and attributes that a file mentions."""
    attributes = {node.attr for node in tree.nodes if isinstance(node, ast.Attribute)}
    strings = {node.value for node in tree.nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return frozenset(attributes | strings)


@lru_cache(maxsize=64)
def _parsed(text: str) -> Mapping[object, object] | None:
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML has no types
        """Builds plain data, and keeps the tags of applications."""

        def flatten_mapping(self, node: yaml.MappingNode) -> None:
            """Reject merge keys: merges of merges grow without bound, and the file may be a stranger's."""
            if any(key.tag == "tag:yaml.org,2002:merge" for key, _ in node.value):
                raise yaml.YAMLError("merge keys are not read")

    def tagged(loader: yaml.SafeLoader, suffix: str, node: yaml.Node) -> Tagged:
        return Tagged(suffix, _content(loader, node))

    def _content(loader: yaml.SafeLoader, node: yaml.Node) -> Any:
        if isinstance(node, yaml.MappingNode):
            return loader.construct_mapping(node, deep=True)
        if isinstance(node, yaml.SequenceNode):
            return loader.construct_sequence(node, deep=True)
        return node.value

    for prefix in ("!", "tag:yaml.org,2002:python/"):
        Loader.add_multi_constructor(prefix, tagged)
    try:
        content = yaml.load(text, Loader)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError):
        return None
    return content if isinstance(content, dict) else None
