"""HTTP servers for tests: JSON by routes, and git over http with a password."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote, unquote, urlsplit

TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345"


class Answer(Exception):
    """Raised by a route: a status, a document, and headers."""

    def __init__(self, status, document=None, **headers):
        super().__init__(status)
        self.is_explicit = True
        self.status, self.document = status, document
        self.headers = {name.replace("_", "-"): str(value) for name, value in headers.items()}


class Server(ThreadingHTTPServer):
    """A server whose clients may leave: a dropped connection is no error, and nothing is printed among their output."""

    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class Api:
    """Routes are methods that are registered with a method and a pattern; calls are kept.

    ``troubles`` are answers that the next calls with their method get instead: ``("POST", Answer(…))``; with ``lost``
    ones, the call has its effect nevertheless.
    """

    prefix = ""
    description = None  #: the forge's own description of its API

    def __init__(self):
        self.calls = []
        self.violations = []
        self.troubles = []
        self.lost = []
        self.git_root = None
        self.pushes = []
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def handle_any(self):
                length = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(length)
                if self.path.startswith("/git/"):
                    api.serve_git(self, body)
                    return
                api.serve(self, body)

        for verb in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"):
            setattr(Handler, f"do_{verb}", Handler.handle_any)
        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        """Stop the server; each request and answer must have held to the description."""
        self._server.shutdown()
        self._server.server_close()
        assert self.violations == []

    def writes(self):
        """Method and path of each call that changes something."""
        return [(method, path) for method, path, _ in self.calls if method not in ("GET", "HEAD")]

    def bodies(self, method, ending):
        """The bodies of calls to a path that ends so."""
        return [body for verb, path, body in self.calls if verb == method and path.endswith(ending)]

    def serve(self, handler, body):
        parts = urlsplit(handler.path)
        path = parts.path.removeprefix(self.prefix)
        document = json.loads(body) if body else None
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        self.calls.append((handler.command, path, document))
        try:
            self.authorise(handler)
            for trouble in self.troubles:
                if trouble[0] == handler.command:
                    self.troubles.remove(trouble)
                    raise trouble[1]
            answer = self.described(handler.command, path, query, document)
            for method, another in self.lost:
                if method == handler.command and answer.status < 300:
                    self.lost.remove((method, another))
                    raise another
            raise answer
        except Answer as answer:
            self.send(handler, answer)
        except Exception as error:  # a mistake of the test's, or a body that the API would refuse
            self.send(handler, Answer(422, {"message": f"{type(error).__name__}: {error}"[:800]}))

    def authorise(self, handler):
        raise NotImplementedError

    def described(self, method, path, query, document):
        """The answer of a route, with the status that the forge's description names; what deviates is kept."""
        if self.description is None:
            return self.route(method, path, query, document)
        sent = json.loads(json.dumps(document))  # routes may change it
        answer = self.route(method, path, query, document)
        try:
            self.description.check_request(method, quote(path, safe="/"), query, sent)
            if answer.status < 300:
                answer.status = answer.status if answer.is_explicit else self.description.status(method, path)
                self.description.check_answer(method, path, answer.status, answer.document)
        except AssertionError as error:
            self.violations.append(str(error))
        return answer

    def route(self, method, path, query, document):
        for name in dir(self):
            spec = getattr(getattr(self, name), "answers", None)
            if spec and spec[0] == method:
                found = re.fullmatch(spec[1], path)
                if found:
                    answer = getattr(self, name)(*map(unquote, found.groups()), query=query, body=document)
                    if isinstance(answer, Answer):
                        return answer
                    made = Answer(200 if method != "POST" else 201, answer)
                    made.is_explicit = False
                    return made
        return Answer(404, {"message": f"no route for {method} {path}"})

    def send(self, handler, answer):
        is_raw = isinstance(answer.document, bytes)
        content = (
            answer.document if is_raw else b"" if answer.document is None else json.dumps(answer.document).encode()
        )
        handler.send_response(answer.status)
        for name, value in answer.headers.items():
            handler.send_header(name, value)
        if content:
            handler.send_header("Content-Type", "text/plain" if is_raw else "application/json")
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    def serve_git(self, handler, body):
        given = handler.headers.get("Authorization", "")
        wanted = "Basic " + base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()
        if given != wanted:
            handler.send_response(401)
            handler.send_header("WWW-Authenticate", 'Basic realm="git"')
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        parts = urlsplit(handler.path)
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.git_root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REMOTE_USER": "somebody",
            "PATH_INFO": parts.path.removeprefix("/git"),
            "QUERY_STRING": parts.query,
            "REQUEST_METHOD": handler.command,
            "CONTENT_TYPE": handler.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": handler.headers.get("Content-Encoding", ""),
            "HTTP_GIT_PROTOCOL": handler.headers.get("Git-Protocol", ""),
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        command = ["git", "http-backend"]
        done = subprocess.run(command, input=body, capture_output=True, env=environment, check=False)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        status = 200
        headers = []
        for line in head.decode().split("\r\n"):
            name, _, value = line.partition(": ")
            if name == "Status":
                status = int(value.split()[0])
            elif name:
                headers.append((name, value))
        handler.send_response(status)
        for name, value in headers:
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)


def route(method, pattern):
    """Marks a method as the answer to calls of a path."""

    def mark(function):
        function.answers = (method, pattern)
        return function

    return mark
