"""Extract operations from a forge's own description of its API, OpenAPI 3 or Swagger 2.0, as JSON Schema.

OpenAPI 3.0 says ``nullable`` where JSON Schema has the type ``null``, and a body of a request may have no unknown key.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from urllib.request import urlopen

#: Keywords that check something.
_KEPT = {
    *("$ref", "additionalProperties", "allOf", "anyOf", "enum", "items", "maxItems", "maxLength", "minItems"),
    *("minLength", "nullable", "oneOf", "properties", "required", "type"),
}


def main(extract, arguments=None):
    """Write the extract of a description: the arguments are its file or URL, and the file to write."""
    source, target = sys.argv[1:] if arguments is None else arguments
    Path(target).write_text(json.dumps(extract(_read(source)), indent=0, separators=(",", ":")) + "\n", "utf-8")


def _read(source):
    if "://" in source:
        with urlopen(source) as response:
            text = response.read().decode("utf-8")
    else:
        text = Path(source).read_text("utf-8")
    if text.startswith("{"):
        return json.loads(text)
    import yaml

    return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


class Extract:
    """Operations of a description, and the schemas that they refer to.

    Args:
        description: the document of OpenAPI 3 or Swagger 2.0.
        base: what paths begin with, and is left out.
        slashes: parameters of paths that may contain slashes.
        closed: whether no object, not even of an answer, has keys that the description does not name.

    """

    def __init__(self, description, base="", slashes=(), closed=False):
        self._description, self._base, self._slashes, self._closed = description, base, slashes, closed
        self._names = set()
        self._paths = {_unnamed(path): path for path in description["paths"]}

    def document(self, operations, version):
        """The extract with these operations: pairs of a method and a path."""
        made = [self.operation(method, path) for method, path in operations]
        return self.with_schemas(made, version)

    def with_schemas(self, operations, version):
        known = self._description.get("definitions") or self._description["components"]["schemas"]
        schemas = {}
        while missing := self._names - schemas.keys():
            for name in missing:
                schema = self._schema(known[name])
                schemas[name] = _closed(schema) if self._closed else schema
        return {"version": version, "operations": operations, "$defs": dict(sorted(schemas.items()))}

    def describes(self, method, path):
        return method in self._operations(path)

    def _operations(self, path):
        """What the description has for a path; other descriptions have other names for its parameters."""
        paths, whole = self._description["paths"], self._base + path
        return paths.get(whole) or paths.get(self._paths.get(_unnamed(whole)), {})

    def operation(self, method, path):
        found = self._operations(path)[method]
        parameters = [self._resolved(each) for each in found.get("parameters", ())]
        types = {each["name"]: self._schema(each.get("schema", each)) for each in parameters if each["in"] != "body"}
        successes = [(code, each) for code, each in found["responses"].items() if str(code)[0] == "2"]
        query = [each["name"] for each in parameters if each["in"] == "query"]
        body, needs_body = self._body(found, parameters)
        return {
            "method": method.upper(),
            "path": path,
            "pattern": self.pattern(path, types),
            "query": {name: types[name] for name in query},
            "required": [each["name"] for each in parameters if each["name"] in query and each.get("required")],
            "body": None if body is None else _closed(body),
            "needs_body": needs_body,
            "answers": {str(code): self._answer(found, each) for code, each in successes},
        }

    def _body(self, found, parameters):
        """The schema of a request's body, and whether there must be one."""
        for each in parameters:
            if each["in"] == "body":  # Swagger 2.0
                return self._schema(each["schema"]), bool(each.get("required"))
        request = self._resolved(found.get("requestBody", {}))
        content = request.get("content", {}).get("application/json")
        return (None, False) if content is None else (self._schema(content["schema"]), bool(request.get("required")))

    def _answer(self, found, response):
        """The schema of an answer; ``None`` if it is no JSON document."""
        schema = self._content(found, response)
        return _closed(schema) if self._closed and schema is not None else schema

    def _content(self, found, response):
        response = self._resolved(response)
        produced = found.get("produces") or self._description.get("produces") or ["application/json"]
        if "schema" in response:  # Swagger 2.0
            return self._schema(response["schema"]) if "application/json" in produced else None
        content = response.get("content", {}).get("application/json")
        return self._schema(content["schema"]) if content and "schema" in content else None

    def _resolved(self, part):
        found = self._description
        for key in part.get("$ref", "").split("/")[1:]:
            found = found[key]
        return found if "$ref" in part else part

    def _schema(self, schema):
        """A schema in JSON Schema, without texts; the schemas that it refers to are added to the names."""
        kept = {key: value for key, value in schema.items() if key in _KEPT}
        if not isinstance(kept.get("required", []), list):  # whether a parameter is required
            del kept["required"]
        nullable = kept.pop("nullable", False)
        for key, value in kept.items():
            if key == "$ref":
                self._names.add(value.rpartition("/")[2])
                kept[key] = f"#/$defs/{value.rpartition('/')[2]}"
            elif key == "properties":
                kept[key] = {name: self._schema(each) for name, each in value.items()}
            elif key in ("allOf", "anyOf", "oneOf"):
                kept[key] = [self._schema(each) for each in value]
            elif key in ("items", "additionalProperties") and isinstance(value, dict):
                kept[key] = self._schema(value)
        return {"anyOf": [kept, {"type": "null"}]} if nullable else kept

    def pattern(self, path, types):
        """A regular expression for the path of a call."""
        parts = path.replace("{", "}").split("}")
        return "".join(
            self._segment(part, types.get(part, {})) if at % 2 else re.escape(part) for at, part in enumerate(parts)
        )

    def _segment(self, name, schema):
        if "enum" in schema:
            return f"(?:{'|'.join(schema['enum'])})"
        if schema.get("type") == "integer":
            return r"\d+"
        return ".+" if name in self._slashes else "[^/]+"


def _unnamed(path):
    return re.sub(r"\{\w+\}", "{}", path)


def _closed(schema):
    """A schema in which objects have no unknown keys."""
    if "properties" in schema:
        properties = {name: _closed(each) for name, each in schema["properties"].items()}
        return {**schema, "properties": properties, "additionalProperties": False}
    if "items" in schema:
        return {**schema, "items": _closed(schema["items"])}
    return {**schema, **{key: list(map(_closed, schema[key])) for key in ("anyOf", "oneOf") if key in schema}}
