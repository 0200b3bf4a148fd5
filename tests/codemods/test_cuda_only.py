"""DEV811 by example: programs that require CUDA, and those that are left alone."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import PortTargets
from devfix.rules.registry import rule_for
from devfix.sources import SourceFile, decode

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
        'print(model(x.to("cuda:0" if torch.cuda.is_available() else "cpu")))\n',
        id="an-index",
    ),
    pytest.param(
        HEAD + "\nuse_cuda = torch.cuda.is_available()\nmodel = nn.Linear(4, 2)\nif use_cuda:\n    model.cuda()\n"
        "print(model(torch.rand(3, 4).cuda()))\n",
        HEAD + DECLARED + "\nuse_cuda = torch.cuda.is_available()\nmodel = nn.Linear(4, 2)\nif use_cuda:\n"
        "    model.cuda()\nprint(model(torch.rand(3, 4).to(device)))\n",
        id="one-place-without-the-condition",
    ),
    pytest.param(
        "import os\n" + HEAD + '\ndef main():\n    os.environ["CUDA_VISIBLE_DEVICES"] = "1"\n'
        "    torch.rand(3).cuda()\n\nmain()\n",
        "import os\n"
        + HEAD
        + '\ndef main():\n    os.environ["CUDA_VISIBLE_DEVICES"] = "1"\n    '
        + DECLARED
        + "    torch.rand(3).to(device)\n\nmain()\n",
        id="visible-devices-in-a-function",
    ),
    pytest.param(
        'import os\nos.environ["A"] = "1"\n' + HEAD + CUDA,
        'import os\nos.environ["A"] = "1"\nimport torch\n' + DECLARED + "from torch import nn\n" + NEUTRAL,
        id="torch-is-imported-late",
    ),
    pytest.param(
        "import os\ntry:\n    import torch\nexcept ImportError:\n    raise\nprint(torch.rand(3).cuda())\n",
        "import os\ntry:\n    import torch\nexcept ImportError:\n    raise\n"
        + DECLARED
        + "print(torch.rand(3).to(device))\n",
        id="torch-is-imported-in-a-try",
    ),
    pytest.param(
        HEAD + "import torch.multiprocessing as mp\n" + CUDA,
        HEAD + "import torch.multiprocessing as mp\n\n" + DECLARED + NEUTRAL[1:],
        id="forks",
    ),
    pytest.param(
        "from torch import rand\nprint(rand(3).cuda())\n",
        "import torch\nfrom torch import rand\n" + DECLARED + "print(rand(3).to(device))\n",
        id="torch-is-not-imported",
    ),
    pytest.param(
        HEAD + "\nx = (torch.rand(3) * 2\n     - 1).cuda()\nprint(x.mean().cuda())\n",
        HEAD + DECLARED + "\nx = (torch.rand(3) * 2\n     - 1).to(device)\nprint(x.mean().to(device))\n",
        id="parentheses",
    ),
    pytest.param(
        HEAD + "\nprint((torch.ones(2).cuda() + torch.ones(2, device='cuda')).sum().cuda(non_blocking=True))\n",
        HEAD + DECLARED.replace('"', "'") + "\nprint((torch.ones(2).to(device) + torch.ones(2, device=device)).sum()"
        ".to(device, non_blocking=True))\n",
        id="one-in-another",
    ),
    pytest.param(
        HEAD
        + "\ndef f(x):\n    y = torch.cuda.FloatTensor(2, 3).zero_()\n    return x.type(torch.cuda.LongTensor), y\n",
        HEAD + "\ndef f(x):\n    " + DECLARED + "    y = torch.FloatTensor(2, 3).to(device).zero_()\n"
        "    return x.to(device, torch.int64), y\n",
        id="typed-constructors-of-a-library",
    ),
    pytest.param(
        HEAD + "\ndef f(x):\n    return torch.cuda.FloatTensor(x), torch.cuda.LongTensor([0] * 3)\n",
        HEAD
        + "\ndef f(x):\n    return (torch.cuda.FloatTensor(x) if torch.cuda.is_available() else torch.FloatTensor(x)),"
        " (torch.cuda.LongTensor([0] * 3) if torch.cuda.is_available() else torch.LongTensor([0] * 3))\n",
        id="a-size-or-content",
    ),
    pytest.param(
        HEAD + "\nclass Alias:\n    def cuda(self):\n        self.x = self.x.cuda()\n\ndef f(x):\n    x.cuda()\n",
        HEAD + "\nclass Alias:\n    def cuda(self):\n        self.x = self.x.cuda()\n\ndef f(x):\n"
        "    if torch.cuda.is_available():\n        x.cuda()\n",
        id="a-method-of-the-program",
    ),
    pytest.param(
        HEAD + "from tables import Alias\n\ndef f():\n    table = Alias(3).cuda()\n    return table\n",
        HEAD + "from tables import Alias\n\ndef f():\n    table = Alias(3)\n    if torch.cuda.is_available():\n"
        "        table = table.cuda()\n    return table\n",
        id="an-object-of-a-class-from-elsewhere",
    ),
    pytest.param(
        HEAD + "\nTensor = torch.cuda.FloatTensor\nprint(Tensor(2).zero_())\n",
        HEAD + "\nTensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor\n"
        "print(Tensor(2).zero_())\n",
        id="a-stored-type",
    ),
    pytest.param(
        "from common import *\n\ntorch.manual_seed(1)\n\ndef f(x):\n    return Net(Variable(x).cuda())\n",
        "from common import *\n\ntorch.manual_seed(1)\n\ndef f(x):\n    "
        + DECLARED
        + "    return Net(Variable(x).to(device))\n",
        id="a-class-of-pytorch-from-a-module",
    ),
    pytest.param(
        HEAD + "\ndef move(model, gpu, x):\n    model.cuda(gpu)\n    return x.cuda(gpu, non_blocking=True)\n",
        HEAD + "\ndef move(model, gpu, x):\n    if torch.cuda.is_available():\n        model.cuda(gpu)\n"
        "    return x.cuda(gpu, non_blocking=True) if torch.cuda.is_available() else x\n",
        id="an-index-of-an-option",
    ),
    pytest.param(
        HEAD + "\ndef load(path):\n    return torch.load(path, map_location=lambda s, l: s.cuda(1))\n",
        HEAD + "\ndef load(path):\n    return torch.load(path, map_location=lambda s, l: s.cuda(1)"
        " if torch.cuda.is_available() else s)\n",
        id="a-storage",
    ),
    pytest.param(
        HEAD + "\ndef sample(x):\n    if x.device != torch.device('cuda'):\n        x = x.to(torch.device('cuda'))\n"
        "    return x\n",
        HEAD + "\ndef sample(x):\n    " + DECLARED.replace('"', "'") + "    if x.device != device:\n"
        "        x = x.to(device)\n    return x\n",
        id="a-comparison",
    ),
    pytest.param(
        HEAD
        + '\nclass Config: pass\nconfig = Config()\nconfig.device = "cuda:0"\nprint(torch.ones(2).to(config.device))\n',
        HEAD
        + '\nclass Config: pass\nconfig = Config()\nconfig.device = "cuda:0" if torch.cuda.is_available() else "cpu"\n'
        "print(torch.ones(2).to(config.device))\n",
        id="an-attribute",
    ),
    pytest.param(
        HEAD + '\nif __name__ == "__main__":\n    print(torch.ones(2).cuda())\n',
        HEAD + '\nif __name__ == "__main__":\n    ' + DECLARED + "    print(torch.ones(2).to(device))\n",
        id="the-main-block",
    ),
    pytest.param(
        HEAD + "\ndef f(x, y):\n    return y.to(x.get_device()) + torch.ones(2, device=x.get_device())\n",
        HEAD + "\ndef f(x, y):\n    return y.to(x.device) + torch.ones(2, device=x.device)\n",
        id="the-index-of-another-tensor",
    ),
    pytest.param(
        HEAD + "\ndef f(x, path):\n    x.load_state_dict(torch.load(path))\n    return x.cuda()\n",
        HEAD
        + "\ndef f(x, path):\n"
        + '    x.load_state_dict(torch.load(path, map_location=None if torch.cuda.is_available() else "cpu"))\n    '
        + DECLARED
        + "    return x.to(device)\n",
        id="a-checkpoint-of-the-program",
    ),
    pytest.param(
        HEAD + "\ndef f(x):\n    x = x.pin_memory()\n    return x.float().pin_memory()\n",
        HEAD
        + "\ndef f(x):\n    x = x.pin_memory() if torch.cuda.is_available() else x\n"
        + "    return x.float().pin_memory() if torch.cuda.is_available() else x.float()\n",
        id="pinned-memory",
    ),
    pytest.param(
        HEAD + "\ndef f(x):\n    return x.pin_memory().cuda(non_blocking=True)\n",
        HEAD
        + "\ndef f(x):\n    "
        + DECLARED
        + "    return (x.pin_memory() if torch.cuda.is_available() else x).to(device, non_blocking=True)\n",
        id="pinned-and-moved",
    ),
]

UNCHANGED = [
    pytest.param(
        HEAD + "\ndef f(x, path):\n    x.load_state_dict(torch.load(path))\n    return x\n", id="a-checkpoint-alone"
    ),
    pytest.param(
        HEAD + "\nclass Batch:\n    def pin_memory(self):\n        self.x = self.x.pin_memory()\n        return self\n",
        id="what-loaders-call-with-cuda-only",
    ),
    pytest.param(HEAD + "\ndef f(x):\n    return x.pin_memory() if x.is_cuda else x\n", id="pinned-under-a-condition"),
    pytest.param(HEAD + "\ndef f(x, use_gpu):\n    return x.cuda() if use_gpu else x\n", id="a-flag"),
    pytest.param(
        HEAD + "\ndef f(x):\n    if not torch.cuda.is_available():\n        return x\n    return x.cuda()\n",
        id="left-before",
    ),
    pytest.param(HEAD + "\nf = lambda x, device='cuda': x.to(device)\n", id="a-parameter"),
    pytest.param(HEAD + "\ndef f(x):\n    return isinstance(x, torch.cuda.FloatTensor)\n", id="a-question"),
    pytest.param(HEAD + "\ndef f(p):\n    p.add_argument('--device', default='cuda')\n", id="an-option"),
    pytest.param(HEAD + DECLARED + NEUTRAL, id="neutral"),
    pytest.param(HEAD + "\nif torch.cuda.is_available():\n    torch.rand(3).cuda()\n", id="guarded"),
    pytest.param(
        HEAD + "\nclass Net(nn.Module):\n    def cuda(self):\n        return super().cuda()\n\nNet().cuda()\n",
        id="its-own-cuda",
    ),
    pytest.param(
        HEAD + "\ndevice = 1\ntorch_device = 2\ncompute_device = 3\ntorch.rand(3).cuda()\n", id="no-free-name"
    ),
]


def reported(tmp_path, text: str):
    file = SourceFile(str(tmp_path / "train.py"), text.encode(), text)
    return fixpoint.check([file], Settings(select=(CODE,), root=str(tmp_path))).resolutions


@pytest.mark.parametrize(("before", "after"), REWRITES)
def test_the_program_chooses_its_device(before, after, repair):
    assert repair(CODE, before) == after
    assert repair(CODE, after) == after


@pytest.mark.parametrize("literal", ['"cuda"', '"cuda:1"'])
@pytest.mark.parametrize("parameter", ["device", "device: str", "device: str | None"])
def test_a_function_replaces_the_device_that_it_gets_by_default(literal, parameter, repair):
    text = (
        f'def noise(size, *, {parameter}={literal}):\n    """Return noise."""\n'
        "    return torch.randn(size, device=device)\n"
    )
    changed = repair(CODE, HEAD + text)

    assert changed == HEAD + text.replace(
        "    return",
        f'    if device == {literal} and not torch.cuda.is_available():\n        device = "cpu"\n    return',
    )
    assert repair(CODE, changed) == changed


@pytest.mark.parametrize("imported", ["from common import *", "import torch.nn"])
def test_the_device_is_declared_below_the_import_that_brings_torch(imported, repair):
    start = f"import os\n\nos.environ['X'] = '0'\nfrom torch import nn\n{imported}\n"
    text = f"{start}nn.Linear(2, 2).cuda()\nprint(torch.ones(2).cuda())\n"
    lines = repair(CODE, text).splitlines()

    assert lines[lines.index(imported) + 1].startswith("device = torch.device(")


def test_the_device_is_declared_below_the_import_that_is_added(repair):
    text = "import os\n\nos.environ['X'] = '0'\nfrom torch.nn import Linear\nimport sys\nLinear(2, 2).cuda()\n"
    lines = repair(CODE, text).splitlines()

    assert lines.index("import torch") < lines.index("from torch.nn import Linear")
    assert lines[lines.index("from torch.nn import Linear") + 1].startswith("device = torch.device(")


def test_torch_that_only_a_function_imports_declares_no_device(repair):
    text = "def f(x):\n    import torch\n    return torch.ones(3).cuda() + x\nprint(f(1))\n"

    assert repair(CODE, text) == text


def test_a_method_that_moves_what_it_gets_stays(repair):
    text = (
        f"{HEAD}class Work:\n    def run(self, *items):\n        one, two = self.cuda(*items)\n"
        "        return one + two\n\n    def cuda(self, *items):\n"
        "        return [item.to('cpu') for item in items]\n"
        "Work().run(torch.ones(2), torch.ones(2))\n"
    )

    assert repair(CODE, text) == text


VISIBLE = 'os.environ["CUDA_VISIBLE_DEVICES"] = "0"\n'


@pytest.mark.parametrize("device", ['"cuda"', 'torch.device("cuda")', 'torch.device("cuda:0")'])
def test_a_device_is_not_chosen_before_the_visible_ones_are_selected(device, repair):
    start, end = f"import os\n{HEAD}", "print(torch.ones(2).to(device))\n"
    early = f"{start}device = {device}\n{VISIBLE}{end}"

    assert repair(CODE, early) == early
    assert "is_available" in repair(CODE, f"{start}{VISIBLE}device = {device}\n{end}")


@pytest.mark.parametrize(
    "text",
    [
        "def f(x, device='cuda'):\n    return x if device is None else x.to(device)\n",
        "def f(x, device='cuda'):\n    return torch.ones(3, device=device)\nf(1, device=None)\n",
    ],
)
def test_none_still_means_what_it_did(text, repair):
    guard = "    if device == 'cuda' and not torch.cuda.is_available():\n        device = 'cpu'\n    return"

    assert repair(CODE, HEAD + text) == HEAD + text.replace("    return", guard)


@pytest.mark.parametrize(
    "text",
    [
        "f = lambda x, device='cuda': x.to(device)\n",
        'class Mover(Protocol):\n    def move(self, x, device: str = "cuda"):\n        """Move."""\n        ...\n',
    ],
)
def test_a_default_stays_where_there_is_no_place_for_a_choice(text, repair):
    assert repair(CODE, HEAD + text) == HEAD + text


def test_a_module_with_a_cuda_of_its_own_is_moved_by_it(repair):
    text = """
