"""Links from a page to source files: on the forge of the repository if it is known, else relative to the page."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

__all__ = ["Checkout"]

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
#: The path of a file at a commit, by kind of forge.
_BLOBS = {"github": "blob/{commit}", "gitlab": "-/blob/{commit}", "gitea": "src/commit/{commit}"}


@dataclass(frozen=True)
class Checkout:
    """The commit that was read.

    Attributes:
        commit: its hash; empty outside a repository.
        web: the address of its files on the forge; empty if the forge is not known.
        web_commit: the address of the commit on the forge; empty if the forge is not known.

    """

    commit: str = ""
    web: str = ""
    web_commit: str = ""

    @classmethod
    def of(cls, root: str) -> Checkout:
        """Return the commit that is checked out in a folder, and its address."""
        from devfix.vcs.git import Git, GitError

        git = Git(root, timeout=10, user_checkout=True)
        try:
            commit = git("rev-parse", "--verify", "--quiet", "HEAD").strip()
        except (GitError, OSError):
            return cls()
        if not _COMMIT.fullmatch(commit):
            return cls()
        try:
            remote = git("config", "--get", "remote.origin.url").strip()
        except (GitError, OSError):
            return cls(commit)
        return cls(commit, *_addresses(remote, commit))

    def link(self, name: str, line: int = 0) -> str:
        """Return the link to a file by its path within the repository, and to a line unless it is 0."""
        anchor = f"#L{line}" if line and self.web else ""
        return f"{self.web or '.'}/{quote(name)}{anchor}"


def _addresses(remote: str, commit: str) -> tuple[str, str]:
    """Return the addresses of a commit's files and of the commit; empty if the forge is not known."""
    from devfix.vcs.hosts import NoAddress, UnknownHost, host_of

    try:
        host = host_of(remote, os.environ)
    except (NoAddress, UnknownHost):
        return "", ""
    scheme, colon, _ = remote.partition("://")
    parts = urlsplit(remote if colon else "ssh://" + remote.replace(":", "/", 1))
    port = f":{parts.port}" if parts.port and scheme in ("http", "https") else ""
    base = f"https://{parts.hostname}{port}/{quote(host.repository)}"
    blob = _BLOBS.get(str(host.kind))
    if blob is None:
        return "", ""
    part = "/-/commit/" if host.kind == "gitlab" else "/commit/"
    return f"{base}/{blob.format(commit=commit)}", f"{base}{part}{commit}"
