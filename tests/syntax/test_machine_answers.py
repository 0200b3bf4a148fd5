"""What may hold the answer of a machine, and what the program sets itself."""

from __future__ import annotations

import ast

import pytest

from devfix.syntax.machine_answers import answers_of

QUERY = "import torch\n"


def asked(*texts: str) -> tuple[bool, bool, bool]:
    """Whether an answer may decide the last ``if`` of some files, and whether they set its flag, or set it to false."""
    trees = [ast.parse(QUERY + text) for text in texts]
    answers = answers_of(trees)
    parents = {child: node for tree in trees for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    (*_, test) = (node.test for tree in trees for node in ast.walk(tree) if isinstance(node, ast.If))
    around, node = [], test
    while node in parents:
        node = parents[node]
        around.append(node)
    flag = test.operand if isinstance(test, ast.UnaryOp) else test
    return answers.may_decide(test, around), answers.is_given(flag, around), answers.is_given(flag, around, off=True)


@pytest.mark.parametrize(
    "text",
    [
        "gpu = torch.cuda.is_available()",
        "gpu = torch.cuda.device_count() > 0",
        "gpu = not torch.cuda.is_available()",
        "found = torch.cuda.is_available()\ngpu = bool(found) and True",
        "def ask():\n    return torch.cuda.is_available()\ngpu = ask()",
        "gpu = True\nif not torch.cuda.is_available():\n    gpu = False",
        "try:\n    torch.cuda.init()\n    gpu = True\nexcept Exception:\n    gpu = False",
        "gpu = settings.find_gpu()",
        "import os\ngpu = 'CUDA_VISIBLE_DEVICES' in os.environ",
        "from tools import found as gpu\nfound = torch.cuda.is_available()",
    ],
)
def test_what_a_machine_answers_may_decide_a_flag(text):
    assert asked(f"{text}\nif gpu:\n    pass")[0]


@pytest.mark.parametrize(
    ("text", "given", "off"),
    [
        ("gpu = True", True, False),
        ("gpu = 0", True, False),
        ("gpu = [0, 1]", True, False),
        ("gpu = '0'", True, False),
        ("gpu = False", False, True),
        ("gpu = not False", True, False),
        ("gpu = -1", False, False),
        ("gpu = None", False, False),
        ("gpu = ''", False, False),
        ("gpu = parser.parse_args()", False, False),
        ("if not os.path.exists(path):\n    gpu = True", True, False),
        ("parser.add_argument('--gpu', default=1)\ngpu = args.gpu", True, False),
        ("parser.add_argument('--gpu', action='store_true')\ngpu = args.gpu", False, True),
        ("parser.add_argument('--gpu', action='store_false')\ngpu = args.gpu", True, False),
        ("gpu = [int(i) for i in '0,1'.split(',')]\ni = torch.cuda.is_available()", True, False),
        ("def ask(gpu):\n    gpu = torch.cuda.is_available()\ngpu = True", True, False),
    ],
)
def test_what_the_program_sets_is_no_answer(text, given, off):
    assert asked(f"{text}\nif gpu:\n    pass") == (False, given, off)


@pytest.mark.parametrize(
    "call",
    ["Trainer({})", "Trainer(gpu={})", "Trainer(**dict(gpu={}))", "{{'gpu': {}}}", "setattr(config, 'gpu', {})"],
)
@pytest.mark.parametrize(("value", "answer"), [("True", False), ("torch.cuda.is_available()", True)])
def test_calls_and_mappings_pass_values_to_other_files(call, value, answer):
    trainer = "class Trainer:\n    def __init__(self, gpu):\n        self.gpu = gpu\n        if {}:\n            pass"
    test = "self.gpu" if call.startswith("Trainer({") or ("gpu={}" in call and "dict" not in call) else "config.gpu"

    assert asked(call.format(value), trainer.format(test))[:2] == (answer, not answer)


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        (("gpu = torch.cuda.is_available()",), (False, True, False)),
        (("import last\nlast.gpu = torch.cuda.is_available()",), (True, True, False)),
        (("class Options:\n    pass\nargs = Options()\nargs.gpu = torch.cuda.is_available()",), (False, True, False)),
    ],
    ids=["of-another-module", "written-from-another-module", "of-options"],
)
def test_flags_of_modules_belong_to_their_files(others, expected):
    assert asked(*others, "gpu = True\nif gpu:\n    pass") == expected


@pytest.mark.parametrize("imported", ["from settings import gpu", "from settings import *"])
def test_flags_of_modules_can_be_imported(imported):
    settings = "gpu = torch.cuda.is_available()"

    assert asked(settings, f"{imported}\nif gpu:\n    pass")[0]


def test_a_function_may_set_the_flag_of_its_module():
    text = "gpu = True\ndef choose():\n    global gpu\n    gpu = torch.cuda.is_available()\nif gpu:\n    pass"

    assert asked(text)[0]
