"""What the command imports, and that it answers from outside."""

import subprocess
import sys

import pytest

from devfix import __version__

HEAVY = (
    "asyncio",
    "codemods",
    "devfix.analysis",
    "importlib.metadata",
    "libcst",
    "multiprocessing",
    "pathspec",
    "rich",
    "tomllib",
    "torch",
)


def test_the_version(outside):
    result = outside("--version")

    assert (result.code, result.stdout.decode()) == (0, f"devfix {__version__}\n")


@pytest.mark.parametrize("arguments", [["--version"], ["-V"], ["--help"], ["explain", "DEV101"]], ids=" ".join)
def test_quick_commands_import_nothing_heavy(environment, arguments):
    program = (
        "import sys\n"
        "from devfix.cli import main\n"
        "try:\n"
        f"    main({arguments!r})\n"
        "finally:\n"
        f"    print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=False)

    assert done.stderr.decode().splitlines()[-1] == "[]"


def test_help_lists_every_verb_and_the_exit_codes(outside):
    text = outside("--help").stdout.decode()

    for word in ("apply", "check", "explain", "rules", "130"):
        assert word in text


def test_a_closed_pipe_is_no_traceback(environment, tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "devfix", "--help"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    stderr = process.stderr.read()
    process.wait()
    process.stderr.close()

    assert b"Traceback" not in stderr
