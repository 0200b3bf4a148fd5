"""Functions that no program calls: which lines of them fail for a caller with an accelerator."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from devfix import analysis

HEADER = "import torch\nfrom torch import Tensor, nn\n"


def _failing(text: str) -> list[str]:
    """Return the stripped lines on which tensors meet on two devices."""
    source = HEADER + textwrap.dedent(text)
    found = analysis.analyse_library("/lib/lib.py", {"/lib/lib.py": source}.get, "/lib")
    assert found is not None
    points = [mismatch.point for mismatch in found.mismatches]
    return list(dict.fromkeys(point.tree.line(point.span.line).strip() for point in points))


def test_a_tensor_of_the_cpu_fails_beside_an_argument():
    assert _failing("def f(x: Tensor):\n    return x + torch.ones(2)\n") == ["return x + torch.ones(2)"]


RIGHT = {
    "an empty tensor is replaced before its elements are used": """
        class Memory(nn.Module):
            def __init__(self, causal):
                super().__init__()
                self.mask = torch.Tensor()

            def forward(self, x: Tensor):
                return x.masked_fill(self.mask[:2] == 0, 0.0)
    """,
    "a chain of strings names every mode": """
        def scores(x: Tensor, mode):
            found = torch.tensor([0])
            if mode == "sum":
                found = x.sum(-1)
            elif mode == "mean":
                found = x.mean(-1)
            return x * found
    """,
    "two choices by one flag go together": """
        def sizes(x: Tensor, on_host):
            limit = torch.ones(3) if on_host else torch.ones(3, device=x.device)
            x = x.cpu() if on_host else x
            return x + limit
    """,
    "a cache is built at its first use": """
        class Rotary(nn.Module):
            def __init__(self, dim: int):
                super().__init__()
                self.register_buffer("inverse", torch.ones(dim))
                self.length = 0
                self.cos = torch.empty(self.length, 1, dim)

            def forward(self, x: Tensor, length: int = 0):
                if length > self.length:
                    self.length = length
                    t = torch.arange(length, device=x.device)
                    self.cos = torch.einsum("i,j->ij", t, self.inverse).cos()
                return x * self.cos
    """,
    "tensors in a tuple move with a module that moves them itself": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.inputs = tuple(torch.ones(3, n) for n in range(4))

            def _apply(self, fn):
                self.inputs = tuple(fn(each) for each in self.inputs)
                return super()._apply(fn)

            def forward(self, x: Tensor):
                return [x + each for each in self.inputs]
    """,
    "as_tensor leaves the result of a layer where it is": """
        class Block(nn.Module):
            def __init__(self, shortcut):
                super().__init__()
                self.shortcut = shortcut

            def forward(self, x: Tensor):
                return x + torch.as_tensor(self.shortcut.run(x))
    """,
    "a table that is no tuple has no parts": """
        def table(kind):
            betas = torch.linspace(0.0, 1.0, 10)
            return (betas, 1 - betas, 1 - betas) if kind == "all" else betas

        class Scheduler(nn.Module):
            def __init__(self, kind="linear"):
                super().__init__()
                found = table(kind)
                if isinstance(found, tuple):
                    self.betas, self.alphas, _ = found
                else:
                    self.betas = found
                    self.alphas = 1.0 - self.betas

            def step(self, x: Tensor, timestep: int):
                return x * self.betas[timestep].sqrt() / self.alphas[timestep]
    """,
    "a value on the device of another one that is on the CPU is there": """
        def back(x: Tensor, y):
            if y.device == torch.device("cpu"):
                return y
            return x
    """,
    "a buffer that may be None moves": """
        class Picks(nn.Module):
            def __init__(self, columns=None):
                super().__init__()
                if columns is not None:
                    columns = torch.tensor(columns)
                self.register_buffer("columns", columns)

            def forward(self, x: Tensor):
                if self.columns is not None:
                    x = x.index_select(-1, self.columns)
                return x
    """,
    "weights of another layer that are assigned are registered": """
        class Head(nn.Module):
            def __init__(self, weight=None):
                super().__init__()
                if weight is None:
                    weight = nn.Linear(3, 4).weight
                self.weight = weight

            def forward(self, x: Tensor):
                return nn.functional.linear(x, self.weight)
    """,
    "a method with a device argument places what it sets": """
        class Scheduler:
            def __init__(self):
                self.steps = torch.arange(1000, 0, -1)

            def set_steps(self, count, device=None):
                self.steps = torch.arange(count, 0, -1).to(device)

            def noise(self, x: Tensor):
                return x + self.steps
    """,
    "an index that may be a number is one": """
        class Table:
            def __init__(self):
                self.rows = torch.rand(1000)

            def look_up(self, x: Tensor, step: int | Tensor):
                return x * self.rows[step]
    """,
    "a value moves if it is elsewhere": """
        class Powers(nn.Module):
            def __init__(self):
                super().__init__()
                self.powers = torch.arange(4)

            def forward(self, x: Tensor):
                for name in ("powers",):
                    setattr(self, name, placed(getattr(self, name), x))
                return x ** self.powers

        def placed(value, like):
            where = like.device
            if value.device != where:
                value = value.to(where)
            return value
    """,
    "a method moves the part that another one uses": """
        class Trainer:
            def __init__(self, device):
                self.net = nn.Linear(3, 3)
                self.device = device

            def evaluate(self, x: Tensor):
                return self.net(x.to("cuda"))

            def prepare(self):
                self.net.to(self.device)
    """,
    "a move of its own writes what it cannot name": """
        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = torch.ones(3)

            def cuda(self):
                for x in [self.scale]:
                    x.data = x.data.cuda()
                return super().cuda()

            def forward(self, x: Tensor):
                return x * self.scale
    """,
    "what has no size in any direction is a placeholder": """
        def attend(x: Tensor, cache: Tensor = torch.zeros((0, 0, 0))):
            return torch.cat([cache, x]) if cache.size(0) > 0 else x
    """,
    "a method that trains the module is not called before it is moved": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(3, 3)

            def train(self, rate):
                self.kept = torch.zeros(3, device=self.layer.weight.device) * rate

            def forward(self, x: Tensor):
                return self.layer(x) + self.kept + torch.ones(3, device=x.device)
    """,
    "a tensor is no instance of a dataclass": """
        import dataclasses

        def placed(value, device):
            if isinstance(value, dict):
                return {key: placed(each, device) for key, each in value.items()}
            elif dataclasses.is_dataclass(value) and not isinstance(value, type):
                return type(value)(*[placed(each, device) for each in dataclasses.astuple(value)])
            elif isinstance(value, torch.Tensor):
                return value.to(device)
            return value

        def joined(x: Tensor):
            return torch.cat([placed(torch.zeros(3), x.device), x])
    """,
    "a quantile of a number has no dimensions": """
        def low(x: Tensor, level=0.9):
            normal = torch.distributions.Normal(0.0, 1.0)
            return x < normal.icdf(torch.as_tensor(0.5 + level / 2))
    """,
    "what is a number is no tensor": """
        class Rescale(nn.Module):
            def __init__(self, factor: float | Tensor):
                super().__init__()
                if isinstance(factor, float):
                    self.factor = torch.tensor(factor)
                else:
                    self.factor = factor.cuda()

            def forward(self, x: Tensor):
                return x * self.factor
    """,
    "a dtype in the place of a device names none": """
        class Batch:
            def __init__(self, size, device: torch.device, dtype: torch.dtype):
                self.size, self.device, self.dtype = size, device, dtype

            def fill(self):
                return torch.zeros(self.size, device=self.device, dtype=self.dtype)

        def total(x: Tensor):
            return x + Batch(len(x), x.dtype, x.device).fill()
    """,
}


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_what_is_right_for_every_caller_is_not_reported(text):
    assert _failing(text) == []


STILL_WRONG = {
    "an empty tensor that is extended": (
        """
        def gather(x: Tensor):
            found = torch.empty(0)
            return torch.cat([found, x])
        """,
        "return torch.cat([found, x])",
    ),
    "a table that no method places": (
        """
        class Table:
            def __init__(self):
                self.rows = torch.rand(1000)

            def add(self, x: Tensor):
                return x + self.rows
        """,
        "return x + self.rows",
    ),
    "a flag that another method sets": (
        """
        class Nearest:
            def __init__(self, neighbors):
                self.neighbors = neighbors
                self.is_fitted = False

            def fit(self, x):
                self.neighbors.fit(x.cpu().numpy())
                self.is_fitted = True

            def predict(self, x: Tensor):
                if not self.is_fitted:
                    raise ValueError
                return x * torch.arange(3)
        """,
        "return x * torch.arange(3)",
    ),
    "what a module computes ahead of an evaluation": (
        """
        class Attention(nn.Module):
            def __init__(self, index):
                super().__init__()
                self.biases = nn.Parameter(torch.zeros(3, 4))
                self.register_buffer("index", torch.tensor(index), persistent=False)

            def train(self, mode=True):
                super().train(mode)
                if mode and hasattr(self, "kept"):
                    del self.kept
                else:
                    self.kept = self.biases[:, self.index]

            def forward(self, x: Tensor):
                return x + (self.biases[:, self.index] if self.training else self.kept)
        """,
        "return x + (self.biases[:, self.index] if self.training else self.kept)",
    ),
    "states of layers that options choose": (
        """
        class Net(nn.Module):
            def __init__(self, n, rnn="LSTM", sizes=[16], bidirectional=False):
                super().__init__()
                self.rnn = rnn
                self.bidirectional = bidirectional
                self.directions = 2 if self.bidirectional else 1
                self.layers = []
                for size in sizes:
                    if self.rnn == "LSTM":
                        layer = nn.LSTM(n, size, bidirectional=bidirectional)
                    elif self.rnn == "GRU":
                        layer = nn.GRU(n, size, bidirectional=bidirectional)
                    else:
                        raise ValueError(rnn)
                    self.add_module("layer{}".format(size), layer)
                    self.layers.append(layer)

            def forward(self, x: Tensor):
                for layer in self.layers:
                    if self.rnn == "LSTM":
                        state = (torch.zeros(self.directions, 4, 16), torch.zeros(self.directions, 4, 16))
                    elif self.rnn == "GRU":
                        state = torch.zeros(self.directions, 4, 16)
                    x, _ = layer(x, state)
                    if self.bidirectional:
                        x = x / 2
                return x
        """,
        "x, _ = layer(x, state)",
    ),
    "a chain with an else": (
        """
        def scores(x: Tensor, mode):
            if mode == "sum":
                found = x.sum(-1)
            elif mode == "mean":
                found = x.mean(-1)
            else:
                found = torch.ones(3)
            return x * found
        """,
        "return x * found",
    ),
}


@pytest.mark.parametrize(("text", "line"), STILL_WRONG.values(), ids=STILL_WRONG)
def test_what_fails_for_every_caller_is_reported(text, line):
    assert _failing(text) == [line]


def _read(text: str) -> list[str]:
    """Return the expressions that are read on the host."""
    source = HEADER + "import matplotlib.pyplot as plt\nimport numpy as np\n" + textwrap.dedent(text)
    found = analysis.analyse_library("/lib/lib.py", {"/lib/lib.py": source}.get, "/lib")
    assert found is not None
    return [ast.unparse(access.expression) for access in found.host_accesses.values()]


_PLOT = """
def plot_features(features):
    plt.imshow(features.squeeze())
