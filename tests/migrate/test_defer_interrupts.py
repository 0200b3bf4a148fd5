"""Ctrl-C waits while processes are started."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from devfix.migrate.engines.defer_interrupts import uninterrupted

BLOCKED = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"


def test_the_signal_comes_afterwards():
    done = []

    def work():
        with uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            done.append("started")
        done.append("not reached")

    with pytest.raises(KeyboardInterrupt):
        work()

    assert done == ["started"]


def test_what_is_started_does_not_get_it():
    with uninterrupted():
        inside = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, text=True, check=True)
    outside = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, text=True, check=True)

    assert (inside.stdout, outside.stdout) == ("True\n", "False\n")


def test_an_error_passes_and_everything_is_as_before():
    before = signal.getsignal(signal.SIGINT)

    with pytest.raises(ValueError, match="wrong"), uninterrupted():
        raise ValueError("wrong")

    assert signal.getsignal(signal.SIGINT) == before
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_in_another_thread_it_does_nothing():
    done = []

    def work():
        with uninterrupted():
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert done == [True]
