"""Ctrl-C ends the command, wherever it meets it."""

import contextlib
import multiprocessing
import signal
import subprocess
import sys
import time

import pytest

from devfix.cli._interrupts import interruptible


class Finalized:
    """Meets the signal in its finalizer, where Python forgets what is raised."""

    def __del__(self):
        signal.raise_signal(signal.SIGINT)
        for _ in range(100):
            pass


def in_finalizers():
    for _ in range(5):
        Finalized()


def in_the_making_of_a_class():
    class Field:
        def __set_name__(self, owner, name):
            signal.raise_signal(signal.SIGINT)

    class Model:
        field = Field()


def in_an_error_that_is_expected():
    with contextlib.suppress(RuntimeError):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as error:
            raise RuntimeError("while connecting") from error


def in_an_error_that_is_not_expected():
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt as error:
        raise RuntimeError("while connecting") from error


@pytest.mark.parametrize(
    "meet",
    [in_finalizers, in_the_making_of_a_class, in_an_error_that_is_expected, in_an_error_that_is_not_expected],
)
def test_a_signal_is_not_lost(meet, capfd):
    def work():
        with interruptible():
            meet()
            time.sleep(20)

    with pytest.raises(KeyboardInterrupt):
        work()

    assert capfd.readouterr().err == ""


def test_workers_that_cannot_be_ended_do_not_hide_the_signal(monkeypatch):
    def changed():
        raise RuntimeError("the set changed while it was read")

    def work():
        with interruptible():
            signal.raise_signal(signal.SIGINT)
            time.sleep(20)

    monkeypatch.setattr(multiprocessing, "active_children", changed)

    with pytest.raises(KeyboardInterrupt):
        work()


def test_what_is_not_ours_is_told_as_before(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)

    class Wrong:
        def __del__(self):
            raise ValueError("never mind")

    with interruptible():
        Wrong()

    assert [found.exc_type for found in told] == [ValueError]


def test_afterwards_everything_is_as_before():
    before = signal.getsignal(signal.SIGINT), sys.unraisablehook

    with interruptible():
        pass

    assert (signal.getsignal(signal.SIGINT), sys.unraisablehook) == before


def test_it_ends_with_130_also_where_it_met_code_in_a_string():
    """CPython remembers that, and would end by the signal though the exception was handled."""
    program = """
import click, signal
from devfix import cli

@cli.cli.command("met")
def met():
    exec("import signal; signal.raise_signal(signal.SIGINT); [0 for _ in range(99)]")

cli.cli.get_command = lambda context, name: met
cli.main(["met"])
"""

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr.splitlines()[-1][:20]) == (130, "devfix: interrupted;"), done.stderr
