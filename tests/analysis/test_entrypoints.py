"""Which files start a program."""

from __future__ import annotations

import textwrap

import pytest

from devfix.analysis.entrypoints import can_matter, starts_program
from devfix.syntax.tree import SourceTree

LOCAL = ("project", "trainer")


def starts(text: str) -> bool:
    return starts_program(SourceTree("train.py", textwrap.dedent(text)), lambda name: name.startswith(LOCAL))


PROGRAMS = {
    "guard": "if __name__ == '__main__':\n    main()\n",
    "assignments and a print": """
        import torch
        a = torch.rand(3, device="cuda")
        b = torch.rand(3)
        print(a + b)
        """,
    "assignments only": """
        import torch
        a = torch.rand(3, device="cuda")
        c = a + torch.rand(3)
        """,
    "a library of models": """
        from transformers import AutoModel, AutoTokenizer
        net = AutoModel.from_pretrained("net", device_map="cuda")
        print(net(AutoTokenizer.from_pretrained("net")("text", return_tensors="pt").input_ids))
        """,
    "one expression": "import torch\ntorch.rand(3, device='cuda') + torch.rand(3)\n",
    "one tensor that NumPy reads": "import torch\na = torch.rand(3, device='cuda')\nb = a.numpy()\n",
    "a model is called": """
        import torch
        from torch import nn
        net = nn.Linear(3, 3).cuda()
        net(torch.rand(3))
        """,
    "a model of a file of the package": """
        import torch
        from .model import Net
        net = Net()
        x = torch.rand(3)
        net(x)
        """,
    "an alias of a module": "import torch\nF = torch.nn.functional\nx = torch.ones(3)\nF.relu(x)\n",
    "a model without arguments": """
        from torch import nn
        model = nn.Linear(3, 3)
        model.cuda()
        """,
    "an optimizer": """
        from torch import nn, optim
        model = nn.Linear(3, 3)
        opt = optim.SGD(model.parameters(), 0.1)
        """,
    "its own function": """
        import torch
        def main():
            return torch.rand(3)
        main()
        """,
    "its own function through another one": """
        import torch
        def build():
            return Net()
        class Net(torch.nn.Module):
            pass
        net = build()
        """,
    "its own function in an argument": """
        import asyncio, torch
        async def main():
            torch.rand(3)
        asyncio.run(main())
        """,
    "a function of the project": "from trainer import main\nmain()\n",
    "a function of a module of the project": "import project.train\nproject.train.main(3)\n",
    "a value of the project": "import torch\nfrom project import build\nnet = build()\nnet.train()\n",
    "its own function by a thread": """
        import torch
        from threading import Thread
        def main():
            torch.rand(3)
        thread = Thread(target=main)
        thread.start()
        """,
    "its own function by processes": """
        import torch.multiprocessing as mp
        from torch import distributed as dist
        def main(rank):
            dist.barrier()
        mp.spawn(main, nprocs=2)
        """,
    "a loop": "import torch\nfor step in range(3):\n    x = torch.ones(step)\n    print(x)\n",
    "a context": "import torch\nwith torch.device('cuda'):\n    x = torch.ones(3)\n    x.cpu()\n",
    "the value of a context": "from torch.profiler import profile\nwith profile() as prof:\n    prof.step()\n",
    "under an if": "import sys, torch\nx = torch.ones(3)\nif sys.argv:\n    x.cuda()\n",
    "inside a try": "import torch\ntry:\n    x = torch.ones(3)\nfinally:\n    print(x)\n",
    "a handler": "import torch\nx = torch.ones(3)\ntry:\n    pass\nexcept ValueError as e:\n    print(x, e)\n",
    "a case": "import sys, torch\nx = torch.ones(3)\nmatch sys.argv:\n    case [first, *rest]:\n        print(x)\n",
    "in place": "import torch\nx = torch.ones(3)\nx += torch.ones(3, device='cuda')\n",
    "an element": "import torch\nx = torch.ones(3)\nx[0] = torch.ones(1, device='cuda')\n",
    "an index": "import torch\nx = torch.ones(3)\ny = x[torch.tensor([0], device='cuda')]\n",
    "an attribute": "from torch import nn\nm = nn.Sequential()\nm.head = nn.Linear(3, 3)\n",
    "a comprehension": "import torch\nxs = [torch.ones(3) for _ in range(3)]\nys = [x.cuda() for x in xs]\n",
    "a walrus": "import torch\nif (x := torch.ones(3)) is not None:\n    x.cuda()\n",
    "an annotated name": "import torch\nx: torch.Tensor = torch.ones(3)\nx.cuda()\n",
    "an assertion": "import torch\nx = torch.ones(3)\nassert torch.equal(x, x)\n",
    "names of another cell": "import torch\nmodel.to('cuda')\n",
    "names of a star import": "import torch\nfrom project.model import *\nx = torch.ones(3)\nNet()(x)\n",
}

