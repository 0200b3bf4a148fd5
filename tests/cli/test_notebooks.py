"""Notebooks: every verb, every format, folders, standard input, and what git is given."""

import json
import os
import pty
import re
import subprocess
import sys

import pytest
from made_notebooks import HEAD_REPLACED, document, dumped, notebook

pytest.importorskip("nbformat")
RAW = notebook(*HEAD_REPLACED)
REPAIRED = RAW.replace(b'nn.Linear(8, 2)"', b'nn.Linear(8, 2)\\n",\n    "model.to(device)"')


@pytest.fixture
def train(project, monkeypatch):
    monkeypatch.setenv("DEVFIX_CACHE_DIR", str(project / ".cache"))
    path = project / "train.ipynb"
    path.write_bytes(RAW)
    return path


def test_check_names_the_cell_in_every_format(inside, train):
    shown = {
        name: inside("check", "train.ipynb", "--output-format", name)
        for name in ("concise", "json", "jsonl", "sarif", "github", "gitlab", "rdjson", "junit")
    }
    line = RAW.decode().split("\n").index('    "model[1] = nn.Linear(8, 2)"') + 1

    assert {done.code for done in shown.values()} == {1}
    assert shown["concise"].stdout.startswith(b"train.ipynb:cell 3:1:1: DEV201 [*] `model[1]` is attached")
    (finding,) = json.loads(shown["json"].stdout)["findings"]
    assert (finding["cell"], finding["span"]["line"]) == (3, 1)
    assert [(event["cell"], event["line"]) for event in finding["events"]] == [(2, 3), (3, 1), (4, 5)]
    (result,) = json.loads(shown["sarif"].stdout)["runs"][0]["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert (region["startLine"], region["snippet"]["text"]) == (line, "model[1] = nn.Linear(8, 2)")
    (replacement,) = result["fixes"][0]["artifactChanges"][0]["replacements"]
    assert replacement["insertedContent"]["text"] == '\\n",\n    "model.to(device)'
    assert f"file=train.ipynb,line={line},".encode() in shown["github"].stdout
    assert b"::cell 3%2C line 1" not in shown["github"].stdout and b"::cell 3, line 1: " in shown["github"].stdout
    assert json.loads(shown["gitlab"].stdout)[0]["location"]["lines"]["begin"] == line
    (diagnostic,) = json.loads(shown["rdjson"].stdout)["diagnostics"]
    assert diagnostic["suggestions"][0]["text"] == '    "model[1] = nn.Linear(8, 2)\\n",\n    "model.to(device)"'
    assert b'name="DEV201 replaced-submodule at cell 3:1:1"' in shown["junit"].stdout


def test_the_page_shows_the_cell(inside, train):
    pytest.importorskip("jinja2")

    page = inside("check", "train.ipynb", "--output-format", "html").stdout.decode()

    assert "train.ipynb:cell 3:1:1" in page and "cell 4:5" in page


def test_the_text_has_cells_in_its_story(inside, train):
    done = inside("check", "train.ipynb")

    assert "train.ipynb:cell 3:1:1 error DEV201" in done.text
    assert "cell 2:3 | model.to(device);" in done.text


def test_apply_diff_and_git_apply_make_the_same_bytes(inside, train):
    patch = inside("apply", "train.ipynb", "--diff")
    assert train.read_bytes() == RAW and patch.code == 1
    subprocess.run(["git", "apply", "-"], input=patch.stdout, check=True)
    assert train.read_bytes() == REPAIRED

    train.write_bytes(RAW)
    done = inside("apply", ".")

    assert (done.code, train.read_bytes()) == (0, REPAIRED)


def test_a_terminal_is_shown_cells(environment, train):
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "devfix", "apply", "--diff", "train.ipynb"]
    subprocess.run(command, env=environment | {"NO_COLOR": "1"}, stdout=theirs, stderr=subprocess.DEVNULL, check=False)
    os.close(theirs)
    shown = os.read(ours, 10_000).decode().replace("\r\n", "\n")
    os.close(ours)

    assert shown.splitlines() == [
        *("--- a/train.ipynb:cell 3", "+++ b/train.ipynb:cell 3", "@@ -1 +1,2 @@"),
        *(" model[1] = nn.Linear(8, 2)", "+model.to(device)"),
    ]


def test_standard_input_is_a_notebook_by_its_name(inside, train):
    done = inside("apply", "-", "--stdin-filename", "pipe.ipynb", stdin=RAW)

    assert (done.code, done.stdout) == (0, REPAIRED)
    assert "pipe.ipynb:cell 3:1:1" in done.stderr


