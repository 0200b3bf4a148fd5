"""GitLab, through python-gitlab: it waits where GitLab asks for it, and tries again what a server failed to do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import gitlab
import requests
from gitlab.exceptions import GitlabAuthenticationError, GitlabError, GitlabGetError
from requests.adapters import HTTPAdapter

from devfix.bot.diff_lines import lines_of_patch
from devfix.bot.forge import LONGEST_WAIT_S, Pull, Remark, Tell, tell_call
from devfix.bot.skip_reasons import BotError
from devfix.bot.suggestions import Suggestion
from devfix.vcs.redaction import redacted

__all__ = ["GitLabHost"]

_TIMEOUT_S = 60.0
_MARKERS = "<!-- devfix:"
_STATES = {"opened": "open", "locked": "open"}


class GitLabHost:
    """One project on GitLab.

    Args:
        api: the address of the server, as in ``CI_SERVER_URL``.
        repository: the project's path.
        token: a personal, project or group access token with the scope ``api``; empty for none.
        dry_run: writes are told, and not sent.
        tell: is told of every call in a dry run.

    """

    def __init__(self, api: str, repository: str, token: str, dry_run: bool, tell: Tell) -> None:
        session = requests.Session()
        session.trust_env = True
        adapter = _Adapter(tell if dry_run else None)
        session.mount("http://", adapter)
        session.mount("https://", adapter)
        self._gitlab = gitlab.Gitlab(
            api, private_token=token or None, session=session, timeout=_TIMEOUT_S, retry_transient_errors=True
        )
        self._repository = repository
        self._project = self._gitlab.projects.get(repository, lazy=True)
        self._me: int | None = None

    def end(self) -> None:
        self._gitlab.session.close()

    # --- reads
    def pull(self, number: int) -> Pull:
        with _told(f"merge request !{number}"):
            return self._pull(self._project.mergerequests.get(number))

    def open_pulls(self) -> list[Pull]:
        with _told("merge requests"):
            found = self._project.mergerequests.list(state="opened", iterator=True)
            return [self._pull(each) for each in found if each.source_project_id == each.target_project_id]

    def pulls_of(self, branch: str) -> list[Pull]:
        with _told(f"merge requests of {branch}"):
            found = self._project.mergerequests.list(source_branch=branch, iterator=True)
            pulls = [self._pull(each) for each in found if each.source_project_id == each.target_project_id]
        return sorted(pulls, key=lambda pull: -pull.number)

    def pulls_since(self, moment: datetime) -> list[Pull]:
        with _told("merge requests"):
            found = self._project.mergerequests.list(state="all", created_after=moment.isoformat(), iterator=True)
            return [self._pull(each) for each in found if each.source_project_id == each.target_project_id]

    def default_branch(self) -> str:
        with _told("the project"):
            return str(self._gitlab.projects.get(self._repository).default_branch)

    def content(self, path: str, revision: str) -> bytes | None:
        with _told(path):
            try:
                return bytes(self._project.files.get(path, ref=revision).decode())
            except GitlabGetError as error:
                if error.response_code == 404:
                    return None
                raise

    def shown_lines(self, number: int) -> Mapping[str, set[int]]:
        with _told(f"changes of !{number}"):
            found = self._gitlab.http_list(f"{self._path(number)}/diffs", iterator=True)
            return {str(each["new_path"]): lines_of_patch(str(each.get("diff") or "")) for each in found}

    def talk(self, number: int) -> list[Remark]:
        with _told(f"notes of !{number}"):
            return [self._remark(each.asdict()) for each in self._request(number).notes.list(iterator=True)]

    def reviews(self, number: int) -> list[Remark]:
        return self.talk(number)

    def inline(self, number: int) -> list[Remark]:
        with _told(f"discussions of !{number}"):
            found = []
            for discussion in self._request(number).discussions.list(iterator=True):
                for note in discussion.attributes["notes"]:
                    if note.get("position"):
                        remark = self._remark(note)
                        found.append(Remark(f"{discussion.id}/{remark.id}", remark.body, remark.author, remark.mine))
            return found

    def clone_url(self, repository: str) -> str:
        with _told(repository):
            return str(self._gitlab.projects.get(repository).http_url_to_repo)

    # --- writes
    def worded(self, offered: Suggestion) -> str:
        """GitLab counts a suggestion's lines from the one that it is posted at, upwards and downwards."""
        return offered.body(f"suggestion:-{offered.last - offered.first}+0")

    def review(self, pull: Pull, body: str, offered: Sequence[Suggestion]) -> None:
        request = self._request(pull.number)
        with _told(f"a review of !{pull.number}"):
            if offered:
                places = self._project.mergerequests.get(pull.number).diff_refs
            for each in offered:  # drafts, so that they are published, and told of, as one
                request.draft_notes.create({"note": self.worded(each), "position": _position(each, places)})
            if offered:
                request.draft_notes.bulk_publish()
            if body:
                request.notes.create({"body": body})

    def edit_review(self, number: int, remark: Remark, body: str) -> None:
        with _told(f"the note of !{number}"):
            self._gitlab.http_put(f"{self._path(number)}/notes/{remark.id}", post_data={"body": body})

    def edit_inline(self, number: int, remark: Remark, body: str) -> None:
        discussion, _, note = remark.id.partition("/")
        with _told(f"a note of !{number}"):
            self._gitlab.http_put(
                f"{self._path(number)}/discussions/{discussion}/notes/{note}", post_data={"body": body}
            )

    def open(self, branch: str, base: str, title: str, body: str, draft: bool) -> int:
        shown = f"Draft: {title}" if draft else title
        with _told(f"a merge request from {branch}"):
            made = self._project.mergerequests.create(
                {
                    "source_branch": branch,
                    "target_branch": base,
                    "title": shown,
                    "description": body,
                    "remove_source_branch": True,
                }
            )
            return int(made.attributes.get("iid") or 0)

    def edit(self, number: int, title: str, body: str) -> None:
        with _told(f"merge request !{number}"):
            was = str(self._project.mergerequests.get(number).title)
            shown = f"Draft: {title}" if was.startswith("Draft: ") else title
            self._project.mergerequests.update(number, {"title": shown, "description": body})

    def label(self, number: int, labels: Sequence[str]) -> None:
        with _told(f"labels of !{number}"):
            self._project.mergerequests.update(number, {"add_labels": ",".join(labels)})

    def close(self, number: int, comment: str) -> None:
        with _told(f"merge request !{number}"):
            self._request(number).notes.create({"body": comment})
            self._project.mergerequests.update(number, {"state_event": "close"})

    def delete_branch(self, branch: str) -> None:
        with _told(f"branch {branch}"):
            try:
                self._project.branches.delete(branch)
            except GitlabError as error:
                if error.response_code != 404:  # it is gone already
                    raise

    def _request(self, number: int) -> Any:
        return self._project.mergerequests.get(number, lazy=True)

    def _path(self, number: int) -> str:
        return f"/projects/{self._project.encoded_id}/merge_requests/{number}"

    def _remark(self, note: Mapping[str, Any]) -> Remark:
        if self._me is None:
            try:
                self._me = int(self._gitlab.http_get("/user")["id"])  # type: ignore[index]  # it is no other shape
            except (GitlabError, GitlabAuthenticationError):
                self._me = 0
        author = note.get("author") or {}
        body = str(note.get("body") or "")
        mine = _MARKERS in body and bool(self._me) and author.get("id") == self._me
        return Remark(str(note["id"]), body, str(author.get("username") or ""), mine)

    def _pull(self, found: Any) -> Pull:
        same = found.source_project_id == found.target_project_id
        return Pull(
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
        )


