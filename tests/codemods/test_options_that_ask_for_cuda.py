"""Code under options: what runs if none is given is ported, what the user asks for stays."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import PortTargets
from devfix.sources import decode

HEAD = "import argparse\n\nimport torch\n"
DEVICE = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
MIDDLE = """
parser = argparse.ArgumentParser()
parser.add_argument("--ngpu", type=int, default=1)
parser.add_argument("--use-gpu", dest="use_gpu", type=int, default=1)
parser.add_argument("--gpu-ids", type=str, default="0")
parser.add_argument("--no-cuda", action="store_true")
parser.add_argument("--cuda", action="store_true")
parser.add_argument("--gpu", type=int)
parser.add_argument("--cpu-only", dest="on_gpu", action="store_false")
parser.add_argument("--gpus", type=int, default="1")
parser.add_argument("--checked-gpu", type=int, default=1)
args = parser.parse_args()
args.checked_gpu = args.checked_gpu and torch.cuda.is_available()
x = torch.ones(3)
"""


@pytest.fixture
def ported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(text, *more):
        settings = Settings(root=".", select=("DEV811", "DEV812", *more), targets=PortTargets(("cpu", "cuda")))
        outcome = fixpoint.apply([decode("train.py", (HEAD + MIDDLE + text).encode())], settings)
        for change in outcome.patch.files:
            after = change.new.decode()
            assert after.startswith(HEAD)
            return after.split("x = torch.ones(3)\n", 1)[1]
        return text

    return call


@pytest.mark.parametrize(
    "test",
    [
        "args.ngpu > 0",
        "args.ngpu",
        "args.use_gpu == 1",
        "args.use_gpu == 1 and args.ngpu >= 1",
        "not args.no_cuda",
        "args.no_cuda is False",
        "args.on_gpu and len(args.gpu_ids)",
        "args.gpu is not None",
        "args.gpu_ids != '-1'",
        "args.gpus > 0",
        "args.use_gpu and not full",
    ],
)
def test_what_runs_if_no_option_is_given_is_ported(ported, test):
    assert ported(f"if {test}:\n    x = x.cuda()\n") == f"if {test}:\n    x = x.to(device)\n"


@pytest.mark.parametrize(
    "test",
    [
        "args.cuda",
        "args.ngpu > 1",
        "args.use_gpu == 0",
        "not args.no_cuda and torch.cuda.is_available()",
        "args.checked_gpu",
        "args.gpu_of_others",
        "args.cuda or args.gpu_of_others",
    ],
)
def test_what_the_user_asks_for_stays(ported, test):
    text = f"if {test}:\n    x = x.cuda()\n"

    assert ported(text) == text


def test_the_other_branch_is_the_one_that_runs(ported):
    text = "if args.cuda:\n    x = x.to('cuda')\nelse:\n    x = x.cuda().half()\n"

    assert ported(text) == text.replace("x.cuda().half()", "x.to(device).half()")


def test_an_early_end_that_is_asked_for_does_not_guard_what_follows(ported):
    text = "def main(x):\n    if args.no_cuda:\n        return x\n    return x.cuda()\nmain(x)\n"

    assert ported(text) == text.replace("x.cuda()", "x.to(device)")


@pytest.mark.parametrize("place", ["torch.device({})", "x.to({})", "torch.ones(2, device={})"])
def test_a_choice_of_a_device_by_an_option_is_ported(ported, place):
    text = f"device = {place}\n"
    choice = '"cuda" if torch.cuda.is_available() else "cpu"'

    after = ported(text.format("'cuda' if args.ngpu > 0 else 'cpu'"))

    assert after == text.format(f"({choice}) if args.ngpu > 0 else 'cpu'")
    for test in ("torch.cuda.is_available()", "args.cuda", "args.checked_gpu"):
        unchanged = text.format(f"'cuda' if {test} else 'cpu'")
        assert ported(unchanged) == unchanged


def test_a_parameter_of_a_lambda_is_not_the_global_of_its_name(ported):
    text = "on = args.ngpu\nmove = lambda x, on: x.cuda() if on and 'gpu' else x\nmove(x, torch.cuda.is_available())\n"

    assert ported(text) == text


OBJECT = """\
args.gpu_ids = [int(number) for number in args.gpu_ids.split(",")]
class Work:
    def __init__(self, args):
        self.args = args
        self.gpu_ids = args.gpu_ids

    def use_gpu(self):
        return len(self.args.gpu_ids) > 0

    def work(self, x):
        TYPE = torch.cuda.FloatTensor if TEST else torch.FloatTensor
        if TEST:
            x = x.cuda()
        return x, TYPE(3).fill_(1)

