"""The format for coding agents: when it is the default, its lines, its limits, and the commands that it names."""

import json
import shlex

import pytest

from devfix.cli._agents import _TABLE, agent_note, default_format, detected_agent

VARIABLES = [name for agent in json.loads(_TABLE.read_text("utf-8"))["agents"] for name in agent["variables"]]


# --- detection ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", VARIABLES)
def test_the_variable_of_an_agent_chooses_the_format_unless_it_is_turned_off(name):
    assert name in detected_agent({name: "1"})
    assert not detected_agent({name: ""})
    assert not detected_agent({name: "1", "DEVFIX_AGENT": "0"})


def test_without_an_agent_the_format_is_text_and_it_can_be_forced():
    assert not detected_agent({"TERM": "xterm", "CI": "true"})
    assert detected_agent({"DEVFIX_AGENT": "1"}) == "DEVFIX_AGENT is set"


def test_each_variable_has_a_source():
    table = json.loads(_TABLE.read_text("utf-8"))["agents"]
    assert all(agent["source"].startswith("https://") and agent["name"] for agent in table)
    assert len(set(VARIABLES)) == len(VARIABLES)


@pytest.fixture
def agent(monkeypatch):
    monkeypatch.delenv("DEVFIX_AGENT", raising=False)
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CURSOR_AGENT", "1")


def test_help_says_whether_and_why_it_is_on(agent, monkeypatch, run):
    assert default_format()() == "agent"
    for arguments in ((), ("check",), ("apply",), ("verify",), ("diagnose",)):
        shown = " ".join(run(*arguments, "--help").text.split())
        assert "The default report format is agent (Cursor: CURSOR_AGENT is set); DEVFIX_AGENT=0 turns this" in shown
    monkeypatch.setenv("DEVFIX_AGENT", "0")
    assert default_format()() == "text"
    assert "In the shell of a coding agent, the default" in agent_note()


def test_the_option_and_its_variable_take_precedence(agent, monkeypatch, run, project):
    (project / "a.py").write_text("BUG\n")

    assert "; next: devfix apply a.py" in run("check", "a.py").text
    assert "a.py:1:1: DEV191 [*]" in run("check", "a.py", "--output-format", "concise").text
    monkeypatch.setenv("DEVFIX_OUTPUT_FORMAT", "concise")
    assert "a.py:1:1: DEV191 [*]" in run("check", "a.py").text


# --- check and apply ------------------------------------------------------------------------------------------------
def lines(result):
    assert result.stderr == ""
    return result.text.splitlines()


def reported(run, *arguments):
    return run(*arguments, "--output-format", "agent")


def test_a_finding_is_a_line_with_its_edit(run, project):
    (project / "a.py").write_text("x = 1\n    BUG\n")

    command = "a.py --output-format agent"

    assert lines(run("check", *command.split())) == [
        "a.py:2:5: DEV191 error: BUG is here; fix: replace BUG",
        "@@ a.py:2",
        "-    BUG",
        "+    FIX",
        f"devfix: 1 finding, 1 possibly fixable with devfix apply, 1 file checked; next: devfix apply {command}",
    ]


def test_the_named_command_applies_what_was_shown_and_names_the_next(run, project):
    (project / "a.py").write_text("BUG\n")

    shown = lines(reported(run, "check", "a.py"))[-1]
    applied = lines(run(*shlex.split(shown.partition("; next: devfix ")[2])))

    assert (project / "a.py").read_text() == "FIX\n"
    assert applied[:-1] == ["a.py:1:1: DEV191 error: BUG is here; fixed: replace BUG", "@@ a.py:1", "-BUG", "+FIX"]
    assert applied[-1].endswith("1 changed; next: devfix verify a.py -- ARGS")


def test_a_preview_names_the_command_that_writes(run, project):
    (project / "a.py").write_text("BUG\n")

    assert lines(reported(run, "apply", "--check", "a.py"))[-1].endswith(
        "; next: devfix apply a.py --output-format agent"
    )


def test_unsafe_fixes_and_findings_without_a_fix_say_so(run, project):
    (project / "a.py").write_text("RISKY\n")
    (project / "b.py").write_text("STUCK\n")

    risky, stuck = (lines(reported(run, "check", name)) for name in ("a.py", "b.py"))

    assert risky[0] == "a.py:1:1: DEV291 error: RISKY is here; fix (unsafe: --unsafe-fixes): replace RISKY"
    assert "; next: devfix apply --unsafe-fixes --diff a.py" in risky[-1]
    assert stuck[0] == "b.py:1:1: DEV391 error: STUCK is here; no fix: none is known"
    assert stuck[-1].endswith("; next: devfix explain DEV391")


