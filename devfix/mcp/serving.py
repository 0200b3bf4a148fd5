"""The server on standard input and output, or over HTTP on loopback."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from devfix.mcp.folders import Folders
from devfix.mcp.server import create

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["serve_http", "serve_stdio"]

_HOST = "127.0.0.1"


def serve_stdio(folders: Folders, *, may_run: bool) -> None:
    """Serve one client on standard input and output, until it closes them."""
    create(folders, may_run=may_run).run("stdio")


def serve_http(folders: Folders, port: int, token: str, *, may_run: bool) -> None:
    """Serve clients at ``http://127.0.0.1:PORT/mcp``; requests without the token are refused."""
    import uvicorn

    app = create(folders, may_run=may_run).streamable_http_app(host=_HOST)
    uvicorn.run(_WithToken(app, token), host=_HOST, port=port, log_level="warning")


class _WithToken:
    """An application for those who know a token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self.app = app
        self.expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from starlette.responses import PlainTextResponse

        given = dict(scope.get("headers", ())).get(b"authorization", b"")
        if scope["type"] == "http" and not hmac.compare_digest(given, self.expected):
            refused = PlainTextResponse("unauthorized\n", 401, {"WWW-Authenticate": "Bearer"})
            await refused(scope, receive, send)
            return
        await self.app(scope, receive, send)
