"""GitLab client; python-gitlab waits and retries, the wait is capped."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import gitlab
import requests
from gitlab.exceptions import GitlabError, GitlabGetError, GitlabHeadError
from requests.adapters import HTTPAdapter

from devfix.bot.diff_lines import visible_lines
from devfix.bot.discovery import Filters, HostedRepository
from devfix.bot.forge import LONGEST_WAIT_S, Account, CallLog, Comment, PullRequest, log_call
from devfix.bot.forks import gitlab as forks
from devfix.bot.forks.fork import Fork
from devfix.bot.patch import MAX_FILE_BYTES
from devfix.bot.skip_reasons import BotError
from devfix.bot.suggestions import Suggestion
from devfix.migrate.proposing import MergeMethod
from devfix.site import page_url
from devfix.vcs.redaction import redacted

__all__ = ["GitLabForge", "projects_of"]

_TIMEOUT_S = 60.0
_MAX_REQUESTS = 1000  # of one connection
_STATES = {"opened": "open", "locked": "open"}
_PIPELINE_STATES = {
    **dict.fromkeys(("failed", "canceled"), "failed"),
    **dict.fromkeys(("created", "waiting_for_resource", "preparing", "pending", "running", "scheduled"), "running"),
    **dict.fromkeys(("success", "skipped"), "passed"),
}


class GitLabForge:
    """One project on GitLab.

    Args:
        api: the address of the server, as in ``CI_SERVER_URL``.
        repository: the project's path.
        token: a personal, project or group access token with the scope ``api``; empty for none.
        dry_run: whether to print all calls, and send only those that read.
        log: prints a call in a dry run.

    """

    def __init__(self, api: str, repository: str, token: str, dry_run: bool, log: CallLog) -> None:
        self._gitlab = _client(api, token, log if dry_run else None)
        self._repository = repository
        self._project = self._gitlab.projects.get(repository, lazy=True)
        self._account = Account(self._request_login)

    def disconnect(self) -> None:
        self._gitlab.session.close()

    # --- reads
    def pull(self, number: int) -> PullRequest:
        with _one_line_errors(f"merge request !{number}"):
            return self._pull(self._project.mergerequests.get(number))

    def open_pulls(self) -> list[PullRequest]:
        with _one_line_errors("merge requests"):
            found = self._project.mergerequests.list(state="opened", iterator=True)
            return [self._pull(each) for each in found if each.source_project_id == each.target_project_id]

    def pulls_from_branch(self, branch: str, fork: str = "") -> list[PullRequest]:
        with _one_line_errors(f"merge requests of {branch}"):
            source = self._gitlab.projects.get(fork).id if fork else None
            found = self._project.mergerequests.list(source_branch=branch, iterator=True)
            pulls = [self._pull(each) for each in found if each.source_project_id == (source or each.target_project_id)]
        return sorted(pulls, key=lambda pull: -pull.number)

    def pulls_since(self, moment: datetime) -> list[PullRequest]:
        with _one_line_errors("merge requests"):
            found = self._project.mergerequests.list(state="all", created_after=moment.isoformat(), iterator=True)
            return [self._pull(each) for each in found if each.source_project_id == each.target_project_id]

    def default_branch(self) -> str:
        with _one_line_errors("the project"):
            return str(self._gitlab.projects.get(self._repository).default_branch)

    def account(self) -> str:
        return self._account.login()

    def can_push(self) -> bool:
        with _one_line_errors("the project"):
            return forks.can_push(self._gitlab.projects.get(self._repository).attributes)

    def read_file(self, path: str, revision: str) -> bytes | None:
        with _one_line_errors(path):
            try:
                size = int(self._project.files.head(path, ref=revision)["X-Gitlab-Size"])
                if size > MAX_FILE_BYTES:
                    raise BotError(f"{path} has {size} bytes in {revision[:12]}; the limit is {MAX_FILE_BYTES}")
                return bytes(self._project.files.get(path, ref=revision).decode())
            except (GitlabGetError, GitlabHeadError) as error:
                if error.response_code == 404:
                    return None
                raise

    def visible_lines(self, number: int) -> Mapping[str, set[int]]:
        with _one_line_errors(f"changes of !{number}"):
            found = self._gitlab.http_list(f"{self._path(number)}/diffs", iterator=True)
            return {str(each["new_path"]): visible_lines(str(each.get("diff") or "")) for each in found}

    def comments(self, number: int) -> list[Comment]:
        with _one_line_errors(f"notes of !{number}"):
            return [
                self._account.read_comment(each.asdict())
                for each in self._merge_request(number).notes.list(iterator=True)
            ]

    def reviews(self, number: int) -> list[Comment]:
        return self.comments(number)

    def inline_comments(self, number: int) -> list[Comment]:
        with _one_line_errors(f"discussions of !{number}"):
            found = []
            for discussion in self._merge_request(number).discussions.list(iterator=True):
                for note in discussion.attributes["notes"]:
                    if note.get("position"):
                        comment = self._account.read_comment(note)
                        found.append(replace(comment, id=f"{discussion.id}/{comment.id}"))
            return found

    def clone_url(self, repository: str) -> str:
        with _one_line_errors(repository):
            return str(self._gitlab.projects.get(repository).http_url_to_repo)

    # --- writes
    def format_suggestion(self, suggestion: Suggestion) -> str:
        """Return a suggestion's comment; GitLab counts its lines up and down from the commented one."""
        return suggestion.body(f"suggestion:-{suggestion.last - suggestion.first}+0")

    def post_review(self, pull: PullRequest, body: str, suggestions: Sequence[Suggestion]) -> None:
        request = self._merge_request(pull.number)
        with _one_line_errors(f"a review of !{pull.number}"):
            if suggestions:
                diff_refs = self._project.mergerequests.get(pull.number).diff_refs
            for each in suggestions:  # as drafts, to publish and notify once
                request.draft_notes.create(
                    {"note": self.format_suggestion(each), "position": _position(each, diff_refs)}
                )
            if suggestions:
                request.draft_notes.bulk_publish()
            if body:
                request.notes.create({"body": body})

    def edit_review(self, number: int, comment: Comment, body: str) -> None:
        with _one_line_errors(f"the note of !{number}"):
            self._gitlab.http_put(f"{self._path(number)}/notes/{comment.id}", post_data={"body": body})

    def edit_inline_comment(self, number: int, comment: Comment, body: str) -> None:
        discussion, _, note = comment.id.partition("/")
        with _one_line_errors(f"a note of !{number}"):
            self._gitlab.http_put(
                f"{self._path(number)}/discussions/{discussion}/notes/{note}", post_data={"body": body}
            )

    def remove_review(self, number: int, comment: Comment) -> None:
        with _one_line_errors(f"the note of !{number}"):
            self._gitlab.http_delete(f"{self._path(number)}/notes/{comment.id}")

    def remove_inline_comment(self, number: int, comment: Comment) -> None:
        discussion, _, note = comment.id.partition("/")
        with _one_line_errors(f"a note of !{number}"):
            self._gitlab.http_delete(f"{self._path(number)}/discussions/{discussion}/notes/{note}")

    def fork(self, owner: str) -> Fork:
        with _one_line_errors(f"a fork of {self._repository}"):
            return forks.find_or_create(self._gitlab, self._repository, owner, self.account())

    def open_pull(self, branch: str, base: str, title: str, body: str, draft: bool, fork: str = "") -> int:
        full_title = f"Draft: {title}" if draft else title
        with _one_line_errors(f"a merge request from {branch}"):
            source = self._gitlab.projects.get(fork, lazy=True) if fork else self._project
            target = {"target_project_id": self._gitlab.projects.get(self._repository).id} if fork else {}
            created = source.mergerequests.create(
                {
                    "source_branch": branch,
                    "target_branch": base,
                    "title": full_title,
                    "description": body,
                    "remove_source_branch": True,
                    **target,
                }
            )
            return int(created.attributes.get("iid") or 0)

    def edit_pull(self, number: int, title: str, body: str) -> None:
        with _one_line_errors(f"merge request !{number}"):
            old_title = str(self._project.mergerequests.get(number).title)
            full_title = f"Draft: {title}" if old_title.startswith("Draft: ") else title
            self._project.mergerequests.update(number, {"title": full_title, "description": body})

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        with _one_line_errors(f"labels of !{number}"):
            self._project.mergerequests.update(number, {"add_labels": list(labels)})

    def request_reviews(self, number: int, reviewers: Sequence[str]) -> None:
        with _one_line_errors(f"reviewers of !{number}"):
            users = {name: self._gitlab.users.list(username=name, get_all=False) for name in reviewers}
            identifiers = [int(user.id) for found in users.values() for user in found]
            if identifiers:
                self._project.mergerequests.update(number, {"reviewer_ids": identifiers})
        if missing := [name for name, found in users.items() if not found]:
            raise BotError(f"GitLab: reviewers of !{number}: not users, so they cannot review: {', '.join(missing)}")

    def checks(self, pull: PullRequest) -> str:
        with _one_line_errors(f"pipelines of !{pull.number}"):
            pipeline = self._project.mergerequests.get(pull.number).attributes.get("head_pipeline") or {}
        return _PIPELINE_STATES.get(str(pipeline.get("status") or ""), "")

    def decision(self, number: int) -> str:
        with _one_line_errors(f"approvals of !{number}"):
            found: Any = self._gitlab.http_get(f"{self._path(number)}/approvals")
        return "approved" if found.get("approved") and found.get("approved_by") else ""

    def merge_pull(self, pull: PullRequest, method: MergeMethod) -> None:
        if method == "rebase":
            raise BotError("GitLab: the project's settings decide about rebasing: use merge or squash")
        with _one_line_errors(f"merge request !{pull.number}"):
            content = {"sha": pull.head, "squash": method == "squash"}
            self._gitlab.http_put(f"{self._path(pull.number)}/merge", post_data=content)

    def close_pull(self, number: int, comment: str) -> None:
        with _one_line_errors(f"merge request !{number}"):
            self._merge_request(number).notes.create({"body": comment})
            self._project.mergerequests.update(number, {"state_event": "close"})

    def delete_branch(self, branch: str, fork: str = "") -> None:
        with _one_line_errors(f"branch {branch}"):
            try:
                self._gitlab.projects.get(fork or self._repository, lazy=True).branches.delete(branch)
            except GitlabError as error:
                if error.response_code != 404:  # already deleted
                    raise

    def _merge_request(self, number: int) -> Any:
        return self._project.mergerequests.get(number, lazy=True)

    def _path(self, number: int) -> str:
        return f"/projects/{self._project.encoded_id}/merge_requests/{number}"

    def _request_login(self) -> str:
        with _one_line_errors("the account of the token"):
            try:
                return str(self._gitlab.http_get("/user")["username"])  # type: ignore[index]  # always an object
            except GitlabError as error:
                if error.response_code in (401, 403):  # a job's token has no access
                    return ""
                raise

    def _pull(self, found: Any) -> PullRequest:
        same = found.source_project_id == found.target_project_id
        return PullRequest(
            number=int(found.iid),
            title=str(found.title).removeprefix("Draft: "),
            body=str(found.description or ""),
            state=_STATES.get(str(found.state), str(found.state)),
            head=str(found.sha or ""),
            head_branch=str(found.source_branch),
            head_repository=self._repository if same else str(found.source_project_id or ""),
            base=str((found.attributes.get("diff_refs") or {}).get("base_sha") or ""),
            base_branch=str(found.target_branch),
            labels=tuple(str(label) for label in found.labels),
            created=datetime.fromisoformat(str(found.created_at).replace("Z", "+00:00")),
            url=str(found.web_url),
            draft=str(found.title).startswith("Draft: "),
        )


