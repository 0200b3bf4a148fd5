"""The part of GitHub's API that the bot uses: requests and answers hold to GitHub's own description."""

from __future__ import annotations

import base64
import subprocess

from bot.descriptions import Description
from bot.serving import TOKEN, Answer, Api, route

REPOSITORY = "lab/nets"
BOT = {"login": "github-actions[bot]", "type": "Bot"}
PERSON = {"login": "ann", "type": "User"}
_REPO = r"/repos/lab/nets"
_FORK = r"/repos/((?!lab/)[\w-]+/nets[\w-]*)"
_PER_PAGE = 2  # few, so that there are pages
_MOST_CONTENT = 1_000_000  # bytes of a file whose content is in the answer


class GitHub(Api):
    """One repository, whose commits are those of a git repository that is served, too."""

    description = Description("github")

    def __init__(self, repository):
        super().__init__()
        self.repository = repository
        self.git_root = repository.parent
        self.pulls = {}
        self.comments, self.reviews, self.inline = {}, {}, {}
        self.next = 100
        self.refuse_fork = None
        self.conclusions = ["success"]
        self.repositories = {}
        self.login = ""  # of the token's account; empty for the token of an app
        self.app = BOT["login"]  # which app that is
        self.may_push, self.archived = True, False
        self.forks, self.unrelated = {}, set()  # bare repositories by full name; which of them are no forks
        self.questions_until_filled = 0  # that git asks about a new fork

    def authorise(self, handler):
        if handler.headers.get("Authorization", "") not in (f"token {TOKEN}", f"Bearer {TOKEN}"):
            raise Answer(401, {"message": "Bad credentials"})

    def described(self, method, path, query, document):
        """Answer GraphQL, which has a description of its own: https://docs.github.com/en/graphql/overview/public-schema."""
        if (method, path) != ("POST", "/graphql"):
            return super().described(method, path, query, document)
        if document != {"query": "query { viewer { login } }"}:
            return Answer(200, {"errors": [{"message": "the fake knows one query"}]})
        return Answer(200, {"data": {"viewer": {"login": self.login or self.app}}})

    def writes(self):
        return [call for call in super().writes() if call != ("POST", "/graphql")]

    def git(self, *arguments, repository=""):
        folder = self.forks.get(repository, self.repository)
        return subprocess.run(["git", "-C", folder, *arguments], capture_output=True, check=True).stdout

    def commit(self, revision, repository=""):
        return self.git("rev-parse", revision, repository=repository).decode().strip()

    def add_fork(self, name):
        """A fork with what the repository has now."""
        self.forks[name] = self.git_root / f"{name.replace('/', '-')}.git"
        subprocess.run(["git", "clone", "-q", "--bare", self.repository, self.forks[name]], check=True)
        subprocess.run(["git", "-C", self.forks[name], "config", "http.receivepack", "true"], check=True)

    def serve_git(self, handler, body):
        if self.questions_until_filled and any(f"/{fork.name}/" in handler.path for fork in self.forks.values()):
            self.questions_until_filled -= 1
            handler.send_response(404)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        super().serve_git(handler, body)

    def add_pull(self, branch, base="main", fork="", **more):
        number = self._number()
        repository = {"full_name": fork or REPOSITORY}
        self.pulls[number] = {
            "number": number,
            "state": "open",
            "title": "work",
            "body": "",
            "labels": [],
            "created_at": "2026-01-02T03:04:05Z",
            "merged_at": None,
            "draft": False,
            "head": {
                "ref": branch,
                "sha": self.commit(branch, fork),
                "repo": repository,
                "label": f"{repository['full_name'].partition('/')[0]}:{branch}",
            },
            "base": {"ref": base, "sha": self.commit(base), "repo": {"full_name": REPOSITORY}},
            **more,
        }
        return number

    def say(self, number, body, user=PERSON):
        self.comments.setdefault(number, []).append({"id": self._number(), "body": body, "user": user})

    def _number(self):
        self.next += 1
        return self.next

    def _page(self, found, query, path):
        size, page = min(int(query.get("per_page", 30)), _PER_PAGE), int(query.get("page", 1))
        rest = found[(page - 1) * size :]
        headers = {}
        if len(rest) > size:
            kept = "&".join(f"{name}={value}" for name, value in query.items() if name != "page")
            headers["Link"] = f'<{self.url}{path}?{kept}&page={page + 1}>; rel="next"'
        return Answer(200, rest[:size], **headers)

    def _user(self, user):
        return {**self.description.example("simple-user"), **user}

    def _pull(self, number, model="pull-request"):
        pull = self.pulls[number]
        if self._there(pull["head"]["ref"], pull["head"]["repo"]["full_name"]):
            pull["head"]["sha"] = self.commit(pull["head"]["ref"], pull["head"]["repo"]["full_name"])
        document = self.description.example(model)
        for key, value in pull.items():
            if key in ("head", "base"):
                document[key].update({**value, "repo": {**self.description.example("repository"), **value["repo"]}})
                document[key]["user"] = self._user(PERSON)
            else:
                document[key] = value
        document["labels"] = [self._label(name) for name in pull["labels"]]
        document["html_url"] = f"https://github.test/lab/nets/pull/{number}"
        return document

    def _label(self, name):
        return self.description.example("label", name=name, description="")

    def _there(self, branch, repository=""):
        done = subprocess.run(
            [
                "git",
                "-C",
                self.forks.get(repository, self.repository),
                "rev-parse",
                "--verify",
                "-q",
                f"refs/heads/{branch}",
            ],
            capture_output=True,
            check=False,
        )
        return done.returncode == 0

    @route("GET", "/user")
    def user(self, query, body):
        if not self.login:
            raise Answer(403, {"message": "Resource not accessible by integration"})
        return self.description.example("private-user", login=self.login)

    @route("GET", _REPO)
    def get_repository(self, query, body):
        permissions = {"admin": False, "pull": True, "push": self.may_push}
        return self._repository(REPOSITORY, self.repository, permissions=permissions, archived=self.archived)

    @route("GET", _FORK)
    def get_fork(self, name, query, body):
        if name not in self.forks:
            raise Answer(404, {"message": "Not Found"})
        return self._fork(name)

    @route("POST", _REPO + r"/forks")
    def create_fork(self, query, body):
        name = f"{body.get('organization', self.login)}/nets"
        if self.refuse_fork is not None:
            raise Answer(403, {"message": self.refuse_fork})
        if name in self.unrelated:
            name = f"{name}-1"
        if name not in self.forks:
            self.add_fork(name)
        return self._fork(name)

    @route("DELETE", _FORK + r"/git/refs/heads/(.+)")
    def delete_ref_of_fork(self, name, branch, query, body):
        self.git("update-ref", "-d", f"refs/heads/{branch}", repository=name)
        return Answer(204)

    def _fork(self, name):
        if name in self.unrelated:
            return self._repository(name, self.forks[name])
        parent = {**self.description.example("repository"), "full_name": REPOSITORY}
        return {**self._repository(name, self.forks[name], fork=True), "parent": parent, "source": parent}

    def _repository(self, name, folder, **more):
        url = f"{self.url}/git/{folder.name}"
        return self.description.example("full-repository", full_name=name, default_branch="main", clone_url=url, **more)

    @route("GET", r"/(?:orgs|users)/(\w+)/repos")
    def list_repositories(self, owner, query, body):
        made = [
            self.description.example(
                "minimal-repository", **{"clone_url": f"https://github.test/{owner}/{name}.git", **each}
            )
            for name, each in self.repositories.items()
        ]
        return self._page(made, query, f"/orgs/{owner}/repos")

    def _sorted(self, query):
        if query.get("sort") != "created":
            return sorted(self.pulls.items())
        return sorted(self.pulls.items(), key=lambda each: each[1]["created_at"], reverse=query["direction"] == "desc")

    @route("GET", _REPO + r"/pulls")
    def list_pulls(self, query, body):
        owner, _, branch = query.get("head", "").partition(":")
        found = [
            self._pull(number, "pull-request-simple")
            for number, pull in self._sorted(query)
            if query["state"] in ("all", pull["state"])
            and branch in ("", pull["head"]["ref"])
            and pull["head"]["repo"]["full_name"].startswith(owner)
        ]
        return self._page(found, query, _REPO + "/pulls")

    @route("GET", _REPO + r"/pulls/(\d+)")
    def get_pull(self, number, query, body):
        return self._pull(int(number))

    @route("POST", _REPO + r"/pulls")
    def create_pull(self, query, body):
        owner, _, branch = body["head"].rpartition(":")
        label = f"{owner or 'lab'}:{branch}"
        if any(p["head"]["label"] == label and p["state"] == "open" for p in self.pulls.values()):
            message = f"A pull request already exists for {label}."
            raise Answer(422, {"message": "Validation Failed", "errors": [{"message": message}]})
        own = (name for name in self.forks if name.startswith(f"{owner}/") and name not in self.unrelated)
        fork = next(own, "")
        texts = {key: body[key] for key in ("title", "body", "draft")}
        return self._pull(self.add_pull(branch, body["base"], fork, **texts))

    @route("PATCH", _REPO + r"/pulls/(\d+)")
    def update_pull(self, number, query, body):
        self.pulls[int(number)].update(body)
        return self._pull(int(number))

    @route("PUT", _REPO + r"/pulls/(\d+)/merge")
    def merge_pull(self, number, query, body):
        pull = self.pulls[int(number)]
        if pull["draft"]:
            raise Answer(405, {"message": "Pull Request is still a draft"})
        if body["sha"] != pull["head"]["sha"]:
            raise Answer(409, {"message": "Head branch was modified. Review and try the merge again."})
        pull.update(state="closed", merged_at="2026-01-03T03:04:05Z")
        return Answer(200, {"sha": body["sha"], "merged": True, "message": "merged"})

    @route("POST", _REPO + r"/pulls/(\d+)/requested_reviewers")
    def request_reviewers(self, number, query, body):
        if not self.may_push:
            raise Answer(403, {"message": "Must have push access to request reviewers"})
        if self.login in body["reviewers"]:
            raise Answer(422, {"message": "Review cannot be requested from pull request author."})
        self.pulls[int(number)]["reviewers"] = [*body["reviewers"], *body["team_reviewers"]]
        return self._pull(int(number), "pull-request-simple")

    @route("GET", _REPO + r"/commits/(\w+)/check-runs")
    def check_runs(self, ref, query, body):
        found = [
            {**self.description.example("check-run"), "conclusion": each, "head_sha": ref} for each in self.conclusions
        ]
        return {"total_count": len(found), "check_runs": found}

    @route("GET", _REPO + r"/commits/(\w+)/status")
    def combined_status(self, ref, query, body):
        return self.description.example("combined-commit-status", state="pending", sha=ref, total_count=0)

    @route("GET", _REPO + r"/pulls/(\d+)/files")
    def list_files(self, number, query, body):
        pull = self.pulls[int(number)]
        span = f"{pull['base']['sha']}...{pull['head']['sha']}"
        found = []
        for name in self.git("diff", "-z", "--name-only", span).decode("utf-8", "replace").split("\0")[:-1]:
            patch = self.git("diff", span, "--", name).decode("utf-8", "replace")
            entry = self.description.example("diff-entry", filename=name, status="modified")
            found.append({**entry, "patch": patch[patch.find("@@") :]})
        return self._page(found, query, f"{_REPO}/pulls/{number}/files")

    @route("GET", _REPO + r"/contents/(.+)")
    def get_content(self, path, query, body):
        try:
            raw = self.git("show", f"{query['ref']}:{path}")
        except subprocess.CalledProcessError:
            raise Answer(404, {"message": "Not Found"}) from None
        sha = self.commit(f"{query['ref']}:{path}")
        document = self.description.example("content-file", name=path, path=path, size=len(raw), sha=sha, type="file")
        if len(raw) > _MOST_CONTENT:
            return {**document, "encoding": "none", "content": ""}
        return {**document, "encoding": "base64", "content": base64.encodebytes(raw).decode()}

    @route("GET", _REPO + r"/git/blobs/(\w+)")
    def get_blob(self, sha, query, body):
        raw = self.git("cat-file", "blob", sha)
        content = base64.encodebytes(raw).decode()
        return self.description.example("blob", sha=sha, size=len(raw), encoding="base64", content=content)

    @route("GET", _REPO + r"/issues/(\d+)/comments")
    def list_comments(self, number, query, body):
        found = [
            {
                **self.description.example("issue-comment", id=each["id"], body=each["body"]),
                "user": self._user(each["user"]),
            }
            for each in self.comments.get(int(number), [])
        ]
        return self._page(found, query, f"{_REPO}/issues/{number}/comments")

    @route("POST", _REPO + r"/issues/(\d+)/comments")
    def create_comment(self, number, query, body):
        self.say(int(number), body["body"], BOT)
        return self.description.example("issue-comment", body=body["body"])

    @route("POST", _REPO + r"/issues/(\d+)/labels")
    def add_labels(self, number, query, body):
        if not self.may_push:
            raise Answer(403, {"message": "You do not have permission to add labels"})
        self.pulls[int(number)]["labels"] += body["labels"]
        return Answer(200, [self._label(name) for name in body["labels"]])

    @route("GET", _REPO + r"/pulls/(\d+)/reviews")
    def list_reviews(self, number, query, body):
        found = [
            {
                **self.description.example("pull-request-review", id=each["id"], body=each["body"]),
                "state": each.get("state", "COMMENTED"),
                "user": self._user(each["user"]),
            }
            for each in self.reviews.get(int(number), [])
        ]
        return self._page(found, query, f"{_REPO}/pulls/{number}/reviews")

    @route("POST", _REPO + r"/pulls/(\d+)/reviews")
    def create_review(self, number, query, body):
        pull = self.pulls[int(number)]
        if body["commit_id"] != pull["head"]["sha"]:
            raise Answer(
                422, {"message": "Unprocessable Entity", "errors": ["commit_id is not part of the pull request"]}
            )
        if not body.get("body") and not body.get("comments"):
            raise Answer(422, {"message": "Unprocessable Entity", "errors": ["a review needs a body"]})
        for each in body.get("comments", []):
            self._in_diff(int(number), each)
        self.reviews.setdefault(int(number), []).append({"id": self._number(), "body": body["body"], "user": BOT})
        for each in body.get("comments", []):
            self.inline.setdefault(int(number), []).append({**each, "id": self._number(), "user": BOT})
        return self.description.example("pull-request-review", body=body["body"])

    def _in_diff(self, number, comment):
        pull = self.pulls[number]
        span = f"{pull['base']['sha']}...{pull['head']['sha']}"
        diff = self.git("diff", span, "--", comment["path"]).decode()
        new, inside, at = 0, set(), 0
        for line in diff.split("\n"):
            if line.startswith("@@"):
                at = int(line.split("+")[1].split(",")[0].split(" ")[0])
            elif at and line[:1] in (" ", "+"):
                inside.add(at)
                at += 1
        first = comment.get("start_line", comment["line"])
        if not set(range(first, comment["line"] + 1)) <= inside or new:
            raise Answer(422, {"message": "Unprocessable Entity", "errors": ["Line must be part of the diff"]})

    @route("PUT", _REPO + r"/pulls/(\d+)/reviews/(\d+)")
    def update_review(self, number, review, query, body):
        self._with(self.reviews[int(number)], int(review)).update(body)
        return self.description.example("pull-request-review", body=body["body"])

    @route("GET", _REPO + r"/pulls/(\d+)/comments")
    def list_inline(self, number, query, body):
        found = [
            {
                **self.description.example(
                    "pull-request-review-comment", id=each["id"], body=each["body"], path=each["path"]
                ),
                "user": self._user(each["user"]),
            }
            for each in self.inline.get(int(number), [])
        ]
        return self._page(found, query, f"{_REPO}/pulls/{number}/comments")

    @route("PATCH", _REPO + r"/pulls/comments/(\d+)")
    def update_inline(self, comment, query, body):
        everything = [each for found in self.inline.values() for each in found]
        self._with(everything, int(comment)).update(body)
        return self.description.example("pull-request-review-comment", body=body["body"])

    @route("DELETE", _REPO + r"/pulls/comments/(\d+)")
    def delete_inline(self, comment, query, body):
        for found in self.inline.values():
            found[:] = [each for each in found if each["id"] != int(comment)]
        return Answer(204)

    @route("DELETE", _REPO + r"/git/refs/heads/(.+)")
    def delete_ref(self, branch, query, body):
        if not self._there(branch):
            raise Answer(422, {"message": "Reference does not exist"})
        self.git("update-ref", "-d", f"refs/heads/{branch}")
        return Answer(204)

    def _with(self, found, number):
        return next(each for each in found if each["id"] == number)
