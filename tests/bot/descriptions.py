"""Forges' own descriptions of their APIs: requests and answers are checked against them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema

FOLDER = Path(__file__).parents[1] / "data" / "forges"
_VALUES = {
    "array": list,
    "boolean": bool,
    "integer": lambda: 1,
    "null": lambda: None,
    "number": lambda: 1.0,
    "object": dict,
    "string": lambda: "2026-01-02T03:04:05Z",
}


class Description:
    """Operations of one forge, in the format of :mod:`bot.extracts.extract`."""

    def __init__(self, name):
        document = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
        self._schemas = document["$defs"]
        self._operations = [(re.compile(each["pattern"]), each) for each in document["operations"]]

    def operation(self, method, path):
        """The operation of a call; an assertion fails if the forge has none."""
        found = [each for pattern, each in self._operations if each["method"] == method and pattern.fullmatch(path)]
        assert found, f"the forge describes no {method} {path}"
        return found[0]

    def check_request(self, method, path, query, body):
        operation = self.operation(method, path)
        unknown = set(query) - set(operation["query"])
        assert not unknown, f"{method} {path} has no parameter {', '.join(sorted(unknown))}"
        missing = set(operation["required"]) - set(query)
        assert not missing, f"{method} {path} requires {', '.join(sorted(missing))}"
        for name, value in query.items():
            self._check(_converted(value, operation["query"][name]), operation["query"][name], name)
        if operation["body"] is None:
            assert not body, f"{method} {path} has no body"
        elif body is not None or operation["needs_body"]:
            self._check(body, operation["body"], f"the body of {method} {path}")

    def status(self, method, path):
        """The status of a successful call; the first one if there are several."""
        return int(next(iter(self.operation(method, path)["answers"])))

    def check_answer(self, method, path, status, document):
        answers = self.operation(method, path)["answers"]
        assert str(status) in answers, f"{method} {path} answers {' or '.join(answers)}, not {status}"
        schema = answers[str(status)]
        if isinstance(document, bytes):
            assert schema in (None, {"type": "string"}), f"{method} {path} answers with a JSON document"
        elif schema is None:
            assert document is None, f"{method} {path} answers without a document"
        else:
            self._check(document, schema, f"the answer to {method} {path}")

    def example(self, name, /, **known):
        """A document of a schema: all keys that it requires, and these values."""
        document = self._example(self._schemas[name])
        _merge(document, known)
        self._check(document, self._schemas[name], name)
        return document

    def _example(self, schema):
        if "$ref" in schema:
            return self._example(self._schemas[schema["$ref"].rpartition("/")[2]])
        if "enum" in schema:
            return schema["enum"][0]
        if "anyOf" in schema or "oneOf" in schema:
            choices = schema.get("anyOf") or schema["oneOf"]
            return None if {"type": "null"} in choices else self._example(choices[0])
        if "allOf" in schema:
            return {key: value for each in schema["allOf"] for key, value in self._example(each).items()}
        if "properties" in schema:
            return {name: self._example(schema["properties"][name]) for name in schema.get("required", ())}
        return _VALUES[schema.get("type", "object")]()

    def _check(self, document, schema, name):
        validator = jsonschema.Draft202012Validator({"$defs": self._schemas, **schema})
        error = jsonschema.exceptions.best_match(validator.iter_errors(document))
        location = "/".join(map(str, error.absolute_path)) if error else ""
        assert error is None, f"{name}: {location}: {error.message[:300]}"


def _merge(document, known):
    for key, value in known.items():
        if isinstance(value, dict) and isinstance(document.get(key), dict):
            _merge(document[key], value)
        else:
            document[key] = value


def _converted(value, schema):
    """A parameter of an address as the type that its schema names."""
    if schema.get("type") == "integer" and value.isdigit():
        return int(value)
    if schema.get("type") == "boolean" and value.lower() in ("true", "false"):
        return value.lower() == "true"
    return value
