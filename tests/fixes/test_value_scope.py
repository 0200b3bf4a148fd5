"""Which words name the accelerator where a tensor is made."""

from __future__ import annotations

import ast
import textwrap
from collections import Counter
from pathlib import Path

import pytest

from devfix import analysis
from devfix.fixes.device_expression import FOR_TENSOR, Query, device_expressions
from devfix.fixes.value_scope import ValueScope, bound_at, device_for_tensor
from devfix.syntax.bindings import binds

SETUP = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
"""


def words_for(program: str, setup: str = SETUP) -> str | None:
    """The device at the first birth that meets the accelerator."""
    observations, site, partners = _birth(program, setup)
    return device_for_tensor(observations, site, site.call_frame, partners)


def _birth(program: str, setup: str):
    text = setup + textwrap.dedent(program)
    observations = analysis.analyse("/p/train.py", {"/p/train.py": text}.get, "/p")
    assert observations is not None
    mismatch = observations.mismatches[0]
    origins = [origin for operand in mismatch.cpu for origin in operand.origins if origin.kind == "made"]
    partners = [operand.text for operand in mismatch.accelerator]
    return observations, observations.sources[origins[0].site_id].point, partners


METHOD = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        {body}


Net().to(device)(torch.ones(3, 4, device=device))
"""

