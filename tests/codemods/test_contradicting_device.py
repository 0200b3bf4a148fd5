"""DEV501 by example: what contradicts the program's own choice, what it then says, and what is left alone."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import Severity, Status
from devfix.sources import SourceFile

from .listings import listings

CODE = "DEV501"


@pytest.mark.parametrize("listing", listings("contradicting_device", "repaired"))
def test_the_program_says_its_own_device(listing, before_and_after, repair):
    before, after = before_and_after(listing)

    assert repair(CODE, before) == after
    assert repair(CODE, after) == after


@pytest.mark.parametrize("listing", listings("contradicting_device", "untouched"))
def test_what_is_chosen_stays(listing, unchanged, repair):
    text = unchanged(listing)

    assert repair(CODE, text) == text


def test_a_device_that_another_file_declares_gives_way(files_before_and_after, repair):
    before, after = files_before_and_after(
        {
            "train.py": """
                  import torch
                  from torch import nn
                  from settings import DEVICE

                  device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
                  model = nn.Linear(4, 2).to(device)
                - print(model(torch.ones(3, 4).to(DEVICE)))
                + print(model(torch.ones(3, 4).to(device)))
                """,
            "settings.py": 'DEVICE = "cpu"',
        }
    )

    assert repair(CODE, before) == after


def test_which_of_several_accelerators_are_meant_is_reported(tmp_path):
    program = """\
import torch
from torch import nn

net = nn.DataParallel(nn.Linear(4, 2).cuda(), device_ids=[1, 2])
net(torch.ones(3, 4).cuda())
"""
    path = tmp_path / "train.py"
    path.write_text(program)
    outcome = fixpoint.apply([SourceFile(str(path), program.encode(), program)], Settings(select=(CODE,)))

    assert [(r.finding.message, r.status) for r in outcome.resolutions] == [
        ("`device_ids=[1, 2]` does not match the accelerator that the module is on", Status.NOT_FIXED)
    ]
    assert outcome.patch.files == ()


@pytest.mark.parametrize(
    ("choices", "device"),
    [
        ("[None, 'cpu', 'nvme']", "next(model.parameters()).device"),
        ("('none', 'cpu')", "next(model.parameters()).device"),
        ("['cpu', 'gpu']", "args.offload_device"),
        ("['cpu', '0']", "args.offload_device"),
        ("DEVICES", "args.offload_device"),
    ],
)
def test_an_option_without_an_accelerator_among_its_choices_is_not_the_device(repair, choices, device):
    program = f"""\
import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--offload_device", choices={choices})
args = parser.parse_args()
model = nn.Linear(3, 3).cuda()
print(model(torch.ones(3, device="cpu")))
"""

    assert repair(CODE, program) == program.replace('"cpu"', device)


OPTIONAL = """\
import argparse
import torch
from torch import nn


def made(args):
    x = torch.ones(3, 3)
    x = x.cuda()
    OTHER
    return x


parser = argparse.ArgumentParser()
parser.add_argument("--no-cuda", action="store_true")
args = parser.parse_args()
args.cuda = torch.cuda.is_available() and not args.no_cuda
args.use_gpu = torch.cuda.is_available()
model = nn.Linear(3, 3)
if CHOSEN:
    model.cuda()
print(model(made(args)))
"""


@pytest.mark.parametrize(
    ("other", "chosen", "is_repaired"),
    [
        pytest.param("pass", "args.cuda", True, id="the-only-one"),
        pytest.param("y = x.cuda()", "args.cuda", False, id="beside-another-one"),
        pytest.param("y = x.cuda()", "torch.cuda.is_available()", True, id="the-machine-decides"),
        pytest.param("y = x.cuda()", "args.use_gpu", True, id="the-machine-decided"),
    ],
)
def test_moves_that_an_option_decides_are_repaired_together(repair, other, chosen, is_repaired):
    program = OPTIONAL.replace("OTHER", other).replace("CHOSEN", chosen)
    moved = f"if {chosen}:\n        x = x.cuda()"

    assert repair(CODE, program) == (program.replace("x = x.cuda()", moved) if is_repaired else program)


@pytest.mark.parametrize("is_trial", [True, False])
def test_a_trial_chooses_no_device(tmp_path, is_trial):
    placed = "works = torch.ones(3).cuda().sum() > 0"
    tried = (
        f"    try:\n        {placed}\n    except RuntimeError:\n        works = False" if is_trial else f"    {placed}"
    )
    program = f"""\
