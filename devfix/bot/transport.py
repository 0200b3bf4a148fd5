"""Transports for httpx: bounded, and for dry runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from devfix.bot.forge import CallLog, log_call

__all__ = ["MAX_REQUESTS", "VIEWER", "BoundedTransport", "DryRunTransport"]

#: The only request of GitHub's GraphQL API, which reads: https://docs.github.com/en/graphql/reference/queries#viewer
VIEWER = "query { viewer { login } }"

#: Requests of one connection.  A list of a forge whose pages never end must not keep a job busy.
MAX_REQUESTS = 1000
_MAX_BYTES = 64 << 20  # of one response
_RETRIES = 3  # of connections


class BoundedTransport(httpx.HTTPTransport):
    """Limit the number of requests, and the size of a response.

    Args:
        api: the address of the API.  The environment names its proxy; httpx reads that for its own transport only.

    """

    def __init__(self, api: str) -> None:
        super().__init__(retries=_RETRIES, proxy=_proxy(api))
        self._requests = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self._requests += 1
        if self._requests > MAX_REQUESTS:
            raise httpx.ReadError(f"more than {MAX_REQUESTS} requests: do the pages ever end?", request=request)
        response = super().handle_request(request)
        if isinstance(response.stream, httpx.SyncByteStream):
            response.stream = _BoundedStream(response.stream, request)
        return response


class DryRunTransport(BoundedTransport):
    """Print every call, and send only those that read."""

    def __init__(self, api: str, log: CallLog) -> None:
        super().__init__(api)
        self._log = log

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        is_read = request.method in ("GET", "HEAD") or _is_query(request)
        log_call(self._log, request.method, str(request.url), request.read(), sent=is_read)
        if is_read:
            return super().handle_request(request)
        return httpx.Response(200, json={"number": 0, "id": 0}, request=request)


def _is_query(request: httpx.Request) -> bool:
    """Return whether a request is the one of GraphQL."""
    return request.url.path.endswith("/graphql") and json.loads(request.read()) == {"query": VIEWER}


def _proxy(api: str) -> str | None:
    """Return the proxy that the environment names for an address."""
    parts = urlsplit(api)
    found = "" if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme, "")
    return (found if "://" in found else f"http://{found}") if found else None


class _BoundedStream(httpx.SyncByteStream):
    def __init__(self, stream: httpx.SyncByteStream, request: httpx.Request) -> None:
        self._stream = stream
        self._request = request

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for part in self._stream:
            size += len(part)
            if size > _MAX_BYTES:
                raise httpx.ReadError(f"the response has more than {_MAX_BYTES >> 20} MiB", request=self._request)
            yield part

    def close(self) -> None:
        self._stream.close()
