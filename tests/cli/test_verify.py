"""``devfix verify``: what it prints, what it refuses, and that it leaves everything as it was."""

import importlib.resources
import json
import os
import pathlib
import sys

import jsonschema
import pytest

pytestmark = pytest.mark.sample(18)  # each takes seconds

pytest.importorskip("torch")


BROKEN = """\
import torch
from torch import nn

torch.manual_seed(3)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 3)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = torch.utils.data.TensorDataset(torch.randn(32, 4), torch.randint(3, (32,)))
for x, y in torch.utils.data.DataLoader(data, batch_size=8):
    x, y = x.to(device), y
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
FIXED = BROKEN.replace("x.to(device), y\n", "x.to(device), y.to(device)\n")

WRONG = {
    "hard-coded cpu": ('torch.device("cuda" if torch.cuda.is_available() else "cpu")', '"cpu"', "moved-to-cpu"),
    "deleted training step": ("    optimizer.step()\n", "", "loss-differs"),
    "changed seed": ("manual_seed(3)", "manual_seed(4)", "loss-differs"),
    "optimizer lost a group": ("SGD(model.parameters()", "SGD(model[0].parameters()", "loss-differs"),
    "detached loss": ("loss.backward()", "loss.detach().requires_grad_().backward()", "loss-differs"),
    "move after the use": (", y.to(device)\n", ", y\n", "not-fixed"),
    "no such name": ("y.to(device)\n", "y.to(dev)\n", "broken"),
}


@pytest.fixture
def verify(monkeypatch, capfd):
    """Run the command in this process: one process with torch serves all tests."""
    from devfix.cli import main

    def call(*arguments):
        monkeypatch.setenv("COLUMNS", "160")
        with pytest.raises(SystemExit) as exited:
            main(["verify", *map(str, arguments)])
        return exited.value.code, *capfd.readouterr()

    return call


def verdict(output):
    document = json.loads(output)
    schema = json.loads(importlib.resources.files("devfix").joinpath("schema", "verdict-2.json").read_text("utf-8"))
    jsonschema.validate(document, schema)
    return document


def contents(folder):
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts}


def test_what_apply_would_do_is_proved_and_nothing_is_written(inside, project):
    (project / "train.py").write_text(BROKEN)
    before = contents(project)

    result = inside("verify", "train.py", cwd=project)

    text = result.stdout.decode()
    assert (result.code, result.stderr) == (0, "")
    assert text.splitlines()[-1].startswith(
        "fixed: 4 losses over 4 steps match original/cpu bit for bit; original error: "
    )
    assert [line.split()[0] for line in text.splitlines() if "/" in line[:12]] == [
        "original/cpu",
        "original/device",
        "patched/cpu",
        "patched/device",
    ]
    assert "RuntimeError" in text and "train.py:11" in text
    assert contents(project) == before


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_patch_is_refused(verify, project, name):
    old, new, word = WRONG[name]
    assert FIXED.count(old) == 1
    (project / "train.py").write_text(BROKEN)
    (project / "wrong.py").write_text(FIXED.replace(old, new))

    code, out, _ = verify("train.py", "--patched", "wrong.py", "--output-format", "json")

    assert (verdict(out)["verdict"], code) == (word, 1)


def test_a_sound_script_is_no_error(verify, project):
    (project / "train.py").write_text(FIXED)

    code, out, _ = verify("train.py")

    assert code == 0
    assert "note: the patch changes nothing" in out
    assert out.splitlines()[-1].startswith("no-error: ")


def test_the_patch_is_made_in_the_files_that_the_script_imports(verify, project):
    package = project / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "loop.py").write_text("def run():\n" + "".join(f"    {line}\n" for line in BROKEN.splitlines()))
    (project / "train.py").write_text("from pkg import loop\n\nif __name__ == '__main__':\n    loop.run()\n")
    (project / "other.py").write_text(BROKEN)

    code, out, _ = verify("train.py", "--output-format", "json")

    assert (code, verdict(out)["changed"]) == (0, ["pkg/loop.py"])


@pytest.mark.parametrize("layout", ["project", "folder of the script"])
def test_a_folder_lies_over_the_project(verify, project, tmp_path_factory, layout):
    (project / "src").mkdir()
    (project / "src" / "train.py").write_text("from steps import *\n")
    (project / "src" / "steps.py").write_text(BROKEN)
    patched = tmp_path_factory.mktemp("patched")
    inner = patched / "src" if layout == "project" else patched
    inner.mkdir(exist_ok=True)
    (inner / "train.py").write_text("from steps import *\n")
    (inner / "steps.py").write_text(FIXED)

    code, out, _ = verify("src/train.py", "--patched", patched, "--output-format", "json")

    assert (code, verdict(out)["changed"]) == (0, ["src/steps.py"])


def test_arguments_follow_after_two_dashes_and_the_run_starts_here(verify, project):
    (project / "sub").mkdir()
    (project / "data.txt").write_text("3")
    (project / "sub" / "train.py").write_text(
        "import sys\nassert sys.argv == ['sub/train.py', '--epochs', '2']\nint(open('data.txt').read())\n" + FIXED
    )

    code, out, _ = verify("sub/train.py", "--", "--epochs", "2")

    assert code == 0, out


def test_a_checkpoint_is_written_by_a_run_that_comes_first(verify, project):
    body = BROKEN.replace("x.to(device), y\n", "x.to(device), y.to(device)\n")
    resume = "import sys\nif sys.argv[1:]:\n    model.load_state_dict(torch.load('last.pt'))\nfor x, y in"
    (project / "train.py").write_text(
        body.replace("for x, y in", resume) + "torch.save(model.state_dict(), 'last.pt')\n"
    )

    code, out, _ = verify("train.py", "--device", "cpu", "--setup", "", "--output-format", "json", "--", "resume")

    document = verdict(out)
    assert (code, document["verdict"], document["device"]) == (0, "fixed", "cpu"), document["reason"]
    assert document["runs"]["original/device"]["failure"]["family"] == "load"


def test_the_number_of_steps_is_limited(verify, project):
    (project / "train.py").write_text(BROKEN)

    code, out, _ = verify("train.py", "--max-steps", "3", "--output-format", "json")

    document = verdict(out)
    patched = document["runs"]["patched/device"]
    assert code == 0, document["reason"]
    assert (patched["steps"], patched["outcome"]) == (3, "reached the step limit")


def test_a_hang_is_inconclusive(verify, project):
    (project / "train.py").write_text("import time\ntime.sleep(600)\n")

    code, out, _ = verify("train.py", "--timeout", "1")

    assert code == 1
    assert "stopped by the time limit" in out.splitlines()[-1] and out.splitlines()[-1].startswith("inconclusive: ")


def test_scratch_copies_are_kept_on_demand(verify, project, tmp_path_factory, monkeypatch):
    import tempfile

    scratch = tmp_path_factory.mktemp("scratch")
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    (project / "train.py").write_text(BROKEN)

    verify("train.py")
    assert list(scratch.iterdir()) == []

    _, out, _ = verify("train.py", "--keep")
    kept = {line.split()[1]: pathlib.Path(line.split()[-1]) for line in out.splitlines() if " is stored in " in line}
    assert (kept["original/cpu"] / "train.py").read_text() == BROKEN
    assert (kept["patched/device"] / "train.py").read_text() != BROKEN


def test_a_link_does_not_lead_a_run_back_to_the_users_files(verify, project):
    (project / "notes.txt").write_text("mine")
    (project / "link.txt").symlink_to(project / "notes.txt")
    (project / "train.py").write_text(FIXED + "open('link.txt', 'w').write('gone')\n")

    assert verify("train.py")[0] == 0
    assert (project / "notes.txt").read_text() == "mine"


def test_a_change_behind_a_link_is_refused(verify, project, tmp_path_factory):
    outer, patched = tmp_path_factory.mktemp("outer"), tmp_path_factory.mktemp("patched")
    (outer / "steps.py").write_text(BROKEN)
    (project / "linked").symlink_to(outer)
    (project / "train.py").write_text("from linked.steps import *\n")
    (patched / "linked").mkdir()
    (patched / "linked" / "steps.py").write_text(FIXED)
    (patched / "train.py").write_text("from linked.steps import *\n")

    code, _, err = verify("train.py", "--patched", patched)

    assert (code, "behind a symbolic link to a folder outside the project" in err) == (2, True)
    assert (outer / "steps.py").read_text() == BROKEN


def python_without_torch(folder):
    python = folder / "bare-python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S -I "$@"\n')
    python.chmod(0o755)
    return os.fspath(python)


USAGE = {
    "missing script": (["nothing.py"], "nothing.py: no such file or folder; check the spelling"),
    "no Python": (["data.txt"], "data.txt is not a Python file"),
    "a folder": (["."], ". is not a Python file"),
    "missing patch": (
        ["train.py", "--patched", "nothing.py"],
        "nothing.py: no such file or folder; check the spelling",
    ),
    "empty patch": (["train.py", "--patched", "empty"], "empty does not contain train.py"),
    "outside the project": (["train.py", "--project", "empty"], "train.py is not in empty"),
    "missing project": (["train.py", "--project", "nothing"], "nothing: no such folder; check the spelling"),
    "missing module": (["-m", "pkg.nothing"], "no module named pkg.nothing in "),
    "missing cwd": (["train.py", "--cwd", "nothing"], "nothing: no such folder; check the spelling"),
    "missing python": (["train.py", "--python", "./nothing"], "cannot be started: No such file or directory"),
    "python without torch": (
        ["train.py", "--python", "./bare-python"],
        "has no torch: select the script's interpreter",
    ),
    "a program that is not Python": (["train.py", "--python", "/bin/ls"], "/bin/ls is not a Python interpreter"),
    "a device that nothing simulates": (["train.py", "--device", "sim:tpu"], "'sim:tpu' is not one of"),
    "no steps": (["train.py", "--max-steps", "0"], "--max-steps"),
    "options of the script": (["train.py", "--epochs", "3"], "put options of the script after '--'"),
    "bad quotes": (["train.py", "--setup", "'"], "No closing quotation"),
}


@pytest.mark.parametrize("case", USAGE)
def test_wrong_usage_is_one_clear_line(verify, project, case):
    arguments, message = USAGE[case]
    (project / "train.py").write_text(FIXED)
    (project / "data.txt").write_text("")
    (project / "empty").mkdir()
    python_without_torch(project)

    code, out, err = verify(*arguments)

    assert (code, out) == (2, "")
    first, *rest = err.splitlines()
    assert first.startswith("devfix: ") and message in first
    assert rest in ([], ["Try 'devfix verify --help'."])


def test_the_command_imports_no_torch(environment, project):
    import subprocess

    (project / "train.py").write_text(BROKEN)
    program = (
        "import sys\nfrom devfix.cli import main\n"
        "try:\n    main(['verify', 'train.py'])\n"
        "finally:\n    print('torch' in sys.modules, file=sys.stderr)\n"
    )

    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=False, text=True)

    assert (done.returncode, done.stderr) == (0, "False\n")


def test_html_is_one_file_on_standard_output(verify, project):
    pytest.importorskip("jinja2")
    (project / "train.py").write_text(BROKEN)

    code, out, _ = verify("train.py", "--output-format", "html")

    assert code == 0
    assert out.startswith("<!doctype html>") and out.rstrip().endswith("</html>")
    assert "y.to(device)" in out and "<polyline" in out


def test_html_beside_another_format(verify, project, tmp_path):
    (project / "train.py").write_text(BROKEN)
    page = tmp_path / "proof.html"

    code, out, _ = verify("train.py", "--output-format", "json", "--html", page)

    assert (code, verdict(out)["verdict"]) == (0, "fixed")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_html_without_jinja2_is_said_before_anything_runs(verify, project, monkeypatch):
    (project / "train.py").write_text(BROKEN)
    monkeypatch.setitem(sys.modules, "jinja2", None)

    code, _, err = verify("train.py", "--output-format", "html")

    assert (code, "requires jinja2: pip install 'devfix[report]'" in err) == (2, True)
