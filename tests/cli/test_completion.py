"""Completion, asked from real shells where they are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

BASH = """
eval "$(devfix completion bash)"
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMPREPLY=()
_devfix_completion devfix
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def shell(tmp_path):
    """Run a script in a shell that finds ``devfix``."""
    command = tmp_path / "bin" / "devfix"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m devfix "$@"\n')
    command.chmod(0o755)

    def call(name: str, script: str) -> str:
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")
        environment = {**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}"}
        done = subprocess.run(
            [name, "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return call


@pytest.mark.parametrize(
    ("words", "present", "absent"),
    [
        pytest.param("devfix ch", ["check"], "apply", id="a-command"),
        pytest.param("devfix explain DEV10", ["DEV101", "DEV102"], "DEV201", id="a-code"),
        pytest.param("devfix explain dev10", ["DEV101", "DEV102"], "DEV201", id="a-code-in-small-letters"),
        pytest.param("devfix explain mixed", ["mixed-devices"], "DEV101", id="a-name"),
        pytest.param("devfix check . --select DEV10", ["DEV101", "DEV102"], "DEV201", id="an-option"),
        pytest.param("devfix check . --ignore DEV201,DEV10", ["DEV201,DEV101"], "DEV101", id="a-list"),
        pytest.param("devfix apply --unsafe", ["--unsafe-fixes"], "--diff", id="an-option-s-name"),
    ],
)
def test_bash_completes(shell, words, present, absent):
    given = shell("bash", BASH.format(words=words)).split()

    assert set(present) <= set(given)
    assert absent not in given


def test_zsh_takes_the_script(shell):
    assert "_devfix" in shell(
        "zsh", 'autoload -U compinit; compinit -u; eval "$(devfix completion zsh)"; whence _devfix_completion'
    )


def test_fish_completes(shell):
    given = shell("fish", 'devfix completion fish | source; complete -C "devfix explain DEV10"')

    assert "DEV101" in given.split()


def test_another_shell_is_wrong_usage(shell):
    script = "devfix completion csh 2>/dev/null; echo $?"

    assert shell("sh", script) == "2\n"
