"""Flags: the followed run uses one accelerator, and the same unknown thing has one outcome on a path."""

from __future__ import annotations

from pathlib import Path

import pytest

from devfix import analysis

# each program moves the model and its input under conditions that agree, whatever they are
AGREE = [
    pytest.param("flag = choose()\nif flag:\n    m.cuda()\nif flag:\n    x = x.cuda()", id="same-name"),
    pytest.param("flag = choose()\nif flag:\n    m.cuda()\nx = x.cuda() if flag else x", id="conditional"),
    pytest.param(
        "flag = choose()\nif not flag:\n    pass\nelse:\n    m.cuda()\nif flag:\n    x = x.cuda()", id="negated"
    ),
    pytest.param("if mode == 'a':\n    m.cuda()\nif mode == 'a':\n    x = x.cuda()", id="comparison"),
    pytest.param("if mode == 'a':\n    m.cuda()\nif mode != 'a':\n    pass\nelse:\n    x = x.cuda()", id="inverse"),
    pytest.param("if mode is None:\n    m.cuda()\nif mode is None:\n    x = x.cuda()", id="is-none"),
    pytest.param("if cfg.fast:\n    m.cuda()\nif cfg.fast:\n    x = x.cuda()", id="attribute"),
    pytest.param("if a and b:\n    m.cuda()\nif a and b:\n    x = x.cuda()", id="and"),
    pytest.param("if torch.cuda.is_available():\n    m.cuda()\nx = x.cuda()", id="available"),
    pytest.param("if args.cuda:\n    m.cuda()\nx = x.cuda()", id="flag-cuda"),
    pytest.param("if not args.no_cuda:\n    m.cuda()\nx = x.cuda()", id="flag-no-cuda"),
    pytest.param("if use_gpu and torch.cuda.is_available():\n    m.cuda()\nx = x.cuda()", id="flag-use-gpu"),
    pytest.param("if args.gpu is not None:\n    m.cuda(args.gpu)\nx = x.cuda(args.gpu)", id="gpu-number"),
    pytest.param(
        "if cfg['device'] is not None:\n    m.to(cfg['device'])\nx = x.to(cfg['device'])", id="device-is-not-none"
    ),
    pytest.param("if args.gpu >= 0:\n    m.cuda(args.gpu)\nx = x.cuda(args.gpu)", id="gpu-sign"),
    pytest.param(
        "if torch.cuda.device_count() > 1:\n    m = nn.DataParallel(m)\nm.cuda()\nx = x.cuda()", id="device-count"
    ),
    pytest.param("if torch.cuda.device_count() >= 1:\n    m.cuda()\nx = x.cuda()", id="any-device"),
    pytest.param("if torch.cuda.device_count():\n    m.cuda()\nx = x.cuda()", id="any-device-as-a-flag"),
    pytest.param("if torch.cuda.device_count() == 0:\n    pass\nelse:\n    m.cuda()\nx = x.cuda()", id="no-device"),
    pytest.param("if torch.cuda.device_count() < 1:\n    pass\nelse:\n    m.cuda()\nx = x.cuda()", id="too-few"),
    pytest.param("if device.type == 'cuda':\n    m.cuda()\nx = x.cuda()", id="device-type"),
    pytest.param("if 'cuda' in str(device):\n    m.cuda()\nx = x.cuda()", id="device-text"),
    pytest.param("if device == 'cpu':\n    m.cpu()\nelse:\n    m.cuda()\nx = x.cuda()", id="device-is-not-cpu"),
    pytest.param("if args.distributed:\n    m = m\nelse:\n    m.cuda()\nx = x.cuda()", id="one-process"),
    pytest.param("if LEVEL > 2:\n    pass\nelse:\n    m.cuda()\nx = x.cuda()", id="constant"),
    pytest.param("if args.num_gpu == 1:\n    m.cuda()\nx = x.cuda()", id="one-device"),
    pytest.param("if cfg.NUM_GPUS:\n    m.cuda()\nx = x.cuda()", id="any-devices"),
    pytest.param("m.cuda()\nx = x.cuda()\nif type(x) in [list, tuple]:\n    x = torch.Tensor(x)", id="type-in-list"),
    pytest.param("if len(sys.argv) > 1:\n    m.cuda()\n    x = x.cuda()", id="same-branch"),
    pytest.param(
        "if mode == 'a':\n"
        "    m.cuda()\n"
        "elif mode == 'b':\n"
        "    pass\n"
        "if mode == 'b':\n"
        "    pass\n"
        "elif mode == 'a':\n"
        "    x = x.cuda()",
        id="elif",
    ),
    pytest.param(
        "match mode:\n    case 'a':\n        m.cuda()\n        x = x.cuda()\n    case _:\n        pass", id="match"
    ),
]
PUT = """
def put(value, fast):
    if fast:
        return value.cuda()
    return value

class Keeper:
    def __init__(self, fast):
        self.fast = fast

    def put(self, value):
        return put(value, self.fast)

def place(value, settings):
    return value.cuda() if settings.fast else value

"""
AGREE += [
    pytest.param(f"{PUT}fast = choose()\nm = put(m, fast)\nx = put(x, fast)", id="passed"),
    pytest.param(f"{PUT}fast = choose()\nm = put(m, fast=fast)\nif fast:\n    x = x.cuda()", id="passed-and-asked"),
    pytest.param(f"{PUT}fast = a > b\nkeeper = Keeper(fast)\nm = keeper.put(m)\nx = keeper.put(x)", id="kept"),
    pytest.param(f"{PUT}m = place(m, cfg)\nx = place(x, cfg)", id="settings"),
    pytest.param("fast = a > b\nuse_cuda = fast\nif use_cuda:\n    m.cuda()\nx = x.cuda()", id="name-cuda"),
    pytest.param(
        "def on(value, gpu):\n    return value.cuda() if gpu else value\nm = on(m, a)\nx = x.cuda()", id="gpu"
    ),
    pytest.param("on_cpu = a > b\nif not on_cpu:\n    m.cuda()\nx = x.cuda()", id="name-cpu"),
]
DISAGREE = [
    pytest.param(f"{PUT}one, two = choose(), choose()\nm.cuda()\nx = put(x, one)", id="passed-once"),
    pytest.param("if torch.cuda.device_count() > 1:\n    m.cuda()", id="several-devices"),
    pytest.param("if torch.cuda.device_count():\n    m.cuda()", id="any-device"),
    pytest.param("if args.cuda:\n    m.cuda()", id="flag-cuda"),
    pytest.param("if torch.cuda.is_available():\n    m.cuda()", id="available"),
    pytest.param("if cfg.fast:\n    m.cuda()\nelse:\n    x = x.cuda()", id="other-branch"),
    pytest.param("if a:\n    m.cuda()\nif not a:\n    x = x.cuda()", id="negated"),
    pytest.param("if LEVEL < 2:\n    m.cuda()", id="constant"),
    pytest.param("k = choose()\nif k is mode:\n    pass\nelif k == mode:\n    m.cuda()", id="equal-and-not-identical"),
]
SETUP = """
import argparse
import sys
from settings import a, b, cfg, mode, use_gpu
parser = argparse.ArgumentParser()
parser.add_argument("--cuda", action="store_true")
parser.add_argument("--no-cuda", action="store_true")
parser.add_argument("--gpu", type=int, default=0)
parser.add_argument("--distributed", action="store_true")
args = parser.parse_args()
LEVEL = 1
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
m, x = nn.Linear(3, 3), torch.ones(3, 3)
"""