import torch
from torch import nn

if torch.cuda.is_available():
{tried}
model = nn.Linear(3, 3).cuda()
print(model(torch.ones(3).cuda()))
"""
    source = SourceFile(str(tmp_path / "train.py"), program.encode(), program)
    outcome = fixpoint.check([source], Settings(select=(CODE,), severity=Severity.LATENT, root=str(tmp_path)))

    assert bool(outcome.resolutions) is not is_trial


def test_a_tensor_on_the_device_of_another_one_is_not_where_the_device_is_chosen(tmp_path):
    program = """\
import argparse
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(torch.zeros(3, device=x.device))

parser = argparse.ArgumentParser()
parser.add_argument("--gpu", type=int)
net = Net().to(torch.device(f"cuda:{parser.parse_args().gpu}"))
net(torch.ones(3).cuda())
"""
    source = SourceFile(str(tmp_path / "train.py"), program.encode(), program)
    outcome = fixpoint.check([source], Settings(select=(CODE,), severity=Severity.LATENT, root=str(tmp_path)))

    assert [r.finding.span.line for r in outcome.resolutions] == [program.count("\n")]


def test_a_model_that_a_framework_keeps_on_the_cpu_is_no_hard_coded_device(tmp_path):
    program = """\
import torch
from accelerate import Accelerator
from torch import nn

net = Accelerator(cpu=True).prepare(nn.Linear(3, 3))
net(torch.ones(3).cuda())
"""
    source = SourceFile(str(tmp_path / "train.py"), program.encode(), program)
    outcome = fixpoint.check([source], Settings(select=(CODE,), severity=Severity.LATENT, root=str(tmp_path)))

    assert outcome.problems == ()
    assert outcome.resolutions == ()


def test_a_method_places_values_where_it_works(tmp_path, before_and_after):
    before, after = before_and_after(
        """
          class Pipeline(Base):
              def __call__(self, text, device: torch.device | None = None):
                  device = device or self._execution_device
        -         ids = self.tokenizer(text).to(self.device)
        +         ids = self.tokenizer(text).to(device)
                  return self.text_encoder(ids) * torch.ones(3, device=device)
        """
    )
    path = tmp_path / "lib.py"
    path.write_text(before)
    settings = Settings(select=(CODE,), severity=Severity.LATENT, root=str(tmp_path))
    outcome = fixpoint.apply([SourceFile(str(path), before.encode(), before)], settings)

    assert [r.finding.severity for r in outcome.resolutions] == [Severity.LATENT]
    assert [change.new.decode() for change in outcome.patch.files] == [after]


@pytest.mark.parametrize(
    "saving",
    [
        "    net.cpu()\n    torch.save(net, 'net.pt')\n    if torch.cuda.is_available():\n        net.cuda()\n",
        "    state = torch.load('net.pt', map_location='cuda' if torch.cuda.is_available() else 'cpu')\n",
    ],
)
def test_a_move_back_or_a_load_is_no_choice_of_a_device(repair, saving):
    program = f"""\
import torch
from torch import nn

def save(net):
{saving}
net = nn.Linear(3, 3).cuda()
net(torch.ones(3).cuda())
save(net)
"""

    assert repair(CODE, program) == program


CACHED = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        self.cached = x.shape[0] > 50
        flow = x + 1
        if self.cached:
            flow = flow.cpu()
        return self.merge(flow, x)

    def merge(self, flow, x):
        if {test}:
            flow = flow.cuda()
        return self.layer(flow + x)

net = Net().cuda()
print(net(torch.ones(3, 3).cuda()))
"""


def test_a_move_to_the_cpu_on_one_path_is_not_certain(tmp_path):
    program = CACHED.replace("{test}", "len(x) > 60")
    path = tmp_path / "train.py"
    path.write_text(program)
    source = SourceFile(str(path), program.encode(), program)
    settings = Settings(select=(CODE,), severity=Severity.LATENT, includes_doubtful=True, root=str(tmp_path))
    outcome = fixpoint.check([source], settings)

    assert [r.finding.severity for r in outcome.resolutions] == [Severity.LATENT]


def test_a_move_to_the_cpu_that_the_same_flag_takes_back_is_right(repair):
    program = CACHED.replace("{test}", "self.cached")

    assert repair(CODE, program) == program


