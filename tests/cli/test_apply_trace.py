"""``devfix apply --trace`` as its user meets it: what is written, what is told, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from devfix.verify.sandbox.scratch import RUN_PREFIX

pytestmark = pytest.mark.sample(9)  # each takes seconds

pytest.importorskip("torch")

#: Reading does not see what runpy loads.
TRAIN = """\
import runpy

import torch
from torch import nn

torch.manual_seed(3)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
shift = runpy.run_path("plugin.py")["made"]()
model = nn.Linear(4, 8).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    loss = (model(torch.randn(8, 4).to(device)) + shift).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
PLUGIN = """\
import torch


def made():
    return torch.linspace(0, 1, 8)
"""
REPAIRED = TRAIN.replace('["made"]()', '["made"]().to(device)')


@pytest.fixture
def tree(project):
    """A broken program in a repository."""
    (project / "train.py").write_text(TRAIN)
    (project / "plugin.py").write_text(PLUGIN)
    return project


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


@pytest.mark.positions
@pytest.mark.slow
def test_a_program_is_repaired_and_the_proof_is_shown(inside, tree):
    result = inside("apply", "--trace", "train.py", cwd=tree)

    assert (result.code, result.stderr) == (0, "")
    assert contents(tree) == {"train.py": REPAIRED, "plugin.py": PLUGIN}
    lines = result.text.splitlines()
    assert lines[0].startswith("plugin.py:5:12 error DEV102 tensor-without-device")
    assert "to(device)` (found by running the script)" in lines[1]
    assert lines[2].startswith("1 finding, 1 fixed,")
    assert any(line.split()[:2] == ["patched/device", "completed"] for line in lines)
    assert lines[-1].startswith(
        "fixed: 4 losses over 4 steps match original/cpu bit for bit; original error: Expected all"
    )
    assert str(tree) not in result.text and f"/{RUN_PREFIX}" not in result.text


@pytest.mark.positions
@pytest.mark.slow
def test_a_diff_goes_to_standard_output_and_nothing_is_written(inside, tree):
    result = inside("apply", "--trace", "train.py", "--diff", "--output-format", "json", cwd=tree)

    assert result.code == 1
    assert contents(tree) == {"train.py": TRAIN, "plugin.py": PLUGIN}
    report = json.JSONDecoder().raw_decode(result.stderr)[0]
    (finding,) = report["findings"]
    assert (finding["code"], finding["status"]) == ("DEV102", "fixed")
    assert [event["path"] for event in finding["events"]] == ["plugin.py", "train.py"]
    subprocess.run(["git", "apply"], input=result.stdout, cwd=tree, check=True)
    assert contents(tree) == {"train.py": REPAIRED, "plugin.py": PLUGIN}


@pytest.mark.slow
def test_a_comment_answers_for_what_only_a_run_shows(inside, tree):
    (tree / "plugin.py").write_text(PLUGIN.replace("8)\n", "8)  # devfix: ignore[DEV102]\n"))
    before = contents(tree)

    result = inside("apply", "--trace", "train.py", cwd=tree)

    assert (result.code, contents(tree)) == (0, before), result.stderr
    assert "1 suppressed" in result.text
    assert "unused" not in result.stderr