@pytest.mark.parametrize("program", AGREE)
def test_conditions_that_agree_are_followed_together(met, program):
    assert met(f"{SETUP}\n{program}\nm(x)\n") == []


@pytest.mark.parametrize("program", DISAGREE)
def test_a_path_on_which_they_do_not_agree_is_found(met, program):
    assert met(f"{SETUP}\n{program}\nm(x)\n") == ["m(x)"]


@pytest.mark.parametrize("flag", ["choose()", "a > b", "cfg.fast"])
def test_what_is_passed_decides_in_both_functions(met, flag):
    program = f"fast = {flag}\nm = put(m, fast)\nif fast:\n    m(x.cuda())\nelse:\n    m(x)\n"

    assert met(SETUP + PUT + program) == []


@pytest.mark.parametrize(
    ("otherwise", "number"), [("nn.DataParallel(model).cuda()", 0), ("model.cuda()", 1)], ids=["it-moves-inputs", "not"]
)
def test_what_is_none_is_none_in_both_functions(met, otherwise, number):
    program = f"""
        from settings import slots

        def train(model, x, slot):
            if slot is not None:
                x = x.cuda(slot)
            return model(x)

        def work(slot):
            model = nn.Linear(3, 3)
            if slot is not None:
                model = model.cuda(slot)
            else:
                model = {otherwise}
            train(model, torch.ones(3, 3), slot)

        def main(slots):
            work(slots["gpu"][0])

        main(slots)
        """

    assert len(met(program)) == number


