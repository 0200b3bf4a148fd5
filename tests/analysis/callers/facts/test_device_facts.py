"""Functions that can make a difference between devices, and functions that cannot."""

from __future__ import annotations

import ast
import textwrap

import pytest

from devfix.analysis.callers.facts.device_facts import DeviceFacts
from devfix.analysis.program import Program

MATTERS = {
    "a factory without a device": "def f(x): return x + torch.zeros(3)",
    "a factory whose device callers may leave out": "def f(x, device=None): return x + torch.zeros(3, device=device)",
    "a name that is bound later": "def f(x):\n    y = torch.arange(3)\n    return x[y]",
    "torch.tensor": "def f(x): return x * torch.tensor([1.0, 2.0])",
    "a factory by another name": "make = torch.tensor\ndef f(x, device=None): return x * make([1.0], device=device)",
    "torch.from_numpy": "def f(x, a): return x + torch.from_numpy(a)",
    "a legacy tensor": "def f(x): return x + torch.FloatTensor(3)",
    "a copy on the CPU": "def f(x): return x + x.cpu()",
    "a move to the CPU": "def f(x): return x + x.to('cpu')",
    "numpy()": "def f(x): return x.numpy()",
    "a NumPy function of an argument": "def f(x): return np.mean(x)",
    "a checkpoint": "def f(path): return torch.load(path)",
    "a layer that is built and called": "def f(x): return nn.Linear(2, 2)(x)",
    "a layer that is called by its name": "def f(x):\n    layer = nn.Linear(2, 2)\n    return layer(x)",
    "a global tensor": "TABLE = torch.zeros(3)\ndef f(x): return x + TABLE",
    "the result of a function": "def make(): return torch.zeros(3)\ndef f(x): return x + make()",
    "a value for an index": "def f(x, i): x[i] = torch.arange(3)",
    "an attribute": """
        class M(nn.Module):
            def __init__(self): self.mask = torch.zeros(3)
            def f(self, x): return x + self.mask
        """,
    "an attribute where the weights are before they are moved": """
        class M(nn.Module):
            def __init__(self): self.reset()
            def reset(self): self.store = self.weight.new_empty(3)
            def f(self, x): return x + self.store
        """,
    "what a method keeps for one that matters": """
        class M:
            def f(self, x):
                self.x = x
                self.use()
            def use(self): return self.x + torch.zeros(3)
        """,
    "an inherited attribute": """
        class Base(nn.Module):
            def __init__(self): self.mask = torch.zeros(3)
        class M(Base):
            def f(self, x): return x + self.mask
        """,
    "a submodule that returns a new tensor": """
        class Positions(nn.Module):
            def forward(self, x): return torch.arange(3)
        class M(nn.Module):
            def __init__(self): self.positions = Positions()
            def f(self, x): return x + self.positions(x)
        """,
    "a method that has the name of one for exporters": """
        class M(nn.Module):
            def symbolic(self): return torch.zeros(3)
            def f(self, x): return x + self.symbolic()
        """,
    "modules in a plain list beside a registered container of another object": """
        class M(nn.Module):
            def __init__(self, other):
                other.layers = nn.ModuleList()
                self.layers = []
                self.layers.append(nn.Linear(2, 2))
            def f(self, x): return F.relu(self.layers[0](x))
        """,
    "a registered container that grows when the module is called": """
        class M(nn.Module):
            def __init__(self): self.layers = nn.ModuleList()
            def grow(self): self.layers.append(nn.Linear(2, 2))
            def forward(self, x): return self.f(x)
            def f(self, x):
                self.layers.append(nn.Linear(2, 2))
                return F.relu(self.layers[0](x))
        """,
    "a number that a part of the module returns": """
        class M(nn.Module):
            def __init__(self, scale): self.scale = scale
            def table(self): return torch.ones(4) * self.scale()
            def f(self, x): return x * self.table()
        """,
    "modules in a plain list that grows": """
        class M(nn.Module):
            def __init__(self):
                self.layers = []
                self.layers.append(nn.Linear(2, 2))
            def f(self, x): return F.relu(self.layers[0](x))
        """,
    "a module of a function that is called where it is built": """
        class Scale(nn.Module):
            def forward(self, x): return x
        def make(): return Scale()
        def f(x): return make()(x)
        """,
    "an operation on new tensors": """
        class Table(nn.Module):
            def forward(self, x):
                one, two = F.relu(torch.zeros(3)), F.relu(torch.ones(3))
                return one + two
        class M(nn.Module):
            def __init__(self): self.table = Table()
            def f(self, x): return x + self.table(x)
        """,
    "an operation on a new tensor and a number": """
        class Table(nn.Module):
            def forward(self, x): return 2 * F.relu(torch.zeros(3))
        class M(nn.Module):
            def __init__(self): self.table = Table()
            def f(self, x): return x + self.table(x)
        """,
    "an operation on a new tensor in a loop": """
        class Table(nn.Module):
            def forward(self, x):
                found = F.relu(torch.zeros(3))
                for _ in range(3):
                    found = found + F.relu(found)
                return found
        class M(nn.Module):
            def __init__(self): self.table = Table()
            def f(self, x): return x + self.table(x)
        """,
    "an operation on a new tensor and an argument": """
        def f(x: torch.Tensor): return x + torch.zeros(3)
        """,
    "modules in a plain list": """
        class M(nn.Module):
            def __init__(self): self.layers = [nn.Linear(2, 2)]
            def f(self, x): return F.relu(self.layers[0](x))
        """,
}