"""


def test_what_forward_plots_is_where_its_input_is():
    text = """
    class Net(nn.Module):
        def forward(self, x):
            plot_features(x)
            return x + np.mean(x.numpy())
    """
    assert _read(_PLOT + textwrap.dedent(text)) == ["features.squeeze()", "x"]


def test_what_another_function_plots_is_where_the_plot_needs_it():
    assert _read(_PLOT + "def f(x: Tensor):\n    plot_features(x)\n    return np.mean(x.numpy())\n") == ["x"]


_PACK = """
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.LSTM(4, 4, batch_first=True)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True)
        out, _ = self.layer(packed)
        return pad_packed_sequence(out, batch_first=True)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Encoder()])

    def forward(self, x, lengths):
        '''Encode sequences.

        Args:
            x (torch.Tensor): of shape (batch, length, features).
            lengths (torch.IntTensor): of shape (batch).
        '''
        for layer in self.layers:
            x, lengths = layer(x, lengths)
        return x
"""


def test_lengths_that_are_passed_on_as_they_are_come_from_callers_that_work():
    assert _read(_PACK) == []
    assert _read(_PACK.replace("x, lengths, b", "x, self.layer(x)[0].sum((1, 2)), b")) != []


def test_forward_is_called_after_the_constructor_has_tried_it():
    text = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.size = self.forward(torch.zeros(1, 3)).shape[1]

        def forward(self, x):
            return x + torch.ones(3)
    """
    assert _failing(text) == ["return x + torch.ones(3)"]


