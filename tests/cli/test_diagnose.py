"""``devfix diagnose`` from outside: the program, the cause and the page of a pasted traceback."""

import importlib.resources
import json
import os
import pty
import subprocess
import sys
from textwrap import dedent

import jsonschema
import pytest

MODEL = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.head = nn.Linear(8, 3)
        self.prior = torch.zeros(8)

    def forward(self, x):
        hidden = torch.relu(self.body(x))
        return self.head(hidden - self.prior)
"""
TRAIN = """\
import torch

from nets.model import Net

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = Net().to(device)
for step in range(3):
    x = torch.randn(2, 4).to(device)
    out = net(x)
    out.sum().backward()
"""
SAME = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
LOG = f"""\
step 0
Traceback (most recent call last):
  File "/home/ann/work/train.py", line 9, in <module>
    out = net(x)
  File "/home/ann/env/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1778, in _wrapped_call_impl
    return self._call_impl(*args, **kwargs)
  File "/home/ann/work/nets/model.py", line 14, in forward
    return self.head(hidden - self.prior)
RuntimeError: {SAME}
"""
COMPILED = """\
Traceback (most recent call last):
  File "/home/ann/work/train.py", line 9, in <module>
    out = net(x)
  File "/home/ann/env/lib/python3.11/site-packages/torch/_dynamo/eval_frame.py", line 940, in compile_wrapper
    return fn(*args, **kwargs)
torch._dynamo.exc.TorchRuntimeError: {message}

from user code:
   File "/home/ann/work/nets/model.py", line 14, in forward
    return self.head(hidden - self.prior)
                     ~~~~~~~^~~~~~~~~~~~

