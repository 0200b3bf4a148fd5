"""Functions that no program calls are called as a user of an accelerator would call them."""

from __future__ import annotations

import pytest

from devfix import analysis
from devfix.model import Coverage
from devfix.rules.registry import all_rules

HEADER = "import numpy as np\nimport torch\nfrom torch import Tensor, nn\n\n\n"


@pytest.fixture
def library():
    def call(text, reached=()):
        subscriptions = [each for rule in all_rules() for each in rule.subscriptions]
        read = {"lib.py": HEADER + text}.get
        observations = analysis.analyse_library("lib.py", read, ".", reached, subscriptions=subscriptions)
        assert observations is not None
        return observations

    return call


def module(init, forward, *methods):
    parts = ["class Net(nn.Module):", "    def __init__(self, size: int = 3):", "        super().__init__()"]
    parts += [f"        {line}" for line in init]
    parts += ["    def forward(self, x):", *(f"        {line}" for line in forward)]
    parts += [f"    {line}" for method in methods for line in method.split("\n")]
    return "\n".join(parts) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def f(x: Tensor):\n    return x + torch.ones(3)\n", id="annotated-tensor"),
        pytest.param(
            "def f(x: Tensor, mask: Tensor | None = None):\n"
            "    if mask is None:\n        mask = torch.ones(x.shape[0])\n    return x * mask\n",
            id="what-a-caller-may-leave-out",
        ),
        pytest.param("def f(x: Tensor, device=None):\n    return x + torch.ones(3, device=device)\n", id="no-device"),
        pytest.param("def f(size, device):\n    return torch.ones(size, device=device) + torch.ones(3)\n", id="device"),
        pytest.param(
            "def f(x: Tensor, device=None):\n    return x + torch.ones(3, device=device)\n\n\n"
            "def g(x: Tensor):\n    return f(x, x.device) + torch.ones(3, device=x.device)\n",
            id="a-device-that-only-functions-of-the-file-pass",
        ),
        pytest.param(
            module(
                ["self.scale = nn.Parameter(torch.ones(3))"],
                ["return x * self.scale"],
                "def fill(self, x: Tensor, change=None):\n    change = change or torch.abs\n"
                "    self.scale.data = change(self.scale.data)\n    return self.scale + torch.ones(3)",
            ),
            id="data-of-a-parameter-that-an-unknown-function-may-have-made",
        ),
        pytest.param(
            "def f(x: Tensor, weight):\n    if isinstance(weight, list):\n        weight = torch.tensor(weight)\n"
            "    return x * weight\n",
            id="one-of-several-kinds",
        ),
        pytest.param(
            module(["self.fc = nn.Linear(3, 3)"], ["return self.fc(x)"])
            + "def run(net, x):\n    return net(x)\n\n\ndef f(x: Tensor):\n    net = Net()\n    return run(net, x)\n",
            id="module-that-another-function-calls",
        ),
        pytest.param(
            "def f(net):\n    count = sum(p.numel() for p in net.parameters())\n"
            "    return count, net(torch.ones(1, 3, net.stride))\n",
            id="module-with-an-attribute-of-its-class",
        ),
        pytest.param(module(["self.fc = nn.Linear(3, 3)"], ["return self.fc(x) + torch.ones(3)"]), id="forward"),
        pytest.param(
            module(["self.scale = torch.ones(3)"], ["return x * self.scale"]), id="attribute-that-is-no-buffer"
        ),
        pytest.param(
            module(
                ["self.w = nn.Parameter(torch.ones(3)) if size else None"],
                ["return x"],
                "def g(self):\n    return self.w + torch.ones(3)",
            ),
            id="parameter-that-may-be-none",
        ),
        pytest.param(
            module(["raise ValueError(size)"], ["return x.detach() + torch.ones(3)"]), id="constructor-that-fails"
        ),
        pytest.param(
            "def mean(y):\n    return y + torch.ones(3)\n\n\ndef f(x: Tensor):\n    return mean(x * 2)\n",
            id="function-that-another-calls",
        ),
    ],
)
def test_a_requirement_that_only_the_cpu_meets_is_observed(library, text):
    assert len(library(text).mismatches) >= 1


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def f(x: Tensor):\n    return x + torch.ones(3, device=x.device)\n", id="device-of-an-argument"),
        pytest.param("def f(agent):\n    agent.eval()\n    return agent(torch.ones(3), agent.rate)\n", id="agent"),
        pytest.param("def f(x: float):\n    return x + torch.ones(3)\n", id="number"),
        pytest.param("def f(x: np.ndarray):\n    return torch.from_numpy(x) + torch.ones(3)\n", id="array"),
        pytest.param(
            "def f(x):\n    return x\n\n\ndef g(size):\n    return torch.ones(size) + torch.ones(3)\n", id="cpu"
        ),
        pytest.param(module(['self.register_buffer("scale", torch.ones(3))'], ["return x * self.scale"]), id="buffer"),
        pytest.param(
            module(
                ["self.build(torch.ones(3))"],
                ["return x"],
                "def build(self, y):\n    self.n = (y + torch.ones(3)).sum().item()",
            ),
            id="method-that-the-constructor-calls",
        ),
        pytest.param(
            "def table(y):\n    return y + torch.ones(3)\n\n\n"
            "def f(x: Tensor):\n    return x + table(x.cpu()).to(x.device)\n",
            id="function-that-gets-cpu-tensors",
        ),
        pytest.param(
            "class Pairs(torch.utils.data.Dataset):\n"
            "    def __getitem__(self, x: Tensor):\n        return x + torch.ones(3)\n",
            id="data-set",
        ),
        pytest.param(
            "def table(grids: dict[str, Tensor]):\n    return grids['x'] + torch.ones(3)\n\n\n"
            + module(
                ['self.register_buffer("table", table({"x": torch.ones(3)}))'],
                ["return x * self.table + torch.ones(3).to(x)"],
            )
            + "\n\ndef build():\n    return Net()\n",
            id="function-that-a-constructor-calls",
        ),
        pytest.param(
            "def f(x: Tensor):\n    if type(x) in {tuple, list}:\n        x = torch.stack(tuple(x)).cpu()\n"
            "    return x.cpu() + torch.ones(3)\n",
            id="class-among-others",
        ),
        pytest.param(
            "def f(x: Tensor):\n    if torch.onnx.is_in_onnx_export():\n        return x + torch.ones(3)\n"
            "    return x\n",
            id="export",
        ),
        pytest.param(
            "def f(x: Tensor):\n    return x + torch.ops.mine.to_accelerator(torch.ones(3))\n",
            id="operator-of-a-library",
        ),
        pytest.param(
            "def f(x: Tensor, y):\n    return torch.ones(3, device=y.device) + torch.ones(3)\n",
            id="device-of-an-unknown-value",
        ),
        pytest.param(
            "def f(x: Tensor, y):\n    y = y.run().copy()\n    if isinstance(y, Tensor):\n        y = y.cpu()\n"
            "    return torch.ones(3) * y\n",
            id="unknown-value-that-is-a-tensor",
        ),
        pytest.param(
            module(
                ["self.fc = nn.Linear(3, 3)"],
                ["return self.fc(x)"],
                "def fuse(self, x: Tensor):\n        self.fc = nn.Linear(3, 3)\n"
                "        self.fc.weight.data = mystery(x)\n        return self.fc.weight + x",
            ),
            id="weights-that-are-replaced-by-unknown-ones",
        ),
    ],
)
def test_what_a_caller_on_an_accelerator_can_call_stays_as_it_is(library, text):
    assert library(text).mismatches == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "def f(x: Tensor | np.ndarray):\n    if isinstance(x, np.ndarray):\n        return np.asarray(x)\n"
            "    return x\n",
            id="array-among-tensors",
        ),
        pytest.param(
            "def f(x: Tensor | np.ndarray, y):\n    is_array = isinstance(x, np.ndarray)\n    if y:\n"
            "        x = torch.from_numpy(x) if is_array else x.clone()\n    if is_array:\n        return x.numpy()\n"
            "    return x\n",
            id="array-that-goes-back",
        ),
    ],
)
def test_arrays_are_read_by_the_host(library, text):
    assert library(text).host_accesses == {}


