"""One page per rule: the text of ``devfix explain`` and the tested examples."""

from __future__ import annotations

import difflib

from devfix.report.error_pages import pages_for
from devfix.rules.registry import all_rules
from devfix.rules.rule import Example, Rule

__all__ = ["pages"]

_FOLDER = "reference/rules"
_INTRODUCTION = """# Rules

`devfix rules` prints this list, and `devfix explain DEV201` the page of one rule. The first digit of a code is its
group; select a group by its prefix: `--select DEV2`.
"""

# the first digit of a code
_GROUPS = {
    "1": "Tensors and batches",
    "2": "Modules",
    "3": "Checkpoints",
    "4": "Optimizers",
    "5": "Wrong accelerator",
    "6": "APIs that require the CPU",
    "7": "Device changes at run time",
    "8": "Distributed training",
    "9": "Advice",
}


def pages() -> dict[str, str]:
    """Return the pages of all rules, and the index."""
    rules = all_rules()
    return {f"{_FOLDER}/{rule.code}.md": _page(rule) for rule in rules} | {f"{_FOLDER}/index.md": _index(rules)}


def _index(rules: tuple[Rule, ...]) -> str:
    parts = [_INTRODUCTION]
    for digit, title in _GROUPS.items():
        group = [rule for rule in rules if rule.code[3] == digit]
        if group:
            parts += [f"## DEV{digit}: {title}\n", "| code | name | finds | fix |", "|---|---|---|---|"]
            parts += [
                f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.summary} | {_safety(rule)} |" for rule in group
            ]
            parts.append("")
    names = "\n".join(rule.code for rule in rules)
    parts.append(f"```{{toctree}}\n:hidden:\n\n{names}\n```\n")
    return "\n".join(parts)


def _safety(rule: Rule) -> str:
    if not rule.default:
        return f"only with `--select {rule.code}`"
    if not rule.fixable:
        return "none"
    return "unsafe: `--unsafe-fixes`" if rule.unsafe else "safe, unless an edit says otherwise"


def _page(rule: Rule) -> str:
    parts = [
        f"# {rule.code} {rule.name}\n",
        f"{rule.summary} Fix: {_safety(rule)}.\n",
        f"{rule.documentation.strip()}\n",
        *_messages(rule),
        "## Tested examples\n",
        *(_repaired(example) for example in rule.invalid),
    ]
    if rule.valid:
        parts += ["These programs look alike, are right, and are left alone.\n", *map(_left_alone, rule.valid)]
    return "\n".join(parts)


def _messages(rule: Rule) -> list[str]:
    links = [f"- [{title}](../../errors/{name}.md)" for name, title in pages_for(rule.error_families).items()]
    return ["## Error messages\n", *links, ""] if links else []


def _repaired(example: Example) -> str:
    before, after = example.before.splitlines(), example.after.splitlines()
    changed = "\n".join(list(difflib.unified_diff(before, after, n=100, lineterm=""))[3:])
    return f"{example.title[:1].upper()}{example.title[1:]}:\n\n```diff\n{changed}\n```\n"


def _left_alone(program: str) -> str:
    return f"```python\n{program.rstrip()}\n```\n"
