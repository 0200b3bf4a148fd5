"""The part of GitHub's own description of its API that the bot uses (``nox -s forges``).

Usage: ``python -m bot.extracts.github api.github.com.json tests/data/forges/github.json``.
"""

from __future__ import annotations

from bot.extracts.extract import Extract, main

_REPOSITORY = "/repos/{owner}/{repo}"
_PULL = f"{_REPOSITORY}/pulls/{{pull_number}}"
_ISSUE = f"{_REPOSITORY}/issues/{{issue_number}}"
OPERATIONS = (
    ("get", "/user"),
    ("get", "/orgs/{org}/repos"),
    ("get", "/users/{username}/repos"),
    ("get", _REPOSITORY),
    ("post", f"{_REPOSITORY}/forks"),
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
)


def extract(description):
    return Extract(description, slashes=("path", "ref")).document(OPERATIONS, description["info"]["version"])


if __name__ == "__main__":
    main(extract)
