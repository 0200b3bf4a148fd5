"""Logs as people paste them: the error, its lines in the project, and what reading says of them."""

from __future__ import annotations

import random
import re
from pathlib import Path
from textwrap import dedent

import pytest

from devfix.trace.log.locate import positions_of
from devfix.trace.log.parse import LoggedFrame, device_errors, read_log
from devfix.trace.log.ranking import LogTrace, NoFrame, read_causes
from devfix.verify.project import find_project

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
from torch import nn

from nets.model import Net

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = Net().to(device)
data = torch.utils.data.TensorDataset(torch.randn(8, 4), torch.zeros(8, dtype=torch.long))
losses = []
for x, y in torch.utils.data.DataLoader(data, batch_size=4):
    x = x.to(device)
    out = net(x)
    loss = nn.functional.cross_entropy(out, y)
    losses.append(loss)
"""
SAME = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
TARGET = f"{SAME} (when checking argument for argument target in method wrapper_CUDA_nll_loss_forward)"

LOSS_LINE = ("train.py", 13, "DEV101")
PRIOR_LINE = ("nets/model.py", 14, "DEV202")

PLAIN = f"""\
Traceback (most recent call last):
  File "/home/ann/nets/train.py", line 13, in <module>
    loss = nn.functional.cross_entropy(out, y)
  File "/home/ann/env/lib/python3.10/site-packages/torch/nn/functional.py", line 3014, in cross_entropy
    return torch._C._nn.cross_entropy_loss(input, target, weight, _Reduction.get_enum(reduction))
RuntimeError: {TARGET}
"""
DEEP = f"""\
Traceback (most recent call last):
  File "train.py", line 12, in <module>
    out = net(x)
  File "/usr/lib/python3/dist-packages/torch/nn/modules/module.py", line 1102, in _call_impl
    return forward_call(*input, **kwargs)
  File "/data/nets/model.py", line 14, in forward
    return self.head(hidden - self.prior)
