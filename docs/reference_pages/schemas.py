"""One page per JSON schema in ``devfix/schema``: a table of its keys, and the file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

__all__ = ["pages"]

_FOLDER = "reference/schemas"
_INTRODUCTION = """The `schema_version` of a document names its schema. Keys may be added within
a version; changing or removing a key requires a new version. The schema files are part of the package, in
`devfix/schema`.
"""
_Schema = Mapping[str, Any]


def pages() -> dict[str, str]:
    """Return the pages of all schemas, and the index."""
    folder = resources.files("devfix") / "schema"
    names = sorted(file.name.removesuffix(".json") for file in folder.iterdir() if file.name.endswith(".json"))
    schemas = {name: json.loads((folder / f"{name}.json").read_text(encoding="utf-8")) for name in names}
    made = {f"{_FOLDER}/{name}.md": _page(name, schema) for name, schema in schemas.items()}
    return made | {f"{_FOLDER}/index.md": _index(schemas)}


def _index(schemas: Mapping[str, _Schema]) -> str:
    rows = [f"| [{name}]({name}.md) | {_cell(schema['title'])} |" for name, schema in schemas.items()]
    names = "\n".join(schemas)
    return "\n".join(
        [
            "# JSON schemas\n",
            _INTRODUCTION,
            "| schema | document |",
            "|---|---|",
            *rows,
            f"\n```{{toctree}}\n:hidden:\n\n{names}\n```\n",
        ]
    )


def _page(name: str, schema: _Schema) -> str:
    parts = [f"# {name}\n", f"{schema['title']}.\n"]
    if "description" in schema:
        parts.append(f"{schema['description']}\n")
    parts += ["## The document\n", *_table(schema)]
    for word, part in schema.get("$defs", {}).items():
        parts += [f"\n## {word}\n", *([f"{part['description']}\n"] if "description" in part else []), *_table(part)]
    parts += ["\n## The schema\n", f"```{{literalinclude}} ../../../devfix/schema/{name}.json\n:language: json\n```\n"]
    return "\n".join(parts)


def _table(schema: _Schema) -> list[str]:
    """Return rows for the keys of an object, including nested objects."""
    rows = [
        f"| `{path}` | {_cell(_kind(part))} | {'yes' if required else 'no'} | {_cell(part.get('description', ''))} |"
        for path, part, required in _below(schema, "")
    ]
    if not rows:
        return [f"{_kind(schema)}\n"]
    return ["| key | type | always there | meaning |", "|---|---|---|---|", *rows, ""]


def _keys(schema: _Schema, prefix: str) -> Iterator[tuple[str, _Schema, bool]]:
    for key, part in schema.get("properties", {}).items():
        path = f"{prefix}{key}"
        yield path, part, key in schema.get("required", ())
        yield from _below(part, path)
    if isinstance(schema.get("additionalProperties"), dict):
        yield from _below(schema["additionalProperties"], f"{prefix}NAME")


def _below(part: _Schema, path: str) -> Iterator[tuple[str, _Schema, bool]]:
    """Yield the keys of the objects in ``part``."""
    for choice in (part, *part.get("oneOf", ()), *part.get("anyOf", ())):
        yield from _keys(choice, f"{path}." if path else "")
        if isinstance(choice.get("items"), dict):
            yield from _below(choice["items"], f"{path}[]")


def _kind(part: _Schema) -> str:
    """Return the type as text."""
    if "$ref" in part:
        _, folder, name = part["$ref"].rsplit("/", 2)
        return f"[{name}](#{name})" if folder == "$defs" else f"as `{name}`"  # otherwise another key of this document
    if "const" in part:
        return f"`{json.dumps(part['const'])}`"
    if "enum" in part:
        return " or ".join(f"`{json.dumps(value)}`" for value in part["enum"])
    for word in ("oneOf", "anyOf"):
        if word in part:
            return " or ".join(_kind(choice) for choice in part[word])
    kind = part.get("type", "anything")
    text = " or ".join(kind) if isinstance(kind, list) else str(kind)
    if part.get("items"):
        return f"{text} of {_kind(part['items'])}"
    return text


def _cell(text: str) -> str:
    """Return text for a table cell."""
    return text.replace("|", "\\|").replace("\n", " ")