def test_limits_count_what_they_leave_out(run, project):
    (project / "a.py").write_text("STUCK\n" * 23 + "RISKY\n")

    shown = lines(reported(run, "check", "a.py"))

    assert sum(line.startswith("a.py:") for line in shown) == 20
    assert shown[-2] == "… 4 more findings (DEV291 1, DEV391 3); all: --output-format concise"


def test_a_long_line_is_cut_and_its_rest_is_counted(run, project):
    (project / "a.py").write_text(f"BUG  # {'x' * 300}\n")

    old = lines(reported(run, "check", "a.py"))[2]

    assert old.startswith("-BUG  # xxx") and old.endswith("… (67 more characters)")


def test_source_cannot_add_lines_or_escape_sequences(run, project):
    (project / "a.py").write_bytes(b"BUG  # \x1b[31m \xe2\x80\xae\n")

    assert lines(reported(run, "check", "a.py"))[2] == r"-BUG  # \x1b[31m \u202e"


def test_problems_are_reported(inside, project):
    (project / "a.py").write_text("import torch\nx = (\n")

    shown = inside("check", ".", "--output-format", "agent")

    assert shown.code == 1
    assert shown.text.splitlines()[0].startswith("a.py:")
    assert "1 problem; next: " in shown.text


# --- diagnose and verify --------------------------------------------------------------------------------------------
PROGRAM = """\
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(8, 4)
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
MESSAGE = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
LOG = f"""\
Traceback (most recent call last):
  File "/srv/train.py", line 8, in <module>
    loss = model(x).pow(2).mean()
RuntimeError: {MESSAGE}
"""


def test_an_answer_names_the_cause_the_edit_and_the_command(inside, project):
    (project / "train.py").write_text(PROGRAM)

    answer = inside("diagnose", "--output-format", "agent", stdin=LOG.encode())

    assert answer.code == 1
    shown = answer.text.splitlines()
    assert shown[:2] == [f"RuntimeError: {MESSAGE}", "at train.py:8: loss = model(x).pow(2).mean()"]
    assert shown[2].startswith("train.py:7: DEV102 error: ") and "; fix: " in shown[2]
    assert shown[3:6] == ["@@ train.py:7", "-    x = torch.randn(8, 4)", "+    x = torch.randn(8, 4).to(device)"]
    command = shown[-1].partition("; next: devfix ")[2].partition(";")[0]
    assert inside(*shlex.split(command)).code == 0
    assert ".randn(8, 4).to(device)" in (project / "train.py").read_text()


def test_an_error_of_another_folder_is_explained(inside, project):
    answer = inside("diagnose", "--output-format", "agent", stdin=LOG.encode()).text

    assert "\nmeans: " in answer and "\nusual cause: " in answer
    assert "; next: devfix explain expected-all-tensors-on-same-device" in answer


def test_an_error_without_a_static_cause_leads_to_a_run(inside, project):
    (project / "train.py").write_text("import torch\nfrom hidden import model, x\nloss = model(x).pow(2).mean()\n")

    answer = inside("diagnose", "--output-format", "agent", stdin=LOG.replace("line 8", "line 3").encode()).text

    assert "no causes found; next: devfix apply --trace train.py -- ARGS; runs the script" in answer


def test_a_log_without_a_device_error_leaves_nothing_to_do(inside, project):
    answer = inside("diagnose", "--output-format", "agent", stdin=b"step 1\n")

    assert (answer.code, answer.text) == (0, "devfix: no device error in the log; next: nothing to do\n")


def test_a_verdict_names_the_command_that_writes_the_patch(inside, project):
    pytest.importorskip("torch")
    (project / "train.py").write_text(PROGRAM)

    shown = inside("verify", "train.py", "--device", "sim", "--output-format", "agent").text.splitlines()

    assert shown[0].startswith("verdict fixed: ")
    assert any(line.startswith("original/device: RuntimeError at train.py:8") for line in shown)
    assert shown[-4:-1] == ["@@ train.py:7", "-    x = torch.randn(8, 4)", "+    x = torch.randn(8, 4).to(device)"]
    assert shown[-1] == "devfix: fixed, 1 file in the patch; next: devfix apply train.py"