BASES = """
class Base:
    def put(self, value):
        if self.fast:
            value.cuda()
        return value
"""
TRAIN = """
import torch
from bases import Base
from settings import a, b

class Trainer(Base):
    def __init__(self):
        self.fast = a > b

    def run(self):
        model = self.put(torch.nn.Linear(3, 3))
        if self.fast:
            model(torch.ones(3, 3).cuda())

Trainer().run()
"""


def test_a_flag_of_an_object_is_the_same_in_each_file(tmp_path):
    (tmp_path / "bases.py").write_text(BASES)
    (tmp_path / "train.py").write_text(TRAIN)

    observations = analysis.analyse(
        str(tmp_path / "train.py"), lambda path: Path(path).read_text() if Path(path).is_file() else None, str(tmp_path)
    )

    assert observations is not None
    assert len(observations.trees) == 2
    assert observations.mismatches == []


def test_a_branch_that_the_followed_run_does_not_take_is_not_run(met):
    program = """
        if not torch.cuda.is_available():
            nn.Linear(3, 3).cuda()(torch.ones(3, 3))
        while False:
            nn.Linear(3, 3).cuda()(torch.ones(3, 3))
        """

    assert met(program) == []


@pytest.mark.parametrize("end", ["raise SystemExit", "sys.exit(1)", "raise ValueError('no')", "os._exit(1)", "quit()"])
def test_what_follows_an_end_is_not_run(met, end):
    program = f"""
        import os, sys
        x = torch.ones(3)
        if choose():
            {end}
        else:
            x = x.cuda()
        print(x + torch.ones(3).cuda())
        """

    assert met(program) == []


def test_what_follows_a_return_is_not_run(met):
    program = """
        def f(x):
            return x
            x + torch.ones(3).cuda()

        f(torch.ones(3))
        """

    assert met(program) == []


def test_a_value_that_may_be_none_is_narrowed_by_the_question(met):
    program = """
        def f(x, device=None):
            if device is not None:
                x = x.to(device)
            return x + torch.ones(3)

        f(torch.ones(3))
        """

    assert met(program) == []


def test_isinstance_decides_which_branch_is_run(met):
    program = """
        def move(value):
            if isinstance(value, torch.Tensor):
                return value.cuda()
            if isinstance(value, (list, tuple)):
                return [move(item) for item in value]
            return value

        x, y = move([torch.ones(3), torch.ones(3)])
        print(x + y)
        print(move(torch.ones(3)) + torch.ones(3).cuda())
        """

    assert met(program) == []


