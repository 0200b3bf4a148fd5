"""The part of Gitea's and Forgejo's API that the bot uses: requests and answers hold to Gitea's own description."""

from __future__ import annotations

import re
import subprocess

from bot.descriptions import Description
from bot.serving import TOKEN, Answer, Api, route

REPOSITORY = "lab/nets"
_REPO = r"/repos/lab/nets"
_FORK = r"/repos/((?!lab/)[\w-]+/nets)"
ME, PERSON = {"id": 7, "login": "devfix-bot"}, {"id": 8, "login": "ann"}
_PER_PAGE = 2


class Gitea(Api):
    """One repository, whose commits are those of a git repository that is served, too."""

    prefix = "/api/v1"
    description = Description("gitea")

    def __init__(self, repository):
        super().__init__()
        self.repository, self.git_root = repository, repository.parent
        self.pulls, self.comments, self.reviews, self.inline, self.labels = {}, {}, {}, {}, []
        self.requested, self.merged_with = {}, {}
        self.next = 100
        self.state = ""
        self.may_push, self.archived, self.refuse_fork = True, False, None
        self.forks = {}  # bare repositories by full name

    def authorise(self, handler):
        if handler.headers.get("Authorization", "") != f"token {TOKEN}":
            raise Answer(401, {"message": "token is required"})

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

    def _fork(self, name):
        url = f"{self.url}/git/{self.forks[name].name}"
        return {"full_name": name, "owner": {"login": name.partition("/")[0]}, "fork": True, "clone_url": url}

    def add_pull(self, branch, base="main", fork="", **more):
        number = self._number()
        self.pulls[number] = {
            "number": number,
            "state": "open",
            "merged": False,
            "title": "work",
            "body": "",
            "labels": [],
            "created_at": "2026-01-02T03:04:05Z",
            "updated_at": "2026-01-02T03:04:05Z",
            "html_url": f"{self.url}/{REPOSITORY}/pulls/{number}",
            "head": {"ref": branch, "sha": self.commit(branch, fork), "repo": {"full_name": fork or REPOSITORY}},
            "base": {"ref": base, "sha": self.commit(base), "repo": {"full_name": REPOSITORY}},
            **more,
        }
        return number

    def say(self, number, body, user=PERSON):
        self.comments.setdefault(number, []).append({"id": self._number(), "body": body, "user": user})

    def _number(self):
        self.next += 1
        return self.next

    def _page(self, found, query, *, is_linked=False):
        """One page: each list has the header X-Total-Count, and only that of pull requests has links."""
        page = int(query.get("page", 1))
        rest = found[(page - 1) * _PER_PAGE :]
        headers = {"X-Total-Count": len(found)}
        if is_linked and len(rest) > _PER_PAGE:
            headers["Link"] = f'<{self.url}/api/v1{self.calls[-1][1]}?page={page + 1}>; rel="next"'
        return Answer(200, rest[:_PER_PAGE], **headers)

    def _pull(self, number):
        pull = self.pulls[int(number)]
        if pull["state"] == "open":
            pull["head"]["sha"] = self.commit(pull["head"]["ref"], pull["head"]["repo"]["full_name"])
        return pull

    @route("GET", "/user")
    def user(self, query, body):
        return ME

    @route("GET", _REPO)
    def get_repository(self, query, body):
        permissions = {"admin": False, "push": self.may_push, "pull": True}
        url = f"{self.url}/git/{self.repository.name}"
        return {"default_branch": "main", "clone_url": url, "permissions": permissions, "archived": self.archived}

    @route("GET", _FORK)
    def get_fork(self, name, query, body):
        return self._fork(name)

    @route("GET", _REPO + "/forks")
    def list_forks(self, query, body):
        return self._page([self._fork(name) for name in self.forks], query)

    @route("POST", _REPO + "/forks")
    def create_fork(self, query, body):
        if self.refuse_fork is not None:
            raise Answer(403, {"message": self.refuse_fork})
        name = f"{body.get('organization', ME['login'])}/nets"
        self.add_fork(name)
        return Answer(202, self._fork(name))

    @route("DELETE", _FORK + "/branches/(.+)")
    def delete_branch_of_fork(self, name, branch, query, body):
        self.git("update-ref", "-d", f"refs/heads/{branch}", repository=name)
        return Answer(204)

    @route("GET", _REPO + "/pulls")
    def list_pulls(self, query, body):
        found = [self._pull(number) for number in sorted(self.pulls, reverse=True)]
        if query.get("sort") == "recentupdate":
            found.sort(key=lambda pull: pull["updated_at"], reverse=True)
        found = [pull for pull in found if query["state"] in ("all", pull["state"])]
        return self._page(found, query, is_linked=True)

    @route("GET", _REPO + r"/pulls/(\d+)")
    def get_pull(self, number, query, body):
        return self._pull(number)

    @route("GET", _REPO + r"/pulls/(\d+)\.diff")
    def diff(self, number, query, body):
        pull = self._pull(number)
        return Answer(200, self.git("diff", f"{pull['base']['sha']}...{pull['head']['sha']}"))

    @route("POST", _REPO + "/pulls")
    def create_pull(self, query, body):
        owner, _, branch = body["head"].rpartition(":")
        fork = next((name for name in self.forks if owner and name.startswith(f"{owner}/")), "")
        return self.pulls[self.add_pull(branch, body["base"], fork, title=body["title"], body=body["body"])]

    @route("PATCH", _REPO + r"/pulls/(\d+)")
    def update_pull(self, number, query, body):
        self.pulls[int(number)].update(body)
        return self.pulls[int(number)]

    @route("GET", _REPO + "/raw/(.+)")
    def raw(self, path, query, body):
        try:
            return Answer(200, self.git("show", f"{query['ref']}:{path}"))
        except subprocess.CalledProcessError:
            raise Answer(404, {"message": "not found"}) from None

    @route("GET", _REPO + r"/issues/(\d+)/comments")
    def list_comments(self, number, query, body):
        return self.comments.get(int(number), [])

    @route("POST", _REPO + r"/issues/(\d+)/comments")
    def create_comment(self, number, query, body):
        self.say(int(number), body["body"], ME)
        return self.comments[int(number)][-1]

    def _everything(self):
        return [*self.comments.values(), *(found for reviews in self.inline.values() for found in reviews.values())]

    @route("PATCH", _REPO + r"/issues/comments/(\d+)")
    def update_comment(self, comment, query, body):
        found = next(each for group in self._everything() for each in group if each["id"] == int(comment))
        found.update(body)
        return {key: found[key] for key in ("id", "body", "user")}

    @route("DELETE", _REPO + r"/issues/comments/(\d+)")
    def delete_comment(self, comment, query, body):
        for group in self._everything():
            group[:] = [each for each in group if each["id"] != int(comment)]
        return Answer(204)

    @route("GET", _REPO + r"/pulls/(\d+)/reviews")
    def list_reviews(self, number, query, body):
        return self._page(self.reviews.get(int(number), []), query)

    @route("POST", _REPO + r"/pulls/(\d+)/reviews")
    def create_review(self, number, query, body):
        if body["commit_id"] != self._pull(number)["head"]["sha"] or not (body["body"] or body["comments"]):
            raise Answer(422, {"message": "no such commit, or nothing to say"})
        review = {"id": self._number(), "body": body["body"], "user": ME, "state": body["event"]}
        self.reviews.setdefault(int(number), []).append(review)
        made = self.inline.setdefault(int(number), {}).setdefault(review["id"], [])
        for each in body["comments"]:
            made.append({**each, "id": self._number(), "user": ME})
        return Answer(200, review)

    @route("GET", _REPO + r"/pulls/(\d+)/reviews/(\d+)/comments")
    def list_inline(self, number, review, query, body):
        found = self.inline[int(number)][int(review)]
        return [
            {**{key: each[key] for key in ("id", "body", "path", "user")}, "position": each["new_position"]}
            for each in found
        ]

    @route("POST", _REPO + r"/pulls/(\d+)/requested_reviewers")
    def request_reviewers(self, number, query, body):
        self.requested[int(number)] = [*body["reviewers"], *body["team_reviewers"]]
        return Answer(201, [])

    @route("POST", _REPO + r"/pulls/(\d+)/merge")
    def merge_pull(self, number, query, body):
        pull = self.pulls[int(number)]
        if body["head_commit_id"] != pull["head"]["sha"]:
            raise Answer(409, {"message": "head out of date"})
        pull.update(state="closed", merged=True)
        self.merged_with[int(number)] = body["Do"]
        return Answer(200)

    @route("GET", _REPO + r"/commits/(\w+)/status")
    def combined_status(self, revision, query, body):
        return {"state": self.state or "pending", "total_count": int(bool(self.state)), "sha": revision}

    @route("GET", _REPO + "/labels")
    def list_labels(self, query, body):
        return self._page(self.labels, query)

    @route("POST", _REPO + "/labels")
    def create_label(self, query, body):
        assert re.fullmatch("#[0-9a-f]{6}", body["color"])
        self.labels.append({**body, "id": self._number()})
        return self.labels[-1]

    @route("POST", _REPO + r"/issues/(\d+)/labels")
    def add_labels(self, number, query, body):
        found = [label for label in self.labels if label["id"] in body["labels"]]
        self.pulls[int(number)]["labels"] += found
        return Answer(200, found)

    @route("DELETE", _REPO + "/branches/(.+)")
    def delete_branch(self, branch, query, body):
        self.git("update-ref", "-d", f"refs/heads/{branch}")
        return Answer(204)
