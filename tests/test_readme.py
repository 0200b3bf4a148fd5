"""The README says what is so."""

import os
import pathlib
import re
import subprocess
import sys

import pictures
import reference_pages
import transcripts

from devfix.cli import cli

ROOT = pathlib.Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SITE = "https://devfix.readthedocs.io/en/latest/"
COMMANDS = re.findall(r"^python3 -m venv .*$", README, flags=re.MULTILINE)


def test_there_are_two_commands_and_ci_runs_the_second():
    assert len(COMMANDS) == 2
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert COMMANDS[1] in lines
    assert subprocess.run(["bash", "-n", ROOT / ".ci" / "run"], check=False).returncode == 0


def test_the_first_command_prints_a_diff_and_succeeds():
    folder = "corpus/seeds/llms_from_scratch/broken"
    assert f".venv/bin/devfix apply {folder} --diff || [ $? -eq 1 ]" in COMMANDS[0]

    done = subprocess.run(
        [sys.executable, "-m", "devfix", "apply", folder, "--diff"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert "\n+    model.to(device)\n" in done.stdout


def test_the_readme_begins_with_a_picture_of_a_run():
    assert README.splitlines()[2].endswith(f"]({SITE}_static/repair.svg)")
    assert (ROOT / "docs" / "_static" / "repair.svg") in pictures.FILES


def test_every_link_is_absolute_and_leads_to_a_page():
    """A package index shows the README without the files beside it."""
    targets = re.findall(r"\]\(([^)]*)\)", README)
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in transcripts.pages() if path.parent != ROOT}
    pages |= set(reference_pages.pages())

    assert targets
    for target in targets:
        assert target.startswith(SITE), target
        path = target.removeprefix(SITE)
        assert path.replace(".html", ".md") in pages or (ROOT / "docs" / path).is_file(), target


def test_every_command_of_the_readme_exists():
    verbs = set(re.findall(r"`devfix (\w+)", README))

    assert {"check", "apply", "verify", "trace"} <= verbs <= set(cli.list_commands(None))


def test_the_test_command_says_how_long_it_takes():
    assert re.search(r"^Run the tests \(on two cores, .*minutes .*\):$", README, flags=re.MULTILINE)
