"""DEV811 with other accelerators: a condition on CUDA holds for them if the code under it can follow the device."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import PortTargets
from devfix.sources import SourceFile

HEAD = "import torch\nfrom torch import nn\n"
TARGETS = PortTargets(("cpu", "cuda", "mps"), (2, 4))
ANY = PortTargets(("cpu", "cuda", "mps", "xpu"), (2, 6))
AVAILABLE = "torch.cuda.is_available() or torch.backends.mps.is_available()"
CHAIN = '"cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"'
CERTAIN = '"cuda" if torch.cuda.is_available() else "mps"'
DECLARED = f"device = torch.device({CHAIN})\n"
LIBRARY = "class Trainer:\n    def __init__(self):\n        self.gpu = torch.cuda.is_available()\n"
LIBRARY += "    def put(self, x):\n        return x.cuda() if self.gpu else x\n"

FLAG = """
use_cuda = {query}
model = nn.Linear(4, 2)
x = torch.rand(3, 4)
if use_cuda:
    torch.cuda.manual_seed(1)
    model{move}
    x = x{move}
print(model(x), "on CUDA" if use_cuda else "slowly")
"""
OPTION = """
args = parser.parse_args()
args.cuda = not args.no_cuda and {query}
device = torch.device({choice})
kwargs = {{"pin_memory": True}} if args.cuda else {{}}
if args.cuda:
    model{move}
"""
VALUE = """
def add(x, n):
    y = torch.zeros(x.size(0))
    if x{test}:
        y = y{move}
    return x + y + (torch.ones(n){move} if x{test} else torch.ones(n))