WORDS = [
    pytest.param("x = torch.ones(3, device=device)\nx + torch.zeros(3)", "device", id="flat-script"),
    pytest.param("dev = device\nx = torch.ones(3).to(dev)\nx + torch.zeros(3)", "device", id="the-best-of-two-names"),
    pytest.param(METHOD.format(body="return x + torch.zeros(4)"), "x.device", id="a-module-follows-its-input"),
    pytest.param(
        METHOD.format(body="y = self.fc(x)\n        return y + torch.zeros(4)"), "x.device", id="parameters-come-first"
    ),
    pytest.param(
        METHOD.format(body="mask = torch.ones(x.size(0), 1)\n        y = self.fc(x)\n        return y * mask"),
        "x.device",
        id="not-what-comes-later",
    ),
    pytest.param(
        "def add(x, device):\n    return x + torch.zeros(3)\n\n\nadd(torch.ones(3, device=device), device)",
        "device",
        id="a-parameter",
    ),
    pytest.param(
        "def add(x):\n    return x + torch.zeros(3)\n\n\nadd(torch.ones(3, device=device))",
        "x.device",
        id="a-global-that-the-function-does-not-use",
    ),
    pytest.param(
        """
        def add(config):
            x = torch.ones(3).to(config["device"])
            return x + torch.zeros(3)


        add({"device": "cuda"})
        """,
        'config["device"]',
        id="as-a-move-beside-it-says",
    ),
    pytest.param(
        """
        class Judge(nn.Module):
            def __init__(self, scorer):
                super().__init__()
                self.scorer = scorer

            def forward(self, texts):
                place = next(self.scorer.parameters()).device
                rows = [torch.tensor([float(len(text))]) for text in texts]
                return [self.scorer(row) for row in rows]


        Judge(nn.Linear(1, 1).to(device))(["a", "bc"])
        """,
        "place",
        id="a-name-of-the-function-that-nothing-reads",
    ),
    pytest.param(
        "def make():\n    return torch.zeros(3)\n\n\ntorch.ones(3, device=device) + make()",
        "device",
        id="nothing-but-the-global",
    ),
    pytest.param(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.rnn = nn.GRU(4, 4)

            def start(self, size):
                return torch.zeros(1, size, 4)

            def forward(self, x):
                return self.rnn(x, self.start(x.size(1)))


        net = Net().cuda()
        net(torch.ones(3, 2, 4).cuda())
        """,
        "next(self.parameters()).device",
        id="the-module's-own-parameters",
    ),
    pytest.param(
        """
        class Agent:
            def __init__(self, device):
                self.device = device
                self.net = nn.Linear(3, 2).to(device)

            def act(self):
                return self.net(torch.tensor([1.0, 2.0, 3.0]))


        Agent(device).act()
        """,
        "self.device",
        id="an-attribute",
    ),
]


@pytest.mark.parametrize(("program", "words"), WORDS)
def test_the_device_is_named_as_its_author_would(program, words):
    assert words_for(program) == words


def test_nothing_is_made_up_where_nothing_names_the_device():
    setup = "import torch\nfrom torch import nn\n"

    assert words_for("nn.Linear(3, 2).cuda()(torch.ones(3))", setup) is None
    assert words_for("net = nn.Linear(3, 2).cuda()\nnet(torch.ones(3))", setup) == "next(net.parameters()).device"


@pytest.mark.parametrize(
    ("statement", "always"),
    [
        ("x = 1", True),
        ("x, y = 1, 2", True),
        ("if a:\n    x = 1\nelse:\n    x = 2", True),
        ("if a:\n    x = 1\nelse:\n    raise ValueError", True),
        ("if a:\n    x = 1", False),
        ("for x in a:\n    pass", False),
        ("with a as x:\n    pass", True),
        ("try:\n    x = 1\nexcept ValueError:\n    pass", False),
        ("import x", True),
        ("print(x)", False),
    ],
)
def test_a_statement_binds_a_name_on_every_path_or_not(statement, always):
    assert binds(ast.parse(statement).body[0], "x") is always


@pytest.mark.parametrize(
    ("body", "name", "bound"),
    [
        pytest.param("x + torch.zeros(3)", "x", True, id="a-parameter"),
        pytest.param("for y in (1, 2):\n        x + torch.zeros(3)", "y", True, id="a-loop-target"),
        pytest.param("if x.sum():\n        y = 1\n    x + torch.zeros(3)", "y", False, id="on-one-side"),
        pytest.param("x + torch.zeros(3)\n    y = 1", "y", False, id="later"),
    ],
)
def test_a_name_is_there_only_where_every_path_has_bound_it(body, name, bound):
    text = f"import torch\n\n\ndef f(x):\n    {body}\n\n\nf(torch.ones(3).cuda())\n"
    observations = analysis.analyse("/p/train.py", {"/p/train.py": text}.get, "/p")

    assert bound_at(observations.mismatches[0].point.call_frame, name) is bound


def test_a_program_is_searched_for_words_once_and_not_for_every_finding(monkeypatch):
    searched = Counter()
    unparse = ast.unparse
    program = SETUP + "model = nn.Linear(2, 2).to(device)\nlosses = []\n"
    text = program + "losses.append(model(torch.ones(2)))\n" * 60
    observations = analysis.analyse("/p/train.py", {"/p/train.py": text}.get, "/p")
    monkeypatch.setattr(ast, "unparse", lambda node: (searched.update(["names"]), unparse(node))[1])

    words = [
        device_for_tensor(
            observations, mismatch.point, mismatch.point.call_frame, [operand.text for operand in mismatch.accelerator]
        )
        for mismatch in observations.mismatches
    ]

    assert words == ["device"] * 60
    assert searched["names"] < 60 * 10


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ("mean.shape", "mean.device"),
        ("mean.size()", "mean.device"),
        ("(2, 3)", "next(self.parameters()).device"),
    ],
)
def test_what_is_asked_for_its_shape_is_a_tensor(shape, words):
    program = f"""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(4, 6)

            def noise(self, mean, spread):
                return mean + torch.randn({shape}) * spread.exp()

            def forward(self, x):
                mean, spread = self.fc(x).chunk(2, dim=1)
                return self.noise(mean, spread)

        Net().to(device)(torch.ones(2, 4, device=device))
        """

    assert words_for(program) == words


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("first = outputs[0]", "outputs.device"),
        ("first = outputs[0][1]", "first.device"),
        ("first = outputs[0]; second = first[1]", "outputs.device"),
    ],
)
def test_what_has_items_with_items_may_be_no_tensor(line, words):
    program = f"""
        from other import known

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(4, 4)

            def forward(self, x):
                y = self.fc(x)
                return known(y) if known() else y

        def loss(outputs):
            {line}
            return torch.cat([outputs, torch.ones(outputs.size()[0])])

        loss(Net().cuda()(torch.ones(3, 4).cuda()))
        """

    assert words_for(program, "import torch\nfrom torch import nn\n") == words


@pytest.mark.parametrize(("declared", "words"), [("int", None), ("str", None), ("torch.Tensor", "length.device")])
def test_what_is_declared_as_a_number_has_no_device(declared, words):
    program = f"""
        def noise(length: {declared}, count):
            return torch.zeros(count) + length.repeat(count)

        noise(torch.ones(1).cuda(), 3)
        """

    assert words_for(program, "import torch\nfrom torch import nn\n") == words


@pytest.mark.parametrize(("release", "words"), [(None, "x.device"), ((0, 4), "x.device"), ((0, 3), None)])
def test_tensors_of_old_releases_have_no_device(release, words):
    program = "def noise(x):\n    return torch.zeros(3) + x\n\nnoise(torch.ones(3).cuda())\n"
    observations, site, partners = _birth(program, "import torch\nfrom torch import nn\n")
    observations.release = release

    assert device_for_tensor(observations, site, site.call_frame, partners) == words


NO_INPUT = METHOD.format(body="return self.fc(torch.zeros(3, 4))").replace(
    "device)(torch.ones(3, 4, device=device))", "device)(3)"
)


@pytest.mark.parametrize(
    ("line", "usable"),
    [
        ("", True),
        ("# nn.DataParallel(model) is slower", True),
        ("from torch.nn.parallel import DistributedDataParallel", True),
        ("from torch.nn import DataParallel as Replicas", False),
        ("wrap = nn.DataParallel", False),
    ],
)
def test_replicas_have_no_parameters(line, usable):
    words = words_for(NO_INPUT, f"{SETUP}{line}\n")
    assert (words == "next(self.parameters()).device") is usable

    observations, site, partners = _birth(NO_INPUT, f"{SETUP}{line}\n")
    scope, query = ValueScope(observations, site, site.call_frame), Query(partners=tuple(partners), bound=True)
    assert ("next(self.parameters()).device" in device_expressions(scope, FOR_TENSOR, query)) is usable


def test_an_attribute_of_another_file_s_class_is_not_read_from_an_argument(tmp_path):
    nets = textwrap.dedent(
        """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(4, 4)
                self.device = torch.device("cuda")
        """
    )
    use = "def run(net):\n    return net.fc(torch.ones(3, 4))\n\nrun(Net().cuda())\n"
    (tmp_path / "nets.py").write_text(nets, encoding="utf-8")

    assert _device_in(tmp_path, f"import torch\nfrom nets import Net\n\n{use}") == "next(net.parameters()).device"
    assert _device_in(tmp_path, f"{nets}\n\n{use}") == "net.device"


def _device_in(folder: Path, text: str) -> str | None:
    (folder / "train.py").write_text(text, encoding="utf-8")
    observations = analysis.analyse(
        str(folder / "train.py"), lambda path: Path(path).read_text(encoding="utf-8"), str(folder)
    )
    assert observations is not None
    mismatch = observations.mismatches[0]
    (origin,) = (origin for operand in mismatch.cpu for origin in operand.origins)
    site = observations.sources[origin.site_id].point
    return device_for_tensor(observations, site, site.call_frame)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("pass", "step.device"),
        ("print(x.device)", "x.device"),
        ("if isinstance(step, torch.Tensor): step = step * 1", "x.device"),
        ("if torch.is_tensor(step): step = step * 1", "x.device"),
        ("if hasattr(x, 'device'): print(x.device)", "step.device"),
    ],
)
def test_the_device_that_a_function_reads_comes_first_and_that_of_what_may_be_a_number_last(line, words):
    program = f"""
        def grow(step, x):
            {line}
            return torch.zeros(3) + step * x

        grow(torch.ones(3, device=device), torch.ones(3, device=device))
        """

    assert words_for(program) == words