def test_a_device_that_defaults_to_the_cpu_is_passed_by_callers_with_an_accelerator():
    program = (
        "def summary(model: nn.Module, size, device={}):\n    x = torch.randn(size, device=device)\n    model(x)\n"
    )

    assert _failing(program.format("'cpu'")) == []
    assert _failing(program.format("None")) == ["model(x)"]


def test_fans_are_numbers():
    program = """
        import numpy as np
        def bound(m: nn.Linear):
            fan_in, _ = nn.init._calculate_fan_in_and_fan_out(m.weight)
            return fan_in + torch.ones(3)
    """

    assert _failing(program) == []


def test_an_empty_vector_on_the_cpu_is_no_placeholder():
    assert _failing("def f(x: Tensor, seen=torch.zeros(0)):\n    return torch.cat([seen, x])\n") != []


@pytest.mark.parametrize(
    "body", ["setattr(self, 'place', device)", "for p in self.parameters():\n                p.data = p.data * 1"]
)
def test_a_move_that_writes_no_tensor_of_its_own_leaves_them(body):
    text = f"""
    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.ones(3)

        def to(self, device):
            {body}
            return super().to(device)

        def forward(self, x: Tensor):
            return x * self.scale
    """

    assert _failing(text) == ["return x * self.scale"]


