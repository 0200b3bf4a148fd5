"""Extract the part of GitHub's own OpenAPI description that the bot uses (``nox -s forges``).

Usage: ``python describe_github.py api.github.com.json tests/data/forges/github.json``.  The result is JSON Schema:
OpenAPI 3.0 says ``nullable`` where JSON Schema has the type ``null``, and a body of a request may have no unknown key.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

_REPOSITORY = "/repos/{owner}/{repo}"
_PULL = f"{_REPOSITORY}/pulls/{{pull_number}}"
_ISSUE = f"{_REPOSITORY}/issues/{{issue_number}}"
OPERATIONS = (
    ("get", "/user"),
    ("get", "/orgs/{org}/repos"),
    ("get", "/users/{username}/repos"),
    ("get", _REPOSITORY),
    ("get", f"{_REPOSITORY}/pulls"),
    ("post", f"{_REPOSITORY}/pulls"),
    ("get", _PULL),
    ("patch", _PULL),
    ("put", f"{_PULL}/merge"),
    ("post", f"{_PULL}/requested_reviewers"),
    ("get", f"{_REPOSITORY}/commits/{{ref}}/check-runs"),
    ("get", f"{_REPOSITORY}/commits/{{ref}}/status"),
    ("get", f"{_PULL}/files"),
    ("get", f"{_PULL}/reviews"),
    ("post", f"{_PULL}/reviews"),
    ("put", f"{_PULL}/reviews/{{review_id}}"),
    ("get", f"{_PULL}/comments"),
    ("patch", f"{_REPOSITORY}/pulls/comments/{{comment_id}}"),
    ("delete", f"{_REPOSITORY}/pulls/comments/{{comment_id}}"),
    ("get", f"{_ISSUE}/comments"),
    ("post", f"{_ISSUE}/comments"),
    ("post", f"{_ISSUE}/labels"),
    ("get", f"{_REPOSITORY}/contents/{{path}}"),
    ("get", f"{_REPOSITORY}/git/blobs/{{file_sha}}"),
    ("delete", f"{_REPOSITORY}/git/refs/{{ref}}"),
    ("post", f"{_REPOSITORY}/forks"),
)
#: Keywords that check something.
_KEPT = {
    *("$ref", "additionalProperties", "allOf", "anyOf", "enum", "items", "maxItems", "maxLength", "minItems"),
    *("minLength", "nullable", "oneOf", "properties", "required", "type"),
}


def main(source: str, target: str) -> None:
    description = json.loads(Path(source).read_text("utf-8"))
    names: set[str] = set()
    operations = [_operation(description, method, path, names) for method, path in OPERATIONS]
    schemas: dict[str, object] = {}
    while missing := names - schemas.keys():
        for name in missing:
            schemas[name] = _schema(description["components"]["schemas"][name], names)
    version = description["info"]["version"]
    document = {"version": version, "operations": operations, "$defs": dict(sorted(schemas.items()))}
    Path(target).write_text(json.dumps(document, indent=0, separators=(",", ":")) + "\n", "utf-8")


def _operation(description, method, path, names):
    found = description["paths"][path][method]
    ((status, response),) = ((code, each) for code, each in found["responses"].items() if code.startswith("2"))
    parameters = [_resolved(description, each) for each in found.get("parameters", ())]
    content = _resolved(description, response).get("content", {}).get("application/json")
    body = found.get("requestBody", {}).get("content", {}).get("application/json")
    return {
        "method": method.upper(),
        "path": path,
        "query": {each["name"]: _schema(each["schema"], names) for each in parameters if each["in"] == "query"},
        "body": None if body is None else _closed(_schema(body["schema"], names)),
        "status": int(status),
        "answer": None if content is None else _schema(content["schema"], names),
    }


def _resolved(description, part):
    for key in part.get("$ref", "").split("/")[1:]:
        description = description[key]
    return description if "$ref" in part else part


def _schema(schema, names):
    """A schema in JSON Schema, without texts; the schemas that it refers to are added to the names."""
    kept = {key: value for key, value in schema.items() if key in _KEPT}
    nullable = kept.pop("nullable", False)
    for key, value in kept.items():
        if key == "$ref":
            names.add(value.rpartition("/")[2])
            kept[key] = f"#/$defs/{value.rpartition('/')[2]}"
        elif key == "properties":
            kept[key] = {name: _schema(each, names) for name, each in value.items()}
        elif key in ("allOf", "anyOf", "oneOf"):
            kept[key] = [_schema(each, names) for each in value]
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            kept[key] = _schema(value, names)
    return {"anyOf": [kept, {"type": "null"}]} if nullable else kept


def _closed(schema):
    """The schema of a request's body, in which objects have no unknown keys."""
    if "properties" in schema:
        properties = {name: _closed(each) for name, each in schema["properties"].items()}
        return {**schema, "properties": properties, "additionalProperties": False}
    if "items" in schema:
        return {**schema, "items": _closed(schema["items"])}
    return {**schema, **{key: list(map(_closed, schema[key])) for key in ("anyOf", "oneOf") if key in schema}}


if __name__ == "__main__":
    main(*sys.argv[1:])