def test_a_folder_with_everything_in_it(inside, train, project):
    (project / "r.ipynb").write_bytes(notebook("library(torch)", metadata={"kernelspec": {"name": "ir"}}))
    (project / "bad.ipynb").write_bytes(b'{"cells": [torch')
    (project / "plain.ipynb").write_bytes(notebook("1 + 1"))
    (project / "train.py").write_text("import torch\n")
    (project / ".ipynb_checkpoints").mkdir()
    (project / ".ipynb_checkpoints/train-checkpoint.ipynb").write_bytes(RAW)

    done = inside("check", ".", "--output-format", "concise")

    assert done.stdout.decode().splitlines() == [
        "train.ipynb:cell 3:1:1: DEV201 [*] `model[1]` is attached after the model was moved and stays on the CPU",
        "bad.ipynb:1: is no valid JSON: Expecting value; open and save it in Jupyter, or exclude it",
        "r.ipynb: a notebook of R, left alone",
    ]


def test_what_was_changed_is_known_by_cell(inside, train):
    def git(*arguments):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments], check=True)

    git("add", "train.ipynb")
    git("commit", "-qm", "a")
    assert inside("check", ".", "--since", "HEAD").code == 0
    train.write_bytes(RAW.replace(b"!pip install -q torch", b"!pip install torch"))
    assert inside("check", ".", "--since", "HEAD").code == 0
    train.write_bytes(RAW.replace(b"model[1] = nn.Linear(8, 2)", b"model[1] = nn.Linear(8, 2)  # new"))
    assert inside("check", ".", "--since", "HEAD").code == 1


def test_verify_and_trace_run_the_cells(inside, train):
    pytest.importorskip("torch")

    proof = inside("verify", "train.ipynb", "--output-format", "json")
    failure = json.loads(proof.stdout)["runs"]["original/device"]["failure"]
    traced = inside("trace", "train.ipynb")
    log = failure["traceback"] + "\n"

    assert (proof.code, json.loads(proof.stdout)["verdict"]) == (0, "fixed")
    assert (failure["path"], failure["cell"], failure["line"]) == ("train.ipynb", 4, 5)
    assert 'File "train.ipynb", cell 4, line 5, in <module>\n    loss = nn.functional' in log
    assert traced.code == 1
    # Python 3.10 knows lines only, and tells whole ones
    assert re.search(r"attached train\.ipynb:cell 3:1  model\[1\].*  to Sequential\n", traced.stdout.decode())
    assert re.search(r"after `model\.to\(device\);?` at train\.ipynb:cell 2:3", traced.stdout.decode())
    assert "+++ b/train.ipynb:cell 3\n" in traced.stdout.decode()


def test_apply_writes_what_is_proved(inside, train):
    pytest.importorskip("torch")

    done = inside("apply", "--verify", "train.ipynb")

    assert (done.code, train.read_bytes()) == (0, REPAIRED)
    assert "fixed: 3 losses over 3 steps match original/cpu bit for bit" in done.text


def test_a_bug_that_only_a_run_explains_is_repaired_in_its_cell(inside, train):
    pytest.importorskip("torch")
    cells = (
        "import torch\ndevice = 'cuda' if torch.cuda.is_available() else 'cpu'",
        "made = {}\nexec('made[\"x\"] = torch.ones(8, 4)')\nx = made['x']",
        "%%time\nw = torch.zeros(4, 1, device=device, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)",
        "for _ in range(3):\n    loss = (x @ w - 1).square().mean()\n    opt.zero_grad(); loss.backward(); opt.step()",
    )
    train.write_bytes(notebook(*cells))

    done = inside("apply", "--trace", "train.ipynb")

    new = ["".join(cell["source"]) for cell in json.loads(train.read_bytes())["cells"]]
    assert done.code == 0, done.stderr
    assert [number for number, (a, b) in enumerate(zip(cells, new, strict=True), 1) if a != b] in ([2], [4])
    assert "train.ipynb:cell" in done.text


def test_a_traceback_of_jupyter_is_looked_up(inside, train):
    log = b"""\
Cell In[13], line 5
      4     x, y = torch.randn(16, 4, device=device), torch.randint(0, 2, (16,), device=device)
----> 5     loss = nn.functional.cross_entropy(model(x), y)
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!
"""
    done = inside("trace", "train.ipynb", "--log", "-", stdin=log)

    assert "at train.ipynb:cell 4:5" in done.stdout.decode()
    assert "1. train.ipynb:cell 3:1 error DEV201" in done.stdout.decode()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{torch", "train.ipynb is no valid JSON: Expecting property name"),
        (b"{}", "train.ipynb does not use torch or is not a Python notebook: there is nothing to run"),
        (dumped(document("torch", metadata={"language_info": {"name": "julia"}})), "is not a Python notebook"),
    ],
)
def test_what_cannot_be_run_is_one_line(inside, train, content, told):
    train.write_bytes(content)

    done = inside("trace", "train.ipynb")

    assert (done.code, len(done.stderr.splitlines())) == (2, 1)
    assert told in done.stderr
