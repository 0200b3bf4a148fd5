"""DEV812 by example: calls of torch.cuda that fail without CUDA."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import PortTargets
from devfix.sources import SourceFile

CODE = "DEV812"
HEAD = "import torch\n\n"
IF = "if torch.cuda.is_available():\n"

REWRITES = [
    pytest.param(
        "n = torch.cuda.device_count()\nif n > 1:\n    print('several')\nsize = (8 + n - 1) // n\n",
        "n = max(torch.cuda.device_count(), 1)\nif n > 1:\n    print('several')\nsize = (8 + n - 1) // n\n",
        id="a-number-of-devices-for-calculations-only",
    ),
    pytest.param(
        "n = torch.cuda.device_count()\nsize = 8 * n\nsize //= n\nprint(n, 2 * n, 1 / n)\n",
        "n = torch.cuda.device_count()\nsize = 8 * max(n, 1)\nsize //= max(n, 1)\nprint(n, 2 * n, 1 / max(n, 1))\n",
        id="a-number-of-devices-that-is-printed-too",
    ),
    pytest.param(
        "def shares(args):\n    args.n = torch.cuda.device_count()\n    return args.size % args.n\n",
        "def shares(args):\n    args.n = max(torch.cuda.device_count(), 1)\n    return args.size % args.n\n",
        id="a-number-of-devices-in-an-attribute",
    ),
    pytest.param(
        "if torch.cuda.is_available and sys.argv[1:]:\n    x = torch.ones(3).cuda()\n",
        "if torch.cuda.is_available() and sys.argv[1:]:\n    x = torch.ones(3).cuda()\n",
        id="a-query-that-is-not-called",
    ),
    pytest.param(
        "print('device ' + str(torch.cuda.current_device()))\n",
        "print('device ' + str(torch.cuda.current_device() if torch.cuda.is_available() else 'cpu'))\n",
        id="an-index-in-a-text",
    ),
    pytest.param(
        "i = torch.cuda.current_device()\nprint('on {}'.format(torch.cuda.get_device_name(i)))\n",
        "i = torch.cuda.current_device() if torch.cuda.is_available() else 'cpu'\n"
        "print('on {}'.format(torch.cuda.get_device_name(i) if torch.cuda.is_available() else 'cpu'))\n",
        id="an-index-of-a-name",
    ),
    pytest.param(
        "torch.cuda.set_device(0)  # the first\nx = torch.ones(3)\n",
        IF + "    torch.cuda.set_device(0)  # the first\nx = torch.ones(3)\n",
        id="statement",
    ),
    pytest.param(
        "def step(x):\n\ttorch.cuda.synchronize()\n\ttorch.cuda.ipc_collect()\n\treturn x\n",
        "def step(x):\n\tif torch.cuda.is_available():\n\t\ttorch.cuda.synchronize()\n\t\ttorch.cuda.ipc_collect()\n"
        "\treturn x\n",
        id="two-in-tabs",
    ),
    pytest.param(
        "for _ in range(3):\n    if verbose:\n        torch.cuda.synchronize()\n",
        "for _ in range(3):\n    if verbose:\n        if torch.cuda.is_available():\n"
        "            torch.cuda.synchronize()\n",
        id="a-condition-on-something-else",
    ),
    pytest.param(
        "torch.cuda.set_per_process_memory_fraction(\n    0.5,\n    0,\n)\n",
        IF + "    torch.cuda.set_per_process_memory_fraction(\n    0.5,\n    0,\n)\n",
        id="several-lines",
    ),
    pytest.param(
        "torch.set_default_tensor_type('torch.cuda.FloatTensor')\n",
        IF + "    torch.set_default_tensor_type('torch.cuda.FloatTensor')\n",
        id="default-type",
    ),
    pytest.param(
        "torch.cuda.reset_max_memory_allocated()\n",
        IF + "    torch.cuda.reset_peak_memory_stats()\n",
        id="deprecated-statement",
    ),
    pytest.param(
        'print(f"on {torch.cuda.get_device_name()}")\n',
        'print(f"on {torch.cuda.get_device_name() if torch.cuda.is_available() else None}")\n',
        id="in-an-f-string",
    ),
    pytest.param(
        "print('%.1f' % (torch.cuda.get_device_properties(0).total_memory / 1e9))\n",
        "print('%.1f' % ((torch.cuda.get_device_properties(0).total_memory if torch.cuda.is_available() else 0)"
        " / 1e9))\n",
        id="a-number",
    ),
]

CPU = ' if torch.cuda.is_available() else "cpu"'
REWRITES += [
    pytest.param(
        "x.to(torch.cuda.current_device())\n", f"x.to(torch.cuda.current_device(){CPU})\n", id="the-current-device"
    ),
    pytest.param(
        "here = torch.cuda.current_device()\nx.cuda(device=here)\nx.to(here)\nParallel(x, device_ids=[here])\n",
        f"here = torch.cuda.current_device(){CPU}\nx.cuda(device=here)\nx.to(here)\nParallel(x, device_ids=[here])\n",
        id="a-name-for-it",
    ),
    pytest.param(
        "with torch.cuda.device(gpu):\n    torch.ones(2)\n",
        "with torch.cuda.device(gpu if torch.cuda.is_available() else -1):\n    torch.ones(2)\n",
        id="a-selected-device",
    ),
    pytest.param(
        "with torch.cuda.device(a if b else c):\n    torch.ones(2)\n",
        "with torch.cuda.device((a if b else c) if torch.cuda.is_available() else -1):\n    torch.ones(2)\n",
        id="a-chosen-device",
    ),
]

UNCHANGED = [
    pytest.param("n = torch.cuda.device_count()\nsize = 8 * n if n else 8\n", id="a-number-that-is-tested"),
    pytest.param("n = torch.cuda.device_count()\nn = min(n, 2)\nsize = 8 * n\n", id="a-number-that-changes"),
    pytest.param("n = torch.cuda.device_count()\ngpus = [0] * n\n", id="a-list-of-devices"),
    pytest.param("print('=' * torch.cuda.device_count())\n", id="a-text"),
    pytest.param("torch.cuda.empty_cache()\ntorch.cuda.seed_all()\nn = torch.cuda.device_count()\n", id="harmless"),
    pytest.param("if torch.cuda.is_available():\n    torch.cuda.synchronize()\n", id="guarded"),
    pytest.param("gpu = torch.cuda.is_available()\nif gpu:\n    torch.cuda.synchronize()\n", id="a-flag"),
    pytest.param("on = torch.cuda.is_available()\nif on:\n    torch.cuda.synchronize()\n", id="a-flag-of-any-name"),
    pytest.param("if args.device == 'cpu':\n    pass\nelse:\n    torch.cuda.synchronize()\n", id="the-other-branch"),
    pytest.param("def f(x):\n    if not x.is_cuda:\n        return\n    torch.cuda.synchronize()\n", id="left-early"),
    pytest.param("try:\n    torch.cuda.synchronize()\nexcept RuntimeError:\n    pass\n", id="tried"),
    pytest.param("use = torch.cuda.is_available() and torch.cuda.get_device_capability()[0] > 7\n", id="and"),
    pytest.param("torch.set_default_tensor_type(torch.FloatTensor)\n", id="default-type-of-the-cpu"),
    pytest.param("torch = load()\ntorch.cuda.synchronize()\n", id="another-torch"),
]


def reported(tmp_path, text: str, targets: PortTargets | None = None, write: bool = False):
    file = SourceFile(str(tmp_path / "train.py"), text.encode(), text)
    settings = Settings(select=(CODE,), root=str(tmp_path), targets=targets or PortTargets())
    return (fixpoint.apply if write else fixpoint.check)([file], settings)


@pytest.mark.parametrize(("before", "after"), REWRITES)
def test_the_call_runs_only_with_cuda(before, after, repair):
    assert repair(CODE, HEAD + before) == HEAD + after
    assert repair(CODE, HEAD + after) == HEAD + after


@pytest.mark.parametrize("text", UNCHANGED)
def test_left_alone(text, tmp_path):
    assert reported(tmp_path, HEAD + text).resolutions == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("print(torch.cuda.current_device() + 1)\n", "its value is used", id="an-index"),
        pytest.param("i = torch.cuda.current_device()\nx.to(i)\nprint(i)\n", "its value is used", id="a-printed-index"),
        pytest.param("stream = torch.cuda.Stream()\n", "streams exist with CUDA only", id="stream"),
        pytest.param("use(torch.cuda.device(1))\n", "it selects a CUDA device", id="context"),
        pytest.param("for _ in range(3): torch.cuda.synchronize()\n", "its line has other statements", id="one-line"),
        pytest.param("print(1 / torch.cuda.mem_get_info()[0])\n", "its value is used", id="a-divisor"),
        pytest.param('print(f"{torch.cuda.get_device_name():>20}")\n', "its value is used", id="a-format"),
    ],
)
def test_what_stays_is_listed_with_the_reason(text, reason, tmp_path):
    (resolution,) = reported(tmp_path, HEAD + text).resolutions
    assert not resolution.finding.fixes
    assert resolution.finding.reason.startswith(reason)


@pytest.mark.parametrize(
    ("targets", "code"),
    [
        (PortTargets(("cpu", "cuda", "xpu"), (2, 6)), "torch.accelerator"),
        (PortTargets(("cpu", "cuda", "xpu"), (2, 5)), "torch.cuda"),
        (PortTargets(("cpu", "cuda"), (2, 6)), "torch.cuda"),
    ],
    ids=["xpu", "before-torch.accelerator", "cuda-only"],
)
def test_other_accelerators_have_namesakes_since_a_release(targets, code, tmp_path):
    outcome = reported(tmp_path, HEAD + "torch.cuda.synchronize()\n", targets, write=True)

    (change,) = outcome.patch.files
    assert change.new.decode() == HEAD + f"if {code}.is_available():\n    {code}.synchronize()\n"


@pytest.mark.parametrize(("line", "code"), [("torch>=2.6", "torch.accelerator"), ("torch>=2.1", "torch.cuda")])
def test_the_release_is_that_of_the_project(line, code, tmp_path):
    (tmp_path / "requirements.txt").write_text(f"numpy\n{line}\n", encoding="utf-8")
    outcome = reported(tmp_path, HEAD + "torch.cuda.synchronize()\n", PortTargets(("cpu", "cuda", "mps")), write=True)

    (change,) = outcome.patch.files
    assert f"{code}.synchronize()" in change.new.decode()
