"""DEV811 with an index of the accelerator: ``x.cuda(args.gpu)``, ``x.cuda(y.get_device())``."""

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import PortTargets
from devfix.sources import SourceFile

CODE = "DEV811"
HEAD = "import argparse\n\nimport torch\nfrom torch import nn\n\n"
OPTION = 'parser = argparse.ArgumentParser()\nparser.add_argument("-g", "--gpu", type=int, default=0)\n'
OPTION += "args = parser.parse_args()\n"
ANY_OPTION = OPTION.replace(", default=0", "")
CHOICE = 'if torch.cuda.is_available() else "cpu"'

REWRITES = [
    pytest.param(
        OPTION + "GPU = args.gpu\nprint(torch.rand(3).view(3).cuda(GPU, non_blocking=True))\n",
        OPTION + f'GPU = args.gpu\nprint(torch.rand(3).view(3).to(f"cuda:{{GPU}}" {CHOICE}, non_blocking=True))\n',
        id="a-name-of-an-option-for-a-number",
    ),
    pytest.param(
        OPTION + "loss = nn.MSELoss().cuda(args.gpu)\n",
        OPTION + f'loss = nn.MSELoss().to(f"cuda:{{args.gpu}}" {CHOICE})\n',
        id="an-option-for-a-number",
    ),
    pytest.param(
        ANY_OPTION + "loss = nn.MSELoss().cuda(args.gpu)\n",
        ANY_OPTION + "loss = nn.MSELoss()\nif torch.cuda.is_available():\n    loss = loss.cuda(args.gpu)\n",
        id="an-option-that-may-be-none",
    ),
    pytest.param(
        "def work(gpu):\n    model = nn.Linear(4, 2).cuda(gpu)\n    return model\n",
        "def work(gpu):\n    model = nn.Linear(4, 2)\n    if torch.cuda.is_available():\n"
        "        model = model.cuda(gpu)\n    return model\n",
        id="a-parameter",
    ),
    pytest.param(
        "def noise(x):\n    return torch.randn(x.size()).cuda(x.data.get_device())\n",
        "def noise(x):\n    return torch.randn(x.size()).to(x.data.device)\n",
        id="the-index-of-a-tensor",
    ),
]

LONG = "torch.rand(3).view(3).view(3, 1).flatten().mul(2).add(1)"  # too long to be written twice
UNCHANGED = [
    pytest.param(
        ANY_OPTION + "print(LONG.cuda(args.gpu))\n",
        id="none-in-an-expression",
    ),
    pytest.param(
        OPTION + "args.gpu = None\nprint(LONG.cuda(args.gpu))\n",
        id="an-option-that-is-replaced",
    ),
    pytest.param(
        OPTION + "gpu = args.gpu\nfor gpu in range(2):\n    print(LONG.cuda(gpu))\n",
        id="two",
    ),
    pytest.param(
        "def work(gpu):\n    gpu = LONG.cuda(gpu)\n    return gpu\n",
        id="it-is-the-target",
    ),
    pytest.param(
        "def get_device(x):\n    return 0\n\nclass A:\n    get_device = get_device\n\n"
        "print(LONG.cuda(A().get_device()))\n",
        id="a-function-of-the-program",
    ),
]


@pytest.mark.parametrize(("before", "after"), REWRITES)
def test_the_index_counts_with_cuda_only(before, after, repair):
    assert repair(CODE, HEAD + before) == HEAD + after
    assert repair(CODE, HEAD + after) == HEAD + after


def test_a_computed_name_of_a_device_is_kept_with_cuda(repair):
    text = (
        HEAD + ANY_OPTION + "device = torch.device(\n    'cuda:{}'.format(args.ids[0]))\nx = torch.ones(3).to(device)\n"
    )

    assert repair(CODE, text) == text.replace(
        "format(args.ids[0])", 'format(args.ids[0]) if torch.cuda.is_available() else "cpu"'
    )


@pytest.mark.parametrize("receiver", ["torch.rand(3)", "x.float()", "nn.Linear(3, 3)"])
def test_a_short_expression_is_written_in_both_branches(receiver, repair):
    text = f"{HEAD}{ANY_OPTION}x = torch.ones(3)\nprint({receiver}.cuda(args.gpu))\n"
    choice = f"{receiver}.cuda(args.gpu) if torch.cuda.is_available() else {receiver}"

    assert repair(CODE, text) == text.replace(f"{receiver}.cuda(args.gpu)", choice)


@pytest.mark.parametrize("place", [".to({})", ".to({}, non_blocking=True)", "\n    device = {}\n    model.to(device)"])
@pytest.mark.parametrize("index", ["rank", "local_rank", "args.gpu", "args.gpu_ids[0]", "device_ids[1]"])
def test_an_index_that_is_a_device_counts_with_cuda_only(place, index, repair):
    text = f"{HEAD}{ANY_OPTION}def main(rank, local_rank, device_ids):\n    model = nn.Linear(3, 3){place}\n"

    changed = repair(CODE, text.format(index))

    assert changed == text.format(f'{index} if torch.cuda.is_available() else "cpu"')
    assert repair(CODE, changed) == changed


@pytest.mark.parametrize(("name", "otherwise"), [("device", '"cpu"'), ("gpu", "0")])
def test_an_index_of_one_of_the_accelerators_counts_with_cuda_only(name, otherwise, repair):
    text = f"{HEAD}import torch.distributed as dist\n{name} = dist.get_rank() % torch.cuda.device_count()\n"
    index = "dist.get_rank() % torch.cuda.device_count()"

    assert repair(CODE, text) == text.replace(index, f"{index} if torch.cuda.is_available() else {otherwise}")


@pytest.mark.parametrize(
    "text",
    [
        "def main(device):\n    nn.Linear(3, 3).to(device)\n",
        "def main(devices):\n    nn.Linear(3, 3).to(devices[0])\n",
        "def main(device_list):\n    nn.Linear(3, 3).to(device_list[0])\n",
        "print('found %d' % torch.cuda.device_count())\n",
        "def main(count):\n    per_device = count % torch.cuda.device_count()\n    return per_device * 2\n",
        'def main(x, gpu_ids):\n    print(f"on {x.to(gpu_ids[0])}")\n',
        "rank = 0 if torch.cuda.is_available() else 'cpu'\nnn.Linear(3, 3).to(rank)\n",
        "gpu = 0\nif torch.cuda.is_available():\n    nn.Linear(3, 3).to(gpu)\n",
    ],
)
def test_what_is_no_index_or_follows_the_machine_stays(text, repair):
    assert repair(CODE, HEAD + text) == HEAD + text


@pytest.mark.parametrize("text", UNCHANGED)
def test_an_index_that_may_be_no_number_stays(text, repair):
    text = text.replace("LONG", LONG)

    assert repair(CODE, HEAD + text) == HEAD + text


def test_other_accelerators_take_the_place_of_the_index(tmp_path):
    text = f"{HEAD}def main(device_ids):\n    nn.Linear(3, 3).to(device_ids[0])\n"
    file = SourceFile(str(tmp_path / "train.py"), text.encode(), text)
    settings = Settings(select=(CODE,), root=str(tmp_path), targets=PortTargets(("cpu", "cuda", "mps")))
    (change,) = fixpoint.apply([file], settings).patch.files

    choice = 'device_ids[0] if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"'
    assert change.new.decode() == text.replace("device_ids[0]", choice)
