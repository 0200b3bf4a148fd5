"""The ``devfix`` command in this process: imports, workers and the process with torch serve all tests."""

from __future__ import annotations

import io
import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from devfix.engine.parallel_scan import forget_listings

__all__ = ["Result", "run_in_process"]


@dataclass(frozen=True)
class Result:
    code: int
    stdout: bytes
    stderr: str

    @property
    def text(self) -> str:
        """Standard output, decoded."""
        return self.stdout.decode()


def run_in_process(*arguments, cwd=None, stdin=b"") -> Result:
    """Run the command as ``python -m devfix`` does, in a working directory; standard input is no terminal."""
    from devfix.cli import main

    forget_listings()
    with _streams(stdin) as (stdout, stderr), _working_directory(cwd), pytest.raises(SystemExit) as exited:
        main([str(argument) for argument in arguments])
    return Result(exited.value.code, stdout.getvalue(), stderr.getvalue().decode())


@contextmanager
def _streams(stdin):
    before = sys.stdin, sys.stdout, sys.stderr
    written = io.BytesIO(), io.BytesIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    sys.stdout, sys.stderr = (io.TextIOWrapper(each, encoding="utf-8", write_through=True) for each in written)
    try:
        yield written
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
            stream.detach()
        sys.stdin, sys.stdout, sys.stderr = before


@contextmanager
def _working_directory(path):
    before = os.getcwd()
    os.chdir(path or before)
    try:
        yield
    finally:
        os.chdir(before)
