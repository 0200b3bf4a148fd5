"""Levels of findings in library code follow the measured precision of their rule and their evidence."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine.scan import scan_library, scan_program
from devfix.engine.workspace import Workspace
from devfix.model import Severity
from devfix.rules import levels
from devfix.rules.bases import Basis
from devfix.rules.levels import LIBRARIES, PROGRAMS, UNCALLED, Row, level_of
from devfix.rules.registry import all_rules
from devfix.sources import decode

SURE = "import torch\n\n\ndef f(x: torch.Tensor):\n    return x + torch.ones(2)\n"


def measured(monkeypatch, true, judged, basis=Basis.EVERY_PATH):
    monkeypatch.setattr(levels, "_rows", {("DEV102", basis): Row("DEV102", basis, true, judged)})


@pytest.fixture
def severities(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def scan(text, code="DEV102", beside_programs=False):
        settings = Settings(root=".", severity=Severity.LATENT, starts_no_program=not beside_programs)
        found = scan_library(Workspace([decode("lib.py", text.encode())], settings), "lib.py").findings
        return [finding.severity for finding in found if finding.code == code]

    return scan


@pytest.fixture
def findings_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def scan(text, with_doubtful=True, severity=Severity.LATENT):
        settings = Settings(root=".", severity=severity, includes_doubtful=with_doubtful)
        return scan_program(Workspace([decode("train.py", text.encode())], settings), "train.py").findings

    return scan


@pytest.mark.parametrize(
    ("true", "level"),
    [
        pytest.param(9, Severity.ERROR, id="at-least-90-percent"),
        pytest.param(8, Severity.LATENT, id="less"),
        pytest.param(6, Severity.LATENT, id="at-least-60-percent"),
        pytest.param(5, None, id="mostly-false"),
    ],
)
def test_the_level_follows_the_precision(monkeypatch, true, level):
    measured(monkeypatch, true, 10)

    assert level_of("DEV102", Basis.EVERY_PATH, Severity.ADVICE) is level


@pytest.mark.parametrize("basis", list(Basis))
def test_a_rule_of_which_few_were_judged_is_latent_at_most(monkeypatch, basis):
    measured(monkeypatch, 0, 2)

    assert level_of("DEV102", Basis.EVERY_PATH, Severity.ERROR) is Severity.LATENT
    assert level_of("DEV999", basis, Severity.ERROR) is Severity.LATENT
    assert level_of("DEV999", basis, Severity.ADVICE) is Severity.ADVICE


@pytest.mark.parametrize(
    ("true", "found"), [(10, [Severity.ERROR]), (7, [Severity.LATENT]), (1, [])], ids=["error", "latent", "silence"]
)
def test_findings_of_a_library_have_the_level_of_the_table(severities, monkeypatch, true, found):
    measured(monkeypatch, true, 10)

    assert severities(SURE) == found


@pytest.mark.parametrize(
    ("text", "basis"),
    [
        pytest.param(SURE, Basis.EVERY_PATH, id="every-path"),
        pytest.param(
            "import torch\n\n\ndef f(x: torch.Tensor, k: int, n: int):\n"
            "    y = torch.ones(2) if k else n\n    return x + y\n",
            Basis.SOME_PATH,
            id="some-path",
        ),
        pytest.param(
            "import torch\n\n\nclass Loop:\n    def run(self, batch):\n        return self._step(batch)\n\n"
            "    def _step(self, x: torch.Tensor):\n        return x + torch.ones(2)\n",
            Basis.GUESS,
            id="guess",
        ),
    ],
)
def test_the_evidence_of_a_finding_selects_the_row(severities, monkeypatch, text, basis):
    measured(monkeypatch, 0, 10, basis)
    silent = severities(text)
    measured(monkeypatch, 10, 10, basis)

    assert (silent, severities(text)) == ([], [Severity.ERROR])


def test_attributes_of_what_is_no_module_have_a_row_of_their_own(severities, monkeypatch):
    text = """\
import torch


class Table:
    def __init__(self):
        self.rows = torch.rand(9)

    def add(self, x: torch.Tensor):
        return x + self.rows
