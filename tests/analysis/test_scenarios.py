"""The second machine: when a program is followed there, and what still goes to the accelerator."""

from __future__ import annotations

import pytest

CHOICE = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\nmodel = nn.Linear(3, 2).to(device)\n'

ONCE = [
    pytest.param(CHOICE + "model(torch.ones(2, 3).to(device))", id="one-choice"),
    pytest.param("model = nn.Linear(3, 2).cuda()\nmodel(torch.ones(2, 3).cuda())", id="no-choice"),
]

INSISTS = [
    pytest.param(CHOICE + "torch.ones(3).cuda()", 1, id="method"),
    pytest.param(CHOICE + 'torch.ones(3, device="cuda:0")', 1, id="keyword"),
    pytest.param(CHOICE + "torch.cuda.FloatTensor(3)", 1, id="type"),
    pytest.param(CHOICE + "if torch.cuda.is_available():\n    torch.ones(3).cuda()", 0, id="asks"),
    pytest.param(CHOICE + "if device.type == 'cuda':\n    torch.ones(3).cuda()", 0, id="asks-the-device"),
    pytest.param(CHOICE + "assert torch.cuda.is_available()\ntorch.ones(3).cuda()", 0, id="needs-one"),
    pytest.param('device = "cuda:1"\ntorch.ones(3).to(device)\ntorch.ones(3).cuda(0)', 1, id="index"),
    pytest.param('torch.ones(3).to(f"cuda:{rank}")\ntorch.ones(3).cuda()', 1, id="formatted-index"),
]


def on_accelerator(observations):
    return sum(
        place.kind == "accelerator" for by_place in observations.device_assignments.values() for place in by_place
    )


@pytest.mark.parametrize("text", ONCE)
def test_a_program_that_contradicts_nothing_is_followed_once(analyse, text):
    assert analyse(text).no_accelerator is None


@pytest.mark.parametrize(("text", "number"), INSISTS)
def test_there_only_what_insists_goes_to_the_accelerator(analyse, text, number):
    elsewhere = analyse(text).no_accelerator

    assert elsewhere is not None
    assert on_accelerator(elsewhere) == number


# Whether a program goes on without an accelerator after a line.
CALLS = [
    pytest.param("torch.cuda.set_device(0)", False, id="selected"),
    pytest.param("torch.distributed.init_process_group('nccl')", False, id="nccl"),
    pytest.param("torch.cuda.set_device(-1)", True, id="selects-none"),
    pytest.param("torch.cuda.synchronize()", False, id="waits"),
    pytest.param("start = torch.cuda.Event(enable_timing=True)", False, id="assigned"),
    pytest.param("print(torch.cuda.get_device_name(0))", False, id="an-argument"),
    pytest.param("a, b = torch.cuda.current_device(), f()", False, id="one-of-two"),
    pytest.param("if torch.cuda.current_device() == 0:\n    f()", False, id="the-test"),
    pytest.param("x = f() or torch.cuda.current_device()", True, id="perhaps-not-made"),
    pytest.param("x = lambda: torch.cuda.current_device()", True, id="later"),
    pytest.param("x = torch.cuda.memory_allocated()", True, id="is-zero"),
    pytest.param("with torch.cuda.device(0):\n    f()", False, id="for-a-block"),
    pytest.param("with torch.cuda.device(-1):\n    f()", True, id="for-a-block-none"),
    pytest.param("with torch.cuda.device(f()):\n    f()", True, id="for-a-block-any"),
    pytest.param("index = faiss.index_cpu_to_gpu(faiss.StandardGpuResources(), 0, f())", False, id="another-library"),
    pytest.param(
        "name = tf.test.gpu_device_name()\nif name == '/device:GPU:0':\n    f()\nelse:\n    raise SystemError",
        False,
        id="asked",
    ),
    pytest.param("if f():\n    torch.cuda.set_device(0)", True, id="under-a-test"),
    pytest.param("torch.cuda.set_device(0) if f() else None", True, id="in-an-expression"),
    pytest.param("f() and torch.cuda.set_device(0)", True, id="in-a-conjunction"),
    pytest.param("[torch.cuda.set_device(i) for i in range(f())]", True, id="for-each"),
    pytest.param("with contextlib.suppress(Exception):\n    torch.cuda.set_device(0)", True, id="suppressed"),
    pytest.param(
        "parser = argparse.ArgumentParser()\nparser.add_argument('--backend', default='nccl')\n"
        "torch.distributed.init_process_group(parser.parse_args().backend)",
        True,
        id="an-option",
    ),
]


