"""The requests of the client, and their handlers."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any

from lsprotocol import types
from pygls.uris import to_fs_path

from devfix.config import ConfigError
from devfix.lsp import opening
from devfix.lsp.actions import KINDS, OPEN_PROOF, WorkspaceEdits, actions
from devfix.lsp.diagnostics import Abilities
from devfix.lsp.project import Project
from devfix.lsp.server import Server, Snapshot
from devfix.lsp.settings import Wishes
from devfix.model import Resolution, Status

__all__ = ["create"]

_SECTION = "devfix"
_WATCHED = ("**/*.{py,pyi,pyw}", "**/pyproject.toml", "**/.gitignore")
_FILES = types.FileOperationRegistrationOptions(
    [types.FileOperationFilter(types.FileOperationPattern("**/*"), scheme="file")]
)


def create() -> Server:
    """Return a server with all handlers."""
    server = Server()
    for name, handler, options in (
        (types.INITIALIZE, _initialize, None),
        (types.INITIALIZED, _initialized, None),
        (types.TEXT_DOCUMENT_DID_OPEN, _did_open, None),
        (types.TEXT_DOCUMENT_DID_CHANGE, _did_change, None),
        (types.TEXT_DOCUMENT_DID_SAVE, _did_save, None),
        (types.TEXT_DOCUMENT_DID_CLOSE, _did_close, None),
        (types.TEXT_DOCUMENT_HOVER, _hover, None),
        (types.TEXT_DOCUMENT_CODE_ACTION, _code_action, types.CodeActionOptions(list(KINDS))),
        (types.WORKSPACE_DID_CHANGE_CONFIGURATION, _did_change_configuration, None),
        (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, _did_change_watched_files, None),
        (types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, _did_change_folders, None),
        (types.WORKSPACE_DID_RENAME_FILES, _did_move_files, _FILES),
        (types.WORKSPACE_DID_DELETE_FILES, _did_move_files, _FILES),
        (types.WORKSPACE_DID_CREATE_FILES, _did_move_files, _FILES),
    ):
        server.feature(name, options)(handler)
    server.command(OPEN_PROOF)(opening.open_proof)
    return server


# --- life -----------------------------------------------------------------------------------------------------------
def _initialize(ls: Server, params: types.InitializeParams) -> None:
    ls.abilities = Abilities(params.capabilities)
    given = params.initialization_options
    _take_wishes(ls, None, given.get(_SECTION, given) if isinstance(given, dict) else given)


async def _initialized(ls: Server, params: types.InitializedParams) -> None:
    workspace = ls.client_capabilities.workspace
    watched = workspace.did_change_watched_files if workspace is not None else None
    configuration = workspace.did_change_configuration if workspace is not None else None
    wanted = []
    if watched is not None and watched.dynamic_registration:
        ls.watches_files = True
        options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(each) for each in _WATCHED])
        wanted.append(types.Registration("devfix-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options))
    if configuration is not None and configuration.dynamic_registration:
        settings = types.DidChangeConfigurationRegistrationOptions(section=_SECTION)
        wanted.append(types.Registration("devfix-settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION, settings))
    if wanted:
        await ls.client_register_capability_async(types.RegistrationParams(wanted))
    await _pull_wishes(ls)


# --- settings -------------------------------------------------------------------------------------------------------
def _take_wishes(ls: Server, folder: str | None, given: Any) -> None:
    try:
        ls.wishes[folder] = Wishes.of(given)
    except ConfigError as error:
        ls.tell(str(error))


async def _pull_wishes(ls: Server) -> None:
    """Request the settings of the editor for each workspace folder."""
    workspace = ls.client_capabilities.workspace
    if workspace is None or not workspace.configuration:
        return
    scopes = [folder.uri for folder in ls.workspace.folders.values()]
    items = [types.ConfigurationItem(scope_uri=uri, section=_SECTION) for uri in [*scopes, None]]
    answers = await ls.workspace_configuration_async(types.ConfigurationParams(items))
    for uri, answer in zip([*scopes, None], answers, strict=False):
        if answer is not None:
            _take_wishes(ls, os.path.abspath(to_fs_path(uri) or uri) if uri else None, answer)
    ls.reload()


async def _did_change_configuration(ls: Server, params: types.DidChangeConfigurationParams) -> None:
    workspace = ls.client_capabilities.workspace
    if workspace is not None and workspace.configuration:
        await _pull_wishes(ls)
        return
    given = params.settings
    _take_wishes(ls, None, given.get(_SECTION) if isinstance(given, dict) else None)
    ls.reload()


def _did_change_watched_files(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
    if any(change.uri.endswith("/pyproject.toml") for change in params.changes):
        ls.reload()
    ls.refresh()


def _did_change_folders(ls: Server, params: types.DidChangeWorkspaceFoldersParams) -> None:
    for folder in params.event.removed:
        path = os.path.abspath(to_fs_path(folder.uri) or "")
        ls.projects.pop((path, True), None)
    ls.reload()


def _did_move_files(ls: Server, params: object) -> None:
    ls.refresh()


# --- texts ----------------------------------------------------------------------------------------------------------
def _did_open(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
    ls.open(params.text_document)


def _did_change(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
    ls.change(params)


def _did_save(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
    if ls.watches_files:
        return
    if params.text_document.uri.endswith("/pyproject.toml"):
        ls.reload()
    ls.refresh()


def _did_close(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
    ls.close(params.text_document.uri)


# --- questions ------------------------------------------------------------------------------------------------------
async def _hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    document = ls.document(params.text_document.uri)
    if document is None:
        return None
    path = document.path

    def job(project: Project, here: Snapshot, still_wanted: Callable[[], None]) -> types.Hover | None:
        if path not in here:
            return None
        project.scan(project.about(path), still_wanted)
        line, column = here[path].text.place(params.position)
        for resolution in project.report(path).resolutions:
            span, told = resolution.finding.span, resolution.status is not Status.SUPPRESSED
            if told and (span.line, span.column) <= (line, column) <= (span.end_line, span.end_column):
                return types.Hover(_markdown(_explained(resolution)), here[path].text.range(span))
        sightings = project.sightings(path, still_wanted)
        value = sightings.at(line, column) if sightings is not None else None
        return types.Hover(_markdown(f"`{value[0]}`: {value[1]}")) if value else None

    answer: types.Hover | None = await _answer(ls.ask(path, job))
    return answer


def _markdown(text: str) -> types.MarkupContent:
    return types.MarkupContent(types.MarkupKind.Markdown, text)


def _explained(resolution: Resolution) -> str:
    """Return a finding with the documentation of its rule."""
    from devfix.rules.registry import rule_for

    finding = resolution.finding
    rule = rule_for(finding.code)
    documentation = rule.documentation.strip() if rule is not None else ""
    return f"**{finding.code} {finding.name}**: {finding.message}\n\n{documentation}".strip()


async def _code_action(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction] | None:
    document = ls.document(params.text_document.uri)
    if document is None:
        return None
    path = document.path

    def job(project: Project, here: Snapshot, still_wanted: Callable[[], None]) -> list[types.CodeAction]:
        if path not in here:
            return []
        project.scan(project.about(path), still_wanted)
        near = [each for each in ls.shown_of(project, here, path) if _meet(each[0].range, params.range)]
        only = (
            None if params.context.only is None else [str(getattr(each, "value", each)) for each in params.context.only]
        )
        return actions(project, path, here[path].uri, near, only, _edits(ls, project, here))

    answer: list[types.CodeAction] | None = await _answer(ls.ask(path, job))
    return answer


def _edits(ls: Server, project: Project, here: Snapshot) -> WorkspaceEdits:
    workspace = ls.client_capabilities.workspace
    versioned = bool(workspace and workspace.workspace_edit and workspace.workspace_edit.document_changes)
    return WorkspaceEdits(ls.reader(project, here), versioned)


def _meet(one: types.Range, two: types.Range) -> bool:
    def key(position: types.Position) -> tuple[int, int]:
        return position.line, position.character

    return key(one.start) <= key(two.end) and key(two.start) <= key(one.end)


async def _answer(future: Any) -> Any:
    """Return the result of a job; ``None`` if devfix does not read the file."""
    return None if future is None else await asyncio.wrap_future(future)