#: Layers in a list: only an edit that changes the state dict repairs it.
LISTED = """\
import torch
from torch import nn

torch.manual_seed(3)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [nn.Linear(4, 4) for _ in range(2)]
        self.out = nn.Linear(4, 1)

    def forward(self, x):
        for block in self.blocks:
            x = torch.tanh(block(x))
        return self.out(x)


model = Tower().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    loss = (model(torch.randn(8, 4).to(device)) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.slow
def test_an_unsafe_edit_that_a_run_proves_is_made_where_it_is_asked_for(inside, project):
    (project / "train.py").write_text(LISTED)

    kept = inside("apply", "--trace", "train.py", cwd=project)
    assert (kept.code, (project / "train.py").read_text()) == (1, LISTED), kept.stderr
    assert "--unsafe-fixes applies it" in kept.text

    made = inside("apply", "--trace", "train.py", "--unsafe-fixes", cwd=project)
    assert made.code == 0, made.stderr
    assert "nn.ModuleList(" in (project / "train.py").read_text()


@pytest.mark.slow
def test_a_rule_that_is_ignored_for_a_file_is_left_alone_and_told(inside, tree):
    (tree / "pyproject.toml").write_text('[tool.devfix]\nper-file-ignores = {"plugin.py" = ["DEV1"]}\n')
    before = contents(tree)

    result = inside("apply", "--trace", "train.py", cwd=tree)

    assert (result.code, contents(tree)) == (0, before)
    assert "still fails with a device error that is excluded: DEV102 is not enabled for plugin.py" in result.stderr


@pytest.mark.slow
def test_a_script_that_runs_well_is_told_in_one_line(inside, tree):
    (tree / "train.py").write_text(REPAIRED)

    result = inside("apply", "--trace", "train.py", cwd=tree)

    assert (result.code, contents(tree)["train.py"]) == (0, REPAIRED)
    assert result.stderr.splitlines() == [
        "devfix: note: train.py: runs without a device error, and trains as it does on the CPU: nothing to fix"
    ]
    assert result.text == "no findings, 1 file checked\n"


@pytest.mark.slow
def test_a_script_that_trains_nothing_is_no_success(in_process, project):
    source = REPAIRED.replace('runpy.run_path("plugin.py")["made"]().to(device)', "0").replace(
        "SGD(model.parameters()", "SGD([nn.Parameter(each.detach().clone()) for each in model.parameters()]"
    )
    (project / "train.py").write_text(source)

    code, _, err = in_process("--trace", "train.py")

    assert (code, (project / "train.py").read_text()) == (1, source)
    assert "train.py: runs without a device error, and trains nothing" in err


WORTHLESS = {
    "an ordinary error": ("import torch\n{}['x']\n", "the script did not finish: KeyError: 'x' at train.py:2"),
    "a word that ends it": ("import os\nos._exit(3)\n", "the script did not finish: ended with exit code 3"),
    "no end": ("while True: pass\n", "the script did not finish: stopped by the time limit"),
    "a syntax error": ("import torch\ndef (:\n", "cannot be parsed: invalid syntax"),
    "missing arguments": (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--n', required=True)\np.parse_args()\n",
        # argparse raises an error of its own since Python 3.13
        "the script did not finish: ArgumentError: the following arguments are required: --n"
        if sys.version_info >= (3, 13)
        else "the script did not finish: ended with exit code 2",
    ),
}


@pytest.mark.parametrize("case", WORTHLESS)
def test_a_run_that_tells_nothing_is_one_line(in_process, project, case):
    source, reason = WORTHLESS[case]
    (project / "train.py").write_text(source)

    code, out, err = in_process("--trace", "train.py", "--timeout", "2")

    assert (code, (project / "train.py").read_text()) == (1, source)
    (told,) = err.splitlines()
    assert told.startswith("devfix: train.py") and reason in told
    assert len(out.splitlines()) == 1


USAGE = {
    "no Python": (["notes.txt"], "notes.txt is not a Python file"),
    "missing": (["nothing.py"], "nothing.py: no such file or folder; check the spelling"),
    "a folder": (["."], "--trace requires a script among the paths, as in devfix apply train.py . --trace"),
    "standard input": (["-"], "--trace cannot run standard input"),
    "no such folder": (["train.py", "--cwd", "nowhere"], "nowhere: no such folder; check the spelling"),
}


@pytest.mark.parametrize("case", USAGE)
def test_wrong_usage_is_one_line(in_process, tree, case):
    arguments, reason = USAGE[case]
    (tree / "notes.txt").write_text("hello\n")
    before = contents(tree)

    code, out, err = in_process("--trace", *arguments)

    assert (code, out, contents(tree)) == (2, "", before)
    first, *rest = err.splitlines()
    assert first.startswith("devfix: ") and reason in first
    assert rest in ([], ["Try 'devfix apply --help'."])


@pytest.fixture
def in_process(capfd):
    """Run the command in this process."""
    from devfix.cli import main

    def call(*arguments):
        with pytest.raises(SystemExit) as exited:
            main(["apply", *arguments])
        return exited.value.code, *capfd.readouterr()

    return call


@pytest.mark.positions
@pytest.mark.slow
def test_a_module_with_arguments_and_a_setup_is_repaired_from_another_folder(inside, tree):
    (tree / "pkg").mkdir()
    (tree / "pkg/__init__.py").write_text("")
    (tree / "pkg/train.py").write_text(
        "import sys\nassert sys.argv[1:] in (['--prepare'], ['--go'])\n"
        "if '--prepare' in sys.argv: open('prepared', 'w').close(); sys.exit()\nopen('prepared').close()\n" + TRAIN
    )
    (tree / "train.py").unlink()

    result = inside(
        *("apply", "--trace", "-m", "pkg.train", "--setup=--prepare", "--max-steps", "3", "-q", "--", "--go"), cwd=tree
    )

    assert result.code == 0, result.stderr
    assert result.text.startswith("fixed: 3 losses over 3 steps match") and len(result.text.splitlines()) == 1
    assert '["made"]().to(device)' in (tree / "pkg/train.py").read_text()
    assert not (tree / "prepared").exists()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_an_interruption_leaves_the_tree_and_no_child(environment, tree):
    (tree / "train.py").write_text("import time\nprint('here', flush=True)\ntime.sleep(600)\n" + TRAIN)
    before = contents(tree)
    command = [sys.executable, "-m", "devfix", "apply", "--trace", "train.py"]
    process = subprocess.Popen(
        command, cwd=tree, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    children = []
    deadline = time.monotonic() + 60
    while not children and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.2)
        listed = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=False).stdout
        children = listed.split()
    time.sleep(1)

    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)

    assert process.returncode == 130
    assert err.splitlines()[-1] == "devfix: interrupted; no file is partially written"
    assert contents(tree) == before
    assert children
    deadline = time.monotonic() + 30
    while alive(children) and time.monotonic() < deadline:
        time.sleep(0.2)  # one that loads torch ends when it has done so
    assert not alive(children)


def alive(processes):
    """Those that are there and no zombies, for which nobody waits in a container."""
    command = ["ps", "-o", "stat=", "-p", ",".join(processes)]
    states = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
    return [state for state in states if not state.startswith("Z")]