"""
    silent = [severities(text, code) for code in ("DEV202", "DEV100")]
    monkeypatch.setattr(levels, "_rows", {})

    assert (silent, severities(text, "DEV202")) == ([[], []], [Severity.LATENT])


IN_PROGRAM = """\
import sys

import torch
from torch import nn

model = nn.Linear(4, 2).cuda()
x = torch.ones(3, 4)
{moves}
model(x)
"""


@pytest.mark.parametrize(
    ("moves", "level"),
    [
        pytest.param("", Severity.ERROR, id="every-path"),
        pytest.param("if sys.argv[1:]:\n    x = x.cuda()", Severity.LATENT, id="some-path"),
        pytest.param("if sys.argv[1:]:\n    x = torch.ones(3, 4).cuda()", Severity.LATENT, id="one-of-two"),
        pytest.param(
            "if sys.argv[1:]:\n    x = x.cuda()\nelse:\n    model(x)", Severity.ERROR, id="every-path-of-another-use"
        ),
    ],
)
def test_errors_of_a_program_on_one_of_several_paths_are_latent(findings_in, moves, level):
    found = findings_in(IN_PROGRAM.format(moves=moves))

    assert {(finding.code, finding.severity) for finding in found} == {("DEV102", level)}
    assert all(finding.fixes for finding in found)


ON_TWO = """\
import torch
from settings import choose
from torch import nn

first = nn.Linear(4, 2).to("cuda:0")
second = nn.Linear(4, 2).to("cuda:1")
x = torch.ones(3, 4).to("cuda:0")
first(x)
second(torch.ones(3, 4).to("cuda:1"))
{moves}
second(x)
"""


@pytest.mark.parametrize(
    ("moves", "level"),
    [
        pytest.param("", Severity.ERROR, id="every-path"),
        pytest.param("if choose():\n    x = x.to('cuda:1')", Severity.LATENT, id="some-path"),
    ],
)
def test_errors_on_two_accelerators_have_levels_too(findings_in, moves, level):
    found = findings_in(ON_TWO.format(moves=moves))

    assert [(finding.code, finding.severity) for finding in found] == [("DEV502", level)]


@pytest.mark.parametrize(
    ("call", "level"),
    [
        pytest.param("made.edit(x)", Severity.LATENT, id="method"),
        pytest.param("made(x)", Severity.ERROR, id="the-object-itself"),
        pytest.param("timm.create_model('a').cuda().forward_features(x)", Severity.ERROR, id="known-library"),
    ],
)
def test_a_method_of_an_object_of_an_unknown_class_may_move_what_it_gets(findings_in, call, level):
    text = f"""\
import json
import timm
import torch

x = torch.ones(3, 4)
classes = {{each.name: each for each in json.load(open("classes.json"))}}
made = classes["model"]().to("cuda").eval()
{call}
"""
    found = findings_in(text)

    assert {(finding.code, finding.severity) for finding in found} == {("DEV102", level)}


BY_RANK = """\
import torch

mean = torch.ones(3, 1, 1)


def normalize(x):
    if {test}:
        return x - mean
    {rest}
        return x - mean.cuda()


normalize(torch.ones(2, 3, 4, 4).cuda())
"""


@pytest.mark.parametrize(
    ("test", "rest", "level"),
    [
        pytest.param("x.dim() == 3", "else:", Severity.LATENT, id="dim"),
        pytest.param("x.ndim == 3", "elif x.ndim == 4:", Severity.LATENT, id="ndim"),
        pytest.param("len(x.shape) < 4", "else:", Severity.LATENT, id="shape"),
        pytest.param("x.size(0) == 3", "else:", Severity.ERROR, id="a-size"),
    ],
)
def test_tensors_that_their_dimensions_tell_apart_are_latent(findings_in, test, rest, level):
    found = findings_in(BY_RANK.format(test=test, rest=rest))

    assert {(finding.code, finding.severity) for finding in found} == {("DEV102", level)}


EITHER = """\
import random

import torch
from torch import nn


def pick(one, other):
    return one if random.random() < 0.5 else other