Work(args).work(x)
"""


@pytest.mark.parametrize("name", ["kind", "self.kind"])
@pytest.mark.parametrize("test", ["self.gpu_ids", "self.use_gpu()", "len(args.gpu_ids) > 0"])
def test_a_list_of_indices_that_is_not_empty_by_default_asks_for_cuda(ported, test, name):
    before = OBJECT.replace("TEST", test).replace("TYPE", name)

    after = ported(before)

    assert f"{name} = torch.cuda.FloatTensor if {test} and torch.cuda.is_available() else torch.FloatTensor" in after
    assert "x = x.to(device)" in after
    assert ported(after) == after


@pytest.mark.parametrize("test", ["args.cuda", "args.checked_gpu", "self.asks_gpu()"])
def test_a_type_that_the_user_asks_for_stays(ported, test):
    text = OBJECT.replace("TEST", test).replace("TYPE", "kind")

    assert ported(text) == text


def test_a_chosen_index_is_no_condition_on_cuda(ported):
    text = "if args.gpu is not None:\n    torch.cuda.set_device(args.gpu)\n    x = x.cuda(args.gpu)\n"

    assert ported(text) == (
        "if args.gpu is not None:\n    if torch.cuda.is_available():\n        torch.cuda.set_device(args.gpu)\n"
        "    x = x.cuda(args.gpu) if torch.cuda.is_available() else x\n"
    )


ELSE = "if torch.cuda.is_available() else None"
PARALLEL = (
    "from torch import nn\nfrom torch.nn.parallel import DistributedDataParallel as DDP\nmodel = nn.Linear(3, 2)\n"
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("DDP(model, device_ids=[0])", "DDP(model, device_ids=[0] if torch.cuda.is_available() else None)"),
        (
            "nn.parallel.DistributedDataParallel(model, device_ids=[args.gpu], output_device=args.gpu)",
            f"nn.parallel.DistributedDataParallel(model, device_ids=[args.gpu] {ELSE}, output_device=args.gpu {ELSE})",
        ),
        (
            "nn.SyncBatchNorm.convert_sync_batchnorm(model)",
            "nn.SyncBatchNorm.convert_sync_batchnorm(model) if torch.cuda.is_available() else model",
        ),
        (
            "nn.parallel.data_parallel(model, x, range(2))",
            "nn.parallel.data_parallel(model, x, range(2)) if torch.cuda.is_available() else model(x)",
        ),
        (
            "nn.parallel.data_parallel(model, (x, y))[0]",
            "(nn.parallel.data_parallel(model, (x, y)) if torch.cuda.is_available() else model(x, y))[0]",
        ),
        (
            "nn.parallel.data_parallel(model, x, module_kwargs={'y': x})",
            "nn.parallel.data_parallel(model, x, module_kwargs={'y': x})",
        ),
        (
            "nn.parallel.data_parallel(model, x) if torch.cuda.is_available() else model(x)",
            "nn.parallel.data_parallel(model, x) if torch.cuda.is_available() else model(x)",
        ),
        ("DDP(model)", "DDP(model)"),
        ("DDP(model, device_ids=None)", "DDP(model, device_ids=None)"),
        ("DDP(model, device_ids=args.ids)", "DDP(model, device_ids=args.ids)"),
        ("nn.DataParallel(model, device_ids=[0])", "nn.DataParallel(model, device_ids=[0])"),
        ("DDP(model, device_ids=[0]) if args.cuda else model", "DDP(model, device_ids=[0]) if args.cuda else model"),
    ],
)
def test_what_only_modules_on_cuda_accept_is_given_to_them_only(ported, before, after):
    assert ported(f"{PARALLEL}model = {before}\n") == f"{PARALLEL}model = {after}\n"


@pytest.mark.parametrize(
    "setting",
    [
        "gpu = 0 if torch.cuda.is_available() else None",
        "gpu = None\nif torch.cuda.is_available():\n    gpu = 0",
        "gpu = get_rank_gpu(0)",
    ],
)
def test_an_index_that_a_query_or_a_function_decides_is_a_condition_on_cuda(ported, setting):
    text = f"{setting}\nif gpu is not None:\n    x = x.cuda(gpu)\n"

    assert ported(text) == text


def test_an_option_that_the_machine_may_turn_off_is_a_condition_on_cuda(ported):
    text = "class Config:\n    ngpu = 1 if torch.cuda.is_available() else 0\nif args.ngpu > 0:\n    x = x.cuda()\n"

    assert ported(text) == text


@pytest.mark.parametrize("other", ["setattr(args, 'ngpu', 2)\n", "vars(args)['ngpu'] = 2\n"])
def test_an_option_that_the_program_sets_to_something_else_asks_for_cuda(ported, other):
    text = f"{other}if args.ngpu > 0:\n    x = x.cuda()\n"

    assert ported(text) == text.replace("x.cuda()", "x.to(device)")


@pytest.mark.parametrize(
    "check",
    [
        "assert not args.ngpu or torch.cuda.is_available()\n",
        "if args.ngpu and not torch.cuda.is_available():\n    raise Exception('no GPU')\n",
    ],
)
def test_a_check_that_an_option_asks_for_by_default_goes(ported, check):
    text = f"{check}x = x.cuda()\n"

    assert ported(text, "DEV815") == "x = x.to(device)\n"
    assert check.replace("args.ngpu", "args.cuda") in ported(text.replace("args.ngpu", "args.cuda"), "DEV815")


@pytest.mark.parametrize("test", ["num_gpu > 1 and gpu_train", "settings['gpus'] > 1", "args.cuda"])
def test_a_choice_between_two_moves_is_no_condition_on_cuda(ported, test):
    text = f"if {test}:\n    x = x.double().cuda()\nelse:\n    x = x.cuda()\n"

    assert ported(text) == text.replace(".cuda()", ".to(device)")


@pytest.mark.parametrize("test", ["torch.cuda.is_available()", "use_cuda"])
def test_a_query_is_a_condition_whatever_its_branches_do(ported, test):
    text = (
        f"use_cuda = torch.cuda.is_available()\nif {test}:\n    x = x.cuda()\nelse:\n    x = f(x.cuda)\n    g.cuda()\n"
    )

    assert ported(text) == text


@pytest.mark.parametrize(("given", "is_object"), [("torch.device(args.gpu)", True), ("args.gpu", False)])
def test_a_device_is_never_equal_to_a_text(ported, given, is_object):
    work = "def f(x, device):\n    if device != 'cpu':\n        x = x.cuda()\n    return x\n"
    text = f"{work}device = {given}\nf(x, device)\n"

    assert ("x = x.cuda()" in ported(text)) is not is_object


@pytest.mark.parametrize("test", ["index > -1", "index >= 0", "index != -1"])
@pytest.mark.parametrize("made", ['f"cuda:{index}"', '"cuda:{}".format(index)', '"cuda:" + str(index)'])
def test_a_device_that_its_index_chooses_is_ported(ported, test, made):
    text = f"index = load(args)[0]\ndevice = torch.device(CHOICE if {test} else 'cpu')\n"
    choice = f'({made} if torch.cuda.is_available() else "cpu")'

    assert ported(text.replace("CHOICE", made)) == text.replace("CHOICE", choice)
    for other in ("other > -1", "index == 0", "index > 0"):
        unchanged = text.replace("CHOICE", made).replace(test, other)
        assert ported(unchanged) == unchanged


@pytest.mark.parametrize("test", ["args.gpu_ids", "len(args.gpu_ids) > 0"])
def test_a_text_of_indices_is_a_list_if_it_is_split(ported, test):
    text = f"args.gpu_ids = args.gpu_ids.split(',')\nif {test}:\n    x = x.cuda()\n"

    assert ported(text) == text.replace("x.cuda()", "x.to(device)")


@pytest.mark.parametrize(
    ("test", "asked"),
    [
        ("(on := args.ngpu)", "((on := args.ngpu) and torch.cuda.is_available())"),
        ("args.ngpu or args.use_gpu", "(args.ngpu or args.use_gpu) and torch.cuda.is_available()"),
    ],
)
def test_a_test_keeps_its_meaning(ported, test, asked):
    text = f"kind = torch.cuda.FloatTensor if {test} else torch.FloatTensor\nx = kind(3).fill_(1)\n"

    assert ported(text) == text.replace(f"if {test} ", f"if {asked} ")


def test_a_type_of_cuda_on_both_sides_stays(ported):
    text = "kind = torch.cuda.FloatTensor if args.ngpu else torch.cuda.HalfTensor\n"

    assert ported(text) == text
