"""DEV811 by example: programs that require CUDA, and those that are left alone."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.rules.registry import rule_for
from devfix.sources import SourceFile

CODE = "DEV811"
HEAD = "import torch\nfrom torch import nn\n"
DECLARED = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
TRAIN = """
model = nn.Linear(4, 2){module}
print(model(torch.rand(3, 4){tensor}))
"""
CUDA = TRAIN.format(module=".cuda()", tensor=".cuda()")
NEUTRAL = TRAIN.format(module=".to(device)", tensor=".to(device)")

REWRITES = [
    pytest.param(HEAD + CUDA, HEAD + DECLARED + NEUTRAL, id="script"),
    pytest.param(
        HEAD + '\nname = "cuda"\nmodel = nn.Linear(4, 2).to(name)\nmodel(torch.rand(3, 4).cuda())\n',
        HEAD + '\nname = "cuda" if torch.cuda.is_available() else "cpu"\nmodel = nn.Linear(4, 2).to(name)\n'
        "model(torch.rand(3, 4).to(name))\n",
        id="a-name-that-is-there",
    ),
    pytest.param(
        HEAD + "\ndef main():\n    device = 3\n    model = nn.Linear(4, device).cuda()\n    print(model)\n\nmain()\n",
        HEAD
        + "torch_"
        + DECLARED
        + "\ndef main():\n    device = 3\n    model = nn.Linear(4, device).to(torch_device)\n"
        "    print(model)\n\nmain()\n",
        id="device-means-something-else",
    ),
    pytest.param(
        "import os\n" + HEAD + '\nos.environ["CUDA_VISIBLE_DEVICES"] = "1"\n' + CUDA,
        "import os\n" + HEAD + '\nos.environ["CUDA_VISIBLE_DEVICES"] = "1"\n' + DECLARED + NEUTRAL,
        id="after-the-choice-of-visible-devices",
    ),
    pytest.param(
        HEAD + "\nmodel = nn.Linear(4, 2).cuda()\nx = torch.rand(3, 4).cuda()\nprint(model(x.cuda(0)))\n",
        HEAD + DECLARED + "\nmodel = nn.Linear(4, 2).to(device)\nx = torch.rand(3, 4).to(device)\n"
        "print(model(x.cuda(0)))\n",
        id="an-index-stays",
    ),
]

UNCHANGED = [
    pytest.param(HEAD + DECLARED + NEUTRAL, id="neutral"),
    pytest.param(HEAD + "\nif torch.cuda.is_available():\n    torch.rand(3).cuda()\n", id="guarded"),
    pytest.param(
        HEAD + "\nuse_cuda = torch.cuda.is_available()\nmodel = nn.Linear(4, 2)\nif use_cuda:\n    model.cuda()\n"
        "print(model(torch.rand(3, 4).cuda()))\n",
        id="it-chooses-dev501-tells",
    ),
    pytest.param(
        HEAD + "\nclass Net(nn.Module):\n    def cuda(self):\n        return super().cuda()\n\nNet().cuda()\n",
        id="its-own-cuda",
    ),
    pytest.param(
        "import os\n" + HEAD + '\ndef main():\n    os.environ["CUDA_VISIBLE_DEVICES"] = "1"\n'
        "    torch.rand(3).cuda()\n\nmain()\n",
        id="visible-devices-in-a-function",
    ),
    pytest.param(HEAD + "import torch.multiprocessing as mp\n" + CUDA, id="forks"),
    pytest.param("from torch import rand\nprint(rand(3).cuda())\n", id="torch-is-not-imported"),
    pytest.param(HEAD + "\ndevice = 1\ntorch_device = 2\ntorch.rand(3).cuda()\n", id="no-free-name"),
]


def reported(tmp_path, text: str):
    file = SourceFile(str(tmp_path / "train.py"), text.encode(), text)
    return fixpoint.check([file], Settings(select=(CODE,), root=str(tmp_path))).resolutions


@pytest.mark.parametrize(("before", "after"), REWRITES)
def test_the_program_chooses_its_device(before, after, repair):
    assert repair(CODE, before) == after
    assert repair(CODE, after) == after


@pytest.mark.parametrize("text", UNCHANGED)
def test_left_alone(text, repair):
    assert repair(CODE, text) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("torch.rand(3).cuda(0)\n", "the accelerator is named by its index", id="index"),
        pytest.param('torch.rand(3).to("cuda:1")\n', "the accelerator is named by its index", id="index-in-text"),
        pytest.param("x = torch.cuda.FloatTensor(3)\n", "a typed constructor names CUDA", id="typed"),
    ],
)
def test_what_stays_is_listed_with_the_reason(text, reason, tmp_path):
    assert [each.finding.reason for each in reported(tmp_path, HEAD + text)] == [reason]


def test_two_files_change_together(repair):
    model = "import torch\n\ndef noise(x):\n    return x + torch.rand(3, 4).cuda()\n"
    train = HEAD + "from model import noise\n\nprint(noise(torch.rand(3, 4).cuda()))\n"

    repaired = repair(CODE, {"model.py": model, "train.py": train})

    assert repaired == {
        "model.py": "import torch\n" + DECLARED + "\ndef noise(x):\n    return x + torch.rand(3, 4).to(device)\n",
        "train.py": HEAD + "from model import noise\n" + DECLARED + "\nprint(noise(torch.rand(3, 4).to(device)))\n",
    }


@pytest.mark.parametrize(("select", "asked"), [((), False), (("DEV",), False), (("DEV8",), True), ((CODE,), True)])
def test_it_is_used_only_where_it_is_named(select, asked):
    assert not rule_for(CODE).default
    assert Settings(select=select).asks_for(CODE) is asked
