"""A real client in front of a real server: pygls' own, over standard input and output."""

from __future__ import annotations

import asyncio
import os
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient
from pygls.uris import from_fs_path

WAIT = 60.0  # seconds: a test waits no longer, and most wait for milliseconds
ENTRY = "from devfix.cli import main; main(['lsp', '--stdio'])"

ABLE = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        configuration=True,
        workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True),
        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
    ),
    text_document=types.TextDocumentClientCapabilities(
        publish_diagnostics=types.PublishDiagnosticsClientCapabilities(
            related_information=True,
            code_description_support=True,
            version_support=True,
            tag_support=types.ClientDiagnosticsTagOptions([types.DiagnosticTag.Unnecessary]),
        )
    ),
    window=types.WindowClientCapabilities(
        work_done_progress=True, show_document=types.ShowDocumentClientCapabilities(support=True)
    ),
)


class Editor:
    """What an editor does, one call after the other; the protocol runs in a thread of its own."""

    def __init__(self, folder: Path, entry: str = ENTRY, environment: dict[str, str] | None = None) -> None:
        self.folder = folder
        self.published: list[types.PublishDiagnosticsParams] = []
        self.messages: list[str] = []
        self.log: list[str] = []
        self.progress: list[object] = []
        self.tokens: list[object] = []
        self.documents: list[types.ShowDocumentParams] = []
        self.registered: list[str] = []
        self.settings: object = None
        self.exit_code: int | None = None
        self.capabilities: types.ServerCapabilities | None = None
        self._versions: dict[str, int] = {}
        self._news = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.client = LanguageClient("editor", "1")
        self._listen()
        self.run(
            self.client.start_io(sys.executable, "-c", entry, cwd=folder, env={**os.environ, **(environment or {})})
        )

    def run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(WAIT)

    def _listen(self) -> None:
        def collect(name, into, value=lambda params: params):
            @self.client.feature(name)
            def handler(params):
                with self._news:
                    into.append(value(params))
                    self._news.notify_all()

        collect(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, self.published)
        collect(types.WINDOW_SHOW_MESSAGE, self.messages, lambda params: params.message)
        collect(types.WINDOW_LOG_MESSAGE, self.log, lambda params: params.message)
        collect(types.PROGRESS, self.progress, lambda params: params.value)

        @self.client.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)
        def create(params):
            self.tokens.append(params.token)

        @self.client.feature(types.WORKSPACE_CONFIGURATION)
        def configuration(params):
            return [
                self.settings(item.scope_uri) if callable(self.settings) else self.settings for item in params.items
            ]

        @self.client.feature(types.CLIENT_REGISTER_CAPABILITY)
        def register(params):
            self.registered.extend(each.method for each in params.registrations)

        @self.client.feature(types.WINDOW_SHOW_DOCUMENT)
        def show(params):
            self.documents.append(params)
            return types.ShowDocumentResult(True)

    def uri(self, name: str | Path) -> str:
        return from_fs_path(str(self.folder / name))

    def start(self, capabilities=ABLE, folders: list[Path] | None = None, options: object = None) -> Editor:
        roots = [self.folder] if folders is None else folders
        params = types.InitializeParams(
            capabilities=capabilities,
            process_id=os.getpid(),
            workspace_folders=[types.WorkspaceFolder(from_fs_path(str(each)), each.name) for each in roots],
            initialization_options=options,
        )
        self.capabilities = self.run(self.client.initialize_async(params)).capabilities
        self.client.initialized(types.InitializedParams())
        return self

    def enter(self, folder: Path) -> None:
        """Make a folder the one of the workspace."""
        for news in (self.published, self.messages, self.log, self.progress, self.tokens, self.documents):
            news.clear()
        self.folder, self.settings = folder, None
        self._folders([folder], [])

    def leave(self) -> None:
        """Close what is open, and the folder."""
        for name in list(self._versions):
            self.close(name)
        self._folders([], [self.folder])

    def _folders(self, added: list[Path], removed: list[Path]) -> None:
        both = [
            [types.WorkspaceFolder(from_fs_path(str(each)), each.name) for each in some] for some in (added, removed)
        ]
        event = types.WorkspaceFoldersChangeEvent(*both)
        self.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))

    # --- texts ------------------------------------------------------------------------------------------------
    def open(self, name: str | Path, text: str | None = None) -> str:
        content = (self.folder / name).read_bytes().decode() if text is None else text
        self._versions[str(name)] = 1
        self.client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(self.uri(name), "python", 1, content))
        )
        return content

    def change(self, name: str | Path, *changes) -> int:
        """Changes as ``(start line, column, end line, column, text)``, or a whole text; gives the new version."""
        self._versions[str(name)] += 1
        events = [
            types.TextDocumentContentChangeWholeDocument(each)
            if isinstance(each, str)
            else types.TextDocumentContentChangePartial(
                types.Range(types.Position(*each[:2]), types.Position(*each[2:4])), each[4]
            )
            for each in changes
        ]
        version = self._versions[str(name)]
        identifier = types.VersionedTextDocumentIdentifier(version, self.uri(name))
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, events))
        return version

    def close(self, name: str | Path) -> None:
        self._versions.pop(str(name))
        self.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(self.uri(name)))
        )

    def files_changed(self, *names: str, kind=types.FileChangeType.Changed) -> None:
        events = [types.FileEvent(self.uri(name), kind) for name in names]
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(events))

    # --- answers ----------------------------------------------------------------------------------------------
    def until(self, condition):
        """The first true value of a condition, asked again at each message."""
        deadline = time.monotonic() + WAIT
        with self._news:
            while not (value := condition()):
                left = deadline - time.monotonic()
                assert left > 0, f"nothing came; published: {self.published[-2:]}, log: {self.log}, {self.messages}"
                self._news.wait(min(left, 0.2))
            return value

    def eventually(self, question):
        """The first true value of something that asks the server, too."""
        deadline = time.monotonic() + WAIT
        while not (value := question()):
            assert time.monotonic() < deadline, f"it stayed {value!r}"
            time.sleep(0.05)
        return value

    def latest(self, name: str | Path) -> list[types.Diagnostic] | None:
        mine = [each for each in self.published if each.uri == self.uri(name)]
        return list(mine[-1].diagnostics) if mine else None

    def codes(self, name: str | Path) -> list[object] | None:
        found = self.latest(name)
        return None if found is None else [each.code for each in found]

    def wait_for(self, name: str | Path, *codes: str) -> list[types.Diagnostic]:
        """The diagnostics of a file, once they have these codes."""
        self.until(lambda: self.codes(name) == list(codes))
        return self.latest(name)

    def hover(self, name: str | Path, line: int, column: int) -> str | None:
        params = types.HoverParams(types.TextDocumentIdentifier(self.uri(name)), types.Position(line, column))
        answer = self.run(self.client.text_document_hover_async(params))
        return None if answer is None else answer.contents.value

    def actions(self, name: str | Path, where: types.Range | None = None, only=None) -> list[types.CodeAction]:
        where = where or types.Range(types.Position(0, 0), types.Position(9999, 0))
        params = types.CodeActionParams(
            types.TextDocumentIdentifier(self.uri(name)), where, types.CodeActionContext([], only)
        )
        return self.run(self.client.text_document_code_action_async(params)) or []

    def command(self, name: str, *arguments):
        params = types.ExecuteCommandParams(name, list(arguments))
        return asyncio.run_coroutine_threadsafe(self.client.workspace_execute_command_async(params), self._loop)

    # --- the end ----------------------------------------------------------------------------------------------
    @property
    def process(self):
        return self.client._server

    def ended(self) -> int:
        """The exit code, once the process has ended."""
        return self.run(self.process.wait())

    def stop(self) -> int:
        self.run(self.client.shutdown_async(None))
        self.client.exit(None)
        return self.ended()

    def dispose(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
        self.run(self.client.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(WAIT)
        self._loop.close()


@pytest.fixture
def write(tmp_path):
    """Write files of a project by name."""

    def call(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(textwrap.dedent(text).lstrip("\n").encode())
        return tmp_path

    return call


@pytest.fixture(scope="session")
def running(tmp_path_factory):
    """One editor with a server that has no folder yet; a start of Python for each test would be most of the time."""
    running = Editor(tmp_path_factory.mktemp("editor"))
    running.start(folders=[])
    yield running
    assert running.stop() == 0
    running.dispose()


@pytest.fixture
def desk(running, tmp_path):
    """The running editor, with the temporary folder as the one folder of its workspace."""
    running.enter(tmp_path)
    yield running
    running.leave()


@pytest.fixture
def editor(tmp_path):
    """An editor whose server has been started in the temporary folder, not yet initialised."""
    editors = []

    def call(entry: str = ENTRY, **environment: str) -> Editor:
        editors.append(Editor(tmp_path, entry, environment))
        return editors[-1]

    yield call
    for each in editors:
        each.dispose()