Set TORCHDYNAMO_VERBOSE=1 for the internal stack trace (please do this especially if you're reporting a bug to PyTorch).
"""
NEWEST = """Tensor device mismatch
  Explanation: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!
  Hint: Move inputs, parameters, and buffers to the same device."""
FAKE = "Unhandled FakeTensor Device Propagation for aten.sub.Tensor, found two different devices cuda:0, cpu"

LOGS = {
    "as Python prints it": LOG,
    "of torch.compile, PyTorch 2.13": COMPILED.format(message=NEWEST),
    "of torch.compile, PyTorch 2.6": COMPILED.format(
        message="Dynamo failed to run FX node with fake tensors: call_function <built-in function sub>(*(FakeTensor("
        f"..., device='cuda:0', size=(2, 8)), FakeTensor(..., size=(8,))), **{{}}): got RuntimeError('{FAKE}')"
    ),
    "of torch.compile, PyTorch 2.0": COMPILED.format(
        message="Failed running call_function <built-in function sub>(*(FakeTensor(..., device='cuda:0', size=(2, 8)), "
        f"FakeTensor(..., size=(8,))), **{{}}):\n{FAKE}\n(scroll up for backtrace)"
    ),
    "of torch.compile, with its own error first": "Traceback (most recent call last):\n"
    '  File "/home/ann/env/lib/python3.11/site-packages/torch/_dynamo/utils.py", line 1750, in run_node\n'
    "    return node.target(*args, **kwargs)\n"
    f"RuntimeError: {FAKE}\n\nThe above exception was the direct cause of the following exception:\n\n"
    + COMPILED.format(message=f"Failed running call_function:\n{FAKE}"),
    "of Windows": LOG.replace("/home/ann/work/nets/", "C:\\Users\\Ann Lee\\work\\nets\\").replace("\n", "\r\n"),
    "of two ranks of torchrun, line by line": "".join(
        f"[rank0]: {line}\n[rank1]: {line.replace('cuda:0', 'cuda:1')}\n" for line in LOG.splitlines()
    )
    + "E1123 12:00:01.123000 4711 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1)"
    "\nTraceback (most recent call last):\n"
    '  File "/home/ann/env/bin/torchrun", line 8, in <module>\n    sys.exit(main())\n'
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n",
    "of a rank with the older mark": "".join(f"[default0]:{line}\n" for line in LOG.splitlines()),
    "of mpirun": "".join(f"[1,0]<stderr>:{line}\n" for line in LOG.splitlines()),
    "in colours whose escape character was lost": LOG.replace("Traceback", "[0;31mTraceback").replace(
        "RuntimeError", "[0;31mRuntimeError[0m"
    ),
    "in the JSON of a notebook": json.dumps([LOG.replace("Traceback", "\x1b[0;31mTraceback\x1b[0m")]),
    "in a line of a JSON log": json.dumps({"level": "error", "exception": LOG}) + "\n",
    "of loguru": LOG.replace('  File "/home', '> File "/home').replace(
        "    out = net(x)\n",
        "    out = net(x)\n          │   └ tensor([[1., 2.]], device='cuda:0')\n          └ Net()\n",
    ),
    "of rich": dedent("""\
        ╭─────────────────────── Traceback (most recent call last) ────────────────────────╮
        │ C:\\Users\\ann\\work\\train.py:9 in <module>                                        │
        │                                                                                  │
        │    8     x = torch.randn(2, 4).to(device)                                        │
        │ ❱  9     out = net(x)                                                            │
        │                                                                                  │
        │ C:\\Users\\ann\\work\\nets\\model.py:14 in forward                                  │
        │                                                                                  │
        │ ❱ 14         return self.head(hidden - self.prior)                               │
        ╰──────────────────────────────────────────────────────────────────────────────────╯
        RuntimeError: Expected all tensors to be on the same device, but found at least two
        devices, cuda:0 and cpu!
        """),
    "of IPython": dedent(f"""\
        ---------------------------------------------------------------------------
        RuntimeError                              Traceback (most recent call last)
        File ~/work/train.py:9
              8     x = torch.randn(2, 4).to(device)
        ----> 9     out = net(x)

        File ~/work/nets/model.py:14, in Net.forward(self, x)
             13     hidden = torch.relu(self.body(x))
        ---> 14     return self.head(hidden - self.prior)

        RuntimeError: {SAME}
        """),
    "without its first lines": "".join(LOG.splitlines(keepends=True)[4:]),
    "whose message was cut off": LOG[: -len("two devices, cuda:0 and cpu!\n")],
    "after an error that the program survived": (
        'Traceback (most recent call last):\n  File "/home/ann/work/train.py", line 5, in <module>\n'
        '    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
        "RuntimeError: CUDA error: invalid device ordinal\nusing another device\n"
    )
    + LOG,
    "before the errors of the clean-up": LOG
    + "\nDuring handling of the above exception, another exception occurred:\n\n"
    + 'Traceback (most recent call last):\n  File "/home/ann/work/train.py", line 9, in <module>\n    out = net(x)\n'
    "ValueError: training failed\n",
}


@pytest.fixture
def program(tmp_path, monkeypatch):
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "__init__.py").touch()
    (tmp_path / "nets" / "model.py").write_text(MODEL)
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
def test_the_program_the_line_and_the_cause_are_found(program, inside, log):
    done = inside("diagnose", "--output-format", "json", stdin=log.encode())
    found = json.loads(done.stdout)

    assert done.code == 1
    assert (found["error"]["frames"][0]["path"], found["error"]["frames"][0]["line"]) == ("nets/model.py", 14)
    assert found["error"]["family"] in ("same-device", "fake")
    assert [cause["rule"] for cause in found["causes"]] == ["DEV202"]
    assert '+        self.register_buffer("prior"' in found["causes"][0]["diff"]


def test_the_report_names_the_fix_its_command_the_page_and_the_script(program, inside):
    done = inside("diagnose", stdin=LOG.encode())

    assert done.code == 1
    assert "  at nets/model.py:14  return self.head(hidden - self.prior)" in done.text
    assert "  by train.py:9  out = net(x)" in done.text
    assert done.text.splitlines()[-3:] == [
        "About this message: devfix explain expected-all-tensors-on-same-device",
        "To apply the edit: devfix apply train.py nets/model.py --select DEV202",
        "To trace a run: devfix trace train.py",
    ]


def test_the_command_of_the_report_applies_the_edit_of_the_report(program, inside):
    report = inside("diagnose", stdin=LOG.encode()).text
    command = next(line for line in report.splitlines() if line.startswith("To apply the edit: ")).split(" devfix ")[1]

    inside(*command.split())

    assert 'self.register_buffer("prior", torch.zeros(8), persistent=False)' in (program / "nets/model.py").read_text()


def test_a_folder_of_the_project_is_enough(program, inside, monkeypatch):
    monkeypatch.chdir(program / "nets")
    found = json.loads(inside("diagnose", "--output-format", "json", stdin=LOG.encode()).stdout)
    assert [frame["line"] for frame in found["error"]["frames"]] == [14, 9]


def test_a_file_and_another_folder(program, inside, monkeypatch, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "log.txt").write_text(LOG)
    monkeypatch.chdir(elsewhere)
    assert "No line of this error is in the current folder" in inside("diagnose", "log.txt").text
    assert "DEV202" in inside("diagnose", "log.txt", "--project", program).text


def test_without_a_frame_in_the_project_the_message_is_explained(program, inside):
    log = LOG.replace("train.py", "other.py").replace("model.py", "another.py")
    done = inside("diagnose", stdin=log.encode())
    found = json.loads(inside("diagnose", "--output-format", "json", stdin=log.encode()).stdout)

    assert done.code == 1
    assert "The message means: two operands of an operation are on different devices" in done.text
    assert "  - The batch, or one part of it, was not moved." in done.text
    assert "devfix explain expected-all-tensors-on-same-device" in done.text
    assert "devfix trace" not in done.text
    assert (found["script"], found["project"], found["causes"]) == (None, None, [])


@pytest.mark.parametrize("log", [LOG, LOG.replace("train.py", "other.py").replace("model.py", "another.py")])
def test_the_json_follows_its_schema(program, inside, log):
    schema = json.loads(importlib.resources.files("devfix").joinpath("schema", "log-1.json").read_text("utf-8"))
    jsonschema.validate(json.loads(inside("diagnose", "--output-format", "json", stdin=log.encode()).stdout), schema)


def test_an_error_with_its_message_some_lines_below(program, inside):
    log = LOG.replace(
        f"RuntimeError: {SAME}",
        "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1691, "
        "invalid usage (run with NCCL_DEBUG=WARN for details), NCCL version 2.19.3\n"
        "ncclInvalidUsage: This usually reflects invalid usage of NCCL library.\nLast error:\n"
        "Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 2000",
    )
    found = json.loads(inside("diagnose", "--output-format", "json", stdin=log.encode()).stdout)
    assert found["error"]["family"] == "duplicate-gpu"
    assert found["error"]["frames"][0]["line"] == 14
    assert found["causes"] == [], "what cannot end in the message is left out"


def test_a_message_of_another_error_is_not_borrowed_from_what_follows(program, inside):
    log = LOG.replace(SAME, "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)")
    done = inside("diagnose", stdin=f"{log}\nretry: invalid device ordinal\n".encode())
    assert "shapes cannot be multiplied" not in done.text
    assert "error: retry: invalid device ordinal" in done.text


@pytest.mark.parametrize(
    "log", ["", "all is well\n", "Using device: cuda\nepoch 1 on the same device, loss 0.5\n", "\x00\xff\n"]
)
def test_a_log_without_a_device_error_is_0(program, inside, log):
    done = inside("diagnose", stdin=log.encode("latin-1"))
    assert (done.code, done.text) == (0, "no device error in the log\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["missing.txt"], "devfix: missing.txt: No such file or directory"),
        (["--project", "missing"], "devfix: --project missing: not a folder"),
    ],
)
def test_what_is_not_there_is_2(program, inside, arguments, told):
    done = inside("diagnose", *arguments)
    assert (done.code, done.stderr.splitlines()[0]) == (2, told)


def test_a_traceback_cannot_write_to_the_terminal(program, inside):
    log = LOG.replace("cpu!", "cpu!\x9b31m\x07")
    assert not {"\x9b", "\x07"} & set(inside("diagnose", stdin=log.encode()).text)


def test_what_is_piped_is_shown_meanwhile_on_a_terminal(program, environment):
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "devfix", "diagnose"],
        env={**environment, "TERM": "xterm"},
        input=b"epoch 1\n" + LOG.encode(),
        stdout=subprocess.PIPE,
        stderr=theirs,
        check=False,
    )
    os.close(theirs)
    shown = os.read(ours, 65536).decode()
    os.close(ours)

    assert done.returncode == 1
    assert "epoch 1" in shown
    assert "epoch 1" not in done.stdout.decode()
    assert "DEV202" in done.stdout.decode()
