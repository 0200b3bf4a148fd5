"""``--watch``: run again whenever a file changes."""

import queue
import signal
import subprocess
import sys
import threading

import pytest

pytest.importorskip("watchfiles")

CLEAN = "import torch\n\nx = torch.ones(3)\n"
BROKEN = CLEAN + 'y = torch.ones(3, device="cuda")\nprint(x + y)\n'


class Watching:
    """A running ``devfix``, whose lines of both streams arrive in one queue."""

    def __init__(self, arguments, environment):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "devfix", *arguments, "--watch"],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))

    def until(self, part):
        """Return the lines up to one that has a part."""
        told = []
        while not told or part not in told[-1]:
            told.append(self.lines.get(timeout=60))
        return told

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=30)


@pytest.fixture
def watching(environment):
    started = []

    def start(*arguments):
        started.append(Watching(arguments, environment))
        return started[-1]

    yield start
    for each in started:
        each.process.kill()
        each.process.wait()
        each.reader.join()
        each.process.stdout.close()


def test_check_runs_again_after_a_change_and_ends_with_the_last_code(watching, project):
    script = project / "train.py"
    script.write_text(CLEAN, encoding="utf-8")
    running = watching("check", ".")
    assert "no findings, 1 file checked" in running.until("watching for changes")

    script.write_text(BROKEN, encoding="utf-8")

    told = running.until("watching for changes")
    assert [line for line in told if line.startswith("train.py:") and " error DEV" in line]
    assert told[-1].endswith("train.py changed; watching for changes, Ctrl-C ends")
    assert running.end() == 1


def test_a_wrong_configuration_is_told_and_may_be_corrected(watching, project):
    (project / "train.py").write_text(CLEAN, encoding="utf-8")
    settings = project / "pyproject.toml"
    settings.write_text("[tool.devfix]\nselect = 3\n", encoding="utf-8")
    running = watching("check", ".")
    told = running.until("watching for changes")
    assert told[0].startswith("devfix: ")
    assert "pyproject.toml" in told[0]

    settings.write_text("[tool.devfix]\n", encoding="utf-8")

    assert "no findings, 1 file checked" in running.until("watching for changes")
    assert running.end() == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("check", "-", "--watch"), "--watch cannot be used with standard input: replace '-' by paths"),
        (("check", ".", "--staged", "--watch"), "--watch cannot be combined with --staged"),
        (("apply", "train.py", "--verify", "--watch"), "--watch cannot be combined with --verify"),
    ],
)
def test_what_does_not_go_together(inside, project, arguments, message):
    result = inside(*arguments)

    assert (result.code, result.stdout) == (2, b"")
    assert result.stderr.splitlines()[0] == f"devfix: {message}"
