"""Descriptions of forges' APIs: what is extracted from them, and what a request or an answer may be."""

from __future__ import annotations

import json
import re

import pytest
from bot.descriptions import FOLDER, Description
from bot.extracts import gitea, github, gitlab
from bot.extracts.extract import Extract, main

OPERATIONS = (("post", "/pulls/{index}/notes"), ("get", "/pulls/{index}.{kind}"), ("get", "/files/{path}"))
NOTE = {"type": "object", "properties": {"body": {"type": "string", "description": "a text"}}}
EDIT = {**NOTE, "required": ["body"]}
INDEX, KIND, PATH = {"type": "integer"}, {"type": "string", "enum": ["diff", "patch"]}, {"type": "string"}


def swagger():
    def given(name, where, schema, **more):
        return {"in": where, "name": name, **schema, **more}

    index, answer = given("index", "path", INDEX, required=True), {"$ref": "#/responses/Note"}
    edit = {"in": "body", "name": "any", "required": True, "schema": {"$ref": "#/definitions/Edit"}}
    post = {"parameters": [index, given("draft", "query", {"type": "boolean"}), edit], "responses": {"201": answer}}
    text = {"produces": ["text/plain"], "responses": {"200": {"schema": {"type": "string"}}}}
    file = [given("path", "path", PATH, required=True), given("ref", "query", PATH, required=True)]
    return {
        "swagger": "2.0",
        "definitions": {"Note": NOTE, "Edit": EDIT},
        "responses": {"Note": {"schema": {"$ref": "#/definitions/Note"}}},
        "paths": {
            "/v1/pulls/{index}/notes": {"post": post},
            "/v1/pulls/{index}.{kind}": {"get": {"parameters": [index, given("kind", "path", KIND)], **text}},
            "/v1/files/{path}": {"get": {"parameters": file, "responses": {"200": answer, "404": {}}}},
        },
    }


def openapi():
    def given(name, where, schema, **more):
        return {"in": where, "name": name, "schema": schema, **more}

    def json_of(name):
        return {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}}

    index, answer = given("index", "path", INDEX, required=True), {"$ref": "#/components/responses/Note"}
    post = {"parameters": [index, given("draft", "query", {"type": "boolean"})], "responses": {"201": answer}}
    text = {"responses": {"200": {"content": {"text/plain": {"schema": {"type": "string"}}}}}}
    file = [given("path", "path", PATH, required=True), given("ref", "query", PATH, required=True)]
    return {
        "openapi": "3.0.0",
        "components": {"schemas": {"Note": NOTE, "Edit": EDIT}, "responses": {"Note": json_of("Note")}},
        "paths": {
            "/v1/pulls/{index}/notes": {"post": {**post, "requestBody": {"required": True, **json_of("Edit")}}},
            "/v1/pulls/{index}.{kind}": {"get": {"parameters": [index, given("kind", "path", KIND)], **text}},
            "/v1/files/{path}": {"get": {"parameters": file, "responses": {"200": answer, "404": {}}}},
        },
    }


def extracted(document):
    return Extract(document, base="/v1", slashes=("path",), closed=True).document(OPERATIONS, "1")


@pytest.fixture
def description(tmp_path, monkeypatch):
    monkeypatch.setattr("bot.descriptions.FOLDER", tmp_path)
    (tmp_path / "forge.json").write_text(json.dumps(extracted(openapi())))
    return Description("forge")


def test_both_formats_have_the_same_extract():
    assert extracted(swagger()) == extracted(openapi())


def test_an_extract_has_facts_and_no_texts():
    notes, diff, file = extracted(openapi())["operations"]

    assert notes["query"] == {"draft": {"type": "boolean"}} and file["required"] == ["ref"]
    assert diff["answers"] == {"200": None}
    assert [each["pattern"] for each in (notes, diff, file)] == [
        r"/pulls/\d+/notes",
        r"/pulls/\d+\.(?:diff|patch)",
        "/files/.+",
    ]
    assert extracted(openapi())["$defs"]["Note"]["properties"] == {"body": {"type": "string"}}