model = nn.Linear(4, 2)
x = torch.ones(3, 4)
model(INPUT)
"""


@pytest.mark.parametrize(
    ("given", "level"),
    [
        pytest.param("x.cuda()", Severity.ERROR, id="the-input-is-surely-on-the-accelerator"),
        pytest.param("pick(x, x.cuda())", Severity.LATENT, id="it-may-not-be-either"),
    ],
)
def test_a_module_whose_input_may_be_on_the_cpu_is_latent(findings_in, given, level):
    found = findings_in(EITHER.replace("INPUT", given))

    assert {finding.severity for finding in found if finding.code == "DEV204"} == {level}


def project(folder, monkeypatch, files):
    monkeypatch.chdir(folder)
    for path, text in files.items():
        (folder / path).write_text(text)
    sources = [decode(path, text.encode()) for path, text in files.items()]
    settings = Settings(root=".", severity=Severity.LATENT, includes_doubtful=True)
    scan = scan_program(Workspace(sources, settings), "train.py")
    return [(finding.code, finding.severity) for finding in scan.findings]


def through(calls, others):
    """Return a program whose model, which is never moved, is used behind some calls, each in a file of its own."""
    imports = "".join(f"import other{number}\n" for number in range(others))
    files = {f"other{number}.py": "" for number in range(others)}
    files["train.py"] = f"""\
import torch
from torch import nn

from step1 import step1
{imports}
model = nn.Linear(4, 2)
step1(model, torch.ones(3, 4).cuda())
"""
    for number in range(1, calls + 1):
        following = f"step{number + 1}(model, x)" if number < calls else "model(x)"
        imported = f"from step{number + 1} import step{number + 1}\n\n\n" if number < calls else ""
        files[f"step{number}.py"] = f"{imported}def step{number}(model, x):\n    return {following}\n"
    return files


@pytest.mark.parametrize(
    ("calls", "others", "level"),
    [
        pytest.param(3, 5, Severity.LATENT, id="far"),
        pytest.param(3, 4, Severity.ERROR, id="in-a-smaller-program"),
        pytest.param(2, 6, Severity.LATENT, id="three-files"),
        pytest.param(1, 8, Severity.ERROR, id="near"),
    ],
)
def test_a_module_that_is_used_far_away_may_have_been_moved_on_the_way(tmp_path, monkeypatch, calls, others, level):
    assert project(tmp_path, monkeypatch, through(calls, others)) == [("DEV204", level)]


def beside(files, program):
    """Return a program of more files: each is imported and holds nothing."""
    imports = "".join(f"import other{number}\n" for number in range(files))
    return {"train.py": imports + program, **{f"other{number}.py": "" for number in range(files)}}


@pytest.mark.parametrize(
    ("body", "calls", "level"),
    [
        pytest.param("first(x)", 3, Severity.LATENT, id="three-calls-in-a-file"),
        pytest.param("second(x)", 2, Severity.ERROR, id="two-calls"),
        pytest.param("first(x)\nmodel(x)", 3, Severity.ERROR, id="another-use-is-near"),
    ],
)
def test_the_nearest_use_decides(tmp_path, monkeypatch, body, calls, level):
    program = f"""\
import torch
from torch import nn

model = nn.Linear(4, 2).cuda()


def third(x):
    return model(x)


def second(x):
    return third(x)


def first(x):
    return second(x)


x = torch.ones(3, 4)
{body}
"""
    assert project(tmp_path, monkeypatch, beside(8, program)) == [("DEV102", level)]


@pytest.mark.parametrize(
    ("body", "others", "level"),
    [
        pytest.param("step(y)", 8, Severity.LATENT, id="only-another-function-uses-it"),
        pytest.param("step(y)", 7, Severity.ERROR, id="in-a-smaller-program"),
        pytest.param("x = x.cuda()\n    step(y)", 8, Severity.ERROR, id="another-part-is-moved"),
        pytest.param("nn.functional.cross_entropy(model(z), y)", 8, Severity.ERROR, id="the-loop-uses-it"),
        pytest.param("step(y)\n    print(y + model(z)[:, 0].long())", 8, Severity.ERROR, id="both-do"),
    ],
)
def test_what_a_loop_only_passes_on_may_be_moved_by_who_gets_it(tmp_path, monkeypatch, body, others, level):
    program = f"""\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

model = nn.Linear(4, 2).cuda()
z = torch.ones(3, 4).cuda()


