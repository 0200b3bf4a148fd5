"""``devfix trace`` from outside."""

from __future__ import annotations

import importlib.resources
import json
import textwrap

import jsonschema
import pytest
from click.testing import CliRunner

from devfix.cli import cli

BROKEN = """\
import torch
from torch import nn
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
model.to(device)
model[1] = nn.Linear(3, 2)
print(model(torch.ones(2, 3, device=device)).sum().item())
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text):
        (tmp_path / "train.py").write_text(text)
        return "train.py"

    return write


def traced(*arguments):
    return CliRunner().invoke(cli, ["trace", *arguments])


def test_the_story_and_the_edit_of_a_device_error(script):
    done = traced(script(BROKEN))
    assert done.exit_code == 1, done.output
    assert "✗ model[1].weight  float32 (3, 2) on the CPU" in done.stdout
    assert "after `model.to(device)` at train.py:5" in done.stdout
    assert "DEV201 replaced-submodule" in done.stdout
    assert "+model.to(device)" in done.stdout
    assert "devfix apply train.py" in done.stdout


def test_the_project_is_left_as_it_is_and_files_are_named_from_here(script, tmp_path, monkeypatch):
    script(BROKEN)
    (tmp_path / "inner").mkdir()
    (tmp_path / "train.py").rename(tmp_path / "inner" / "train.py")
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    done = traced("train.py", "--output-format", "json")
    document = json.loads(done.stdout)
    assert document["exit_code"] == 1
    assert document["error"]["frames"][0]["path"] == "train.py"
    assert document["edit"]["command"] == "devfix apply train.py"
    assert (tmp_path / "inner" / "train.py").read_text() == BROKEN


def test_no_device_error(script):
    done = traced(script("import sys\nprint(sys.argv)\n"), "--", "--epochs", "1")
    assert done.exit_code == 0, done.output
    assert "No device error: the script completed." in done.stdout
    assert "note: no operation ran on the accelerator" in done.stdout


UNFINISHED = {
    "another error": ("import torch\ntorch.ones(2) + torch.ones(3)\n", "RuntimeError: The size of tensor a"),
    "a syntax error": ("import torch\ndef (:\n", "SyntaxError: "),
    "a missing module": ("import a_package_that_is_not_there\n", "ModuleNotFoundError: No module named"),
    "a signal": ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", "killed by SIGSEGV (python -X"),
    "an exit text": ("import sys\nprint(1)\nsys.exit('no data')\n", "ended with exit code 1 at train.py:3: no data."),
    "an exit code": ("import sys\nprint(1)\nsys.exit(3)\n", "ended with exit code 3 at train.py:3."),
    "an interrupt": ("raise KeyboardInterrupt\n", "KeyboardInterrupt at train.py:1."),
    "time": ("while True: pass\n", "stopped by the time limit (raise the limit with --timeout)."),
    "memory": (
        "import torch\nx = torch.ones(4_000_000_000)\n",
        (
            "RuntimeError: can't allocate memory: you tried to allocate 16000000000 bytes at train.py:2 (raise the "
            "limit with --memory)."
        ),
    ),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("case", UNFINISHED)
def test_a_run_that_did_not_finish_says_so_with_code_2(script, case):
    text, ending = UNFINISHED[case]
    done = traced(script(text), "--timeout", "5", "--memory", "4096")
    assert done.exit_code == 2, done.output
    assert f"The script did not finish: {ending}" in done.stdout
    assert "o device error" not in done.stdout


LOST = """\
import threading
import torch
import torch.multiprocessing as mp
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
scale = torch.ones(3)
def work(number=0):
    return torch.ones(2, 3, device=device) * scale