class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = [nn.Linear(3, 3)]

    def cuda(self):
        super().cuda()
        for part in self.parts:
            part.cuda()
        return self

    def forward(self, x):
        return self.parts[0](x)


model = Own() if torch.rand(1) > 0.5 else nn.Linear(3, 3)
if torch.rand(1) > 0.5:
    model = Own()
model = model.cuda()
"""

    assert "model = model.cuda() if torch.cuda.is_available() else model" in repair(CODE, HEAD + text)


@pytest.mark.parametrize(
    "test", ["not x.is_cuda", "not isinstance(x, torch.cuda.FloatTensor)", "fast or not x.is_cuda"]
)
def test_a_test_that_holds_without_cuda_is_no_condition_on_it(test, repair):
    text = f"fast = False\nx = torch.ones(3)\nif {test}:\n    x = x.cuda()\n"

    assert "x = x.to(device)" in repair(CODE, HEAD + text)


def test_what_a_kernel_gets_stays_on_cuda(repair):
    text = "class March(Function):\n    @staticmethod\n    def forward(ctx, x):\n        if not x.is_cuda:\n"
    text = f"{HEAD}from torch.autograd import Function\nimport _march\n{text}            x = x.cuda()\n"

    assert repair(CODE, f"{text}        return _march.forward(x)\n") == f"{text}        return _march.forward(x)\n"


@pytest.mark.parametrize(
    ("loop", "handler", "count"),
    [
        ("for x in [x]:\n        ", "print(error)", 0),
        ("for x in [x]:\n        ", "x = x.cpu()", 1),
        ("for x in [x]:\n        ", "print('no GPU')", 1),
        ("", "print(error)", 1),
    ],
)
def test_a_handler_around_a_loop_is_no_fallback_unless_it_is_about_devices(loop, handler, count, repair):
    text = f"x = torch.ones(3)\ntry:\n    {loop}x = x.cuda()\nexcept Exception as error:\n    {handler}\n"

    assert repair(CODE, HEAD + text).count(".cuda()") == count


def test_a_test_of_a_name_for_devices_is_no_condition_on_cuda(repair):
    text = 'device = "cuda"\nif device:\n    x = torch.ones(3).to("cuda")\n'

    assert repair(CODE, HEAD + text) == HEAD + (
        'device = "cuda" if torch.cuda.is_available() else "cpu"\nif device:\n    x = torch.ones(3).to(device)\n'
    )
    assert 'x.to("cuda")' in repair(CODE, f'{HEAD}def f(device, x):\n    if device:\n        return x.to("cuda")\n')


@pytest.mark.parametrize("test", ["x.is_cuda", "isinstance(x, torch.cuda.FloatTensor)", "use_cuda and not x.is_cuda"])
def test_one_that_does_not_is(test, repair):
    text = f"use_cuda = torch.cuda.is_available()\nx = torch.ones(3)\nif {test}:\n    y = x.cuda()\n"

    assert repair(CODE, HEAD + text) == HEAD + text


@pytest.mark.parametrize("text", UNCHANGED)
def test_left_alone(text, repair):
    assert repair(CODE, text) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(
            "print(torch.ones(2).sum().flatten().float().double().view(1).cuda(0 + 1))\n",
            "the accelerator is chosen by an expression",
            id="index",
        ),
        pytest.param("x = torch.rand(3).cuda(True)\n", "a flag is passed as the device", id="flag"),
        pytest.param(
            "def f(x):\n    return torch.cuda.FloatTensor(size=x)\n",
            "its argument may be a size or the content",
            id="typed",
        ),
        pytest.param(
            "f = lambda x, device='cuda': x.to(device)\n",
            "the default of a parameter: a query there would run when the module is imported",
            id="parameter",
        ),
        pytest.param(
            "@torch.jit.script\ndef f(x: torch.Tensor):\n    return x.cuda()\n",
            "TorchScript compiles the function",
            id="script",
        ),
        pytest.param(
            "from tables import Alias\n\ndef f():\n    return Alias().cuda()\n",
            "`cuda` may be a method of a class of the program",
            id="a-class-from-elsewhere",
        ),
    ],
)
def test_what_stays_is_listed_with_the_reason(text, reason, tmp_path):
    assert [each.finding.reason for each in reported(tmp_path, HEAD + text)] == [reason]


def test_files_change_independently(repair):
    """A module declares the device where it is used: whoever imports it may select devices first."""
    model = "import torch\n\ndef noise(x):\n    return x + torch.rand(3, 4).cuda()\n"
    train = HEAD + "from model import noise\n\nprint(noise(torch.rand(3, 4).cuda()))\n"

    repaired = repair(CODE, {"model.py": model, "train.py": train})

    assert repaired == {
        "model.py": "import torch\n\ndef noise(x):\n    " + DECLARED + "    return x + torch.rand(3, 4).to(device)\n",
        "train.py": HEAD + "from model import noise\n" + DECLARED + "\nprint(noise(torch.rand(3, 4).to(device)))\n",
    }


@pytest.mark.parametrize(("select", "asked"), [((), False), (("DEV",), False), (("DEV8",), True), ((CODE,), True)])
def test_it_is_used_only_where_it_is_named(select, asked):
    assert not rule_for(CODE).default
    assert Settings(select=select).asks_for(CODE) is asked


ENTRY = "import template\nfrom tools import select\nimport torch\n\nargs = template.fill()\nselect(args)\n"
TEMPLATE = "def fill(args={{}}):\n    {owner}.device = 'cuda'\n    return args\n"
SELECTS = "import os\n\ndef select(args):\n    os.environ['CUDA_VISIBLE_DEVICES'] = args.gpu\n"


@pytest.mark.parametrize(("owner", "is_ported"), [("args", False), ("self", True)])
def test_a_setting_is_not_asked_for_before_another_file_selects_devices(repair, owner, is_ported):
    files = {
        "train.py": ENTRY,
        "template.py": TEMPLATE.format(owner=owner),
        "tools.py": SELECTS,
    }

    assert ("is_available" in repair(CODE, files)["template.py"]) is is_ported


def test_a_function_that_imports_torch_later_imports_it_before_the_device(repair):
    text = (
        "def f(x, fast):\n    if fast:\n        return x.double().cuda()\n    import torch\n    return torch.norm(x)\n"
    )
    start = 'import torch\n    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n    if fast:'

    changed = repair(CODE, f"from helpers import *\n\n\n{text}")

    assert changed.startswith(f"from helpers import *\n\n\ndef f(x, fast):\n    {start}")
    assert "x.double().to(device)" in changed


PARALLEL = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.ones(8, 4), torch.ones(8, 2)), batch_size=4)
net = nn.DataParallel(nn.Linear(4, 2)).cuda()
for x, y in loader:
    {}
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("(net(x) - y.cuda()).sum()", "(net(x.to(device)) - y.to(device)).sum()"),
        ("(net(input=x) - y.cuda()).sum()", "(net(input=x.to(device)) - y.to(device)).sum()"),
        ("net(x.cuda(non_blocking=True))", "net(x.to(device, non_blocking=True))"),
        ("net(*[x])", "net(*[x])"),
    ],
)
def test_data_parallel_moves_no_inputs_to_mps(before, after, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = decode("train.py", PARALLEL.format(before).encode())
    with_mps = Settings(root=".", select=("DEV811",), targets=PortTargets(("cpu", "cuda", "mps")))
    without = Settings(root=".", select=("DEV811",), targets=PortTargets(("cpu", "cuda")))

    ported, kept = (fixpoint.apply([file], each).patch.files[0].new.decode() for each in (with_mps, without))
    assert ported.endswith(f"    {after}\n")
    assert "net(x.to(device))" not in kept


def test_an_argument_that_cuda_does_not_take_stays(repair):
    text = HEAD + "net = nn.Linear(4, 2)\nnet.cuda(device_id=0)\n"

    assert repair(CODE, text) == text


def test_a_file_that_only_splits_a_batch_is_ported(repair):
    text = HEAD + "def step(net, x):\n    return {}\n"

    split = "nn.parallel.data_parallel(net, x)"
    assert repair(CODE, text.format(split)) == text.format(f"{split} if torch.cuda.is_available() else net(x)")