def step(y):
    return nn.functional.cross_entropy(model(z), y)


for x, y in DataLoader(TensorDataset(torch.rand(9, 4), torch.randint(2, (9,))), batch_size=3):
    {body}
"""
    assert project(tmp_path, monkeypatch, beside(others, program)) == [("DEV101", level)]


@pytest.mark.parametrize(
    ("use", "level"),
    [
        pytest.param("torch.index_select(batch['mask'], 0, n)", Severity.ERROR, id="a-function-of-tensors"),
        pytest.param("batch['mask'] + n", Severity.LATENT, id="an-operator-takes-numbers"),
        pytest.param("select(batch['mask'])", Severity.LATENT, id="another-function-may-have-got-it-moved"),
    ],
)
def test_an_item_of_an_unknown_dataset_may_be_no_tensor(tmp_path, monkeypatch, use, level):
    program = f"""\
import torch
from torch.utils.data import DataLoader
from data import Scenes

n = torch.arange(3).cuda()


def select(mask):
    return torch.index_select(mask, 0, n)


for batch in DataLoader(Scenes()):
    x = batch["x"].cuda()
    {use}
"""
    assert project(tmp_path, monkeypatch, {"train.py": program}) == [("DEV101", level)]


@pytest.mark.parametrize(
    ("given", "level"),
    [
        pytest.param("image, text", Severity.ERROR, id="tensors"),
        pytest.param("[image, text]", Severity.LATENT, id="a-list-of-them"),
        pytest.param('{"image": image, "text": text}', Severity.ERROR, id="a-dictionary-of-them"),
        pytest.param("Data(x=image, y=text)", Severity.ERROR, id="a-graph"),
        pytest.param("(image, torch.ones(3))", Severity.ERROR, id="beside-a-tensor-of-the-program"),
    ],
)
def test_unknown_code_may_move_what_a_list_holds(tmp_path, monkeypatch, given, level):
    program = f"""\
import torch
from outside import load_model
from torch.utils.data import DataLoader, TensorDataset
from torch_geometric.data import Data

model = load_model("small").cuda().eval()
for image, text in DataLoader(TensorDataset(torch.rand(9, 4), torch.rand(9, 4))):
    model({given})
"""
    found = project(tmp_path, monkeypatch, {"train.py": program})
    assert {severity for _, severity in found} == {level}


@pytest.mark.parametrize(
    ("body", "parameter", "level"),
    [
        pytest.param("return np.asarray(x)", "x", Severity.LATENT, id="an-argument"),
        pytest.param("y = x[0] / 2\n    return np.asarray(y)", "x", Severity.LATENT, id="a-part"),
        pytest.param("return [np.asarray(each) for each in x]", "x", Severity.LATENT, id="each-item"),
        pytest.param("x = np.rot90(x)\n    return x", "x", Severity.LATENT, id="rebound-to-an-array"),
        pytest.param("y = torch.relu(x)\n    return np.asarray(y)", "x", Severity.ERROR, id="a-function-took-it"),
        pytest.param("return np.asarray(x)", "x: torch.Tensor", Severity.ERROR, id="declared"),
        pytest.param("return x.numpy()", "x", Severity.ERROR, id="a-method-of-tensors"),
        pytest.param("return np.asarray(model(x))", "x", Severity.ERROR, id="of-a-model"),
    ],
)
def test_callers_may_pass_what_a_function_of_numpy_converts(tmp_path, monkeypatch, body, parameter, level):
    program = f"""\
import numpy as np
import torch

model = torch.nn.Flatten()


def convert({parameter}):
    {body}