IS_TRANSPARENT = {
    "a device of an argument": "def f(x): return x + torch.zeros(3, device=x.device)",
    "a move to an argument": "def f(x): return x + torch.zeros(3).to(x)",
    "a tensor that is only returned": "def f(): return torch.zeros(3)",
    "a number": "def f(x): return x * torch.zeros(3).sum().item()",
    "a method named as a factory": "def f(x): return x + self.full.range()",
    "a NumPy function of numbers": "def f(x): return x * np.sqrt(2)",
    "a module that is only returned": "def f(): return nn.Linear(2, 2)",
    "keywords that may hold the device": "def f(x, **kwargs): return x + torch.zeros(3, **kwargs)",
    "a class that is passed on": """
        class Positions(nn.Module):
            def forward(self, x): return torch.arange(3)
        def f(x): return build(x, Positions)
        """,
    "a function that gets a device": """
        def make(n, device=None): return torch.zeros(n, device=device)
        def f(x): return x + make(3, device=x.device)
        """,
    "a parameter": """
        class M(nn.Module):
            def __init__(self): self.mask = nn.Parameter(torch.zeros(3))
            def f(self, x): return x + self.mask
        """,
    "a buffer": """
        class M(nn.Module):
            def __init__(self): self.register_buffer("mask", torch.zeros(3))
            def f(self, x): return x + self.mask
        """,
    "a layer": """
        class M(nn.Module):
            def __init__(self): self.layer = nn.Linear(2, 2)
            def f(self, x): return x + self.layer(x)
        """,
    "an attribute where the weights are": """
        class M(nn.Module):
            def reset(self): self.store = self.weight.new_empty(3)
            def f(self, x): return x + self.store
        """,
    "modules in a registered container that grows": """
        class M(nn.Module):
            def __init__(self):
                self.layers = nn.ModuleList()
                self.layers.append(nn.Linear(2, 2))
            def f(self, x): return F.relu(self.layers[0](x))
        """,
    "a module whose class another function chooses": """
        class Scale(nn.Module):
            def forward(self, x): return x
        def class_of(name): return Scale if name else nn.Linear
        def make(name):
            chosen = class_of(name)
            return chosen(3)
        class M(nn.Module):
            def __init__(self): self.layer = make("scale")
            def f(self, x): return x + self.layer(x)
        """,
    "a function with gradients that also describes itself to an exporter": """
        class Swish(torch.autograd.Function):
            @staticmethod
            def symbolic(graph, x): return graph.op("Mul", x, torch.tensor(3.0))
            @staticmethod
            def forward(ctx, x): return x * x.sigmoid()
        class Layer(nn.Module):
            def forward(self, x): return Swish.apply(x)
        class M(nn.Module):
            def __init__(self): self.layer = Layer()
            def f(self, x): return x + self.layer(x)
        """,
    "a submodule that mixes its input with a new tensor": """
        class Scale(nn.Module):
            def forward(self, x: torch.Tensor): return x * torch.ones(3)
        class M(nn.Module):
            def __init__(self): self.scale = Scale()
            def f(self, x): return x + self.scale(x)
        """,
    "a submodule that adds a new tensor in place": """
        class Shift(nn.Module):
            def forward(self, x: torch.Tensor):
                x += torch.ones(3)
                return x
        class M(nn.Module):
            def __init__(self): self.shift = Shift()
            def f(self, x): return x + self.shift(x)
        """,
    "a submodule whose layer gets a new tensor": """
        class Head(nn.Module):
            def __init__(self): self.out = nn.Linear(3, 3)
            def forward(self, x): return self.out(torch.zeros(3))
        class M(nn.Module):
            def __init__(self): self.head = Head()
            def f(self, x): return x + self.head(x)
        """,
    "an attention with a new bias": """
        class Attention(nn.Module):
            def __init__(self, norm):
                self.qkv = nn.Linear(3, 9)
                self.norm = norm(3)
            def forward(self, x):
                q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
                attention = q @ k.transpose(-2, -1) + torch.zeros(3)
                return attention.softmax(dim=-1).matmul(v)
        class M(nn.Module):
            def __init__(self): self.attention = Attention(nn.LayerNorm)
            def f(self, x): return x + self.attention(x)
        """,
    "a registered container that gets a module in another method": """
        class M(nn.Module):
            def __init__(self): self.layers = nn.ModuleList([nn.Linear(2, 2)])
            def reset(self): self.layers[0] = nn.Linear(2, 2)
            def f(self, x): return F.relu(self.layers[0](x))
        """,
    "a method that builds for the constructor": """
        class M(nn.Module):
            def __init__(self, block): self.layer = self.f(block)
            def f(self, block):
                shortcut = nn.Linear(2, 2)
                return nn.Sequential(block(2, shortcut), block(2))
        """,
    "a submodule that uses a new tensor inside": """
        class Scale(nn.Module):
            def forward(self, x): return x.view(torch.zeros(3).shape)
        class M(nn.Module):
            def __init__(self, scale=Scale): self.scale = scale()
            def f(self, x): return x + self.scale(x)
        """,
}


