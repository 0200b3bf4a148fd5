"""Code actions: fixes that hold, suppressing comments, all safe fixes of a file at once, and verification."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence

from lsprotocol import types

from devfix.engine.entry_files import entry_check
from devfix.engine.scan import identity
from devfix.lsp.comments import ignored
from devfix.lsp.diagnostics import Reader, Shown
from devfix.lsp.documents import edits_between
from devfix.lsp.project import Project, Repair
from devfix.model import Applicability, Finding, Status
from devfix.syntax.tree import SourceTree

__all__ = ["FIX_ALL", "KINDS", "OPEN_PROOF", "PROOF", "WorkspaceEdits", "actions"]

FIX_ALL = "source.fixAll.devfix"
PROOF = "source.proof.devfix"
KINDS = (types.CodeActionKind.QuickFix, FIX_ALL, PROOF)
OPEN_PROOF = "devfix.openProof"


class WorkspaceEdits:
    """Texts as workspace edits, with versions of open files if the client supports them."""

    def __init__(self, read: Reader, versioned: bool) -> None:
        self._read = read
        self._versioned = versioned

    def to(self, texts: Mapping[str, str]) -> types.WorkspaceEdit:
        """Return the edit that gives files (by absolute path) these texts."""
        edits: dict[str, list[types.TextEdit]] = {}
        documents: list[types.TextDocumentEdit] = []
        for path, new in sorted(texts.items()):
            file = self._read(path)
            if file is None:
                continue
            edits[file.uri] = edits_between(file.text, new)
            identifier = types.OptionalVersionedTextDocumentIdentifier(file.uri, file.version)
            documents.append(types.TextDocumentEdit(identifier, [*edits[file.uri]]))
        return types.WorkspaceEdit(document_changes=documents) if self._versioned else types.WorkspaceEdit(edits)


def actions(
    project: Project,
    path: str,
    uri: str,
    near: Sequence[Shown],
    only: Sequence[str] | None,
    edits: WorkspaceEdits,
) -> list[types.CodeAction]:
    """Return the code actions of the requested kinds for some diagnostics of a file, or for the whole file."""
    found: list[types.CodeAction] = []
    if _asked(types.CodeActionKind.QuickFix, only):
        for diagnostic, resolution in near:
            if resolution is not None:
                found += _quick_fixes(project, path, diagnostic, resolution.finding, edits)
    if _asked(FIX_ALL, only):
        found += _fix_all(project, path, edits)
    if _asked(PROOF, only) and _starts(project, path):
        title = f"Open proof: run {os.path.basename(path)} as it is and as repaired"
        found.append(types.CodeAction(title, PROOF, command=types.Command(title, OPEN_PROOF, arguments=[uri])))
    return found


def _asked(kind: str, only: Sequence[str] | None) -> bool:
    """Return whether a kind is requested: ``source`` includes ``source.fixAll.devfix``."""
    return only is None or any(kind == each or kind.startswith(f"{each}.") or not each for each in only)


def _quick_fixes(
    project: Project, path: str, diagnostic: types.Diagnostic, finding: Finding, edits: WorkspaceEdits
) -> Iterator[types.CodeAction]:
    tried: set[tuple[tuple[str, str], ...]] = set()
    for unsafe in (False, True):
        if not any((fix.applicability is Applicability.UNSAFE) == unsafe for fix in finding.fixes):
            continue
        repair = project.repair(path, _only(finding), unsafe)
        if repair is None or tuple(sorted(repair.texts.items())) in tried:
            continue
        tried.add(tuple(sorted(repair.texts.items())))
        yield types.CodeAction(
            _title(repair, finding, unsafe),
            types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic],
            is_preferred=not unsafe or None,
            edit=edits.to(repair.texts),
        )
    suppressed = ignored(project.present[path], finding)
    if suppressed is not None:
        yield types.CodeAction(
            f"{finding.code}: ignore with a comment",
            types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic],
            edit=edits.to({path: suppressed}),
        )


def _only(finding: Finding) -> Callable[[Finding], bool]:
    return lambda other: identity(other) == identity(finding)


def _title(repair: Repair, finding: Finding, unsafe: bool) -> str:
    fixes = [each.fix for each in repair.resolutions if each.status is Status.FIXED and each.fix is not None]
    title = fixes[0].title if fixes else finding.message
    is_unsafe = unsafe and any(fix.applicability is Applicability.UNSAFE for fix in fixes)
    return f"{finding.code}: {title}{' (unsafe)' if is_unsafe else ''}"


def _fix_all(project: Project, path: str, edits: WorkspaceEdits) -> Iterator[types.CodeAction]:
    """Return the safe fixes of the file that change no other file."""

    def wanted(finding: Finding) -> bool:
        return all(os.path.abspath(other) == path for fix in finding.fixes for other in fix.paths)

    repair = project.repair(path, wanted)
    if repair is not None and repair.texts.keys() == {path}:
        count = sum(each.status is Status.FIXED for each in repair.resolutions)
        title = f"devfix: make the safe repairs of this file ({count})"
        yield types.CodeAction(title, FIX_ALL, edit=edits.to(repair.texts))


def _starts(project: Project, path: str) -> bool:
    try:
        return entry_check(project.space, path, SourceTree(path, project.present.get(path, "")))[0]
    except SyntaxError:
        return False
