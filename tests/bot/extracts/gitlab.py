"""The part of GitLab's own description of its API that the bot uses (``nox -s forges -- gitlab=DESCRIPTION``).

Usage: ``python -m bot.extracts.gitlab DESCRIPTION tests/data/forges/gitlab.json``.  The description is a file or a URL
of ``doc/api/openapi/openapi_v2.yaml`` or ``openapi_v3.yaml`` of GitLab's sources
(https://gitlab.com/gitlab-org/gitlab/-/tree/master/doc/api/openapi).

Version 2 does not describe users, notes and discussions.  They are taken from GitLab's pages, each with its address.
Answers are reduced to names, because the description has the type ``string`` where none is declared (labels, numbers
of projects); where it names the item of a list, the operation has the parameter ``per_page``.
"""

from __future__ import annotations

import re

from bot.extracts.extract import Extract, main

_PROJECT = "/projects/{id}"
_REQUEST = f"{_PROJECT}/merge_requests/{{merge_request_iid}}"
_NOTE = f"{_REQUEST}/notes/{{note_id}}"
_DISCUSSIONS = f"{_REQUEST}/discussions"
_FILE = f"{_PROJECT}/repository/files/{{file_path}}"
OPERATIONS = (
    ("get", "/user"),
    ("get", "/users"),
    ("get", "/groups/{id}/projects"),
    ("get", _PROJECT),
    ("get", f"{_PROJECT}/languages"),
    ("get", f"{_PROJECT}/forks"),
    ("post", f"{_PROJECT}/fork"),
    ("get", f"{_PROJECT}/merge_requests"),
    ("post", f"{_PROJECT}/merge_requests"),
    ("get", _REQUEST),
    ("put", _REQUEST),
    ("get", f"{_REQUEST}/approvals"),
    ("put", f"{_REQUEST}/merge"),
    ("get", f"{_REQUEST}/diffs"),
    ("get", f"{_REQUEST}/notes"),
    ("post", f"{_REQUEST}/notes"),
    ("put", _NOTE),
    ("delete", _NOTE),
    ("post", f"{_REQUEST}/draft_notes"),
    ("post", f"{_REQUEST}/draft_notes/bulk_publish"),
    ("get", _DISCUSSIONS),
    ("put", f"{_DISCUSSIONS}/{{discussion_id}}/notes/{{note_id}}"),
    ("delete", f"{_DISCUSSIONS}/{{discussion_id}}/notes/{{note_id}}"),
    ("head", _FILE),
    ("get", _FILE),
    ("delete", f"{_PROJECT}/repository/branches/{{branch}}"),
)

_PAGES = "https://docs.gitlab.com/api"
_NOTES, _THREADS = f"{_PAGES}/notes/#merge-requests", f"{_PAGES}/discussions/#merge-requests"
_PAGINATION = {"page": {"type": "integer"}, "per_page": {"type": "integer"}}  # docs.gitlab.com/api/rest/#pagination


def _body(*required, **names):
    return {"type": "object", "properties": names, "required": list(required), "additionalProperties": False}


def _objects(names):
    return {"properties": names, "additionalProperties": False}


_TEXT = {"type": "string"}
#: The ID of a project or a group may also be its path: docs.gitlab.com/api/rest/#namespaced-paths
_INTEGERS = {name: {"type": "integer"} for name in ("merge_request_iid", "note_id")}
_USER = {"id": {}, "username": {}}
_NOTE_KEYS = {"id": {}, "body": {}, "author": _objects(_USER), "position": {}}
_NOTE_ANSWER = {"properties": _NOTE_KEYS, "additionalProperties": False}
_THREAD_KEYS = {"id": {}, "individual_note": {}, "notes": {"type": "array", "items": _NOTE_ANSWER}}


#: By method and path: the page, parameters in the address, body, status and answer.
DOCUMENTED = {
    ("get", "/user"): (f"{_PAGES}/users/", {}, None, 200, _objects(_USER)),
    ("get", "/users"): (f"{_PAGES}/users/", {"username": _TEXT, **_PAGINATION}, None, 200, _objects(_USER)),
    ("get", f"{_REQUEST}/notes"): (
        _NOTES,
        {"sort": _TEXT, "order_by": _TEXT, **_PAGINATION},
        None,
        200,
        _NOTE_ANSWER,
    ),
    ("post", f"{_REQUEST}/notes"): (
        _NOTES,
        {},
        _body("body", body=_TEXT, created_at=_TEXT, merge_request_diff_head_sha=_TEXT),
        201,
        _NOTE_ANSWER,
    ),
    ("put", _NOTE): (_NOTES, {}, _body("body", body=_TEXT, confidential={"type": "boolean"}), 200, _NOTE_ANSWER),
    ("delete", _NOTE): (_NOTES, {}, None, 204, None),
    ("get", _DISCUSSIONS): (_THREADS, _PAGINATION, None, 200, _objects(_THREAD_KEYS)),
    ("put", f"{_DISCUSSIONS}/{{discussion_id}}/notes/{{note_id}}"): (
        _THREADS,
        {},
        {**_body(body=_TEXT, resolved={"type": "boolean"}), "minProperties": 1, "maxProperties": 1},
        200,
        _NOTE_ANSWER,
    ),
    ("delete", f"{_DISCUSSIONS}/{{discussion_id}}/notes/{{note_id}}"): (_THREADS, {}, None, 204, None),
}


def extract(description):
    made = Extract(description, base="/api/v4", closed=True)
    operations = [
        _described(made, method, path) if made.describes(method, path) else _documented(made, method, path)
        for method, path in OPERATIONS
    ]
    document = made.with_schemas(operations, description["info"]["version"])
    for name, schema in document["$defs"].items():
        if re.search("Entit(y|ies)", name):  # GitLab's word for what it answers
            document["$defs"][name] = _names(schema)
    return document


def _described(made, method, path):
    operation = {**made.operation(method, path), "pattern": made.pattern(path, _INTEGERS)}
    operation["answers"] = {
        status: None if status == "204" else _listed(operation, _names(answer or {}))
        for status, answer in operation["answers"].items()
    }
    return operation


def _documented(made, method, path):
    source, query, body, status, answer = DOCUMENTED[method, path]
    operation = {
        "source": source,
        "method": method.upper(),
        "path": path,
        "pattern": made.pattern(path, _INTEGERS),
        "query": query,
        "required": [],
        "body": body,
        "needs_body": body is not None,
    }
    return {**operation, "answers": {str(status): answer and _listed(operation, answer)}}


def _listed(operation, answer):
    is_list = "per_page" in operation["query"] and "items" not in answer
    return {"type": "array", "items": answer} if is_list else answer


def _names(schema):
    """The names of a schema's keys, without types."""
    if "properties" in schema:
        return _objects({name: _names(each) for name, each in schema["properties"].items()})
    if "items" in schema:
        return {"type": "array", "items": _names(schema["items"])}
    return {"$ref": schema["$ref"]} if "$ref" in schema else {}


if __name__ == "__main__":
    main(extract)