convert(torch.ones(2, 3).cuda())
"""
    assert project(tmp_path, monkeypatch, {"train.py": program}) == [("DEV601", level)]


@pytest.mark.parametrize("code", [SURE, SURE.replace("x: torch.Tensor", "x: torch.Tensor, y=None")])
def test_of_code_that_no_program_calls_most_is_said_in_libraries_only(severities, code):
    assert severities(code) == [Severity.LATENT]
    assert severities(code, beside_programs=True) == []


@pytest.mark.parametrize("basis", [Basis.UNKNOWN_METHOD, Basis.MAYBE_NUMBER, Basis.GUESS])
def test_where_the_strongest_evidence_is_doubtful_the_others_are(basis):
    assert level_of("DEV102", basis, Severity.LATENT, beside_programs=True) is None
    assert level_of("DEV102", basis, Severity.ERROR) is Severity.LATENT


def test_advice_is_never_doubtful(findings_in, monkeypatch):
    monkeypatch.setattr(levels, "LARGE", 1)
    monkeypatch.setattr(levels, "_MANY", 1)
    built = "import torch\nmodel = torch.nn.Linear(4, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    used = "model.cuda()\nmodel(torch.ones(3, 4).cuda()).sum().backward()\noptimizer.step()\n"

    found = findings_in(built + used, with_doubtful=False, severity=Severity.ADVICE)

    assert ("DEV401", Severity.ADVICE) in [(each.code, each.severity) for each in found]


@pytest.mark.parametrize(
    ("parameters", "body", "found"),
    [
        pytest.param("x: torch.Tensor", "return x + x.cpu()", [], id="taken-off-the-accelerator"),
        pytest.param("x, device", "return x.cuda()", [Severity.LATENT], id="told-another-device"),
    ],
)
def test_what_a_library_hard_codes_is_said_where_it_is_told_another_device(severities, parameters, body, found):
    assert severities(f"import torch\n\n\ndef f({parameters}):\n    {body}\n", "DEV501") == found


@pytest.mark.parametrize(("read", "found"), [("np.asarray(x)", []), ("x.numpy()", [Severity.LATENT])])
def test_libraries_convert_what_is_mostly_an_array(severities, read, found):
    text = f"import numpy as np\nimport torch\n\n\ndef f(x: torch.Tensor):\n    return {read}\n"

    assert severities(text, "DEV601") == found


@pytest.mark.parametrize(
    ("read", "lines"),
    [
        pytest.param("kept = x.detach().numpy()", [6, 7], id="beside-a-read-of-a-tensor"),
        pytest.param("kept = x.detach()", [], id="alone"),
    ],
)
def test_a_function_of_numpy_gets_a_tensor_where_its_caller_passes_one_and_another_is_read(findings_in, read, lines):
    text = f"""\
import numpy as np
import torch


def pairs(x, mask):
    {read}
    return kept, np.where(mask == 1)


x = torch.ones(3, device="cuda", requires_grad=True)
pairs(x * 2, (x > 0).to("cuda"))
"""
    found = findings_in(text, with_doubtful=False)

    assert [(each.code, each.span.line) for each in found] == [("DEV601", line) for line in lines]


@pytest.mark.parametrize(
    ("call", "level"),
    [
        pytest.param("model.sample(x, t)", Severity.LATENT, id="beside-a-moved-tensor"),
        pytest.param("model.sample(t)", Severity.ERROR, id="alone"),
        pytest.param("model.sample(x, times)", Severity.ERROR, id="the-whole-tensor"),
        pytest.param("model.sample(x, torch.LongTensor([16]))", Severity.LATENT, id="one-number"),
        pytest.param("model.sample(x, torch.LongTensor([16, 4]))", Severity.ERROR, id="two-numbers"),
    ],
)
def test_unknown_code_may_take_an_element_for_a_number(findings_in, call, level):
    text = f"""\
import torch
from outside import load_model

model = load_model("small").cuda().eval()
x = torch.ones(3, device="cuda")
times = torch.linspace(0, 1, 5)
for t in times:
    {call}
"""
    found = findings_in(text)

    assert [(each.code, each.severity) for each in found] == [("DEV102", level)]


@pytest.mark.parametrize("table", [LIBRARIES, UNCALLED, PROGRAMS], ids=["libraries", "uncalled", "programs"])
def test_each_row_is_about_a_rule_and_is_there_once(table):
    assert {row.code for row in table} <= {rule.code for rule in all_rules()}
    assert len({(row.code, row.basis) for row in table}) == len(table)
    assert all(0 <= row.true <= row.judged for row in table)


@pytest.mark.parametrize(
    ("construct", "level"),
    [
        pytest.param("outside.Scorer()", Severity.LATENT, id="class-of-another-package"),
        pytest.param("Holder()", Severity.LATENT, id="held-by-a-module"),
        pytest.param("Stepper()", Severity.LATENT, id="method-of-one-that-a-module-holds"),
        pytest.param("nn.Sequential(outside.Scorer(), nn.Linear(4, 2))", Severity.ERROR, id="beside-known-weights"),
        pytest.param("outside.Model.from_pretrained('a')", Severity.ERROR, id="pretrained"),
        pytest.param("nn.Linear(4, 2)", Severity.ERROR, id="known-class"),
    ],
)
def test_an_object_of_an_unknown_class_may_have_no_weights(findings_in, construct, level):
    text = f"""\