def projects_of(api: str, token: str, group: str, filters: Filters) -> Iterator[HostedRepository]:
    """Yield the projects of a group and its subgroups that pass filters.

    GitLab lists the projects of a group without their languages, so each project that passes the other filters takes
    one more request if there is a filter for the language.
    """
    others = replace(filters, language="")
    with _one_line_errors(f"projects of {group}"):
        client = _client(api, token)
        for project in client.groups.get(group, lazy=True).projects.list(include_subgroups=True, iterator=True):
            found = _project(project.attributes)
            if filters.language and others.keep(found):
                shares: Any = client.http_get(f"/projects/{project.id}/languages")
                found = replace(found, languages=frozenset(map(str.lower, shares)))
            if filters.keep(found):
                yield found


def _project(found: Mapping[str, Any]) -> HostedRepository:
    active = found.get("last_activity_at")
    return HostedRepository(
        url=str(found["http_url_to_repo"]),
        languages=frozenset(),
        stars=int(found.get("star_count") or 0),
        archived=bool(found.get("archived")),
        fork=bool(found.get("forked_from_project")),
        pushed=datetime.fromisoformat(str(active).replace("Z", "+00:00")) if active else None,
    )


def _client(api: str, token: str, log: CallLog | None = None) -> gitlab.Gitlab:
    session = requests.Session()
    session.trust_env = True
    adapter = _Adapter(urlsplit(api).netloc, log)
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    return gitlab.Gitlab(
        api, private_token=token or None, session=session, timeout=_TIMEOUT_S, retry_transient_errors=True
    )


