"""Instructions for coding agents: a skill, and a section in AGENTS.md and CLAUDE.md."""

from __future__ import annotations

import os

from devfix.init._steps import Addition, Present, Refused, Step, read
from devfix.init._templates import template
from devfix.init._text import append_lines

__all__ = ["agent"]

#: Folders of skills by the folder of their tool; the first is the default (https://agentskills.io).
_SKILL_FOLDERS = {".claude": ".claude/skills", ".agents": ".agents/skills"}
_SECTION = """\
## PyTorch device errors

- If a program fails with a device error (`Expected all tensors to be on the same device` and the like), pipe its output
  into `devfix diagnose --output-format agent`, and run the command that the last line names.
- Before a change of devices is done, prove it without a GPU: `devfix verify SCRIPT --since HEAD --output-format agent
  -- ARGS`. Only `fixed` and `no-error` are good verdicts.
"""


def agent(root: str) -> list[Step]:
    """Add the skill and the section; existing text stays.

    AGENTS.md is created if it is missing. CLAUDE.md is extended only if it exists and does not import or link to
    AGENTS.md.
    """
    folders = [path for tool, path in _SKILL_FOLDERS.items() if os.path.isdir(os.path.join(root, tool))]
    names = [f"{folder}/devfix/SKILL.md" for folder in folders or [next(iter(_SKILL_FOLDERS.values()))]]
    steps = [_skill(os.path.join(root, name)) for name in names]
    agents, claude = os.path.join(root, "AGENTS.md"), os.path.join(root, "CLAUDE.md")
    steps.append(_section(agents))
    if os.path.exists(claude) and not _includes(claude, agents):
        steps.append(_section(claude))
    return steps


def _skill(path: str) -> Step:
    try:
        old = read(path)
    except OSError as error:
        return Refused(path, f"cannot be read: {error.strerror or error}")
    text = template("SKILL.md")
    if old is None:
        return Addition(path, None, text)
    return Present(path, "the skill") if old == text else Refused(path, "differs from the skill of this version")


def _section(path: str) -> Step:
    try:
        old = read(path)
    except OSError as error:
        return Refused(path, f"cannot be read: {error.strerror or error}")
    if b"devfix" in (old or b""):
        return Present(path, "devfix")
    return Addition(path, old, append_lines(old or b"", _SECTION))


def _includes(path: str, other: str) -> bool:
    """Whether a file of instructions is another one, or imports it with ``@``."""
    if os.path.exists(other) and os.path.samefile(path, other):
        return True
    try:
        return f"@{os.path.basename(other)}".encode() in (read(path) or b"").split()
    except OSError:
        return False
