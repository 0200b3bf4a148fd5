"""The server: open files, projects, and the publishing of diagnostics."""

from __future__ import annotations

import asyncio
import os
import threading
import traceback
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.uris import from_fs_path, to_fs_path, uri_scheme

from devfix import __version__, sources
from devfix.config import ConfigError
from devfix.lsp.diagnostics import Abilities, Located, Reader, Shown, shown
from devfix.lsp.documents import Text, changed
from devfix.lsp.project import Project
from devfix.lsp.settings import Wishes, folder_of, load
from devfix.lsp.worker import Worker
from devfix.model import Problem
from devfix.sources import SourceError

__all__ = ["Document", "Server"]

_SUFFIXES = (".py", ".pyw")
_DIAGNOSE, _ASK = 0, 1  # ranks of jobs; the project's other files come last

Job = Callable[[Project, "Snapshot", Callable[[], None]], Any]


@dataclass(frozen=True, eq=False)
class Document:
    """One open file at one version."""

    uri: str
    path: str
    version: int | None
    text: Text


Snapshot = Mapping[str, Document]


class _Protocol(LanguageServerProtocol):
    """Delegates texts to :class:`Server`, because pygls splits lines differently from the protocol."""

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Generator[Any, Any, None]:
        handler = self.fm.features.get(types.TEXT_DOCUMENT_DID_CHANGE)
        if handler is not None:
            yield handler, (params,), None

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *args: Any) -> Generator[Any, Any, None]:
        """Cancel pending requests; pygls iterates over them while they are removed."""
        for number, future in list(self._request_futures.items()):
            if number != self.msg_id and not future.done():
                future.cancel()
        self._shutdown = True
        yield from ()

    @property
    def was_shut_down(self) -> bool:
        """Whether the client requested ``shutdown``."""
        return self._shutdown


