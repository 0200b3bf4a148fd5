"""Transports for httpx: bounded, and for dry runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from time import sleep, time
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from devfix.bot.forge import LONGEST_WAIT_S, CallLog, log_call

__all__ = ["MAX_REQUESTS", "VIEWER", "BoundedTransport", "DryRunTransport", "requested_wait"]

#: The only request of GitHub's GraphQL API, which reads: https://docs.github.com/en/graphql/reference/queries#viewer
VIEWER = "query { viewer { login } }"

#: Requests of one connection.  A list of a forge whose pages never end must not keep a job busy.
MAX_REQUESTS = 1000
_MAX_BYTES = 64 << 20  # of one response
_RETRIES = 3  # of connections, and after a rate limit
_DEFAULT_WAIT_S = 5.0  # the first time, if a rate limit does not say how long


class BoundedTransport(httpx.HTTPTransport):
    """Limit the number of requests, and the size of a response.

    Args:
        api: the address of the API.  The environment names its proxy; httpx reads that for its own transport only.
        waits: whether to wait as long as a rate limit asks, and to repeat the request; some clients do that themselves.

    """

    def __init__(self, api: str, *, waits: bool = False) -> None:
        super().__init__(retries=_RETRIES, proxy=_proxy(api))
        self._requests = 0
        self._waits = waits

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        for attempt in range(_RETRIES if self._waits else 0):
            response = self._handle_once(request)
            wait_s = requested_wait(response, _DEFAULT_WAIT_S * 2**attempt)
            if response.status_code != httpx.codes.TOO_MANY_REQUESTS or wait_s > LONGEST_WAIT_S:
                return response
            response.close()
            sleep(wait_s)
        return self._handle_once(request)

    def _handle_once(self, request: httpx.Request) -> httpx.Response:
        self._requests += 1
        if self._requests > MAX_REQUESTS:
            raise httpx.ReadError(f"more than {MAX_REQUESTS} requests: do the pages ever end?", request=request)
        response = super().handle_request(request)
        if isinstance(response.stream, httpx.SyncByteStream):
            response.stream = _BoundedStream(response.stream, request)
        return response


class DryRunTransport(BoundedTransport):
    """Print every call, and send only those that read."""

    def __init__(self, api: str, log: CallLog, *, waits: bool = False) -> None:
        super().__init__(api, waits=waits)
        self._log = log

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        is_read = request.method in ("GET", "HEAD") or _is_query(request)
        log_call(self._log, request.method, str(request.url), request.read(), sent=is_read)
        if is_read:
            return super().handle_request(request)
        return httpx.Response(200, json={"number": 0, "id": 0}, request=request)


def requested_wait(response: httpx.Response, default: float = 0.0) -> float:
    """Return the seconds that ``Retry-After`` names, as a number or as a time; ``default`` if it names none.

    https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
    """
    given = response.headers.get("Retry-After", "").strip()
    if given.isdecimal():
        return float(given)
    try:
        return max(0.0, parsedate_to_datetime(given).timestamp() - time())
    except (TypeError, ValueError, OverflowError):
        return default


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