def test_a_tensor_is_read_by_the_host_where_no_array_is_expected(library):
    assert library("def f(x: Tensor, y):\n    if y:\n        return x.numpy()\n    return x\n").host_accesses


def test_a_function_that_programs_call_is_left_out(library, tmp_path):
    import os

    text = "def f(x: Tensor):\n    return x + torch.ones(3)\n"
    line = HEADER.count("\n") + 1

    assert library(text, [(os.path.abspath("lib.py"), line)]).mismatches == []


@pytest.mark.parametrize(
    ("factory", "covered"),
    [
        pytest.param("def net(size=3):\n    return Net(size)\n", Coverage.TRANSPARENT, id="returned"),
        pytest.param("def net(size=3) -> Net:\n    return build(Net, size)\n", Coverage.TRANSPARENT, id="declared"),
        pytest.param("def net():\n    return Net().cuda()\n", Coverage.ANALYSED, id="moved"),
        pytest.param("def main():\n    build(Net).fit()\n", Coverage.ANALYSED, id="program"),
    ],
)
def test_a_function_that_only_builds_a_module_is_not_called(library, factory, covered):
    text = "from other import build\n\n\n" + module(["self.layer = nn.Linear(3, 3)"], ["return self.layer(x)"])

    coverage = library(text + "\n\n" + factory).coverage

    assert coverage[max(coverage)] is covered


