"""``devfix explain`` and ``devfix rules``."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest

from devfix.rules import registry
from devfix.verify.probe.messages import FAMILIES

RULES = {rule.code: rule for rule in registry.all_rules()}


@pytest.mark.parametrize("code", RULES)
def test_every_rule_is_explained_by_code_and_name(inside, code):
    rule = RULES[code]

    by_code = inside("explain", code.lower(), "--format", "md")

    assert by_code.code == 0
    documentation, _, messages = by_code.stdout.decode().partition("\n## Error messages\n")
    assert documentation == f"# {code} {rule.name}\n\n{rule.documentation.strip()}\n"
    assert bool(messages) == bool(rule.error_families)
    assert all(f"- `{FAMILIES[name].page}`: " in messages for name in rule.error_families)
    assert inside("explain", rule.name, "--format", "md").stdout == by_code.stdout


@pytest.mark.parametrize("code", RULES)
def test_text_is_the_documentation_without_marks(inside, code):
    lines = inside("explain", code).stdout.decode().splitlines()

    assert lines[0] == f"{code} {RULES[code].name}: {RULES[code].summary}"
    for heading in ("WHAT IT DOES", "WHY IS THIS BAD?", "EXAMPLE", "USE INSTEAD", "FIX SAFETY", "REFERENCES"):
        assert heading in lines
    assert not [line for line in lines if line.startswith(("#", "```"))]
    assert [line for line in lines if line.startswith("    ")], "code is indented"


@pytest.mark.parametrize("code", RULES)
def test_json_holds_the_examples(inside, code):
    document = json.loads(inside("explain", code, "--format", "json").stdout)

    assert (document["code"], document["name"]) == (code, RULES[code].name)
    assert [example["after"] for example in document["invalid"]] == [example.after for example in RULES[code].invalid]


def test_a_rule_whose_file_names_it_otherwise_is_found_as_well(run):
    result = run("explain", "bug")

    assert result.code == 0
    assert result.stdout.decode().partition("\n\nERROR MESSAGES\n")[0].splitlines() == [
        "DEV191 bug: finds bug",
        "",
        "WHAT IT DOES",
        "",
        "Finds bug.",
        "",
        "    x = 1",
    ]


@pytest.mark.parametrize(
    "word",
    [
        "RuntimeError: Placeholder storage has not been allocated on MPS device!",
        "placeholder",
        "placeholder-storage-mps",
    ],
)
def test_a_message_is_explained_by_its_words_its_family_and_its_page(inside, word):
    result = inside("explain", word)
    lines = result.stdout.decode().splitlines()

    assert result.code == 0
    assert lines[0] == "Placeholder storage has not been allocated on MPS device!"
    for heading in ("WHY IT HAPPENS", "WHAT DEVFIX SAYS", "THE REPAIR", "WORDINGS", "RULES"):
        assert heading in lines
    assert not [line for line in lines if line.startswith(("#", "```", "<!--"))]


def test_a_message_has_no_json(inside):
    assert inside("explain", "placeholder", "--format", "json").code == 2


def test_an_unknown_rule_is_2(run):
    result = run("explain", "DEV199")

    assert result.code == 2
    assert "unknown rule 'DEV199'; did you mean 'DEV191'?" in result.stderr


def test_rules_are_listed(run):
    assert run("rules").stdout.decode().splitlines() == [
        "DEV191  bug    finds bug",
        "DEV291  risky  finds risky",
        "DEV391  stuck  finds stuck",
    ]
    assert [row["code"] for row in json.loads(run("rules", "--format", "json").stdout)] == [
        "DEV191",
        "DEV291",
        "DEV391",
    ]


def test_markdown_is_rendered_on_a_terminal(environment):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    command = [sys.executable, "-m", "devfix", "explain", "DEV201"]
    process = subprocess.Popen(command, env={**environment, "TERM": "xterm"}, stdin=subprocess.DEVNULL, stdout=theirs)
    os.close(theirs)
    written = b""
    try:
        while chunk := os.read(ours, 65536):
            written += chunk
    except OSError:  # the other end was closed
        pass
    os.close(ours)
    assert process.wait(timeout=60) == 0
    shown = re.sub(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b]*\x1b\\", "", written.decode())

    assert "replaced-submodule" in shown
    assert "What it does" in shown
    assert "##" not in shown
    assert "```" not in shown
    assert max(map(len, shown.splitlines())) <= 80