"""

REWRITES = [
    pytest.param(
        HEAD + "if torch.cuda.is_available():\n    y = y.cpu()\nx = torch.rand(3).cuda()\n",
        HEAD + f"{DECLARED}if {AVAILABLE}:\n    y = y.cpu()\nx = torch.rand(3).to(device)\n",
        id="the-way-back",
    ),
    pytest.param(
        HEAD + "def f(x, y):\n    n = x.size(0)\n    if x.is_cuda:\n        x = x.cpu()\n"
        "        y = y.cuda()\n    return y\n",
        HEAD + f"def f(x, y):\n    n = x.size(0)\n    {DECLARED}"
        '    if x.device.type != "cpu":\n        x = x.cpu()\n        y = y.to(device)\n    return y\n',
        id="a-value-that-leaves",
    ),
    pytest.param(
        HEAD + "def f(x, y):\n    n = x.size(0)\n    if x.is_cuda:\n        y = y.cuda(1)\n    return y\n",
        HEAD + 'def f(x, y):\n    n = x.size(0)\n    if x.device.type != "cpu":\n'
        '        y = y.to("cuda:1" if torch.cuda.is_available() else "mps")\n    return y\n',
        id="an-index-under-the-device-of-a-value",
    ),
    pytest.param(
        HEAD + 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\nx = torch.rand(3).cuda()\n',
        HEAD + DECLARED + "x = torch.rand(3).to(device)\n",
        id="a-choice",
    ),
    pytest.param(
        HEAD + 'x = torch.rand(3).to("cuda:1" if torch.cuda.is_available() else "cpu")\n',
        HEAD + 'x = torch.rand(3).to("cuda:1" if torch.cuda.is_available() else "mps"'
        ' if torch.backends.mps.is_available() else "cpu")\n',
        id="a-choice-with-an-index",
    ),
    pytest.param(
        HEAD + 'x = torch.rand(3).to("cpu" if not torch.cuda.is_available() else "cuda")\n',
        HEAD + f'x = torch.rand(3).to("cpu" if not ({AVAILABLE}) else ({CERTAIN}))\n',
        id="a-choice-the-other-way-round",
    ),
    pytest.param(
        HEAD + FLAG.format(query="torch.cuda.is_available()", move=".cuda()"),
        HEAD + DECLARED + FLAG.format(query=AVAILABLE, move=".to(device)"),
        id="a-flag",
    ),
    pytest.param(
        HEAD + FLAG.format(query="True if torch.cuda.is_available() else False", move=".cuda()"),
        HEAD + DECLARED + FLAG.format(query=f"True if {AVAILABLE} else False", move=".to(device)"),
        id="a-flag-in-words",
    ),
    pytest.param(
        HEAD
        + OPTION.format(query="torch.cuda.is_available()", choice='"cuda" if args.cuda else "cpu"', move=".cuda()"),
        HEAD + OPTION.format(query=f"({AVAILABLE})", choice=f'({CERTAIN}) if args.cuda else "cpu"', move=".to(device)"),
        id="an-option",
    ),
    pytest.param(
        HEAD + VALUE.format(test=".is_cuda", move=".cuda()"),
        HEAD + VALUE.format(test='.device.type != "cpu"', move=".to(x.device)"),
        id="the-device-of-a-value",
    ),
    pytest.param(
        HEAD + 'def make(x):\n    return torch.zeros(x.size(0), device="cuda" if x.is_cuda else "cpu")\n',
        HEAD + "def make(x):\n    return torch.zeros(x.size(0), device=x.device.type)\n",
        id="the-type-of-the-device-of-a-value",
    ),
    pytest.param(
        HEAD + "def back(x):\n    x = x.detach()\n    was = x.is_cuda\n    x = x.cpu()\n"
        "    if was:\n        x = x.cuda()\n    return x\n",
        HEAD + 'def back(x):\n    x = x.detach()\n    was = x.device.type != "cpu"\n    x = x.cpu()\n'
        f"    {DECLARED}    if was:\n        x = x.to(device)\n    return x\n",
        id="the-value-itself-moves",
    ),
    pytest.param(
        HEAD + "if torch.cuda.is_available():\n    torch.cuda.set_device(0)\n    x = torch.rand(3).cuda()\n",
        HEAD + f"{DECLARED}if {AVAILABLE}:\n    if torch.cuda.is_available():\n        torch.cuda.set_device(0)\n"
        "    x = torch.rand(3).to(device)\n",
        id="a-function-of-cuda-under-it",
    ),
    pytest.param(
        HEAD
        + 'if torch.cuda.is_available():\n    device = torch.device("cuda")\nelse:\n    device = torch.device("cpu")'
        "\n",
        HEAD + f'if {AVAILABLE}:\n    device = torch.device({CERTAIN})\nelse:\n    device = torch.device("cpu")\n',
        id="two-assignments",
    ),
    pytest.param(
        HEAD + 'device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")\n',
        HEAD + f'device = torch.device({CERTAIN}) if {AVAILABLE} else torch.device("cpu")\n',
        id="two-devices-in-an-expression",
    ),
    pytest.param(
        HEAD + "if not torch.cuda.is_available():\n    print('slow')\nelse:\n    x = torch.rand(3).cuda()\n",
        HEAD
        + f"{DECLARED}if not ({AVAILABLE}):\n    print('slow')\nelse:\n    x = torch.rand(3).to(device)\n".replace(
            '"', "'"
        ),
        id="the-else-of-a-negation",
    ),
]

UNCHANGED = [
    pytest.param("if torch.cuda.is_available():\n    torch.cuda.synchronize()\n", id="nothing-is-placed"),
    pytest.param(f"device = {CHAIN}\n", id="others-are-thought-of"),
    pytest.param(
        "if torch.cuda.is_available():\n    x = x.cuda()\n"
        "elif torch.backends.mps.is_available():\n    x = x.to('mps')\n",
        id="another-branch-for-others",
    ),
    pytest.param("if torch.cuda.is_available() or force:\n    x = x.cuda()\n", id="or"),
    pytest.param("if args.cuda:\n    x = x.cuda()\n", id="an-option-that-asks-for-nothing"),
    pytest.param("if args.is_cuda:\n    x = x.cuda()\n", id="an-option-with-the-name-of-an-attribute"),
    pytest.param("if (a + b).is_cuda:\n    y = y.cuda()\n", id="a-value-that-is-computed"),
]

LISTED = [
    pytest.param(
        "device = 'cuda' if torch.cuda.is_available() else 'cpu'\nm.to(device)\n"
        "if torch.cuda.is_available():\n    x = x.cuda()\n    s = torch.cuda.Stream()\n",
        "another condition on CUDA stays in the file",
        id="all-or-none",
    ),
    pytest.param(
        "if torch.cuda.is_available():\n    s = torch.load('a.pt')\n    m.cuda()\n",
        "the code under it requires CUDA: `torch.load without map_location`",
        id="a-checkpoint",
    ),
    pytest.param(
        "class Options:\n    gpu = torch.cuda.is_available()\n    x = x.cuda() if gpu else x\n",
        "`gpu` is an attribute of a class",
        id="a-class",
    ),
    pytest.param(
        "gpu = torch.cuda.is_available()\nif gpu:\n    x = x.cuda()\ntrain(x, gpu)\n",
        "`gpu` is also used outside of conditions",
        id="passed-on",
    ),
    pytest.param(
        "gpu = torch.cuda.is_available()\ngpu = gpu and args.gpu\nif gpu:\n    x = x.cuda()\n",
        "`gpu` is assigned elsewhere, too",
        id="assigned-again",
    ),
    pytest.param(
        "if torch.cuda.is_available():\n    x = x.cuda()\n    y = torch.cuda.Stream()\n",
        "the code under it requires CUDA: `torch.cuda.Stream`",
        id="a-stream",
    ),
    pytest.param(
        "if torch.cuda.is_available():\n    if args.use_gpu:\n        x = x.cuda(args.gpu)\n",
        "the code under it stays, because of another condition: `x.cuda(args.gpu)`",
        id="another-condition",
    ),
    pytest.param(
        "def f(x, y):\n    x = x.view(-1)\n    if x.is_cuda:\n        y = kernel(x, y.cuda())\n    return y\n",
        "the code under it requires CUDA: `kernel`",
        id="a-function-that-may-be-an-extension",
    ),
    pytest.param(
        "from . import _ext as ext\ndef f(x, y):\n    x = x.view(-1)\n    if x.is_cuda:\n"
        "        y = ext.forward(x, y.cuda())\n    return y\n",
        "the code under it requires CUDA: `ext.forward`",
        id="an-extension-beside-the-file",
    ),
    pytest.param(
        "args.gpu = torch.cuda.is_available()\nif args.gpu:\n    x = x.cuda()\n"
        "if getattr(args, 'gpu'):\n    x = x.cuda()\n",
        "`args.gpu` may be read by its name",
        id="read-by-name",
    ),
    pytest.param(
        "args.gpu = torch.cuda.is_available()\nif args.gpu:\n    x = x.cuda()\nrun(**vars(args))\n",
        "`args.gpu` may be read by its name",
        id="all-options",
    ),
    pytest.param(
        "if torch.cuda.is_available():\n    torch.set_default_tensor_type('torch.cuda.FloatTensor')\n"
        "    x = x.cuda()\n",
        "the code under it requires CUDA: `torch.set_default_tensor_type`",
        id="a-default-type",
    ),
    pytest.param(
        "if torch.cuda.is_available():\n    m = nn.parallel.DistributedDataParallel(m.cuda(), device_ids=[0])\n",
        "the code under it requires CUDA: `torch.nn.parallel.DistributedDataParallel`",
        id="distributed",
    ),
    pytest.param(
        "torch.load('a.pt', map_location=lambda s, l: s.cuda() if torch.cuda.is_available() else s)\n",
        "the code under it stays: a storage is moved",
        id="a-storage",
    ),
    pytest.param(
        "if torch.cuda.is_available():\n    dist.init_process_group('nccl')\n    x = x.cuda()\n",
        "the code under it requires CUDA: `nccl`",
        id="nccl",
    ),
]


def ported(folder, text: str, targets: PortTargets, name: str = "train.py"):
    path = folder / name
    path.write_text(text)
    settings = Settings(select=("DEV811",), root=str(folder), targets=targets)
    outcome = fixpoint.apply([SourceFile(str(path), text.encode(), text)], settings)
    assert outcome.problems == ()
    return next((change.new.decode() for change in outcome.patch.files), text), outcome


@pytest.mark.parametrize(("before", "after"), REWRITES)
def test_other_accelerators_run_the_code_under_the_condition(before, after, tmp_path):
    assert ported(tmp_path, before, TARGETS)[0] == after
    assert ported(tmp_path, after, TARGETS)[0] == after


@pytest.mark.parametrize(("before", "after"), REWRITES[6:])
def test_without_other_accelerators_a_condition_stays(before, after, tmp_path):
    assert ported(tmp_path, before, PortTargets())[0] == before


def test_torch_accelerator_asks_for_all_of_them(tmp_path):
    before = HEAD + FLAG.format(query="torch.cuda.is_available()", move=".cuda()")
    current = "torch.accelerator.current_accelerator().type"
    declared = f'device = torch.device({current} if torch.accelerator.is_available() else "cpu")\n'

    after, _ = ported(tmp_path, before, ANY)

    assert after == HEAD + declared + FLAG.format(query="torch.accelerator.is_available()", move=".to(device)")


@pytest.mark.parametrize("text", UNCHANGED)
def test_left_alone(text, tmp_path):
    after, outcome = ported(tmp_path, HEAD + text, TARGETS)

    assert (after, outcome.resolutions) == (HEAD + text, ())


@pytest.mark.parametrize(("text", "reason"), LISTED)
def test_a_condition_that_must_stay_is_listed_with_the_reason(text, reason, tmp_path):
    after, outcome = ported(tmp_path, HEAD + text, TARGETS)

    assert after == HEAD + text
    assert outcome.resolutions[0].reason == reason
    assert all(each.reason for each in outcome.resolutions)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(
            LIBRARY + "    def put(self, x):\n        return x.cuda() if self.gpu else x\n", "self.gpu", id="self"
        ),
        pytest.param(
            "gpu = torch.cuda.is_available()\ndef put(x):\n    return x.cuda() if gpu else x\n", "gpu", id="module"
        ),
    ],
)
def test_an_answer_that_other_files_may_read_stays_in_a_library(text, name, tmp_path):
    (tmp_path / "__init__.py").write_text("")

    after, outcome = ported(tmp_path, HEAD + text, TARGETS, "put.py")

    assert after == HEAD + text
    assert [each.reason for each in outcome.resolutions] == [f"other files may read `{name}`"]


def test_an_answer_that_another_file_of_the_program_reads_stays(tmp_path):
    (tmp_path / "data.py").write_text("def put(x, args):\n    return x.cuda() if args.gpu else x\n")
    text = (
        HEAD + "import data\nargs.gpu = torch.cuda.is_available()\nx = torch.rand(3)\nif args.gpu:\n    x = x.cuda()\n"
    )

    after, outcome = ported(tmp_path, text + "data.put(x, args)\n", TARGETS)

    assert after == text + "data.put(x, args)\n"
    assert [each.reason for each in outcome.resolutions] == ["other files read `args.gpu`"]


def test_the_values_are_on_the_other_accelerator(tmp_path):
    pytest.importorskip("torch")
    from devfix.verify.runs import run

    train = FLAG.format(query="torch.cuda.is_available()", move=".cuda()") + "model(x).sum().backward()\n"
    script = tmp_path / "train.py"
    script.write_text(HEAD + train)
    before = run("train.py", (), "sim", tmp_path, 60, kind="mps")
    script.write_text(ported(tmp_path, HEAD + train, TARGETS)[0])
    after = run("train.py", (), "sim", tmp_path, 60, kind="mps")

    assert (before.ok, before.device_operations) == (True, 0)
    assert after.ok
    assert after.device_operations > 0
