"""What the pages say to type: commands and options that exist, code that parses, plans that are read."""

import ast
import json
import os
import re
import shlex
import subprocess
import sys
import types
from pathlib import Path

import click
import pytest
import transcripts
import yaml

from devfix.cli import cli
from devfix.cli.commands.migrate import SUBCOMMANDS
from devfix.testing import RuleTest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PAGES = transcripts.pages()  # usability.md shows mistakes, too; tests/docs/test_transcripts.py runs it
BLOCK = re.compile(r"^```([\w-]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")
PARSERS = {
    "python": ast.parse,
    "toml": tomllib.loads,
    "json": json.loads,
    "yaml": lambda text: list(yaml.safe_load_all(text)),
}


JOBS = sorted([ROOT / "action.yml", ROOT / ".pre-commit-hooks.yaml", *ROOT.glob("docs/ci/*.yml")])


def named(page):
    return page.relative_to(ROOT).as_posix()


def commands_in(lines):
    """The lines of a block that may be commands: those behind a prompt, if it has one; the others are output."""
    return [line for line in lines if line.startswith("$ ")] or lines


def invocations(text):
    """The words behind ``devfix`` of each command in spans and blocks of code, up to what ends it."""
    spans = SPAN.findall(BLOCK.sub("", text))
    blocks = [body for _, body in BLOCK.findall(text)] or [text]
    lines = [line for body in blocks for line in commands_in(body.replace("\\\n", " ").splitlines())]
    commands = [re.sub(r"^(\$ |(- )?run: |entry: |- )", "", line.strip()) for line in lines] + spans
    for command in commands:
        found = re.match(r"(?:\S*/)?devfix (?=[a-z-])([^|>&;#`]*)", command)
        if found:
            yield shlex.split(found[1])


def command_of(words):
    """The command that the first words name, and the words behind it."""
    command = cli.get_command(click.Context(cli), words[0])
    rest = words[1:]
    if words[0] == "migrate" and rest and rest[0] in SUBCOMMANDS:
        return SUBCOMMANDS[rest[0]], rest[1:]
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        command, rest = command.get_command(click.Context(command), rest[0]), rest[1:]
    return command, rest


@pytest.mark.parametrize("page", [page for page in [*PAGES, *JOBS] if page.name != "usability.md"], ids=named)
def test_every_command_and_option_that_a_page_names_exists(page):
    for words in invocations(page.read_text(encoding="utf-8")):
        if words[0].startswith("-"):
            continue
        command, rest = command_of(words)
        assert command is not None, f"devfix {' '.join(words)}: no such command"
        options = {name for parameter in command.params for name in [*parameter.opts, *parameter.secondary_opts]}
        for word in rest[: rest.index("--")] if "--" in rest else rest:
            name = word.partition("=")[0].rstrip(",.:")
            if name.startswith("--") and " " not in name:  # else it is an argument in quotes
                assert name in {*options, "--help"}, f"devfix {' '.join(words)}: no such option"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_block_of_code_parses(page):
    for language, body in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language in PARSERS:
            PARSERS[language](body)


def test_the_plans_of_the_page_are_read(tmp_path):
    from devfix.migrate import plan

    blocks = BLOCK.findall((ROOT / "docs" / "how-to" / "migrate.md").read_text(encoding="utf-8"))
    shown = [body for language, body in blocks if language == "toml"]
    (tmp_path / "envs" / "lab" / "bin").mkdir(parents=True)
    (tmp_path / "envs" / "lab" / "bin" / "python").symlink_to(sys.executable)
    tasks = []
    for number, text in enumerate(shown):
        path = tmp_path / f"plan{number}.toml"
        path.write_text(text, encoding="utf-8")
        tasks += plan.read_plan(str(path))

    assert [(task.folder, task.ref) for task in tasks] == [("training", "main"), ("", ""), ("", "")]
    assert [(task.publishing.fork, task.publishing.split) for task in tasks[1:]] == [("auto", False), ("never", True)]


def test_the_rule_of_the_page_passes_the_tests_of_the_page(tmp_path):
    blocks = BLOCK.findall((ROOT / "docs" / "how-to" / "own-rules.md").read_text(encoding="utf-8"))
    rule, _, tests = [body for language, body in blocks if language == "python"]
    (tmp_path / "acme_rules.py").write_text(rule, encoding="utf-8")
    (tmp_path / "test_acme.py").write_text(tests, encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_acme.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)])},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


def test_the_rule_of_the_page_that_subscribes_finds_and_fixes():
    blocks = BLOCK.findall((ROOT / "docs" / "how-to" / "own-rules.md").read_text(encoding="utf-8"))
    body = [body for language, body in blocks if language == "python"][1]
    module = types.ModuleType("acme_pinned")
    exec(compile(body, "acme_pinned.py", "exec"), sys.modules.setdefault("acme_pinned", module).__dict__)
    test = RuleTest(module.RULE)
    start = "import torch\n\nx = torch.ones(3)\n"

    test.assert_fixed(
        f"{start}for _ in range(2):\n    y = x.cuda().pin_memory()\n",
        f"{start}for _ in range(2):\n    y = x.cuda()\n",
    )
    test.assert_clean(f"{start}y = x.pin_memory().cuda()\n")


def test_a_command_that_is_not_there_is_noticed():
    assert list(invocations("`devfix verify x.py --nonsense -- -n 1 | tee x`")) == [
        ["verify", "x.py", "--nonsense", "--", "-n", "1"]
    ]
    assert list(invocations("```console\n$ devfix check . \\\n  --select DEV1\noutput\n```\n")) == [
        ["check", ".", "--select", "DEV1"]
    ]