TOLD = """
    class Base:
        def __init__(self, device):
            self.device = device
            self.load(device)

    class Painter(Base):
        def load(self, device):
            self.net = torch.jit.load("net.pt").to(device)

        def paint(self, image):
            return self.net(torch.from_numpy(image).to(self.device)) * {mean}
"""


@pytest.mark.parametrize(
    ("mean", "fails"),
    [("torch.ones(3)", True), ("torch.ones(3, device=self.device)", False), ("torch.ones(3).to(self.device)", False)],
)
def test_an_object_that_is_no_module_is_told_its_device_by_its_constructor(mean, fails):
    assert bool(_failing(TOLD.format(mean=mean))) is fails


@pytest.mark.parametrize(
    ("statement", "fails"),
    [
        ("return y * torch.ones(3)", True),
        ("return torch.ones(3) - y", True),
        ("return x * torch.ones(3)", False),
        ("return y * 3", False),
        ("return y * torch.ones(3, device=device)", False),
    ],
)
def test_what_is_moved_and_meets_a_tensor_is_a_tensor(statement, fails):
    text = f"""
        def f(items, device):
            x = items.first()
            y = x.to(device)
            {statement}
    """

    assert bool(_failing(text)) is fails


@pytest.mark.parametrize("batches", ["loader", "torch.utils.data.DataLoader(loader, batch_size=4)"])
@pytest.mark.parametrize(("target", "fails"), [("y", True), ("y.to(device)", False)])
def test_a_loop_that_moves_a_part_of_its_batch_gets_it_from_the_host(batches, target, fails):
    text = f"""
        def train(loader, model, device):
            for x, y in {batches}:
                x = x.to(device)
                loss = nn.functional.cross_entropy(model(x), {target})
                loss.backward()
    """

    assert bool(_failing(text)) is fails


