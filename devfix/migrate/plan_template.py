"""A commented plan, for editing."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from devfix.migrate.task import DEFAULT_AUTHOR, DEFAULT_BRANCH, DEFAULT_MESSAGE, Limits, Task
from devfix.vcs.redaction import redacted

__all__ = ["template"]

_HEAD = f"""\
# A plan for `devfix migrate`. Commented settings show the defaults.

[defaults]  # for every repository, which may override them
# select = ["all"]          # rules, by code or name: see devfix rules
# ignore = []
# severity = "error"        # or "latent" (also in code without a caller here), or "advice"
# unsafe-fixes = false
# result = "patch"          # a file; "branch": also a commit in the mirror; "push": also on the remote; "pull-request"
# branch = {json.dumps(DEFAULT_BRANCH)}  # ref and folder of a repository are appended
# author = {json.dumps(DEFAULT_AUTHOR)}
# message = {json.dumps(DEFAULT_MESSAGE)}
# labels = []               # of pull requests
# reviewers = []            # "owners": those of the changed files (CODEOWNERS)
# split = "none"            # "owners": one branch and pull request for each set of owners
# draft = true
# fork = "never"            # "auto": from a fork where the token may not push; "always": always from a fork
# fork-owner = ""           # the account that gets forks; default: the token's own
# max-open = {Limits.max_open}             # pull requests of this plan; the others wait for devfix migrate open
# max-hourly = {Limits.max_hourly}
# window = ""               # when to open them: "Mon-Fri 09:00-16:00 Europe/Berlin"
# timeout = 3600            # seconds for one repository
# memory = 4096             # MB for analysing and fixing one
# max-fetch = 2048          # MB that git may fetch for one
# keep-mirror = true        # false: delete a mirror when its repository is done, to save disk space

# [defaults.verify]         # verify patches by running a script, as `devfix verify` does
# script = "train.py"
# args = ["--epochs", "1"]
# module = false            # script is a module, as for python -m
# python = "python3"        # an interpreter with torch; relative to this file if it contains a slash
# setup = "--write-checkpoint"  # arguments of a first run; or another script: "make_data.py --small"
# device = "auto"           # "sim" uses the simulator
# max-steps = 20
# timeout = 120             # seconds, and MB, for each run
# memory = 8192
"""


def template(tasks: Sequence[Task], folder: str) -> str:
    """Return the text of a plan.

    Args:
        tasks: the repositories.
        folder: the folder of the plan, to which paths are relative; empty for absolute paths.

    """
    parts = [_HEAD]
    for task in tasks:
        is_local = os.path.isabs(task.source)
        location = (
            os.path.relpath(task.source, folder) if is_local and folder else redacted(task.source).replace("***@", "")
        )
        lines = ["[[repository]]", f"{'path' if is_local else 'url'} = {json.dumps(location, ensure_ascii=False)}"]
        lines += [
            f"{key} = {json.dumps(value)}" for key, value in (("ref", task.ref), ("folder", task.folder)) if value
        ]
        if not task.ref:
            lines.append('# ref = "main"')
        if task.verification is None:
            lines.append('# verify = { script = "train.py", max-steps = 20 }')
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)
