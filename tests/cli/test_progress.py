"""The progress of a long command: on a terminal only, and not at once."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading

import pytest

from devfix.cli._progress import Progress

#: Each file takes a moment; the first argument is the delay until something is shown.
SLOW = """
import sys, time
from devfix.cli import _progress, main
from devfix.engine import parallel_scan
_progress._DELAY = float(sys.argv[1])
scan = parallel_scan._scan
def slow(*arguments):
    time.sleep(0.3)
    return scan(*arguments)
parallel_scan._scan = slow
main(sys.argv[2:])
"""
WIDTH = 80


@pytest.fixture
def files(project):
    folder = project / "a_folder_with_a_rather_long_name" / "[bold]another_folder"
    folder.mkdir(parents=True)
    for number in range(3):
        (folder / f"train_{number}.py").write_text("import torch\nx = torch.ones(3)\n", encoding="utf-8")
    return project


@pytest.fixture
def terminal(environment):
    """Run the command with standard error on a terminal; return both streams."""

    def call(*arguments, delay="0.05", **variables):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, WIDTH, 0, 0))
        process = subprocess.Popen(
            [sys.executable, "-c", SLOW, delay, *arguments, "-j", "1", "--no-cache"],
            env={**environment, "TERM": "xterm", "NO_COLOR": "1", **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=theirs,
        )
        os.close(theirs)
        shown = []
        reader = threading.Thread(target=_read_all, args=(ours, shown))
        reader.start()
        printed, _ = process.communicate(timeout=60)
        reader.join(timeout=60)
        os.close(ours)
        return printed.decode(), b"".join(shown).decode()

    return call


def _read_all(descriptor, shown):
    while True:
        try:
            part = os.read(descriptor, 65536)
        except OSError:  # Linux reports the end of the other side as an error
            return
        if not part:
            return
        shown.append(part)


def frames(shown):
    """The lines that a terminal has shown, one after the other, without control sequences."""
    return [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", part) for part in re.split(r"[\r\n]+", shown)]


def test_files_done_and_the_current_one_are_shown_and_removed(terminal, files):
    printed, shown = terminal("check", ".")

    assert printed == "no findings, 3 files checked\n"
    lines = frames(shown)
    assert any(re.search(r"(programs|functions) .*[0-2]/3", line) for line in lines), shown
    assert any("2/3" in line and line.rstrip().endswith("train_2.py") for line in lines), shown
    assert any(re.search(r"\d\.\d/s", line) for line in lines), "a rate"
    assert max(map(len, lines)) <= WIDTH
    assert shown.endswith("\x1b[2K"), "the line is erased"


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        pytest.param(["check", "."], {"delay": "60"}, id="short"),
        pytest.param(["check", ".", "-q"], {}, id="quiet"),
        pytest.param(["check", "."], {"TERM": "dumb"}, id="dumb"),
    ],
)
def test_nothing_is_shown(terminal, files, arguments, options):
    _, shown = terminal(*arguments, **options)

    assert shown == ""


def test_a_pipe_gets_nothing(environment, files):
    command = [sys.executable, "-c", SLOW, "0.05", "check", ".", "-j", "1", "--no-cache"]

    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert (done.stdout, done.stderr) == ("no findings, 3 files checked\n", "")


def test_runs_of_a_script_are_counted_from_any_thread():
    calls = []

    class Recorded(Progress):
        def __call__(self, *told):
            calls.append(told)

    begin = Recorded().of_runs()
    threads = [threading.Thread(target=begin, args=(name,)) for name in ("original/cpu", "original/device")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    begin("patched/device")

    assert [done for _, done, _, _ in calls] == [0, 1, 2]
    assert calls[-1] == ("runs of the script", 2, 0, "patched/device")