def test_the_encoding_of_a_tokenizer_is_on_the_host():
    text = """
        from transformers import AutoModelForCausalLM, AutoTokenizer

        def answer(name, prompt):
            tokenizer = AutoTokenizer.from_pretrained(name)
            model = AutoModelForCausalLM.from_pretrained(name{place}
            return model.generate(tokenizer(prompt, return_tensors="pt").input_ids)
    """

    assert _failing(text.replace("{place}", ").cuda()")) != []
    assert _failing(text.replace("{place}", ', device_map="auto")')) != []
    assert _failing(text.replace("{place}", ', device_map="auto", load_in_8bit=True)')) == []
    assert _failing(text.replace("{place}", ")")) == []


def test_an_annotation_may_be_an_alias_of_another_file(tmp_path):
    (tmp_path / "kinds.py").write_text(
        "import torch\nfrom base import Rows\n\n\nclass Net(torch.nn.Module):\n    pass\n"
    )
    (tmp_path / "base.py").write_text("import torch\nRows = torch.LongTensor\n")
    text = (
        "import torch\nfrom kinds import Net, Rows\n\n\n"
        "def f(x: Rows):\n    return x + torch.ones(3)\n\n\n"
        "def g(thing: Net):\n    return thing(torch.ones(3))\n"
    )
    path = str(tmp_path / "lib.py")
    (tmp_path / "lib.py").write_text(text)

    found = analysis.analyse_library(path, lambda file: Path(file).read_text(), str(tmp_path))

    assert found is not None
    assert [mismatch.point.span.line for mismatch in found.mismatches] == [6, 10]


def test_a_default_that_names_a_class_stands_for_the_class():
    text = """
        class Net(nn.Module):
            def __init__(self, kind="lstm"):
                super().__init__()
                self.layer = nn.Linear(3, 3)
                self.rest = kind(3, 3)

            def forward(self, x):
                return self.layer(x) + torch.ones(3)
    """

    assert _failing(text) == ["return self.layer(x) + torch.ones(3)"]


@pytest.mark.parametrize(
    ("arguments", "fails"), [("", True), ("args=None", True), ("cfg", True), ("path", False), ("x, y", False)]
)
def test_a_function_that_needs_no_arguments_may_start_a_program(arguments, fails):
    text = f"""
        class Trainer:
            def __init__(self, net):
                self.device = torch.device("cuda")
                self.net = net

            def fit(self, x):
                return self.net(x.to(self.device))

        def main({arguments}):
            Trainer(nn.Linear(3, 3)).fit(torch.ones(3))
    """

    assert bool(_failing(text)) is fails


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
            class Cell(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.layer = nn.Linear(3, 3)

                def forward(self, x, h=None):
                    if h is None:
                        h = torch.zeros(x.size(0), 3)
                    return {}
            """,
            id="state",
        ),
        pytest.param(
            """
            def weighted(pred, target, *, h=None):
                h = h if h is not None else torch.ones(pred.shape)
                x = pred - target
                return {}
            """,
            id="keyword",
        ),
    ],
)
def test_what_a_function_makes_in_place_of_an_argument_fails_for_callers_that_leave_it_out(text):
    returned = "self.layer(x) + h" if "Cell" in text else "x ** 2 * h"

    assert _failing(text.format(returned)) == [f"return {returned}"]
    assert _failing(text.format(returned.replace("h", "h.to(x.device)", 1))) == []