class Server(LanguageServer):
    """The state behind the handlers; everything except the jobs belongs to the thread of the event loop.

    Jobs read ``documents``, and ask for projects.
    """

    protocol: _Protocol

    def __init__(self) -> None:
        super().__init__("devfix", __version__, protocol_cls=_Protocol, max_workers=2)
        self.worker = Worker()
        self.documents: Snapshot = MappingProxyType({})  # by absolute path; replaced, never changed
        self.projects: dict[tuple[str, bool], Project | None] = {}
        self.wishes: dict[str | None, Wishes] = {None: Wishes()}
        self.abilities = Abilities(types.ClientCapabilities())
        self.proofs: dict[str, asyncio.Task[Any]] = {}
        self.watches_files = False
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._told: set[str] = set()
        self._making = threading.Lock()  # jobs ask for projects, too: each has one

    # --- files and projects -----------------------------------------------------------------------------------
    @property
    def folders(self) -> list[str]:
        """The workspace folders."""
        found = [to_fs_path(folder.uri) for folder in self.workspace.folders.values()]
        if not found and self.workspace.root_uri:
            found = [to_fs_path(self.workspace.root_uri)]
        return [os.path.abspath(each) for each in found if each]

    def path_of(self, uri: str, language: str = "") -> str | None:
        """Return the absolute path of a Python file, a synthetic one for a new file; ``None`` for other files."""
        scheme = uri_scheme(uri) or "file"
        path = to_fs_path(uri)
        if scheme == "untitled":
            base = self.folders[0] if self.folders else os.getcwd()
            path = os.path.join(base, os.path.basename(unquote(uri.partition(":")[2])))
        elif scheme != "file" or not path or not (language == "python" or path.endswith(_SUFFIXES)):
            return None
        return os.path.abspath(path)

    def project_of(self, path: str) -> Project | None:
        """Return the project of a file; ``None`` if the file is excluded."""
        folder = folder_of(path, self.folders)
        whole = folder is not None
        root = folder if folder is not None else sources.repository_root(path)
        wishes = self.wishes_of(folder)
        if not wishes.enable:
            return None
        project = self._made(root, whole, wishes)
        if project is None or (not whole and "site-packages" in path.split(os.sep)):
            return None
        if sources.left_out(path, root if whole else os.path.dirname(path), project.settings.exclude, root):
            return None
        return project

    def _made(self, root: str, whole: bool, wishes: Wishes) -> Project | None:
        """Return the project of a folder, made on first use; ``None`` if its settings are invalid."""
        with self._making:
            if (root, whole) not in self.projects:
                try:
                    self.projects[root, whole] = Project(root, load(root, wishes), whole)
                except ConfigError as error:
                    self.projects[root, whole] = None
                    self.tell(str(error))
            return self.projects.get((root, whole))

    def wishes_of(self, folder: str | None) -> Wishes:
        """Return the settings of the editor for a folder."""
        return self.wishes.get(folder) or self.wishes[None]

    def reload(self) -> None:
        """Reload settings; valid ones replace the old ones."""
        for (root, whole), old in list(self.projects.items()):
            try:
                settings = load(root, self.wishes_of(root if whole else None))
            except ConfigError as error:
                self.tell(str(error))
                continue
            if old is None or old.settings != settings:
                self.projects[root, whole] = Project(root, settings, whole)
        for path in self.documents:
            if self.project_of(path) is None:
                self._publish(self.documents[path], [])
            else:
                self.schedule(path, 0.0)

    # --- texts ------------------------------------------------------------------------------------------------
    def open(self, item: types.TextDocumentItem) -> None:
        path = self.path_of(item.uri, item.language_id)
        if path is not None:
            encoding = self.workspace.position_encoding or types.PositionEncodingKind.Utf16
            self._set(Document(item.uri, path, item.version, Text(item.text, encoding)))
            self.schedule(path, 0.0)

    def change(self, params: types.DidChangeTextDocumentParams) -> None:
        old = self.document(params.text_document.uri)
        if old is not None:
            text = old.text
            for each in params.content_changes:
                text = changed(text, each)
            self._set(Document(old.uri, old.path, params.text_document.version, text))
            self.schedule(old.path)

    def close(self, uri: str) -> None:
        document = self.document(uri)
        if document is not None:
            timer = self._timers.pop(document.path, None)
            if timer is not None:
                timer.cancel()
            self.documents = MappingProxyType({k: v for k, v in self.documents.items() if k != document.path})
            self._publish(document, [])
            self.read_the_rest(document.path)

    def document(self, uri: str) -> Document | None:
        """Return the open file of a URI."""
        path = self.path_of(uri, "python")
        return self.documents.get(path) if path is not None else None

    def _set(self, document: Document) -> None:
        self.documents = MappingProxyType({**self.documents, document.path: document})

    # --- work -------------------------------------------------------------------------------------------------
    def ask(self, path: str, job: Job, rank: int = _ASK, key: object = None) -> Future[Any] | None:
        """Run a job on the project of a file, with the open texts up to date."""
        project = self.project_of(path)
        if project is None:
            return None

        def work(still_wanted: Callable[[], None]) -> Any:
            here = {name: document for name, document in self.documents.items() if self.project_of(name) is project}
            project.sync({path: document.text.text for path, document in here.items()})
            return job(project, here, still_wanted)

        return self.worker.submit(rank, key or object(), work)

    def schedule(self, path: str, delay: float | None = None) -> None:
        """Analyse a file after a pause in typing (seconds)."""
        timer = self._timers.pop(path, None)
        if timer is not None:
            timer.cancel()
        if delay is None:
            delay = self.wishes_of(folder_of(path, self.folders)).debounce_ms / 1000
        if delay:
            self._timers[path] = asyncio.get_running_loop().call_later(delay, self._diagnose, path)
        else:
            self._diagnose(path)

    def _diagnose(self, path: str) -> None:
        self._timers.pop(path, None)
        loop = asyncio.get_running_loop()

        def job(project: Project, here: Snapshot, still_wanted: Callable[[], None]) -> None:
            others = [entry for entry in project.about(path) if entry != path]
            crashes = project.scan([path], still_wanted)
            if others and path in here:
                self._post(loop, project, here, [path], [])
            crashes += project.scan(others, still_wanted)
            self._post(loop, project, here, list(here), crashes)

        self._watched(self.ask(path, job, _DIAGNOSE, ("diagnose", path)))
        self.read_the_rest(path)

    def read_the_rest(self, path: str, refresh: bool = False) -> None:
        """Analyse the outdated files of a project when the worker is idle."""
        loop = asyncio.get_running_loop()

        def job(project: Project, here: Snapshot, still_wanted: Callable[[], None]) -> None:
            if refresh:
                project.refresh()
            if project.stale:
                crashes = project.scan(sorted(project.stale), still_wanted)
                self._post(loop, project, here, list(here), crashes)

        project = self.project_of(path)
        if project is not None:
            rank, key = (_ASK, "refresh") if refresh else (Worker.PATIENT, "rest")
            self._watched(self.ask(path, job, rank, (key, project.folder)))

    def refresh(self) -> None:
        """Handle files that were created, deleted or changed on disk."""
        one_of_each = {id(self.project_of(path)): path for path in self.documents}
        for path in one_of_each.values():
            self.read_the_rest(path, refresh=True)

    def _post(
        self,
        loop: asyncio.AbstractEventLoop,
        project: Project,
        here: Snapshot,
        paths: list[str],
        crashes: list[Problem],
    ) -> None:
        """Publish the diagnostics of some files, from the worker's thread."""
        for path in paths:
            found = self.shown_of(project, here, path)
            loop.call_soon_threadsafe(self._publish_current, here[path], found)
        for crash in crashes:
            loop.call_soon_threadsafe(self.log, f"{crash.path}: {crash.message}; {crash.hint}")

    def shown_of(self, project: Project, here: Snapshot, path: str) -> list[Shown]:
        """Return the diagnostics of one open file."""
        return shown(project.report(path), here[path].text, self.reader(project, here), self.abilities)

    def reader(self, project: Project, here: Snapshot) -> Reader:
        """Return a function that reads files by absolute path: open ones from memory, others from disk."""
        encoding = self.workspace.position_encoding or types.PositionEncodingKind.Utf16

        def read(path: str) -> Located | None:
            if path in here:
                return Located(here[path].uri, here[path].version, here[path].text)
            text = project.space.text(path)
            return None if text is None else Located(from_fs_path(path) or path, None, Text(text, encoding))

        return read

    # --- words to the client ----------------------------------------------------------------------------------
    def _publish_current(self, document: Document, found: list[Shown]) -> None:
        if self.documents.get(document.path) is document:  # otherwise outdated: a newer job is queued
            self._publish(document, found)

    def _publish(self, document: Document, found: list[Shown]) -> None:
        version = document.version if self.abilities.versions else None
        diagnostics = [diagnostic for diagnostic, _ in found]
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(document.uri, diagnostics, version))

    def _watched(self, future: Future[Any] | None) -> None:
        """Log an error of a job; the server continues."""
        if future is None:
            return
        loop = asyncio.get_running_loop()

        def done(future: Future[Any]) -> None:
            error = None if future.cancelled() else future.exception()
            if error is not None and not loop.is_closed():
                loop.call_soon_threadsafe(self.log, "".join(traceback.format_exception(error)))

        future.add_done_callback(done)

    def log(self, message: str, kind: types.MessageType = types.MessageType.Error) -> None:
        """Write a line to the log of the editor."""
        self.window_log_message(types.LogMessageParams(kind, message))

    def tell(self, message: str) -> None:
        """Show a user error; drop consecutive duplicates."""
        if message not in self._told:
            self._told = {message}
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"devfix: {message}"))

    def is_saved(self, document: Document) -> bool:
        """Return whether the file on disk equals the open text."""
        try:
            return sources.read(document.path).text == document.text.text
        except SourceError:
            return False

    def shutdown(self) -> None:
        """Cancel running work without waiting for the thread that reads standard input."""
        self.worker.end()
        if self._stop_event is not None:
            self._stop_event.set()
        if self._thread_pool is not None:
            self._thread_pool.shutdown(wait=False, cancel_futures=True)