class _Adapter(HTTPAdapter):
    """Fail if GitLab requests a long wait, names another server, which would get the token, or never ends a list.

    In a dry run, print every call and send only those that read.
    """

    def __init__(self, server: str, log: CallLog | None) -> None:
        super().__init__()
        self._server = server
        self._log = log
        self._requests = 0

    def send(self, request: requests.PreparedRequest, *args: Any, **options: Any) -> requests.Response:
        self._requests += 1
        if urlsplit(str(request.url)).netloc != self._server:
            raise BotError(f"GitLab: {self._server} names another server: {redacted(str(request.url))[:200]}")
        if self._requests > _MAX_REQUESTS:
            raise BotError(f"GitLab: more than {_MAX_REQUESTS} requests: do the server's pages ever end?")
        is_read = request.method in ("GET", "HEAD")
        body: Any = request.body or b""
        log_call(
            self._log,
            str(request.method),
            str(request.url),
            body if isinstance(body, bytes) else body.encode(),
            is_read,
        )
        if self._log is not None and not is_read:
            made = requests.Response()
            made.status_code, made.request, made.url = 200, request, str(request.url)
            made.headers["Content-Type"] = "application/json"
            made._content = json.dumps({"id": 0, "iid": 0}).encode()
            return made
        response = super().send(request, *args, **options)
        retry_after = response.headers.get("Retry-After", "")
        if response.status_code == 429 and retry_after.isdigit() and int(retry_after) > LONGEST_WAIT_S:
            response.close()
            raise BotError(f"GitLab: rate limit exceeded: run again in {int(retry_after) / 60:.0f} min")
        return response


@contextmanager
def _one_line_errors(subject: str) -> Iterator[None]:
    """Turn API errors into one-line ``BotError``."""
    try:
        yield
    except GitlabError as error:
        hint = {
            401: " (is the token valid?)",
            403: f" (does the token have the scope api and the role in {page_url('how-to/bot')}?)",
        }
        hint_text = hint.get(error.response_code or 0, "")
        raise BotError(
            redacted(f"GitLab: {subject}: {error.response_code or ''} {error.error_message}{hint_text}")
        ) from error
    except requests.RequestException as error:
        raise BotError(redacted(f"GitLab: {subject}: {error}")) from error
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise BotError(f"GitLab: {subject}: unexpected response (is CI_SERVER_URL correct?)") from error


def _position(suggestion: Suggestion, diff_refs: Mapping[str, str]) -> dict[str, Any]:
    return {
        **{name: diff_refs[name] for name in ("base_sha", "start_sha", "head_sha")},
        "position_type": "text",
        "new_path": suggestion.path,
        "old_path": suggestion.path,
        "new_line": suggestion.last,
    }