RuntimeError: {SAME}
"""

LOGS = {
    "as Python prints it": (PLAIN, LOSS_LINE),
    "through a module, the failing line in another file": (DEEP, PRIOR_LINE),
    "with the marks of Python 3.11 under the line": (
        PLAIN.replace("(out, y)\n", "(out, y)\n           ^^^^^^^^^^^^^^^^^^^^^\n"),
        LOSS_LINE,
    ),
    "of an older state of the file, some lines off": (PLAIN.replace("line 13", "line 9"), LOSS_LINE),
    "of Windows": (PLAIN.replace("/home/ann/nets/train.py", "C:\\Users\\Ann\\My Project\\train.py"), LOSS_LINE),
    "with carriage returns of Windows": (PLAIN.replace("\n", "\r\n"), LOSS_LINE),
    "in colours": (
        PLAIN.replace("Traceback", "\x1b[31mTraceback").replace("RuntimeError", "\x1b[1;31mRuntimeError\x1b[0m"),
        LOSS_LINE,
    ),
    "behind a progress bar": (
        "Epoch 1:  33%|███▎      | 1/3 [00:00<00:01,  1.9it/s]\r"
        "Epoch 1:  66%|██████▋   | 2/3 [00:01<00:00,  1.9it/s]" + PLAIN,
        LOSS_LINE,
    ),
    "with time stamps and levels": (
        "".join(f"2024-05-01 12:00:01,123 ERROR {line}\n" for line in PLAIN.splitlines()),
        LOSS_LINE,
    ),
    "of one rank, marked": ("".join(f"[rank0]: {line}\n" for line in PLAIN.splitlines()), LOSS_LINE),
    "of two ranks at once": (
        "".join(f"[rank0]: {line}\n[rank1]: {line}\n" for line in PLAIN.replace("cuda:0", "cuda:1").splitlines()),
        LOSS_LINE,
    ),
    "of a worker": ("".join(f"(TrainWorker pid=4711) {line}\n" for line in PLAIN.splitlines()), LOSS_LINE),
    "of a container": ("".join(f"trainer-1  | {line}\n" for line in PLAIN.splitlines()), LOSS_LINE),
    "without its first lines": ("".join(PLAIN.splitlines(keepends=True)[1:]), LOSS_LINE),
    "without its first lines, in the middle of a frame": ("".join(DEEP.splitlines(keepends=True)[4:]), PRIOR_LINE),
    "the cause of another error": (
        PLAIN + "\nThe above exception was the direct cause of the following exception:\n\n"
        "Traceback (most recent call last):\n"
        '  File "train.py", line 12, in <module>\n    out = net(x)\nValueError: training failed\n',
        LOSS_LINE,
    ),
    "while another error was handled": (
        'Traceback (most recent call last):\n  File "train.py", line 12, in <module>\n    out = net(x)\n'
        "KeyError: 'x'\n\nDuring handling of the above exception, another exception occurred:\n\n" + PLAIN,
        LOSS_LINE,
    ),
    "of a replica, in the message of another": (
        'Traceback (most recent call last):\n  File "train.py", line 12, in <module>\n    out = net(x)\n'
        "RuntimeError: Caught RuntimeError in replica 1 on device 1.\nOriginal " + DEEP,
        PRIOR_LINE,
    ),
    "of IPython 8": (
        f"""\
        ---------------------------------------------------------------------------
        RuntimeError                              Traceback (most recent call last)
        Cell In[3], line 4
              2 for x, y in loader:
              3     x = x.to(device)
        ----> 4     out = net(x)

        File ~/vision/nets/model.py:14, in Net.forward(self, x)
             12 def forward(self, x):
             13     hidden = torch.relu(self.body(x))
        ---> 14     return self.head(hidden - self.prior)

        RuntimeError: {SAME}
        """,
        PRIOR_LINE,
    ),
    "of an old notebook": (
        f"""\
        RuntimeError                              Traceback (most recent call last)
        <ipython-input-7-8f2b5d1c> in <module>
              3     x = x.to(device)
        ----> 4     out = net(x)

        ~/vision/nets/model.py in forward(self, x)
             13         hidden = torch.relu(self.body(x))
        ---> 14         return self.head(hidden - self.prior)
             15

        RuntimeError: {SAME}
        """,
        PRIOR_LINE,
    ),
    "of a notebook whose cell is in the script": (
        f"""\
        <ipython-input-7-8f2b5d1c> in <module>
              3     out = net(x)
        ----> 4     loss = nn.functional.cross_entropy(out, y)
        RuntimeError: {TARGET}
        """,
        LOSS_LINE,
    ),
    "of rich": (
        f"""\
        ╭─────────────── Traceback (most recent call last) ────────────────╮
        │ /home/ann/nets/train.py:13 in <module>                           │
        │                                                                  │
        │   12     out = net(x)                                            │
        │ ❱ 13     loss = nn.functional.cross_entropy(out, y)              │
        │   14     losses.append(loss)                                     │
        ╰──────────────────────────────────────────────────────────────────╯
        RuntimeError: {SAME}
        """,
        LOSS_LINE,
    ),
    "of pytest": (
        f"""\
            def forward(self, x):
                hidden = torch.relu(self.body(x))
        >       return self.head(hidden - self.prior)
        E       RuntimeError: {SAME}

        nets/model.py:14: RuntimeError
        """,
        PRIOR_LINE,
    ),
    "wrapped by a terminal": (
        PLAIN.replace(
            TARGET, "Expected all tensors to be on\nthe same device, but found at least two devices, cuda:0 and cpu!"
        ),
        LOSS_LINE,
    ),
    "in the words of PyTorch 0.4": (
        PLAIN.replace(TARGET, "Expected object of type torch.cuda.LongTensor but found type torch.LongTensor for #2"),
        LOSS_LINE,
    ),
    "in the words of PyTorch 1.4": (
        DEEP.replace(SAME, "expected device cuda:0 but got device cpu"),
        PRIOR_LINE,
    ),
}


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "__init__.py").touch()
    (tmp_path / "nets" / "model.py").write_text(MODEL)
    (tmp_path / "train.py").write_text(TRAIN)
    monkeypatch.chdir(tmp_path)
    return "train.py"


def looked_up(script: str, text: str) -> LogTrace:
    found = read_causes(find_project(script), dedent(text))
    assert found is not None
    return found


@pytest.mark.parametrize(("text", "expected"), LOGS.values(), ids=LOGS)
def test_the_failing_line_and_the_likeliest_cause(script: str, text: str, expected: tuple[str, int, str]) -> None:
    found = looked_up(script, text)
    place, _ = found.frames[0]
    assert (place.file, place.line) == expected[:2]
    assert found.causes[0].finding.code == expected[2]
    assert "ends on the failing line" in found.causes[0].reasons[0]
    assert found.causes[0].changes


def test_a_cause_on_a_caller_comes_after_the_one_on_the_failing_line(script: str) -> None:
    found = looked_up(script, DEEP)
    assert [place.line for place, _ in found.frames] == [14, 12]
    assert found.causes[0].finding.code == "DEV202"
    assert [cause.score for cause in found.causes] == sorted((cause.score for cause in found.causes), reverse=True)


def test_only_the_first_cause_is_repaired(script: str) -> None:
    (change,) = looked_up(script, DEEP).causes[0].changes.items()
    assert change[0] == "nets/model.py"
    assert b"register_buffer" in change[1]


def test_a_message_that_a_cause_cannot_end_in_rules_it_out(script: str) -> None:
    text = PLAIN.replace(TARGET, "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() first.")
    assert looked_up(script, text.replace("RuntimeError", "TypeError")).causes == ()


def test_what_is_wrong_on_no_line_of_the_log_comes_last_and_says_so(script: str) -> None:
    found = looked_up(script, f'  File "train.py", line 8, in <module>\nRuntimeError: {SAME}\n')
    assert {cause.finding.code for cause in found.causes} == {"DEV101", "DEV202"}
    assert all("on none of the lines in the log" in cause.reasons[0] for cause in found.causes)
    assert max(cause.score for cause in found.causes) < looked_up(script, DEEP).causes[0].score


def test_no_cause_leaves_the_meaning_of_the_message(script: str) -> None:
    text = "'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor"
    found = looked_up(script, f'  File "train.py", line 8, in <module>\nRuntimeError: {text}\n')
    assert found.causes == ()
    assert "the lengths of packed sequences must be on the CPU" in found.family.meaning


def test_frames_of_other_projects_are_none_of_this_one(script: str) -> None:
    with pytest.raises(NoFrame):
        looked_up(script, PLAIN.replace("/home/ann/nets/train.py", "/home/ann/nets/other.py"))
    with pytest.raises(NoFrame):
        looked_up(script, PLAIN.replace("cross_entropy(out, y)", "cross_entropy(prediction, label)"))


def test_a_file_of_an_installed_package_is_not_the_project_s_of_the_same_name() -> None:
    frame = LoggedFrame("/env/lib/python3.10/site-packages/lib/train.py", 1, "f", "import torch")
    assert positions_of([frame], {"train.py": "import torch\n"}) == [None]


def test_the_longest_end_of_a_path_decides() -> None:
    texts = {"train.py": "loss = f(x)\n", "tools/train.py": "a = 1\nloss = f(x)\n"}
    (place,) = positions_of([LoggedFrame("/w/tools/train.py", 1, "f", "loss = f(x)")], texts)
    assert place is not None
    assert (place.file, place.line) == ("tools/train.py", 2)


def test_other_errors_are_no_device_errors(script: str) -> None:
    text = PLAIN.replace(TARGET, "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)")
    assert read_causes(find_project(script), text) is None
    assert device_errors("everything is on the same page\nnothing to see\n") == []


def test_both_errors_of_a_chain_are_read() -> None:
    text = LOGS["the cause of another error"][0]
    assert [(error.type, error.family) for error in read_log(text)] == [
        ("RuntimeError", "same-device"),
        ("ValueError", None),
    ]


def test_parts_of_logs_in_any_order_are_read() -> None:
    parts = [
        "Traceback (most recent call last):\n",
        '  File "a.py", line 1, in f\n',
        f"RuntimeError: {SAME}\n",
        "from user code:\n",
        "[rank0]: ",
        "\r",
        "│ ",
        "E   RuntimeError: Invalid device id\n",
        "a.py:3: RuntimeError\n",
        "x = 1\n",
        '"(most recent call last):\\n \\u00',
    ]
    chosen = random.Random(0)
    for _ in range(500):
        text = "".join(chosen.choices(parts, k=chosen.randint(0, 20)))
        assert bool(device_errors(text)) == bool(re.search("same device|Invalid device id", text))
