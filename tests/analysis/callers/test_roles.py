"""Where a function runs."""

from __future__ import annotations

import pytest

from devfix.analysis.callers.roles import Role, role_and_reason
from devfix.syntax.tree import SourceTree


def test_methods_of_modules(role_of):
    assert role_of("class Block(nn.Module):\n    def forward(self, x): ...") == "module_method"
    assert role_of("from .base import Base\n\nclass Block(Base):\n    def forward(self, x): ...") == "module_method"
    assert role_of("class Planner:\n    def forward(self, x): ...") == "function"
    assert role_of("def f(x): ...") == "function"


@pytest.mark.parametrize(
    "text",
    [
        "from torch.utils.data import Dataset\n\nclass Pairs(Dataset):\n    def __getitem__(self, index): ...",
        "class Base(Dataset): ...\n\nclass Pairs(Base):\n    def load(self, index): ...",
        "from torch.utils.data import WeightedRandomSampler as W\n\nclass Mine(W):\n    def set_epoch(self, n): ...",
        "from pytorch_lightning import LightningDataModule as L\n\nclass Digits(L):\n    def setup(self): ...",
        "def collate(batch): ...",
        "def pad_collate_fn(batch): ...",
        "def merge(batch): ...\n\nloader = DataLoader(data, collate_fn=merge)",
        "def merge(batch, pad): ...\n\nloader = DataLoader(data, collate_fn=partial(merge, pad=0))",
        "class Crop:\n    def __call__(self, image): ...\n\nboth = transforms.Compose([Crop(), ToTensor()])",
        "class Cutout(object):\n    def __call__(self, img): ...",
        "class Crop:\n    def __call__(self, x): ...\n\nboth.transforms.append(Crop(3))",
        "class Net:\n    def __init__(self):\n        t.count(3)\n\nclass Tokens:\n    def count(self, size): ...",
        "def plot_losses(losses): ...",
        "def save_videos_grid(videos, path): ...",
        "import matplotlib.pyplot as plt\n\ndef report(x):\n    plt.plot(x)",
        "from PIL import Image\n\ndef thumbnail(path):\n    return Image.open(path)",
        "def accuracy(scores, labels):\n    return np.mean(scores.argmax(1) == labels)",
    ],
)
def test_functions_on_the_host(role_of, text):
    assert role_of(text) == "host"


@pytest.mark.parametrize(
    "text",
    [
        "def norm(x):\n    return torch.from_numpy(np.ones(3)) + x",
        "from torch.distributions import Transform\n\nclass Shift(Transform):\n    def _call(self, x): ...",
        "import matplotlib.pyplot as plt\n\ndef f(x):\n    return x + torch.zeros(3)",
        "def collated(x): ...",
    ],
)
def test_functions_on_tensors(role_of, text):
    assert role_of(text) == "function"


def test_a_folder_of_data_is_on_the_host(role_of):
    path = "lib/datasets/mixup.py"
    assert role_of("def mix(x): ...", path=path) == "host"
    assert role_of("def mix(x: Tensor): ...", path=path) == "function"
    assert role_of("def mix(x, device): ...", path=path) == "function"


@pytest.mark.parametrize("path", ["tests/util.py", "lib/test_f.py", "lib/f_test.py", "conftest.py", "benchmarks/f.py"])
def test_tests_are_tests(role_of, path):
    assert role_of("def f(x): ...", path=path) == "test"


def test_augmentations_beside_datasets_run_on_the_host(role_of):
    text = "def _augment_gain(audio: torch.Tensor): ..."
    assert role_of(text, path="lib/data.py") == "host"
    assert role_of(text, path="lib/model.py") == "function"


def test_functions_named_like_tests(role_of):
    assert role_of("def test_f(x): ...") == "test"


@pytest.mark.parametrize(
    ("text", "path"),
    [("def f(x): ...", "lib/model_onnx.py"), ("def OnnxExport(x): ...", "lib/model.py")],
    ids=["file", "function"],
)
def test_what_is_traced_for_onnx_gets_made_up_inputs_on_the_cpu(role_of, text, path):
    assert role_of(text, path=path) == "host"


@pytest.mark.parametrize("path", ["scripts/train.py", "examples/mnist/train.py", "lib/convert_model.py", "setup.py"])
def test_scripts(role_of, path):
    assert role_of("def f(x): ...", path=path) == "script"


def test_folders_above_the_root_say_nothing():
    tree = SourceTree("/home/test/data/lib/ops.py", "def f(x): ...")
    assert role_and_reason(tree.tree.body[0], None, tree, "/home/test/data") == (Role.FUNCTION, "")


def test_a_role_has_a_reason():
    tree = SourceTree("lib.py", "def plot_losses(x): ...")
    assert role_and_reason(tree.tree.body[0], None, tree) == (Role.HOST, "named `plot_losses`")