def test_parameters_of_paths_may_have_other_names():
    document = openapi()
    document["paths"]["/v1/pulls/{number}/notes"] = document["paths"].pop("/v1/pulls/{index}/notes")
    made = Extract(document, base="/v1")

    assert made.describes("post", "/pulls/{index}/notes") and not made.describes("get", "/pulls/{index}/notes")
    assert made.operation("post", "/pulls/{index}/notes")["query"] == {"draft": {"type": "boolean"}}


def test_what_may_be_null_has_its_type():
    document = openapi()
    document["components"]["schemas"]["Note"] = {"properties": {"line": {"type": "integer", "nullable": True}}}

    properties = extracted(document)["$defs"]["Note"]["properties"]
    assert properties == {"line": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}


def test_a_yaml_file_is_read(tmp_path):
    (tmp_path / "api.yaml").write_text("# made\ninfo:\n  version: '19.5'\n")

    main(lambda document: document["info"], [str(tmp_path / "api.yaml"), str(tmp_path / "made.json")])

    assert json.loads((tmp_path / "made.json").read_text()) == {"version": "19.5"}


def test_a_described_request_passes(description):
    description.check_request("POST", "/pulls/1/notes", {"draft": "True"}, {"body": "text"})
    description.check_request("GET", "/files/a/b.py", {"ref": "main"}, None)
    description.check_answer("POST", "/pulls/1/notes", 201, {"body": "text"})
    description.check_answer("GET", "/pulls/1.diff", 200, b"--- a\n+++ b\n")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        pytest.param(("PUT", "/pulls/1/notes", {}, {"body": ""}), "describes no PUT", id="method"),
        pytest.param(("GET", "/pulls/1.txt", {}, None), "describes no GET", id="path"),
        pytest.param(("POST", "/pulls/x/notes", {}, {"body": ""}), "describes no POST", id="no-number"),
        pytest.param(("POST", "/pulls/1/notes", {"sort": "x"}, {"body": ""}), "has no parameter sort", id="query"),
        pytest.param(("POST", "/pulls/1/notes", {"draft": "1"}, {"body": ""}), "draft", id="type-of-a-parameter"),
        pytest.param(("GET", "/files/a.py", {}, None), "requires ref", id="required-parameter"),
        pytest.param(("GET", "/files/a.py", {"ref": "x"}, {"body": ""}), "has no body", id="body"),
        pytest.param(("POST", "/pulls/1/notes", {}, None), "the body", id="no-body"),
        pytest.param(("POST", "/pulls/1/notes", {}, {"body": "", "x": 1}), "unexpected", id="key"),
        pytest.param(("POST", "/pulls/1/notes", {}, {"body": 1}), "is not of type 'string'", id="type"),
        pytest.param(("POST", "/pulls/1/notes", {}, {}), "required property", id="required-key"),
    ],
)
def test_another_request_is_told(description, call, words):
    with pytest.raises(AssertionError, match=words):
        description.check_request(*call)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        pytest.param(("POST", "/pulls/1/notes", 200, {"body": ""}), "answers 201, not 200", id="status"),
        pytest.param(("POST", "/pulls/1/notes", 201, {"id": 1}), "unexpected", id="key"),
        pytest.param(("POST", "/pulls/1/notes", 201, b"text"), "answers with a JSON document", id="bytes"),
        pytest.param(("GET", "/pulls/1.diff", 200, {"diff": ""}), "answers without a document", id="document"),
    ],
)
def test_another_answer_is_told(description, call, words):
    with pytest.raises(AssertionError, match=words):
        description.check_answer(*call)


@pytest.mark.parametrize("forge", [gitea, github, gitlab], ids=lambda forge: forge.__name__.rpartition(".")[2])
def test_extracts_hold_the_operations_of_their_lists(forge):
    description = Description(forge.__name__.rpartition(".")[2])

    for method, path in forge.OPERATIONS:
        called = re.sub(r"\{\w+\}", "7", path.replace("{diffType}", "diff"))
        assert description.operation(method.upper(), called)["path"] == path


def test_what_gitlab_s_description_lacks_names_its_page():
    operations = json.loads((FOLDER / "gitlab.json").read_text("utf-8"))["operations"]

    sources = {(each["method"].lower(), each["path"]): each["source"] for each in operations if "source" in each}
    assert sources == {call: documented[0] for call, documented in gitlab.DOCUMENTED.items()}
    assert all(source.startswith("https://docs.gitlab.com/api/") for source in sources.values())
