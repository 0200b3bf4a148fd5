"""The part of GitLab's API that the bot uses: requests and answers hold to GitLab's own description."""

from __future__ import annotations

import base64
import subprocess

from bot.descriptions import Description
from bot.serving import TOKEN, Answer, Api, route

REPOSITORY = "lab/nets"
_PROJECT = r"/projects/lab%2Fnets"
_REQUEST = _PROJECT + r"/merge_requests/(\d+)"
ME, PERSON = {"id": 7, "username": "devfix-bot"}, {"id": 8, "username": "ann"}
_PER_PAGE = 2
_NOT_LISTED = ("diff_refs", "head_pipeline")


class GitLab(Api):
    """One project, whose commits are those of a git repository that is served, too."""

    prefix = "/api/v4"
    description = Description("gitlab")

    def __init__(self, repository):
        super().__init__()
        self.repository, self.git_root = repository, repository.parent
        self.requests, self.notes, self.drafts, self.discussions = {}, {}, {}, {}
        self.approved, self.reviewers = {}, {}
        self.projects_of_group, self.languages = [], {}
        self.next = 100
        self.access, self.archived = {"project_access": None, "group_access": {"access_level": 30}}, False
        self.forks, self.import_states, self.import_error = {}, [], None  # bare repositories by path; the next states
        self.refuse_fork = None
        self.groups = ("lab", "lab/core")  # which are no users

    def authorise(self, handler):
        if handler.headers.get("PRIVATE-TOKEN", "") != TOKEN:
            raise Answer(401, {"message": "401 Unauthorized"})

    def git(self, *arguments, repository=""):
        folder = self.forks.get(repository, self.repository)
        return subprocess.run(["git", "-C", folder, *arguments], capture_output=True, check=True).stdout

    def commit(self, revision, repository=""):
        return self.git("rev-parse", revision, repository=repository).decode().strip()

    def add_fork(self, path):
        """A fork with what the project has now; its number is 2 for the first, 3 for the second."""
        self.forks[path] = self.git_root / f"{path.replace('/', '-')}.git"
        subprocess.run(["git", "clone", "-q", "--bare", self.repository, self.forks[path]], check=True)
        subprocess.run(["git", "-C", self.forks[path], "config", "http.receivepack", "true"], check=True)

    def _fork(self, path, state="none"):
        return {
            "id": 2 + list(self.forks).index(path),
            "path_with_namespace": path,
            "namespace": {"full_path": path.rpartition("/")[0]},
            "http_url_to_repo": f"{self.url}/git/{self.forks[path].name}",
            "import_status": state,
            "import_error": self.import_error,
        }

    def _source(self, number):
        return "" if number == 1 else list(self.forks)[number - 2]

    def add_request(self, branch, **more):
        self.next += 1
        self.requests[self.next] = {
            "id": self.next * 10,
            "iid": self.next,
            "title": "work",
            "description": "",
            "state": "opened",
            "labels": [],
            "created_at": "2026-01-02T03:04:05.000Z",
            "source_branch": branch,
            "target_branch": "main",
            "source_project_id": 1,
            "target_project_id": 1,
            "web_url": f"{self.url}/lab/nets/-/merge_requests/{self.next}",
            **more,
        }
        return self.next

    def say(self, number, body, author=PERSON):
        self.next += 1
        self.notes.setdefault(number, []).append({"id": self.next, "body": body, "author": author})

    def _request(self, number):
        found = self.requests[int(number)]
        if found["state"] != "opened":  # its branch may be deleted
            return found
        source = self._source(found["source_project_id"])
        base, head = self.commit(found["target_branch"]), self.commit(found["source_branch"], source)
        start = self.git("merge-base", base, head, repository=source).decode().strip()
        found.update(sha=head, diff_refs={"base_sha": start, "head_sha": head, "start_sha": start})
        return found

    def _page(self, found, query):
        page = int(query.get("page", 1))
        rest = found[(page - 1) * _PER_PAGE :]
        headers = {"X-Page": page, "X-Per-Page": _PER_PAGE, "X-Total": len(found)}
        if len(rest) > _PER_PAGE:
            headers["Link"] = f'<{self.url}/api/v4{self.calls[-1][1]}?page={page + 1}>; rel="next"'
        return Answer(200, rest[:_PER_PAGE], **headers)

    @route("GET", "/user")
    def user(self, query, body):
        return ME

    @route("GET", _PROJECT)
    def project(self, query, body):
        url = f"{self.url}/git/{self.repository.name}"
        told = {"permissions": self.access, "archived": self.archived}
        return {"id": 1, "default_branch": "main", "http_url_to_repo": url, **told}

    @route("GET", r"/projects/((?!lab%2F)[\w-]+%2Fnets)")
    def fork_project(self, path, query, body):
        if path not in self.forks:
            raise Answer(404, {"message": "404 Project Not Found"})
        return self._fork(path, self.import_states.pop(0) if self.import_states else "finished")

    @route("GET", "/projects/1/forks")
    def list_forks(self, query, body):
        assert query.get("membership", "").lower() == "true"
        return self._page([self._fork(path) for path in self.forks], query)

    @route("POST", "/projects/1/fork")
    def create_fork(self, query, body):
        if self.refuse_fork is not None:
            raise Answer(403, {"message": self.refuse_fork})
        path = f"{body['namespace_path']}/nets"
        if path in self.forks:
            raise Answer(409, {"message": {"path": ["has already been taken"]}})
        self.add_fork(path)
        return self._fork(path, "scheduled")

    @route("POST", r"/projects/((?!lab%2F)[\w-]+%2Fnets)/merge_requests")
    def create_request_from_fork(self, path, query, body):
        assert body.pop("target_project_id") == 1
        return self._create(body, source_project_id=self._fork(path)["id"])

    @route("DELETE", r"/projects/((?!lab%2F)[\w-]+%2Fnets)/repository/branches/(.+)")
    def delete_branch_of_fork(self, path, branch, query, body):
        self.git("update-ref", "-d", f"refs/heads/{branch}", repository=path)
        return Answer(204)

    @route("GET", r"/groups/lab(?:/|%2F)core/projects")
    def projects(self, query, body):
        assert query["include_subgroups"].lower() == "true"
        return self._page(self.projects_of_group, query)

    @route("GET", r"/projects/(\d+)/languages")
    def list_languages(self, project, query, body):
        return self.languages[int(project)]

    @route("GET", _PROJECT + "/merge_requests")
    def list_requests(self, query, body):
        found = [
            {key: value for key, value in self._request(number).items() if key not in _NOT_LISTED}
            for number, each in sorted(self.requests.items())
            if query.get("state", "all") in ("all", each["state"])
            and each["created_at"] > query.get("created_after", "")
            and query.get("source_branch", each["source_branch"]) == each["source_branch"]
        ]
        return self._page(found, query)

    @route("GET", _REQUEST)
    def get_request(self, number, query, body):
        if int(number) not in self.requests:
            raise Answer(404, {"message": "404 Not found"})
        return self._request(number)

    @route("POST", _PROJECT + "/merge_requests")
    def create_request(self, query, body):
        return self._create(body, source_project_id=1)

    def _create(self, body, source_project_id):
        taken = any(
            (each["source_branch"], each["source_project_id"]) == (body["source_branch"], source_project_id)
            and each["state"] == "opened"
            for each in self.requests.values()
        )
        if taken:
            raise Answer(409, {"message": ["Another open merge request already exists for this source branch"]})
        texts = {key: body[key] for key in ("title", "description")}
        return self._request(self.add_request(body["source_branch"], source_project_id=source_project_id, **texts))

    @route("PUT", _REQUEST)
    def update_request(self, number, query, body):
        found = self.requests[int(number)]
        found["labels"] += body.pop("add_labels", [])
        self.reviewers[int(number)] = body.pop("reviewer_ids", [])
        if body.pop("state_event", "") == "close":
            found["state"] = "closed"
        found.update(body)
        return self._request(number)

    @route("GET", _REQUEST + "/approvals")
    def approvals(self, number, query, body):
        by = self.approved.get(int(number), [])
        return {"approved": bool(by), "approved_by": by}

    @route("PUT", _REQUEST + "/merge")
    def merge(self, number, query, body):
        if self.requests[int(number)]["title"].startswith("Draft: "):
            raise Answer(405, {"message": "405 Method Not Allowed"})
        if body["sha"] != self._request(number)["sha"]:
            raise Answer(409, {"message": "SHA does not match HEAD of source branch"})
        self.requests[int(number)]["state"] = "merged"
        return self._request(number)

    @route("GET", "/users")
    def users(self, query, body):
        return [] if query["username"] in self.groups else [{"id": 7, "username": query["username"]}]

    @route("GET", _REQUEST + "/diffs")
    def diffs(self, number, query, body):
        request = self._request(number)
        span = f"{request['diff_refs']['base_sha']}..{request['sha']}"
        found = []
        for name in self.git("diff", "--name-only", span).decode().split():
            patch = self.git("diff", span, "--", name).decode()
            found.append({"old_path": name, "new_path": name, "diff": patch[patch.find("@@") :]})
        return self._page(found, query)

    @route("HEAD", _PROJECT + "/repository/files/(.+)")
    def file_metadata(self, path, query, body):
        document = self.file(path, query, body)
        return Answer(200, None, X_Gitlab_Size=len(base64.b64decode(document["content"])))

    @route("GET", _PROJECT + "/repository/files/(.+)")
    def file(self, path, query, body):
        try:
            raw = self.git("show", f"{query['ref']}:{path}")
        except subprocess.CalledProcessError:
            raise Answer(404, {"message": "404 File Not Found"}) from None
        return {"file_path": path, "encoding": "base64", "content": base64.b64encode(raw).decode()}

    @route("GET", _REQUEST + "/notes")
    def list_notes(self, number, query, body):
        return self._page(self.notes.get(int(number), []), query)

    @route("POST", _REQUEST + "/notes")
    def create_note(self, number, query, body):
        self.say(int(number), body["body"], ME)
        return self.notes[int(number)][-1]

    @route("PUT", _REQUEST + r"/notes/(\d+)")
    def update_note(self, number, note, query, body):
        found = next(each for each in self.notes[int(number)] if each["id"] == int(note))
        found.update(body)
        return found

    @route("DELETE", _REQUEST + r"/notes/(\d+)")
    def delete_note(self, number, note, query, body):
        self.notes[int(number)] = [each for each in self.notes[int(number)] if each["id"] != int(note)]
        return Answer(204)

    @route("DELETE", _REQUEST + r"/discussions/(\w+)/notes/(\d+)")
    def delete_discussion(self, number, discussion, note, query, body):
        self.discussions[int(number)] = [each for each in self.discussions[int(number)] if each["id"] != discussion]
        return Answer(204)

    @route("POST", _REQUEST + "/draft_notes")
    def create_draft(self, number, query, body):
        position, refs = body["position"], self._request(number)["diff_refs"]
        if {name: position[name] for name in refs} != refs:
            raise Answer(400, {"message": "400 Bad request - the position is not one of the diff"})
        self.drafts.setdefault(int(number), []).append(body)
        return {"id": len(self.drafts[int(number)]), **body}

    @route("POST", _REQUEST + "/draft_notes/bulk_publish")
    def publish(self, number, query, body):
        for draft in self.drafts.pop(int(number)):
            self.next += 2
            note = {"id": self.next, "body": draft["note"], "position": draft["position"], "author": ME}
            self.discussions.setdefault(int(number), []).append({"id": f"d{self.next}", "notes": [note]})
        return Answer(204)

    @route("GET", _REQUEST + "/discussions")
    def list_discussions(self, number, query, body):
        return self._page(self.discussions.get(int(number), []), query)

    @route("PUT", _REQUEST + r"/discussions/(\w+)/notes/(\d+)")
    def update_discussion(self, number, discussion, note, query, body):
        found = next(each for each in self.discussions[int(number)] if each["id"] == discussion)
        found["notes"][0].update(body)
        return found["notes"][0]

    @route("DELETE", _PROJECT + r"/repository/branches/(.+)")
    def delete_branch(self, branch, query, body):
        self.git("update-ref", "-d", f"refs/heads/{branch}")
        return Answer(204)
