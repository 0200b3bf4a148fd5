"""A plan with remarks, for somebody to look at."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from devfix.migrate.task import DEFAULT_AUTHOR, DEFAULT_BRANCH, DEFAULT_MESSAGE, Task
from devfix.vcs.redaction import redacted

__all__ = ["template"]

_HEAD = f"""\
# A plan for `devfix migrate`. What is behind '#' is what holds without it.

[defaults]  # for every repository; each may say otherwise
# select = ["all"]          # rules, by code or name: see devfix rules
# ignore = []
# severity = "error"        # or "latent" (also in code that nothing here starts), or "advice"
# unsafe-fixes = false
# result = "patch"          # a file; "branch": also a commit in the mirror; "push": also at the remote; "pull-request"
# branch = {json.dumps(DEFAULT_BRANCH)}
# author = {json.dumps(DEFAULT_AUTHOR)}
# message = {json.dumps(DEFAULT_MESSAGE)}
# timeout = 3600            # seconds for one repository
# memory = 4096             # MB for reading and repairing one
# keep-mirror = true        # false: a mirror is deleted when its repository is done, where the disk is small

# [defaults.verify]         # prove patches by running a script, as `devfix verify` does
# script = "train.py"
# args = ["--epochs", "1"]
# module = false            # script is a module, as of python -m
# python = "python3"        # an interpreter with torch; relative to this file where it has a slash
# setup = "--write-checkpoint"  # arguments of a run that comes first; or another script: "make_data.py --small"
# device = "auto"           # "sim" simulates one
# max-steps = 20
# timeout = 120             # seconds, and MB, for each run
# memory = 8192
"""


def template(tasks: Sequence[Task], folder: str) -> str:
    """The text of a plan for some repositories.

    Args:
        tasks: the repositories.
        folder: where the plan will lie: paths are relative to it; empty for absolute ones.

    """
    parts = [_HEAD]
    for task in tasks:
        local = os.path.isabs(task.source)
        shown = os.path.relpath(task.source, folder) if local and folder else redacted(task.source).replace("***@", "")
        lines = ["[[repository]]", f"{'path' if local else 'url'} = {json.dumps(shown, ensure_ascii=False)}"]
        lines += [
            f"{key} = {json.dumps(value)}" for key, value in (("ref", task.ref), ("folder", task.folder)) if value
        ]
        if not task.ref:
            lines.append('# ref = "main"')
        if task.verification is None:
            lines.append('# verify = { script = "train.py", max-steps = 20 }')
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)
