"""Dry runs over httpx."""

from __future__ import annotations

import httpx

from devfix.bot.forge import CallLog, log_call

__all__ = ["DryRunTransport"]


class DryRunTransport(httpx.HTTPTransport):
    """Print every call, and send only those that read."""

    def __init__(self, log: CallLog) -> None:
        super().__init__()
        self._log = log

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        is_read = request.method in ("GET", "HEAD")
        log_call(self._log, request.method, str(request.url), request.read(), sent=is_read)
        if is_read:
            return super().handle_request(request)
        return httpx.Response(200, json={"number": 0, "id": 0}, request=request)