CHOSEN = """\
import argparse
import torch
from torch import nn

def parse_devices(text):
    devices = []
    for part in text.split(","):
        index = int(part)
        CHECK
        devices.append(index)
    return devices

parser = argparse.ArgumentParser()
parser.add_argument("--devices", default="0")
devices = parse_devices(parser.parse_args().devices)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 3).to(device)
net(torch.ones(3).cuda())
"""


def test_a_program_that_needs_an_index_of_the_machine_has_an_accelerator(repair):
    program = CHOSEN.replace("CHECK", "assert index < torch.cuda.device_count()")

    assert repair(CODE, program) == program
    assert repair(CODE, program.replace("index < ", "index != ")) != program.replace("index < ", "index != ")


UNBOUND = """\
import os
import torch
from torch import nn

spread = "WORLD_SIZE" in os.environ
if spread:
    torch.cuda.set_device(0)
    Norm = nn.SyncBatchNorm
ELSE
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Sequential(nn.Linear(3, 3), Norm(3)).to(device)
net(torch.ones(3, 3).cuda())
"""


def test_a_program_that_reads_an_unbound_name_ends_there(repair):
    program = UNBOUND.replace("ELSE\n", "")
    bound = UNBOUND.replace("ELSE", "else:\n    Norm = nn.BatchNorm1d")

    assert repair(CODE, program) == program
    assert repair(CODE, bound) != bound


@pytest.mark.parametrize(
    "read",
    ["chosen = Norm if spread else None", "chosen = spread and Norm", "with suppress(NameError):\n    print(Norm)"],
)
def test_a_read_that_may_not_happen_or_is_caught_ends_nothing(repair, read):
    program = (
        UNBOUND.replace("ELSE", read)
        .replace("Norm(3)", "nn.ReLU()")
        .replace("import os\n", "import os\nfrom contextlib import suppress\n")
    )

    assert repair(CODE, program) != program


@pytest.mark.parametrize(
    ("unasked", "asked", "levels"),
    [
        (9, "torch.cuda.is_available()", set()),
        (8, "torch.cuda.is_available()", {Severity.ERROR}),
        (9, "use_cuda", {Severity.ERROR}),
    ],
)
def test_a_program_for_accelerators_may_ask_once_whether_there_is_one(tmp_path, unasked, asked, levels):
    moves = "".join(f"x = x + torch.ones(3, 4).cuda() * {number}\n" for number in range(unasked))
    program = f"""\
import torch
from torch import nn

use_cuda = torch.cuda.is_available()
model = nn.Linear(4, 2)
if {asked}:
    model.cuda()
x = torch.zeros(3, 4)
{moves}print(model(x))
"""
    source = SourceFile(str(tmp_path / "train.py"), program.encode(), program)
    outcome = fixpoint.check([source], Settings(select=(CODE,), severity=Severity.LATENT, root=str(tmp_path)))

    assert {r.finding.severity for r in outcome.resolutions} == levels


@pytest.mark.parametrize(
    ("device", "is_error"), [('"cuda:0"', False), ('torch.device("cuda")', False), ('input() or "cuda"', True)]
)
def test_a_program_for_accelerators_names_one_as_its_device(tmp_path, device, is_error):
    program = f"""\
import torch
from torch import nn

device = {device}
model = nn.Linear(4, 2)
model.to(device)
head = nn.Linear(2, 2).cuda()
x = torch.zeros(3, 4)
if torch.cuda.is_available():
    x = x.cuda()
print(head(model(x)))
"""
    source = SourceFile(str(tmp_path / "train.py"), program.encode(), program)
    outcome = fixpoint.check([source], Settings(select=(CODE,), severity=Severity.LATENT, root=str(tmp_path)))

    assert (Severity.ERROR in {r.finding.severity for r in outcome.resolutions}) is is_error