def matters(text: str, **others: str) -> bool:
    """Return whether ``f`` of a file can make a difference; ``others`` are texts of imported files by name."""
    texts = {"/p/main.py": _HEAD + textwrap.dedent(text)}
    texts |= {f"/p/{name}.py": _HEAD + textwrap.dedent(other) for name, other in others.items()}
    program = _Files(texts.get, "/p")
    module = program.entry("/p/main.py")
    assert module is not None
    function = next(
        node for node in ast.walk(module.tree.tree) if isinstance(node, ast.FunctionDef) and node.name == "f"
    )
    return DeviceFacts(program).may_matter(module, function)


_HEAD = "import numpy as np\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


class _Files(Program):
    def find(self, name, importer, level=0):  # type: ignore[no-untyped-def]
        """Return the module of a file in ``/p``."""
        path = f"/p/{name}.py"
        return self.load(path, name) if self._read(path) is not None else None


@pytest.mark.parametrize("name", MATTERS)
def test_what_matters(name: str) -> None:
    assert matters(MATTERS[name])


@pytest.mark.parametrize("name", IS_TRANSPARENT)
def test_what_is_transparent(name: str) -> None:
    assert not matters(IS_TRANSPARENT[name])


def test_names_of_imported_files_matter() -> None:
    made = "def make(): return torch.zeros(3)"

    assert matters("from ops import make\ndef f(x): return x + make()", ops=made)
    assert matters("import ops\ndef f(x): return x + ops.make()", ops=made)
    assert matters("from ops import *\ndef f(x): return x + make()", ops=made)


def test_classes_of_imported_files_are_inherited_from() -> None:
    base = "class Base(nn.Module):\n    def __init__(self): self.mask = torch.zeros(3)"

    assert matters("import ops\nclass M(ops.Base):\n    def f(self, x): return x + self.mask", ops=base)


@pytest.mark.parametrize("first", ["main", "ops"])
def test_cycles_of_imports_do_not_depend_on_the_file_that_is_asked_for_first(first: str) -> None:
    texts = {
        "/p/main.py": "import torch\nfrom ops import make\n"
        "def base(): return torch.zeros(3)\ndef f(x): return x + make()",
        "/p/ops.py": "import torch\nfrom main import base\ndef make(): return base()\ndef g(x): return x + make()",
    }
    program = _Files(texts.get, "/p")
    facts = DeviceFacts(program)
    order = ["main", "ops"] if first == "main" else ["ops", "main"]
    modules = [program.load(f"/p/{name}.py", name) for name in order]

    found = [
        facts.may_matter(module, function)
        for module in modules
        if module is not None
        for function in module.tree.tree.body
        if isinstance(function, ast.FunctionDef) and function.name in ("f", "g")
    ]

    assert found == [True, True]
    assert facts.dependencies("/p/main.py")[0] == {"/p/main.py", "/p/ops.py"}


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("/p/main.py", "def f(x): return x + 1", True),
        ("/p/main.py", "def f(x): return x + torch.zeros(3)", False),
        ("/p/main.py", "TABLE = torch.zeros(3)", False),
        ("/p/tests/test_main.py", "def test_f(x): assert x + torch.zeros(3)", True),
    ],
    ids=["nothing", "function", "global", "test"],
)
def test_files_without_facts_are_transparent(path: str, text: str, expected: bool) -> None:
    program = _Files({path: _HEAD + text}.get, "/p")

    assert DeviceFacts(program).is_transparent(path) is expected