if __name__ == "__main__":
"""
CONTINUED = {
    "caught": "    try:\n        work()\n    except RuntimeError:\n        pass\n",
    "in a thread": "    thread = threading.Thread(target=work)\n    thread.start()\n    thread.join()\n",
    "in a process": "    process = mp.Process(target=work)\n    process.start()\n    process.join()\n",
    "in a pool": "    with mp.Pool(1) as pool:\n        pool.apply_async(work, (1,)).wait()\n",
    "of a pool": "    with mp.Pool(1) as pool:\n        pool.map(work, (1,))\n",
}


@pytest.mark.parametrize("case", CONTINUED)
def test_a_device_error_that_did_not_end_the_script_is_traced(script, case):
    done = traced(script(LOST + CONTINUED[case]))
    assert done.exit_code == 1, done.output
    assert "✗ scale  float32 (3,) on the CPU" in done.stdout
    assert "created  train.py:5" in done.stdout
    assert ("note: " in done.stdout) == (case != "of a pool")


def test_an_attempt_to_find_an_accelerator_is_no_device_error(script):
    text = "import torch\ntry:\n    torch.zeros(1, device='cuda:7')\nexcept RuntimeError:\n    print('none')\n"
    done = traced(script(text + "torch.zeros(1, device='cuda')\n"), "--device", "sim")
    assert done.exit_code == 0, done.output
    assert "No device error: the script completed." in done.stdout


def test_a_child_process_that_failed_is_named(script):
    text = "import multiprocessing, os\nchild = multiprocessing.Process(target=os._exit, args=(5,))\n"
    done = traced(script(text + "child.start()\nchild.join()\n"))
    assert done.exit_code == 2, done.output
    assert "a child process failed: Process-1 (ended with exit code 5)." in done.stdout


@pytest.mark.positions
def test_a_device_error_without_values_has_a_cause(script):
    text = 'import torch\ng = torch.Generator()\ntorch.randn(3, generator=g, device="cuda")\n'
    done = traced(script(text))
    assert done.exit_code == 1, done.output
    assert "`g`, created at train.py:2 by `torch.Generator()`, is on the CPU" in done.stdout
    assert "DEV603 generator-device" in done.stdout
    assert "train.py:3" in done.stdout


@pytest.mark.parametrize("arguments", [["missing.py"], ["train.py", "--epochs", "1"], ["train.py", "--device", "tpu"]])
def test_wrong_usage_is_one_line_and_code_2(script, arguments):
    script("pass\n")
    done = traced(*arguments)
    assert done.exit_code == 2
    assert "Traceback" not in done.output


LOG = """\
Traceback (most recent call last):
  File "/home/ann/nets/train.py", line 9, in <module>
    print(model(torch.ones(2, 3, device=device)).sum().item())
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!
"""


def test_a_log_is_looked_up_and_nothing_runs(script, tmp_path):
    (tmp_path / "log.txt").write_text(LOG)
    done = traced(script(BROKEN + "\nopen('ran', 'w')\n"), "--log", "log.txt")
    assert done.exit_code == 1, done.output
    assert "at train.py:7  print(model(" in done.stdout
    assert "(line 9 in the log)" in done.stdout
    assert "error DEV201 replaced-submodule" in done.stdout
    assert "+model.to(device)" in done.stdout
    assert not (tmp_path / "ran").exists()


def test_a_log_from_standard_input_as_json(script):
    script(BROKEN)
    done = CliRunner().invoke(cli, ["trace", "train.py", "--log", "-", "--output-format", "json"], input=LOG)
    document = json.loads(done.stdout)
    schema = json.loads(importlib.resources.files("devfix").joinpath("schema", "log-1.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema)
    assert document["error"]["frames"][0]["line_in_log"] == 9
    assert [cause["rule"] for cause in document["causes"]] == ["DEV201"]
    assert "+model.to(device)" in document["causes"][0]["diff"]


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        ("all is well\n", 0, "no device error in log.txt"),
        (LOG.replace("train.py", "other.py"), 2, "the log has no line of train.py or its project"),
    ],
    ids=["no-error", "no-frame"],
)
def test_a_log_that_says_nothing_of_this_program(script, tmp_path, text, code, told):
    (tmp_path / "log.txt").write_text(text)
    done = traced(script(BROKEN), "--log", "log.txt")
    assert done.exit_code == code, done.output
    assert told in done.output
    assert len(done.output.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments", [["--log", "missing.txt"], ["--log", "-", "--device", "sim"], ["--log", "-", "--", "--epochs", "1"]]
)
def test_wrong_usage_of_logs(script, arguments):
    done = traced(script(BROKEN), *arguments)
    assert done.exit_code == 2
    assert "Traceback" not in done.output


def test_an_edit_that_reading_does_not_know_has_run(script):
    text = """\
    import torch
    from torch import nn
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    tables = {}
    exec("tables['shift'] = torch.zeros(3)")
    model = nn.Linear(3, 3).to(device)
    x = torch.ones(2, 3, device=device)
    print((model(x) + tables["shift"]).sum().item())
    """
    done = traced(script(textwrap.dedent(text)), "--output-format", "json")
    document = json.loads(done.stdout)
    assert document["values"][0]["name"] == 'tables["shift"]'
    assert not document["edit"]["certain"]
    assert "train.py" in document["edit"]["changed"]
    assert document["edit"]["command"] == "devfix apply --trace train.py"


def test_what_reading_calls_the_bug_is_told_beside_what_the_run_shows(script):
    text = """\
    import torch
    from torch import nn
    model = nn.Linear(3, 2)
    model.cuda
    for x in torch.ones(4, 3, 3):
        print(model(x.cuda()).sum().item())
    """
    done = traced(script(textwrap.dedent(text)))
    assert "rule  DEV204 module-not-moved; static analysis: DEV104 call-missing" in done.stdout
    assert "-model.cuda\n+model.cuda()" in done.stdout