@pytest.mark.parametrize(
    ("made", "lines"),
    [
        pytest.param("outside.frames().squeeze(0)", [], id="result-of-a-method"),
        pytest.param("outside.Frames()", ["print(prepare(value) + torch.ones(3).cuda())"], id="new-object"),
    ],
)
def test_a_result_of_unknown_code_may_be_a_tensor(analyse, made, lines):
    program = f"""
        import outside

        def prepare(sample):
            if isinstance(sample, torch.Tensor):
                return sample.float()
            return torch.from_numpy(sample)

        value = {made}
        print(prepare(value) + torch.ones(3).cuda())
        """
    found = [mismatch for mismatch in analyse(program).mismatches if mismatch.on_every_path]

    assert [mismatch.point.tree.line(mismatch.point.span.line) for mismatch in found] == lines


def test_isinstance_is_decided_if_all_alternatives_are_tensors(met):
    program = """
        def doubled(value):
            other = value if isinstance(value, torch.Tensor) else torch.ones(3)
            return other + value

        doubled(torch.ones(3).cuda() if flag else torch.ones(()).cuda())
        """

    assert met(program) == []


@pytest.mark.parametrize("net", ["torchvision.models.resnet18()", "nn.Linear(3, 3)"])
def test_a_module_is_no_list(met, net):
    program = f"""
        import torchvision

        def move(value):
            if isinstance(value, list) or isinstance(value, tuple):
                return [each.cuda() for each in value]
            return value.cuda()

        net = {net}
        move(net)
        net(torch.ones(3, 3).cuda())
        """

    assert met(program) == []


@pytest.mark.parametrize("given", ["Net", "place"])
def test_a_class_or_function_is_no_string(met, given):
    program = f"""
        class Net(nn.Linear):
            pass

        def place():
            pass

        def placed(what):
            x = torch.ones(3)
            if isinstance(what, str):
                return x
            return x.cuda()

        print(placed({given}) * torch.ones(3).cuda())
        """

    assert met(program) == []


@pytest.mark.parametrize(
    ("cls", "number"), [("np.ndarray", 0), ("PIL.Image.Image", 0), ("collections.abc.Sized", 1), ("classes()", 1)]
)
def test_a_literal_is_no_instance_of_a_class_of_a_package(met, cls, number):
    program = f"""
        import collections.abc
        import numpy as np
        import PIL.Image

        def scaled(x, by=None):
            if isinstance(by, {cls}):
                return x * torch.ones(2)
            return x

        scaled(torch.ones(2).cuda())
        """

    assert len(met(program)) == number


@pytest.mark.parametrize(
    ("test", "number"),
    [
        ("is_torch_tpu_available()", 0),
        ("use_tpu", 0),
        ("args.xla", 0),
        ("has_cuda()", 1),
        ("self_test()", 1),
    ],
)
def test_another_back_end_is_not_asked_for(met, test, number):
    program = f"""
        from elsewhere import args, has_cuda, is_torch_tpu_available, self_test, use_tpu

        net = nn.Linear(3, 3)
        if {test}:
            net = net.cuda()
        net(torch.ones(2, 3))
        """

    assert len(met(program)) == number


def test_what_float_returns_is_a_float(met):
    program = """
        def scaled(x, by):
            by = float(by)
            if isinstance(by, float):
                by = torch.tensor([by, by], device=x.device)
            else:
                by = torch.ones(2)
            return x * by

        print(scaled(torch.ones(2).cuda(), int(input())))
        """

    assert met(program) == []


@pytest.mark.parametrize("count", ["num_devices", "args.n_gpu", "num_gpus", "len(args.gpu_ids)", "len(gpus)"])
def test_there_is_one_accelerator(met, count):
    text = f"""
def main(args, num_devices, num_gpus, gpus=[0]):
    model = nn.Linear(3, 3)
    if {count} > 0:
        model = model.cuda()
    if {count} > 1:
        model = nn.parallel.DistributedDataParallel(nn.Linear(3, 3))
    x = torch.ones(3, 3)
    model(x.cuda())
    model(x)

if __name__ == "__main__":
    import argparse
    parser = argparse.ArgumentParser()
    parser.add_argument("--n_gpu", type=int)
    args = parser.parse_args()
    main(args, args.n_gpu, args.n_gpu)
"""
    assert met(text) == ["model(x)"]