class _Adapter(HTTPAdapter):
    """Gives up where GitLab asks to wait too long; in a dry run, tells of every call and sends those that only read."""

    def __init__(self, tell: Tell | None) -> None:
        super().__init__()
        self._tell = tell

    def send(self, request: requests.PreparedRequest, *given: Any, **more: Any) -> requests.Response:
        reads = request.method in ("GET", "HEAD")
        body: Any = request.body or b""
        tell_call(
            self._tell, str(request.method), str(request.url), body if isinstance(body, bytes) else body.encode(), reads
        )
        if self._tell is not None and not reads:
            made = requests.Response()
            made.status_code, made.request, made.url = 200, request, str(request.url)
            made.headers["Content-Type"] = "application/json"
            made._content = json.dumps({"id": 0, "iid": 0}).encode()
            return made
        answer = super().send(request, *given, **more)
        wait = answer.headers.get("Retry-After", "")
        if answer.status_code == 429 and wait.isdigit() and int(wait) > LONGEST_WAIT_S:
            answer.close()
            raise BotError(f"GitLab: too many requests; it asks to wait {int(wait) / 60:.0f} min: run again then")
        return answer


@contextmanager
def _told(what: str) -> Iterator[None]:
    """An answer that is an error becomes one line."""
    try:
        yield
    except GitlabError as error:
        hint = {401: " (is the token valid?)", 403: " (has the token the scope api, and the role of docs/bot.md?)"}
        more = hint.get(error.response_code or 0, "")
        raise BotError(redacted(f"GitLab: {what}: {error.response_code or ''} {error.error_message}{more}")) from error
    except requests.RequestException as error:
        raise BotError(redacted(f"GitLab: {what}: {error}")) from error
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise BotError(f"GitLab: {what}: the answer is none of GitLab's API (is CI_SERVER_URL right?)") from error


def _position(offered: Suggestion, places: Mapping[str, str]) -> dict[str, Any]:
    return {
        **{name: places[name] for name in ("base_sha", "start_sha", "head_sha")},
        "position_type": "text",
        "new_path": offered.path,
        "old_path": offered.path,
        "new_line": offered.last,
    }
