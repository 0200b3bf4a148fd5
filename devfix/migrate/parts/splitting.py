"""Splitting of a patch into parts, one for each set of owners, as the repository's CODEOWNERS file names them.

A file is in one part only, so the parts can be merged in any order.  A part stands alone if the engine, restricted to
its findings, changes its files in the same way; parts that do not are joined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache

from devfix import sources
from devfix.engine.scan import identity
from devfix.migrate.mirrors import Checkout
from devfix.migrate.parts.records import part_names
from devfix.migrate.record import Part
from devfix.migrate.task import Publishing
from devfix.model import Finding, Outcome, Problem, Status
from devfix.vcs.codeowners import LOCATIONS, CodeOwners, Dialect

__all__ = ["parts_of", "read_owners", "split"]

_MAX_BYTES = 3 << 20  # of a CODEOWNERS file, as on GitHub
_BY_FOLDER: dict[str, Dialect] = {".gitlab": "gitlab", ".gitea": "gitea"}
_Files = frozenset[str]


def read_owners(checkout: Checkout, dialect: Dialect | None) -> tuple[CodeOwners | None, tuple[Problem, ...]]:
    """Return the owners in the commit of a worktree, and remarks on the file; ``None`` if there is no file.

    Args:
        checkout: the worktree, whose files may be incomplete.
        dialect: the forge; ``None`` if it is unknown: then the file's folder tells.

    Raises:
        devfix.vcs.git.GitError: the file cannot be read.

    """
    named = dict.fromkeys(LOCATIONS[dialect] if dialect else (path for paths in LOCATIONS.values() for path in paths))
    listed = checkout.git("ls-tree", "-z", "--long", checkout.commit, "--", *named).split("\0")[:-1]
    found = {path: entry.split() for entry, _, path in (line.partition("\t") for line in listed)}
    path = next((path for path in named if path in found and found[path][0].startswith("100")), None)
    if path is None:
        return None, (Problem("CODEOWNERS", "there is no such file, so nobody owns the fixes"),)
    _, _, blob, size = found[path]
    if int(size) > _MAX_BYTES:
        return None, (Problem(path, f"has {size} bytes, more than {_MAX_BYTES}, so nobody owns the fixes"),)
    text = checkout.git("cat-file", "blob", blob)
    owners = CodeOwners.parse(text, dialect or _BY_FOLDER.get(path.partition("/")[0], "github"))
    return owners, tuple(Problem(path, f"the line is skipped: {message}", line) for line, message in owners.problems)


def parts_of(
    checkout: Checkout, publishing: Publishing, outcome: Outcome, rerun: Callable[[Sequence[Finding]], Outcome]
) -> tuple[tuple[Part, ...], tuple[Problem, ...]]:
    """Return the parts of a patch, and remarks on the CODEOWNERS file; no parts if there is no such file.

    Args:
        checkout: the worktree, in which nothing is written yet.
        publishing: whether to split the patch, or only to name its owners.
        outcome: findings and patch.
        rerun: returns the outcome of the engine without some findings.

    Raises:
        devfix.vcs.git.GitError: the CODEOWNERS file cannot be read.

    """
    owners, remarks = read_owners(checkout, publishing.dialect)
    if owners is None:
        return (), remarks
    names = {change.path: sources.display(change.path, str(checkout.folder)) for change in outcome.patch.files}
    owned = {path: owners.of(name) for path, name in names.items()}
    whole = frozenset(names)
    groups = split(outcome, owned, rerun) if publishing.split else [whole]
    listed = sorted((_owners(group, owned), sorted(names[path] for path in group)) for group in groups)
    ends = part_names([each for each, _ in listed]) if publishing.split else [""]
    return tuple(Part(each, end, tuple(files)) for (each, files), end in zip(listed, ends, strict=True)), remarks


def _owners(files: Iterable[str], owned: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(sorted({owner for path in files for owner in owned[path]}))


def split(
    outcome: Outcome, owned: dict[str, tuple[str, ...]], rerun: Callable[[Sequence[Finding]], Outcome]
) -> list[_Files]:
    """Return groups of changed files that stand alone, one for each set of owners.

    Args:
        outcome: findings and patch.
        owned: the owners of each changed file.
        rerun: returns the outcome of the engine without some findings.

    """
    fixed = [item for item in outcome.resolutions if item.status is Status.FIXED]
    changed = {change.path: change.new for change in outcome.patch.files}

    @cache
    def stands_alone(files: _Files) -> bool:
        if len(files) == len(changed):
            return True
        within = {
            identity(item.finding)
            for item in fixed
            if not files.isdisjoint(item.fix.paths if item.fix is not None else (item.finding.path,))
        }
        others = [item.finding for item in outcome.resolutions if identity(item.finding) not in within]
        alone = {change.path: change.new for change in rerun(others).patch.files}
        return alone == {path: changed[path] for path in files}

    fixes = [frozenset(item.fix.paths) & changed.keys() for item in fixed if item.fix is not None]
    groups = _by_owners(_connected(changed, fixes), owned)
    while (group := next((each for each in groups if not stands_alone(each)), None)) is not None:
        others = [each for each in groups if each != group]
        partner = next((each for each in others if stands_alone(group | each)), frozenset(changed))
        merged = group | partner
        groups = _by_owners([merged, *(each for each in others if not each <= merged)], owned)
    return groups


def _connected(paths: Iterable[str], fixes: Iterable[_Files]) -> list[_Files]:
    """Return the groups of files that no fix connects with others."""
    groups = [frozenset([path]) for path in paths]
    for fix in fixes:
        touched = [group for group in groups if not group.isdisjoint(fix)]
        if len(touched) > 1:
            groups = [*(group for group in groups if group.isdisjoint(fix)), frozenset().union(*touched)]
    return groups


def _by_owners(groups: Iterable[_Files], owned: dict[str, tuple[str, ...]]) -> list[_Files]:
    """Join the groups of equal owners."""
    joined: dict[tuple[str, ...], _Files] = {}
    for group in groups:
        owners = _owners(group, owned)
        joined[owners] = joined.get(owners, frozenset()) | group
    return [joined[owners] for owners in sorted(joined)]