def test_a_list_without_accelerators_is_no_such_list(met):
    text = """
        def main(gpu_ids=[]):
            model = nn.Linear(3, 3)
            if len(gpu_ids) > 0:
                model = model.cuda()
            model(torch.ones(3, 3).cuda())

        main()
        """

    assert met(text) == ["model(torch.ones(3, 3).cuda())"]


@pytest.mark.parametrize(
    "choice",
    [
        pytest.param("'cuda' if torch.cuda.is_available() and '--cpu' not in sys.argv else 'cpu'", id="and-a-flag"),
        pytest.param("torch.device('cpu') if config.debugging else torch.device('cuda:0')", id="of-two-devices"),
        pytest.param("'cpu' if os.environ.get('SLOW') == '1' else 'cuda'", id="environment"),
    ],
)
def test_a_program_that_chooses_has_its_accelerator(met, choice):
    text = (
        f"import os\nimport sys\nimport argparse\nconfig = argparse.ArgumentParser().parse_args()\n\nwhere = {choice}\n"
    )
    text += "torch.ones(3).to(where) + torch.ones(3)\ntorch.ones(3).to(where) + torch.ones(3).to(where)\n"

    assert met(text) == ["torch.ones(3).to(where) + torch.ones(3)"]


def test_what_the_same_condition_decides_goes_with_the_choice(met):
    text = (
        "import argparse\nconfig = argparse.ArgumentParser().parse_args()\n\n"
        "where = 'cpu' if config.debugging else 'cuda'\nx = torch.ones(3)\n"
        "if not config.debugging:\n    x = x.cuda()\nx + torch.ones(3).to(where)\n"
    )

    assert met(text) == []


def test_the_last_open_part_of_a_condition_is_decided_with_it(place):
    program = """
    def choose(name, is_other):
        if not name and not is_other and torch.cuda.is_available():
            return "cuda"
        elif is_other and torch.backends.mps.is_available():
            return "mps"
        else:
            return "cpu"

    x = torch.ones(3, device=choose("", asked()))
    """
    assert place(program, "x") == "accelerator"


@pytest.mark.parametrize(("asked", "moved"), [("x.is_cuda and y", "x.cpu()"), ("y and x.is_cpu", "x.cuda()")])
def test_a_move_if_the_device_is_another_one_is_a_move(place, asked, moved):
    program = f"""
    x = [torch.ones(3), torch.ones(3).cuda()][choose()]
    y = choose()
    if {asked}:
        x = {moved}
    """
    assert place(program, "x") == ("cpu" if "cpu()" in moved else "accelerator")


@pytest.mark.parametrize("read", ["print(x.cpu())", "shown = x.cpu()", "shown = x.detach().cpu().numpy()"])
def test_a_copy_for_the_host_does_not_tell_where_a_value_is(place, read):
    program = f"""
    x = [torch.ones(3), torch.ones(3).cuda()][choose()]
    if x.is_cuda:
        {read}
    """

    assert place(program, "x") == "either"


@pytest.mark.parametrize(
    ("copy", "found"), [("x.detach().cpu()", "cpu"), ("x.cpu().float()", "cpu"), ("y.detach().cpu()", "either")]
)
def test_a_copy_without_a_gradient_takes_the_tested_value_back_too(place, copy, found):
    program = f"""
    x, y = [(torch.ones(3), torch.ones(3)), (torch.ones(3).cuda(), torch.ones(3).cuda())][asked()]
    if x.device.type != "cpu":
        x = {copy}
    """
    assert place(program, "x") == found