TESSELATION = """
def _weights(count: int):
    return torch.FloatTensor(range(count))


def NAME(vertices: Tensor):
    return vertices * _weights(len(vertices))


def basis(count: int):
    return NAME(torch.ones(count))
"""


@pytest.mark.parametrize(("name", "meets"), [("_tesselate", False), ("tesselate", True)])
def test_a_private_function_gets_what_its_file_passes(library, name, meets):
    assert bool(library(TESSELATION.replace("NAME", name)).mismatches) is meets


@pytest.mark.parametrize(
    ("argument", "latent"),
    [pytest.param("x: Tensor", False, id="annotation"), pytest.param("x, y: Tensor", False, id="use")],
)
def test_a_finding_is_latent_where_an_argument_is_a_guess(library, argument, latent):
    (mismatch,) = library(f"def f({argument}):\n    return x.detach() + torch.ones(3)\n").mismatches

    assert mismatch.latent is latent


FRAMEWORK = """
import pytorch_lightning as pl
from fairseq.criterions import FairseqCriterion
from transformers import Trainer

class Lit(pl.LightningModule):
    def training_step(self, batch, index):
        {lightning}

class Criterion(FairseqCriterion):
    def forward(self, model, sample, reduce=True):
        {fairseq}

class Own(Trainer):
    def compute_loss(self, model, inputs):
        {transformers}
"""


@pytest.mark.parametrize(
    ("framework", "statement", "meets"),
    [
        pytest.param("lightning", "return batch[0] + torch.ones(3)", True, id="lightning"),
        pytest.param("lightning", "return batch[0] + torch.ones(3, device=self.device)", False, id="lightning-device"),
        pytest.param("fairseq", "return model(**sample['net_input']) + torch.ones(3)", True, id="fairseq-model"),
        pytest.param("fairseq", "return sample['target'] + torch.ones(3).to(sample['target'])", False, id="moved"),
        pytest.param("transformers", "return model(**inputs)[0] + torch.ones(3)", True, id="trainer"),
        pytest.param(
            "transformers", "return model(**inputs)[0] + torch.ones(3, device=self.args.device)", False, id="args"
        ),
    ],
)
def test_methods_get_what_their_framework_passes(library, framework, statement, meets):
    parts = dict.fromkeys(("lightning", "fairseq", "transformers"), "pass")
    observations = library(FRAMEWORK.format(**{**parts, framework: statement}))
    assert bool(observations.mismatches) == meets
    assert not any(mismatch.latent for mismatch in observations.mismatches)


@pytest.mark.parametrize(
    ("argument", "meets"),
    [
        pytest.param("x.cpu()", False, id="sent-there"),
        pytest.param("torch.ones(3)", True, id="made-there"),
    ],
)
def test_an_object_that_is_fed_from_the_cpu_stays_there(library, argument, meets):
    text = "from elsewhere import Decoder\n\n" + module(
        ["self.fc = nn.Linear(3, 3)", "self.decoder = Decoder(size)"],
        ["x = self.fc(x) * torch.ones(3).to(x)", f"return self.decoder({argument})"],
    )
    assert bool(library(text).mismatches) == meets


@pytest.mark.parametrize(
    ("basis", "meets"),
    [
        pytest.param("self.forward_basis.cuda()", False, id="sent-where-it-is-used"),
        pytest.param("self.forward_basis", True, id="where-the-module-is"),
    ],
)
def test_a_module_that_sends_its_own_buffers_to_the_accelerator_is_not_moved(library, basis, meets):
    text = module(
        [f'self.register_buffer("{name}_basis", torch.rand(size))' for name in ("forward", "inverse")],
        ["return self.transformed(x).cpu() * self.inverse_basis"],
        f"def transformed(self, x: Tensor):\n        return x.cuda() * {basis}",
    )
    assert bool(library(text).mismatches) == meets


DECORATORS = """
import functools


def timed(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        print("start")
        return function(*args, **kwargs)

    return inner


def repeated(times):
    def decorate(function):
        def inner(*args, **kwargs):
            for _ in range(times):
                result = function(*args, **kwargs)
            return result

        return inner

    return decorate


"""


@pytest.mark.parametrize(
    "decorator", ["@timed", "@repeated(3)", "@timed\n@torch.no_grad()", "@torch.jit.ignore\n@timed"]
)
def test_what_a_decorator_of_the_project_wraps_is_called_as_without_it(library, decorator):
    function = (
        f"{DECORATORS}{decorator}\ndef f(x: Tensor, weight: Tensor | None = None):\n    return x + torch.ones(3)\n"
    )
    method = module([], ["return x"], f"{decorator}\ndef f(self, x: Tensor, size=3):\n    return x + torch.ones(size)")

    assert len(library(function).mismatches) == 1
    assert len(library(DECORATORS + method).mismatches) == 1
    assert not library(DECORATORS + method.replace("torch.ones(size)", "x.new_ones(size)")).mismatches