OTHERS = {
    "empty": "",
    "constants": "import torch\nx = 1\n",
    "a table": "import torch\n_MASK = torch.tensor([1, 2, 3])\n_SCALE = torch.ones(3, dtype=torch.float64)\n",
    "a device": "import torch\nDEVICE = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n",
    "a number": "import torch\nEPS = torch.finfo(torch.float32).eps\n",
    "a flag": "import torch\nHAS_CUDA = not torch.cuda.is_available()\n",
    "the reciprocal of a table": "import torch\nSTD = torch.tensor([1.0])\nINVERSE = 1 / STD\n",
    "a scaled table": "import torch\nSTD = torch.tensor([1.0]) * 255 - 1\n",
    "a class": "import torch\nclass A:\n    def f(self):\n        self.model.to('cuda')\n",
    "a function": "import torch\ndef f():\n    torch.rand(3).to('cuda')\n",
    "a decorator": "import torch\n@torch.no_grad()\ndef f(x):\n    return x + torch.ones(3)\n",
    "an instance": "import torch\nclass A(torch.nn.Module):\n    pass\nDEFAULT = A()\n",
    "documentation": '"""Documentation."""\nimport torch\n__all__ = ["f"]\n__all__ += torch.__all__\n',
    "a logger": "import logging, torch\nlogger = logging.getLogger(__name__)\nlogger.setLevel(10)\n",
    "a logger of the package": "import torch\nfrom .utils import logging\nlog = logging.get_logger()\nlog.info('x')\n",
    "the path": "import sys, torch\nsys.path.append('..')\n",
    "an optional import": "try:\n    import torch\nexcept ImportError:\n    torch = None\n",
    "a registry": "import torch\nREGISTRY = {}\nREGISTRY.update(a=torch.nn.Linear)\n",
    "a registry of its own class": """
        import torch
        class Registry(dict):
            pass
        REGISTRY = Registry()
        REGISTRY.update(a=1)
        """,
    "a registration": "import torch\nfrom .registry import register\nregister('linear', torch.nn.Linear)\n",
    "a registration of a function": """
        import torch
        from .registry import register
        def build():
            return torch.nn.Linear(3, 3)
        register(build)
        """,
    "a registration with a library": "import torch\ntorch.fx.wrap('f')\n",
    "a seed": "import torch\ntorch.manual_seed(0)\ntorch.backends.cudnn.benchmark = True\n",
    "a setup script": "from setuptools import setup\nimport torch\nsetup(name='a', version=torch.__version__)\n",
    "a version check": "import torch\nif torch.__version__ < '2':\n    raise ImportError(torch.__version__)\n",
    "names in a loop": "import torch\nfor name in ('a', 'b'):\n    globals()[name] = getattr(torch, name)\n",
    "a context that binds nothing": "import torch\nwith torch.no_grad():\n    pass\n",
    "its own function without tensors": "import torch\ndef main():\n    return {}\nCONFIG = main()\nmain()\n",
    "its own functions that call each other": """
        import torch
        def a():
            b()
        def b():
            a()
        a()
        """,
    "a configuration of the package": "import torch\nfrom .config import Config\nC = Config()\nC.lr = 1\n",
    "a type": "import torch\nfrom typing import TypeVar\nT = TypeVar('T', bound=torch.nn.Module)\n",
    "NumPy in a file without torch": "import numpy as np\nx = np.ones(3)\nprint(x + x)\n",
    "a lambda": "import torch\nf = lambda x: x + torch.ones(3)\n",
    "a star import of the package": "import torch\nfrom .ops import *\nx = make()\nx.run()\n",
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_a_file_that_computes_with_tensors_starts_a_program(text):
    assert starts(text)


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_a_file_that_defines_names_does_not(text):
    assert not starts(text)


@pytest.mark.parametrize(
    ("raw", "matters"),
    [
        (b"import torch\n", True),
        (b"from train import main\nif __name__ == '__main__':\n    main()\n", True),
        (b"from train import main\nmain()\n", True),
        (b"import train\ntrain.main(3)\n", True),
        (b"print('hello')\n", False),
        (b"", False),
        (b"if __name__ == '__main__':\n    print(1)\n", False),
        (b"import os\n", False),
        (b"import os\ndef f():\n    os.remove('a')\n", False),
    ],
)
def test_bytes_tell_whether_a_file_can_matter(raw, matters):
    assert can_matter(raw) is matters
