"""The README says what is so."""

import os
import pathlib
import re
import subprocess
import sys

from devfix import config
from devfix.cli import cli

ROOT = pathlib.Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^python3 -m venv .*$", README, flags=re.MULTILINE)


def test_there_are_two_commands_and_ci_runs_the_second():
    assert len(COMMANDS) == 2
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert COMMANDS[1] in lines
    assert subprocess.run(["bash", "-n", ROOT / ".ci" / "run"], check=False).returncode == 0


def test_the_first_command_prints_what_the_readme_shows():
    folder = ROOT / "corpus" / "seeds" / "llms_from_scratch" / "broken"
    assert "devfix apply corpus/seeds/llms_from_scratch/broken --diff" in COMMANDS[0]

    done = subprocess.run(
        [sys.executable, "-m", "devfix", "apply", ".", "--diff"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert done.stdout[done.stdout.index("@@") :] in README
    for line in done.stderr.splitlines():
        if " | " in line:  # source lines are shortened in the README
            number, told = line.split(" | ")[0].strip(), line.split("  ")[-1].strip()
            assert re.search(rf"^ +{number} \| .*  {re.escape(told)}$", README, flags=re.MULTILINE)
        elif not line.endswith("would change"):
            assert line in README


def test_every_verb_of_the_readme_exists():
    verbs = set(re.findall(r"`devfix (\w+)", README))

    assert verbs == set(cli.list_commands(None))


def test_the_configuration_in_the_readme_is_valid(tmp_path):
    example = re.search(r"```toml\n(.*?)```", README, flags=re.DOTALL)
    assert example is not None
    (tmp_path / "pyproject.toml").write_text(example[1], encoding="utf-8")
    (tmp_path / "stubs").mkdir()
    known = {"DEV101": "batch-not-moved", "DEV301": "load-without-map-location", "DEV401": "optimizer-order"}

    settings = config.load([str(tmp_path)], known)

    assert settings.select == ("DEV1", "DEV401")
    assert settings.device == "args.device"