import outside
import torch
from torch import nn


class Holder(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = outside.Scorer()

    def forward(self, x):
        return self.inner(x)


class Stepper(Holder):
    def forward(self, x):
        return self.inner.step(x)


model = {construct}
model.eval()
model(torch.ones(3, 4, device="cuda"))
"""
    found = findings_in(text)

    assert [(finding.code, finding.severity) for finding in found] == [("DEV204", level)]


@pytest.mark.parametrize(
    ("call", "level"),
    [
        pytest.param("outside.Scorer().cuda().eval().edit(x)", Severity.LATENT, id="method"),
        pytest.param("outside.Scorer().cuda().eval().module.edit(x)", Severity.LATENT, id="method-of-a-part"),
        pytest.param("outside.Scorer().cuda()(x)", Severity.ERROR, id="the-object-itself"),
        pytest.param("outside.Model.from_pretrained('a').cuda().generate(x)", Severity.ERROR, id="pretrained"),
    ],
)
def test_a_method_of_an_unknown_class_of_another_package_may_move_what_it_gets(findings_in, call, level):
    found = findings_in(f"import outside\nimport torch\n\nx = torch.ones(3, 4)\n{call}\n")

    assert [(finding.code, finding.severity) for finding in found] == [("DEV102", level)]


def test_an_object_of_an_unknown_class_may_have_no_weights_in_a_large_program_either(tmp_path, monkeypatch):
    program = """\
import outside
import torch

model = outside.Scorer()
model.eval()
model(torch.ones(3, 4, device="cuda"))
"""
    assert project(tmp_path, monkeypatch, beside(9, program)) == [("DEV204", Severity.LATENT)]


@pytest.mark.parametrize(
    ("moved", "found"),
    [
        pytest.param("x.cpu()", [Severity.ERROR], id="on-every-path"),
        pytest.param("x.cpu() if len(x) > 60 else x", [], id="on-one-path"),
    ],
)
def test_what_need_not_meet_the_accelerator_is_doubtful(findings_in, moved, found):
    text = f"import torch\n\nx = torch.ones(3, 4).cuda()\ny = {moved}\ny + x\n"
    levels = {with_doubtful: [each.severity for each in findings_in(text, with_doubtful)] for with_doubtful in (0, 1)}

    assert levels == {0: found, 1: found or [Severity.LATENT]}


def test_another_failure_of_a_line_is_no_evidence(findings_in):
    text = """\
import json
import torch

x = torch.ones(3, 4)
y = torch.ones(3)
classes = {each.name: each for each in json.load(open("classes.json"))}
made = classes["model"]().to("cuda").eval()
print(made.edit(x), y + torch.ones(3).cuda())
"""
    found = {finding.span.line: finding.severity for finding in findings_in(text) if finding.code == "DEV102"}

    assert found == {4: Severity.LATENT, 5: Severity.ERROR}


@pytest.mark.parametrize(
    ("test", "level"),
    [
        ("LOAD", Severity.LATENT),
        ("LOAD and len(x) > 2", Severity.LATENT),
        ("SAVE", Severity.ERROR),
        ("not LOAD", Severity.ERROR),
    ],
)
def test_what_a_user_must_switch_on_is_latent(findings_in, test, level):
    text = "import torch\n\nLOAD, SAVE = False, True\n\n\ndef run(x):\n"
    text += f"    if {test}:\n        return x + torch.ones(3)\n\n\nrun(torch.ones(3).cuda())\n"

    assert [(finding.code, finding.severity) for finding in findings_in(text)] == [("DEV102", level)]
