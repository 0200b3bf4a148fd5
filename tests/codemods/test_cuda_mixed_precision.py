"""DEV813 by example: names of torch.cuda.amp."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import PortTargets
from devfix.sources import SourceFile

CODE = "DEV813"
HEAD = "import torch\n"
DEVICE = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
FROM = "from torch.cuda.amp import {}\n"
AMP = "from torch.amp import {}\n"

REWRITES = [
    pytest.param(
        HEAD + "with torch.cuda.amp.autocast():\n    pass\n",
        HEAD + 'with torch.amp.autocast("cuda"):\n    pass\n',
        id="no-device",
    ),
    pytest.param(
        HEAD + "def run(args):\n    with torch.cuda.amp.autocast(args.fp16 or args.amp):\n        pass\n",
        HEAD + 'def run(args):\n    with torch.amp.autocast("cuda", enabled=args.fp16 or args.amp):\n        pass\n',
        id="the-first-argument-is-another",
    ),
    pytest.param(
        HEAD + DEVICE + "def run(args):\n    with torch.cuda.amp.autocast(args.fp16 or args.amp):\n        pass\n",
        HEAD
        + DEVICE
        + "def run(args):\n"
        + '    with torch.amp.autocast(device.type, enabled=(args.fp16 or args.amp) and device.type == "cuda"):\n'
        + "        pass\n",
        id="enabled-by-an-option",
    ),
    pytest.param(
        HEAD + DEVICE + "scaler = torch.cuda.amp.GradScaler(2.0**10, enabled=False)\n",
        HEAD + DEVICE + "scaler = torch.amp.GradScaler(device.type, 2.0**10, enabled=False)\n",
        id="disabled",
    ),
    pytest.param(
        HEAD + FROM.format("GradScaler, autocast") + "scaler = GradScaler()\nwith autocast(enabled=True):\n    pass\n",
        HEAD
        + AMP.format("GradScaler, autocast")
        + 'scaler = GradScaler("cuda")\nwith autocast("cuda", enabled=True):\n'
        "    pass\n",
        id="imported-together",
    ),
    pytest.param(
        HEAD + "from torch.cuda import amp\nscaler: amp.GradScaler = amp.GradScaler()\n",
        HEAD + 'from torch import amp\nscaler: amp.GradScaler = amp.GradScaler("cuda")\n',
        id="the-module",
    ),
    pytest.param(
        HEAD + "from torch.cuda.amp import custom_bwd, custom_fwd\n\nclass F(torch.autograd.Function):\n"
        "    @staticmethod\n    @custom_fwd(cast_inputs=torch.float32)\n    def forward(ctx, x):\n        return x\n\n"
        "    @staticmethod\n    @custom_bwd\n    def backward(ctx, grad):\n        return grad\n",
        HEAD + "from torch.amp import custom_bwd, custom_fwd\n\nclass F(torch.autograd.Function):\n"
        '    @staticmethod\n    @custom_fwd(device_type="cuda", cast_inputs=torch.float32)\n'
        "    def forward(ctx, x):\n        return x\n\n"
        '    @staticmethod\n    @custom_bwd(device_type="cuda")\n    def backward(ctx, grad):\n        return grad\n',
        id="functions",
    ),
    pytest.param(
        HEAD + "with torch.cuda.amp.autocast(\n    enabled=True,  # here\n    dtype=torch.half,\n):\n    pass\n",
        HEAD + "with torch.amp.autocast(\n    enabled=True,  # here\n    dtype=torch.half,\n"
        '    device_type="cuda",\n):\n    pass\n',
        id="in-lines",
    ),
    pytest.param(
        HEAD + "def check(s):\n    return isinstance(s, torch.cuda.amp.GradScaler)\n",
        HEAD + "def check(s):\n    return isinstance(s, torch.amp.GradScaler)\n",
        id="a-type",
    ),
    pytest.param(
        HEAD + "outer = torch.autocast('cuda', torch.bfloat16)\nwith outer, torch.cuda.amp.autocast():\n    pass\n",
        HEAD + "outer = torch.autocast('cuda', torch.bfloat16)\n"
        "with outer, torch.amp.autocast('cuda', dtype=torch.float16):\n    pass\n",
        id="inside-another-type",
    ),
    pytest.param(
        HEAD + "half = torch.bfloat16\nwith torch.cuda.amp.autocast(False):\n    pass\n",
        HEAD + 'half = torch.bfloat16\nwith torch.amp.autocast("cuda", enabled=False):\n    pass\n',
        id="no-type-if-it-is-off",
    ),
    pytest.param(
        HEAD + "device = torch.device(choose())\nwith torch.cuda.amp.autocast():\n    pass\n",
        HEAD + 'device = torch.device(choose())\nwith torch.amp.autocast("cuda"):\n    pass\n',
        id="a-device-that-may-be-another",
    ),
]

LISTED = [
    pytest.param(HEAD + "class S(torch.cuda.amp.GradScaler):\n    pass\n", "it is passed on", id="subclass"),
    pytest.param(
        FROM.format("autocast") + "context = autocast if use else nullcontext\n", "it is passed on", id="passed-on"
    ),
    pytest.param(
        HEAD + "with torch.cuda.amp.autocast(\n    True,  # here\n):\n    pass\n", "its arguments take", id="in-lines"
    ),
    pytest.param(
        FROM.format("autocast, common") + "with autocast():\n    pass\n",
        "the file needs names that torch.amp lacks",
        id="others",
    ),
]

UNCHANGED = [
    pytest.param(HEAD + "with torch.amp.autocast('cuda'):\n    pass\n", id="the-new-name"),
    pytest.param(
        "try:\n    from torch.cuda.amp import autocast\nexcept ImportError:\n    autocast = None\n"
        "with autocast():\n    pass\n",
        id="replaced-if-it-is-missing",
    ),
    pytest.param(FROM.format("autocast"), id="imported-for-others"),
]


def run(folder, text: str, targets: PortTargets, name: str = "train.py"):
    file = SourceFile(str(folder / name), text.encode(), text)
    return fixpoint.check([file], Settings(select=(CODE,), root=str(folder), targets=targets))


@pytest.mark.parametrize(("before", "after"), REWRITES)
def test_the_name_is_that_of_torch_amp(before, after, repair):
    assert repair(CODE, before) == after
    assert repair(CODE, after) == after


@pytest.mark.parametrize(("text", "reason"), LISTED)
def test_what_stays_is_listed_with_the_reason(text, reason, tmp_path):
    (resolution,) = run(tmp_path, text, PortTargets()).resolutions
    assert not resolution.finding.fixes
    assert resolution.finding.reason.startswith(reason)


@pytest.mark.parametrize("text", UNCHANGED)
def test_left_alone(text, tmp_path):
    assert run(tmp_path, text, PortTargets()).resolutions == ()


@pytest.mark.parametrize(("release", "count"), [((2, 2), 1), ((2, 3), 2)], ids=["no-scaler-yet", "both"])
def test_a_release_without_the_name_keeps_the_old_one(release, count, tmp_path):
    text = HEAD + "scaler = torch.cuda.amp.GradScaler()\nwith torch.cuda.amp.autocast():\n    pass\n"
    assert len(run(tmp_path, text, PortTargets(torch=release)).resolutions) == count


@pytest.mark.parametrize("statement", ["from torch.cuda import amp", "import torch.cuda.amp as amp"])
def test_a_module_stays_if_the_file_uses_a_name_that_the_release_lacks(statement, tmp_path):
    text = f"{HEAD}{statement}\nscaler = amp.GradScaler()\nwith amp.autocast():\n    pass\n"

    before, after = (run(tmp_path, text, PortTargets(torch=release)) for release in ((2, 2), (2, 3)))

    assert [each.finding.reason for each in before.resolutions] == [
        "the file needs names that torch.amp lacks in PyTorch 2.2"
    ]
    assert not any(each.finding.reason for each in after.resolutions)


def test_an_init_file_keeps_its_names(tmp_path):
    text = FROM.format("autocast") + "with autocast():\n    pass\n"
    (resolution,) = run(tmp_path, text, PortTargets(), "__init__.py").resolutions
    assert "other files may import" in resolution.finding.reason