def test_a_comparison_with_a_device_that_a_call_makes_is_the_last_open_part_too(place):
    program = """
    x = [torch.ones(3), torch.ones(3).cuda()][asked()]
    if x is not None and x.device != torch.device("cpu"):
        x = x.cpu()
    """
    assert place(program, "x") == "cpu"


@pytest.mark.parametrize("test", ["x.device.type == 'mps'", "'mps' in x.device.type", "x.device.type == 'xpu'"])
def test_the_accelerator_of_a_program_with_cuda_has_no_other_backend(place, test):
    program = f"""
    x = torch.ones(3, device="cuda")
    if {test}:
        x = x.cpu()
    """
    assert place(program, "x") == "accelerator"


def test_the_accelerator_of_a_program_without_cuda_may_have_another_backend(analyse):
    text = "x = torch.ones(3).to(args.device)\nif args.device.type == 'mps':\n    x + torch.ones(3)\n"

    assert len(analyse(text).mismatches) == 1


@pytest.mark.parametrize("test", ["device.type != 'cpu'", "model.device.type == 'cuda'"])
def test_a_device_that_is_not_known_is_the_accelerator(place, test):
    program = f"""
    model = load_any("a")
    if args.fresh:
        model = nn.Linear(3, 3).cuda()
    device = next(model.parameters()).device
    use = {test}
    x = torch.ones(3)
    if use:
        x = x.cuda()
    """
    assert place(program, "x") == "accelerator"


PARSED = """
import argparse
from settings import n, where
parser = argparse.ArgumentParser()
parser.add_argument("--gpu_ids", type=int, nargs="+")
parser.add_argument("--level", type=int)
args = parser.parse_args()
m = nn.Linear(3, 3)
x = torch.ones(3)
"""
TOGETHER = [
    pytest.param(
        "index = args.gpu_ids[-1]\nif index >= 0:\n    m.cuda()\nif index < 0:\n    m(x)\nx = x.cuda()",
        id="sign-of-an-item",
    ),
    pytest.param("if n > 2:\n    m.cuda()\nif n <= 2:\n    m(x)\nx = x.to(where(m))", id="order"),
    pytest.param(
        "class Agent:\n    pass\na = Agent()\na.level = args.level\nif args.level >= 3:\n    m.cuda()\n"
        "if a.level < 3:\n    m(x)\nx = x.to(where(m))",
        id="same-value",
    ),
    pytest.param(
        "d = pick('cuda')\nif 'mps' in str(d.device):\n    m.cpu()\nelse:\n    m.cuda()\nx = x.cuda()",
        id="text-of-an-unknown-device",
    ),
    pytest.param("m.cuda()\ny = x.cuda()\nif x.type() == y.type():\n    m(x)\nx = y", id="types-name-devices"),
    pytest.param(
        "m.cuda()\ny = x.cuda()\nif y.type() == 'torch.cuda.FloatTensor':\n    x = x.cuda()", id="written-type"
    ),
    pytest.param("m.cuda()\ny = x.cuda()\nif y.type() != 'torch.FloatTensor':\n    x = y", id="type-elsewhere"),
    pytest.param("m.cuda()\nif 'torch.cuda.HalfTensor' == x.type():\n    m(x)\nx = x.cuda()", id="type-on-the-right"),
]


@pytest.mark.parametrize("text", TOGETHER)
def test_comparisons_of_one_value_are_decided_together(text, met):
    assert met(f"{PARSED}{text}\nm(x)\n") == []


@pytest.mark.parametrize("name", ["torch.FloatTensor", "torch.sparse.FloatTensor", "torch.xpu.FloatTensor", "float"])
def test_names_of_types_on_one_device_may_differ(met, name):
    assert met(f"{PARSED}m.cuda()\nif x.type() == '{name}':\n    x = x.cuda()\nelse:\n    m(x)\n") == ["m(x)"]


