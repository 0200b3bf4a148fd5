"""The command ``devfix.openProof``: progress while the script runs, then the verdict."""

from __future__ import annotations

import asyncio
import os
import time
import uuid
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.uris import from_fs_path

from devfix.lsp.proof import ProofFailed, run_verify
from devfix.lsp.server import Server
from devfix.lsp.settings import folder_of

__all__ = ["open_proof"]

_FAILED = types.LSPErrorCodes.RequestFailed.value
_GOOD = ("fixed", "no-error")


async def open_proof(ls: Server, *given: Any) -> dict[str, Any] | None:
    """Run ``devfix verify`` on the script at a URI (the first argument; arguments of the script may follow).

    Return the verdict as in verdict-2.json; ``None`` if it was cancelled.
    """
    path = ls.path_of(given[0], "python") if given and isinstance(given[0], str) else None
    if path is None:
        raise _failed("devfix.openProof takes the URI of a Python script")
    folder = folder_of(path, ls.folders) or os.path.dirname(path)
    unsaved = [each for each in ls.documents.values() if folder_of(each.path, [folder]) and not ls.is_saved(each)]
    if unsaved:
        raise _failed(f"save {os.path.basename(unsaved[0].path)} first: a proof runs what is on the disk")
    if path in ls.proofs:
        raise _failed(f"{os.path.basename(path)} is being proved already")
    wishes = ls.wishes_of(folder_of(path, ls.folders))
    arguments = tuple(str(each) for each in given[1:]) or wishes.verify_arguments
    task = asyncio.ensure_future(run_verify(path, folder, wishes.verify_options, arguments))
    ls.proofs[path] = task
    try:
        verdict = await _with_progress(ls, task, f"devfix: proving {os.path.basename(path)}")
    except ProofFailed as error:
        raise _failed(str(error)) from error
    finally:
        task.cancel()
        del ls.proofs[path]
    if verdict is not None:
        await _show(ls, path, verdict)
    return verdict


def _failed(message: str) -> JsonRpcException:
    return JsonRpcException(message, _FAILED)


async def _with_progress(ls: Server, task: asyncio.Task[dict[str, Any]], title: str) -> dict[str, Any] | None:
    """Wait for the verdict and report seconds; return ``None`` if the user cancelled."""
    window = ls.client_capabilities.window
    if window is None or not window.work_done_progress:
        return await task
    token = str(uuid.uuid4())
    await ls.work_done_progress.create_async(token)
    ls.work_done_progress.tokens[token].add_done_callback(lambda _: task.cancel())
    ls.work_done_progress.begin(token, types.WorkDoneProgressBegin(title, cancellable=True))
    started, end = time.monotonic(), "ended"
    try:
        while not task.done():
            await asyncio.wait({task}, timeout=1.0)
            told = f"{time.monotonic() - started:.0f} s"
            ls.work_done_progress.report(token, types.WorkDoneProgressReport(cancellable=True, message=told))
        verdict = await task
    except asyncio.CancelledError:
        end = "cancelled"
        if not task.cancelled():
            raise  # the request itself was cancelled, or the server ends
        return None
    else:
        end = str(verdict["verdict"])
        return verdict
    finally:
        ls.work_done_progress.end(token, types.WorkDoneProgressEnd(message=end))
        ls.work_done_progress.tokens.pop(token, None)


async def _show(ls: Server, path: str, verdict: dict[str, Any]) -> None:
    """Show the verdict in one line, and its page in the browser if the client opens pages."""
    kind = types.MessageType.Info if verdict["verdict"] in _GOOD else types.MessageType.Warning
    told = f"{os.path.basename(path)}: {verdict['verdict']}: {verdict['reason']}"
    ls.window_show_message(types.ShowMessageParams(kind, told))
    window = ls.client_capabilities.window
    if verdict["html"] and window is not None and window.show_document and window.show_document.support:
        page = from_fs_path(verdict["html"]) or verdict["html"]
        await ls.window_show_document_async(types.ShowDocumentParams(page, external=True))