@pytest.mark.parametrize(("line", "goes_on"), CALLS)
def test_a_call_that_needs_an_accelerator_ends_the_program_without_one(analyse, line, goes_on):
    imports = "import argparse\nimport contextlib\nimport faiss\nimport tensorflow as tf\n"
    text = f"{imports}{CHOICE}{line}\ntorch.ones(3).cuda()"
    assert on_accelerator(analyse(text).no_accelerator) == goes_on


OPTIONS = """
def ones({star}use_cuda=True):
    return torch.ones(2, 3).to(torch.device("cuda") if use_cuda else torch.device("cpu"))


{before}model(ones({given}))
if torch.cuda.is_available():
    torch.ones(3).cuda()
"""


@pytest.mark.parametrize(
    ("star", "before", "given", "number"),
    [
        pytest.param("", "", "", 1, id="its-default"),
        pytest.param("", "", "**vars(load())", 0, id="unpacked"),
        pytest.param("*, ", "", "**vars(load())", 0, id="by-keyword-only"),
        pytest.param("", "options = dict(use_cuda=True)\n", "**options", 1, id="known"),
    ],
)
def test_a_flag_that_may_be_unpacked_need_not_have_its_default(analyse, star, before, given, number):
    text = CHOICE + OPTIONS.format(star=star, before=before, given=given)
    assert on_accelerator(analyse(text).no_accelerator) == number


# --- two accelerators ---------------------------------------------------------------------------------------------
PAIRS = [
    pytest.param('torch.ones(3).to("cuda:0") + torch.ones(3).to("cuda:1")', 1, id="indices"),
    pytest.param('torch.ones(3).cuda() + torch.ones(3).to("cuda:0") + torch.ones(3).cuda(1)', 1, id="current"),
    pytest.param("torch.cuda.set_device(1)\ntorch.ones(3).cuda() + torch.ones(3).cuda(1)", 0, id="made-current"),
    pytest.param("torch.cuda.set_device(1)\ntorch.ones(3).cuda() + torch.ones(3).cuda(0)", 1, id="not-current"),
    pytest.param("torch.ones(3) + torch.ones(3).cuda(1)", 0, id="the-cpu-is-left-to-the-first-run"),
    pytest.param("torch.ones(3).to(device) + torch.ones(3).cuda(1)", 0, id="what-is-told-may-be-any"),
    pytest.param(
        "nn.DataParallel(nn.Linear(3, 3), device_ids=[1]).cuda(1)(torch.ones(3))", 0, id="data-parallel-on-the-second"
    ),
    pytest.param(
        "import zoo\nmodel = zoo.Net.from_pretrained('b0')\nmodel.cuda()\n"
        "model(torch.ones(3).cuda(0), torch.ones(3).cuda(1))",
        0,
        id="a-model-of-a-library-may-want-both",
    ),
]


@pytest.mark.parametrize(("text", "number"), PAIRS)
def test_two_accelerators_are_told_apart(analyse, text, number):
    two = analyse(text).multi_accelerator

    assert two is not None
    assert len(two.mismatches) == number


def test_a_program_of_one_accelerator_is_not_followed_on_two(analyse):
    assert analyse(CHOICE + "model(torch.ones(2, 3).cuda())").multi_accelerator is None


LAUNCHER = "def launch(rank):\n    torch.distributed.init_process_group('nccl')\n    torch.cuda.set_device(rank)\n\n\n"

ONE_FOR_BOTH = [
    pytest.param(LAUNCHER + "torch.ones(3).cuda() + torch.zeros(3).cuda()", id="not-called"),
    pytest.param("torch.ones(3).cuda(0)  # or cuda:1", id="a-comment"),
    pytest.param(LAUNCHER + "if torch.cuda.device_count() > 0:\n    torch.ones(3).cuda()", id="at-least-one"),
]

DIFFERENT = [
    pytest.param(LAUNCHER + "launch(int(os.environ['LOCAL_RANK']))", id="called"),
    pytest.param("if torch.cuda.device_count() > 1:\n    torch.ones(3).cuda(1)", id="count"),
    pytest.param("if 'WORLD_SIZE' in os.environ:\n    torch.ones(3).cuda(1)", id="launcher"),
    pytest.param("if args.distributed:\n    torch.ones(3).cuda(1)", id="flag"),
    pytest.param(
        LAUNCHER + "DistributedDataParallel(nn.Linear(1, 1), device_ids=[args.local_rank])",
        id="device-of-a-wrapper",
    ),
]


@pytest.mark.parametrize("text", ONE_FOR_BOTH)
def test_the_run_on_one_accelerator_stands_for_two_if_it_comes_to_no_second_one(analyse, text):
    assert analyse(text).multi_accelerator is None


@pytest.mark.parametrize("text", DIFFERENT)
def test_what_depends_on_a_second_accelerator_is_followed_on_two(analyse, text):
    assert analyse("import os\nfrom torch.nn.parallel import DistributedDataParallel\n" + text).multi_accelerator