@pytest.mark.parametrize(
    ("bounds", "is_error"),
    [
        ("limits = torch.ones(3, 4).cuda()\n", False),
        ("import os\nif os.path.exists('limits.pt'):\n    limits = torch.ones(3, 4).cuda()\n", True),
        ("limits, others = 3, torch.ones(3, 4)\nothers = others.cuda()\n", False),
        ("def limits():\n    return torch.ones(3, 4).cuda()\n", True),
        ("if torch.cuda.is_available():\n    limits = torch.ones(3, 4).cuda()\n", True),
    ],
    ids=["needed", "if-there-is-a-file", "needed-for-another-name", "in-a-function", "asked"],
)
def test_a_program_that_imports_what_needs_an_accelerator_is_for_accelerators(tmp_path, bounds, is_error):
    program = """\
import bounds
import torch
from torch import nn

use_gpu = torch.cuda.is_available()
model = nn.Linear(4, 2)
model.cuda()
x = torch.zeros(3, 4)
if use_gpu:
    x = x.cuda()
print(model(x), bounds.limits)
"""
    (tmp_path / "bounds.py").write_text(f"import torch\n\n{bounds}", encoding="utf-8")
    source = SourceFile(str(tmp_path / "train.py"), program.encode(), program)
    outcome = fixpoint.check([source], Settings(select=(CODE,), severity=Severity.LATENT, root=str(tmp_path)))

    assert (Severity.ERROR in {r.finding.severity for r in outcome.resolutions}) is is_error


def test_the_index_of_what_another_function_has_moved_to_the_cpu_follows_it(tmp_path, before_and_after):
    before, after = before_and_after(
        """
          def refined(pose):
              mask = pose.sum(1) > 0
              return mask, (pose * 2).cpu()

          pose = torch.ones(3, 4).cuda()
          mask, new = refined(pose)
          kept = pose.cpu()
        - kept[mask] = new[mask]
        + kept[mask] = new[mask.cpu()]
        """
    )
    path = tmp_path / "train.py"
    path.write_text(before)
    settings = Settings(
        select=(CODE,), severity=Severity.LATENT, includes_doubtful=True, root=str(tmp_path), unsafe_fixes=True
    )
    outcome = fixpoint.apply([SourceFile(str(path), before.encode(), before)], settings)

    assert {r.finding.severity for r in outcome.resolutions} == {Severity.LATENT}
    assert [change.new.decode() for change in outcome.patch.files] == [after]


@pytest.mark.parametrize(("setting", "is_moved"), [("torch.cuda.FloatTensor", False), ("torch.FloatTensor", True)])
def test_a_program_ends_where_an_imported_file_requires_an_accelerator(setting, is_moved, repair):
    files = {
        "train.py": "import torch\nfrom torch import nn\nfrom steps import run\n\n"
        'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
        "net = nn.Linear(4, 2).to(device)\nprint(run(net))\n",
        "steps.py": f'import torch\n\ntorch.set_default_tensor_type("{setting}")\n\n\n'
        "def run(net):\n    return net(torch.ones(3, 4).cuda())\n",
    }

    assert (repair(CODE, files) != files) is is_moved


def test_an_item_whose_move_is_discarded_may_be_anywhere(repair):
    program = """\
import torch
from data import Scenes
from torch import nn
from torch.utils.data import DataLoader

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
for x, y in DataLoader(Scenes()):
    x.to(device)
    y.to(device)
    best = model(x.to(device)).cpu().argmax(1)
    print(best.eq(y).sum())
"""
    assert repair(CODE, program) == program


TOLD = """\
import torch
from torch import nn


def totorch(x, device="cuda"):
    return torch.as_tensor(x).float().to(device)


model = nn.Linear(2, 2).to("cuda")
print(model(totorch([1, 2], "cpu")))
"""


def test_a_function_that_several_calls_ask_for_the_cpu_is_asked_as_before(repair):
    twice = TOLD + 'print(totorch([3], device="cpu"))\n'

    assert repair(CODE, TOLD) != TOLD
    assert repair(CODE, twice) == twice


SCATTERED = """\
import sys

import torch
from torch import nn

first = torch.device("cuda:0")
indices = [int(index) for index in sys.argv[1:]]
model = nn.Linear(3, 3)
model = model.to(indices[0])
net = nn.DataParallel(model, device_ids=indices)
x = torch.ones(2, 3)
x = x.to(first)
print({use})
"""


@pytest.mark.parametrize(("use", "codes"), [("net(x)", []), ("net.module(x)", [CODE]), ("x * model.weight", [CODE])])
def test_what_a_module_scatters_may_be_on_any_accelerator(tmp_path, use, codes):
    text = SCATTERED.format(use=use)
    file = SourceFile(str(tmp_path / "train.py"), text.encode(), text)
    outcome = fixpoint.check([file], Settings(root=str(tmp_path), severity=Severity.LATENT))

    assert [each.finding.code for each in outcome.resolutions if each.finding.code == CODE] == codes
