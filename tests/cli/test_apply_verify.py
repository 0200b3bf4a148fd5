"""``devfix apply --verify``: nothing is written that running the script does not prove."""

import importlib
import sys
import types

import pytest

from devfix.model import (
    Event,
    FileChange,
    Finding,
    Fix,
    Outcome,
    Patch,
    ReplaceExpression,
    Resolution,
    Severity,
    Span,
    Status,
)

pytestmark = pytest.mark.sample(8)  # each takes seconds

pytest.importorskip("torch")

TRAIN = """\
import torch
from torch import nn

torch.manual_seed(3)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = torch.utils.data.TensorDataset(torch.randn(32, 4), torch.randint(3, (32,)))
for x, y in torch.utils.data.DataLoader(data, batch_size=8):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
ONE = TRAIN.replace("    loss = nn", "    x, y = x.to(device), y\n    loss = nn")

#: What the toy engine rewrites: two halves of the repair, and three edits that spoil it.
X = ("model(x)", "model(x.to(device))")
Y = (", y)\n", ", y.to(device))\n")
SEED = ("manual_seed(3)", "manual_seed(4)")
STEP = ("    optimizer.step()\n", "    pass\n")
NAME = ("zero_grad()", "zero_grads()")
HARMLESS = ("lr=0.1", "lr=0.1 + 0")


class ToyEngine(types.ModuleType):
    """Makes the edits that it is told to make."""

    def __init__(self, *edits):
        super().__init__("devfix.engine.fixpoint")
        self.edits = edits

    def apply(self, files, settings, jobs=1, without=(), cache=None, scope=None, progress=None):
        resolutions, changes = [], []
        for file in files:
            text = file.text
            for old, new in self.edits:
                if old not in file.text:
                    continue
                line = file.text[: file.text.index(old)].count("\n") + 1
                column = file.text.index(old) - file.text.rfind("\n", 0, file.text.index(old)) - 1
                span = Span(line, column, line, column + 1)
                fix = Fix(f"write {new.strip()}", (ReplaceExpression(file.path, span, new),))
                story = (Event("moved", file.path, line, 0, text.splitlines()[line - 1], ""),)  # as the text is by now
                finding = Finding("DEV101", "toy", Severity.ERROR, file.path, span, "toy", story, (fix,))
                if finding.span in {left.span for left in without}:
                    resolutions.append(Resolution(finding, Status.NOT_FIXED, "left out"))
                else:
                    text = text.replace(old, new)
                    resolutions.append(Resolution(finding, Status.FIXED, fix=fix))
            if text != file.text:
                changes.append(FileChange(file.path, file.raw, text.encode()))
        return Outcome(tuple(resolutions), Patch(tuple(changes)), checked=len(files))


@pytest.fixture
def apply(monkeypatch, capfd):
    """Run the command in this process; ``edits`` replaces the engine."""
    from devfix.cli import main

    def call(*arguments, edits=None):
        with monkeypatch.context() as patch:
            if edits is not None:
                patch.setattr(importlib.import_module("devfix.cli._session"), "fixpoint", ToyEngine(*edits))
            with pytest.raises(SystemExit) as exited:
                main(["apply", *map(str, arguments)])
        return exited.value.code, *capfd.readouterr()

    return call


def replaced(text, *edits):
    for old, new in edits:
        text = text.replace(old, new)
    return text


def test_a_proved_repair_is_written(inside, project):
    (project / "train.py").write_text(ONE)

    result = inside("apply", "train.py", "--verify", cwd=project)

    assert result.code == 0, result.stderr
    assert (project / "train.py").read_text() == ONE.replace("x.to(device), y\n", "x.to(device), y.to(device)\n")
    assert result.stderr == ""
    assert "1 fixed" in result.text
    assert result.text.splitlines()[-1].startswith("fixed: 4 losses over 4 steps match original/cpu")


@pytest.mark.sample(1)
@pytest.mark.parametrize("wrong", [SEED, STEP, NAME], ids=["another seed", "no step", "no such name"])
def test_the_edit_that_spoils_the_proof_is_dropped_and_the_reason_is_told(apply, project, wrong):
    (project / "train.py").write_text(TRAIN)

    code, out, _ = apply("train.py", "--verify", edits=[X, wrong, Y])

    assert (project / "train.py").read_text() == replaced(TRAIN, X, Y)
    assert code == 1  # a finding remains
    reason = next(line for line in out.splitlines() if "not fixed: " in line)
    assert (
        "the edit was dropped, because the verdict with it is " + ("broken" if wrong is NAME else "loss-differs")
        in reason
    )
    assert "2 fixed, 1 not fixed" in out
    assert out.splitlines()[-1].startswith("fixed: ")


def test_of_two_edits_in_one_line_only_the_wrong_one_is_dropped(apply, project):
    (project / "train.py").write_text(TRAIN)
    wrong = ("cross_entropy(", "cross_entropi(")

    code, out, _ = apply("train.py", "--verify", edits=[X, wrong, Y])

    assert (project / "train.py").read_text() == replaced(TRAIN, X, Y)
    assert (code, "2 fixed, 1 not fixed" in out) == (1, True)


@pytest.mark.thorough
def test_two_edits_are_dropped_where_one_is_not_enough(apply, project):
    (project / "train.py").write_text(TRAIN)

    code, out, _ = apply("train.py", "--verify", edits=[SEED, X, NAME, Y])

    assert (project / "train.py").read_text() == replaced(TRAIN, X, Y)
    assert (code, out.count("the edit was dropped")) == (1, 2)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("edits", "status"),
    [([X], "not-fixed"), ([X, SEED], "not-fixed"), ([(X[0], "model(x.to(device)).detach()"), Y], "broken")],
    ids=["half a repair", "half a repair and a seed", "no part is right"],
)
def test_nothing_is_written_where_nothing_is_proved(apply, project, edits, status):
    (project / "train.py").write_text(TRAIN)

    code, out, _ = apply("train.py", "--verify", edits=edits)

    assert (project / "train.py").read_text() == TRAIN
    assert code == 1
    assert "nothing was written, because the verdict is" in out
    assert " changed" not in out and "fixed:" not in out.splitlines()[0]
    assert out.splitlines()[-1].startswith(f"{status}: ")


def test_an_edit_of_a_sound_script_is_not_written(apply, project):
    sound = replaced(TRAIN, X, Y)
    (project / "train.py").write_text(sound)

    code, out, _ = apply("train.py", "--verify", edits=[HARMLESS])

    assert ((project / "train.py").read_text(), code) == (sound, 1)
    assert "nothing was written, because the verdict is no-error" in out


def test_a_script_that_does_not_end_leaves_everything_as_it_is(apply, project):
    source = "import time\ntime.sleep(600)\n" + TRAIN
    (project / "train.py").write_text(source)

    code, out, _ = apply("train.py", "--verify", "--timeout", "1", edits=[X, Y])

    assert ((project / "train.py").read_text(), code) == (source, 1)
    assert "inconclusive" in out.splitlines()[-1]


def test_files_that_the_script_does_not_import_are_left_alone(apply, project):
    (project / "train.py").write_text(ONE)
    (project / "other.py").write_text(ONE)

    code, out, _ = apply("train.py", ".", "--verify")

    assert (project / "train.py").read_text() != ONE
    assert (project / "other.py").read_text() == ONE
    assert code == 1
    assert "not verified: train.py does not import other.py" in out


def test_modules_that_the_script_imports_are_repaired(apply, project):
    (project / "train.py").write_text("import loop\n")
    (project / "loop.py").write_text(ONE)

    code, _, _ = apply("train.py", "loop.py", "--verify", "-q")

    assert code == 0
    assert "y.to(device)" in (project / "loop.py").read_text()


def test_the_arguments_of_the_script_follow_after_two_dashes(apply, project):
    source = "import sys\nassert sys.argv[1:] == ['--epochs', '2', '--', '--verify']\n" + ONE
    (project / "train.py").write_text(source)

    code, _, err = apply("train.py", "--verify", "--", "--epochs", "2", "--", "--verify")

    assert code == 0, err


def test_without_verify_two_dashes_are_what_they_were(apply, project):
    (project / "-odd.py").write_text("x = 1\n")

    assert apply("--", "-odd.py")[0] == 0


def test_the_diff_holds_what_is_proved_and_nothing_is_written(apply, project):
    (project / "train.py").write_text(TRAIN)

    code, out, err = apply("train.py", "--verify", "--diff", edits=[X, Y, SEED])

    assert code == 1
    assert out.startswith("diff --git ") and "would be fixed" not in out
    assert "2 would be fixed" in err and err.splitlines()[-1].startswith("fixed: ")
    assert "y.to(device)" in out and "manual_seed(4)" not in out
    assert (project / "train.py").read_text() == TRAIN


def test_a_clean_script_is_not_run(apply, project):
    (project / "train.py").write_text("raise SystemExit(open('ran', 'w').write('x'))\n")

    assert apply("train.py", "--verify")[0] == 0


USAGE = {
    "no script": ([".", "--verify"], "--verify requires a script among the paths"),
    "standard input": (["-", "--verify"], "--verify cannot run standard input"),
    "options for nothing": (["train.py", "--timeout", "3"], "--timeout requires --verify"),
    "no torch": (["train.py", "--verify", "--python", "./bare"], "has no torch: select the script's interpreter"),
}


@pytest.mark.parametrize("case", USAGE)
def test_wrong_usage_writes_nothing(apply, project, case):
    arguments, message = USAGE[case]
    (project / "train.py").write_text(ONE)
    (project / "bare").write_text(f'#!/bin/sh\nexec {sys.executable} -S -I "$@"\n')
    (project / "bare").chmod(0o755)

    code, _, err = apply(*arguments)

    first, *rest = err.splitlines()
    assert (code, first.startswith("devfix: ") and message in first) == (2, True), err
    assert rest in ([], ["Try 'devfix apply --help'."])
    assert (project / "train.py").read_text() == ONE