@pytest.mark.parametrize(
    "test",
    ["args.place == 'gpu'", "place == 'gpu'", "settings.place == 'cuda'", "use_gpu is True", "args.cuda is True"],
)
def test_an_option_that_names_the_accelerator_is_the_one_of_the_run(met, test):
    setup = "from other import place\nimport settings\nparser.add_argument('--place', default='cpu')\n"
    first, second = "class Net:\n    def __init__(self):\n        self.m = nn.Linear(3, 3)\n", "net = Net()\n"
    program = f"{first}        if {test}:\n            self.m.cuda()\n{second}net.m(x.cuda())\n"

    assert met(f"{setup}{SETUP.replace('args = ', setup.splitlines()[-1] + chr(10) + 'args = ')}\n{program}") == []


@pytest.mark.parametrize("test", ["place == 'cpu'", "use_gpu is False", "use_gpu == False"])
def test_an_option_that_names_the_cpu_is_not(met, test):
    program = f"from other import place\n{SETUP}\nif {test}:\n    m(x.cuda())\n"

    assert met(program) == []


CHOSEN = """
class Options:
    pass

opt = Options()
if {test}:
    opt.device = torch.device({one})
else:
    opt.device = torch.device({other})

class Detector:
    def __init__(self, opt):
        self.opt = opt
        self.model = nn.Linear(4, 2).to(opt.device)
        self.before = None
    def run(self, images):
        images = images.to(self.opt.device)
        self.before = images
        return self.model(self.before)

detector = Detector(opt)
for images in [torch.ones(2, 4), torch.ones(3, 4)]:
    print(detector.run(images))
"""


@pytest.mark.parametrize(
    ("test", "one", "other"),
    [
        ("gpus()[0] >= 0", "'cuda'", "'cpu'"),
        ("gpus()[0] < 0", "'cpu'", "'cuda:0'"),
        ("flags[0] and x", "'cuda'", "'cpu'"),
    ],
)
def test_a_program_that_keeps_its_choice_in_an_attribute_is_followed_with_its_accelerator(met, test, one, other):
    text = CHOSEN.replace("{test}", test).replace("{one}", one).replace("{other}", other)

    assert met(text) == []
    assert met(text.replace("images = images.to(self.opt.device)", "pass")) == ["return self.model(self.before)"]


@pytest.mark.parametrize("count", ["world_size", "len(devices)", "1"])
def test_fewer_than_the_accelerators_is_not_decided_with_one(met, count):
    text = f"world_size, devices = choose(), choose()\nif {count} < torch.cuda.device_count():\n    raise ValueError\n"

    assert met(f"{text}y = torch.ones(3)\ny + torch.ones(3).cuda()\n") == ["y + torch.ones(3).cuda()"]


@pytest.mark.parametrize(("text", "lines"), [("choose().split(None, 1)", 1), ("choose().split(',')", 0)])
def test_a_text_has_a_part_if_it_is_split_at_one(met, text, lines):
    program = (
        f"def run():\n    for part in {text}:\n        return part\n    return torch.ones(3) + torch.ones(3).cuda()\n"
    )

    assert len(met(f"{program}run()\n")) == lines


@pytest.mark.parametrize("test", ["cfg.fast and holds(m)", "holds(m) and cfg.fast"])
def test_a_part_that_the_path_decides_does_not_tell_its_ends_apart(analyse, test):
    """What is left of the second test occurs nowhere else: the mismatch is on one of several paths."""
    text = f"{SETUP}from settings import holds\nif cfg.fast:\n    m.cuda()\nif {test}:\n    x = x.cuda()\nm(x)\n"
    (found,) = analyse(text).mismatches

    assert not found.on_every_path


@pytest.mark.parametrize("asked", ["rank >= 0", "not rank < 0"])
def test_the_rank_of_a_started_process_is_not_negative(met, asked):
    program = f"""
    def work(rank, net):
        if {asked}:
            net.to("cuda")
        net(torch.ones(3, device="cuda"))

    torch.multiprocessing.spawn(work, (nn.Linear(3, 3),))
    """

    assert met(program) == []
