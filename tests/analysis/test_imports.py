"""Imports inside the project: found where Python finds them, evaluated when they are asked for."""

from __future__ import annotations

import os
import textwrap

import pytest

from devfix import analysis
from devfix.analysis.domain.values import External
from devfix.analysis.transfer.imports import name_of_library

# ``x`` of the entry script must live on the accelerator
PROJECTS = [
    pytest.param({"train.py": "from config import DEVICE", "config.py": 'DEVICE = "cuda"'}, id="from-import"),
    pytest.param({"train.py": "import config\nDEVICE = config.DEVICE", "config.py": 'DEVICE = "cuda"'}, id="import"),
    pytest.param({"train.py": "import config as c\nDEVICE = c.DEVICE", "config.py": 'DEVICE = "cuda"'}, id="alias"),
    pytest.param({"train.py": "from config import *", "config.py": 'DEVICE = "cuda"'}, id="star"),
    pytest.param(
        {"train.py": "from pkg.config import DEVICE", "pkg/__init__.py": "", "pkg/config.py": 'DEVICE = "cuda"'},
        id="package",
    ),
    pytest.param(
        {
            "train.py": "from pkg import DEVICE",
            "pkg/__init__.py": "from .config import DEVICE",
            "pkg/config.py": 'DEVICE = "cuda"',
        },
        id="re-exported",
    ),
    pytest.param(
        {
            "train.py": "import pkg.config\nDEVICE = pkg.config.DEVICE",
            "pkg/__init__.py": "",
            "pkg/config.py": 'DEVICE = "cuda"',
        },
        id="dotted",
    ),
    pytest.param(
        {
            "train.py": "from pkg.config import DEVICE",
            "pkg/pkg/__init__.py": "",
            "pkg/pkg/config.py": 'DEVICE = "cuda"',
        },
        id="project-in-a-folder-of-the-same-name",
    ),
    pytest.param(
        {"train.py": "from pkg import config\nDEVICE = config.DEVICE", "pkg/config.py": 'DEVICE = "cuda"'},
        id="namespace-package",
    ),
    pytest.param(
        {
            "train.py": "from pkg.a.one import DEVICE",
            "pkg/__init__.py": "",
            "pkg/a/__init__.py": "",
            "pkg/a/one.py": "from ..b.two import DEVICE",
            "pkg/b/__init__.py": "",
            "pkg/b/two.py": 'DEVICE = "cuda"',
        },
        id="relative-upward",
    ),
    pytest.param({"tools/train.py": "from config import DEVICE", "config.py": 'DEVICE = "cuda"'}, id="from-the-root"),
    pytest.param(
        {
            "tools/train.py": "from lib.config import DEVICE",
            "src/lib/__init__.py": "",
            "src/lib/config.py": 'DEVICE = "cuda"',
        },
        id="src-layout",
    ),
    pytest.param(
        {"train.py": "from config import get\nDEVICE = get()", "config.py": 'D = "cuda"\ndef get():\n    return D'},
        id="function-with-its-globals",
    ),
    pytest.param(
        {
            "train.py": "def f():\n    from config import DEVICE\n    return DEVICE\nDEVICE = f()",
            "config.py": 'DEVICE = "cuda"',
        },
        id="inside-a-function",
    ),
    pytest.param(
        {
            "train.py": "try:\n    from config import DEVICE\nexcept ImportError:\n    DEVICE = 'cpu'",
            "config.py": 'DEVICE = "cuda"',
        },
        id="inside-a-try",
    ),
    pytest.param(
        {"train.py": "from a import DEVICE", "a.py": "import b\nDEVICE = b.NAME", "b.py": 'import a\nNAME = "cuda"'},
        id="a-circle",
    ),
    pytest.param(
        {
            "train.py": "from config import DEVICE",
            "config.py": 'import torch\nif torch.cuda.is_available():\n    DEVICE = "cuda"\nelse:\n    DEVICE = "cpu"',
        },
        id="two-branches",
    ),
    pytest.param(
        {
            "train.py": "from registry import MODELS\nimport models\nDEVICE = MODELS['a']()",
            "registry.py": "MODELS = {}\ndef register(f):\n    MODELS['a'] = f\n    return f",
            "models.py": "from registry import register\n@register\ndef where():\n    return 'cuda'",
        },
        id="registry",
    ),
    pytest.param(
        {
            "pkg/train.py": "from pkg import math\nDEVICE = math.DEVICE",
            "pkg/__init__.py": "",
            "pkg/math.py": "from pkg.torch import DEVICE",
            "pkg/torch.py": "import torch\nDEVICE = torch.device('cuda')",
        },
        id="named-like-an-installed-module",
    ),
    pytest.param(
        {
            "train.py": "import pkg\nDEVICE = pkg.device()",
            "pkg/__init__.py": "from pkg import places\n\ndef device():\n    return places.HERE",
            "pkg/places.py": "HERE = 'cuda'",
        },
        id="a-part-of-a-package-by-its-full-name",
    ),
    pytest.param(
        {
            "train.py": "from pkg import DEVICE",
            "pkg/__init__.py": "try:\n    from .config import DEVICE\nexcept OSError:\n    from .plain import DEVICE",
            "pkg/config.py": 'DEVICE = "cuda"',
            "pkg/plain.py": 'DEVICE = "cuda"',
        },
        id="re-exported-in-a-try",
    ),
    pytest.param(
        {
            "train.py": "from pkg import DEVICE",
            "pkg/__init__.py": "from .config import NAME\nDEVICE = NAME",
            "pkg/config.py": "from . import other\nfrom .other import NAME",
            "pkg/other.py": "from . import config\nNAME = 'cuda'",
        },
        id="names-in-a-circle",
    ),
]


def facts_of(files: dict[str, str], opened: set[str] | None = None) -> analysis.Observations:
    """Analyse the first of some files; ``opened`` gets the paths of those that it reads."""
    entry = next(iter(files))
    files = {**files, entry: files[entry] + "\nimport torch\ntorch.ones(3, device=DEVICE) + torch.ones(3)\n"}
    for name, text in files.items():
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)

    def read(path: str) -> str | None:
        if opened is not None:
            opened.add(os.path.relpath(path))
        try:
            with open(path, encoding="utf-8") as file:
                return file.read()
        except OSError:
            return None

    observations = analysis.analyse(entry, read, ".")
    assert observations is not None
    return observations


@pytest.mark.parametrize(
    ("entry", "count"),
    [
        pytest.param("import settings\nDEVICE = 'cpu'", 1, id="of-the-importer"),
        pytest.param("def f():\n    import settings\nDEVICE = 'cpu'", 0, id="never-imported"),
        pytest.param("import masks\nimport settings\nDEVICE = masks.mask.device", 1, id="not-of-an-earlier-import"),
        pytest.param("import settings\nimport masks\nDEVICE = masks.mask.device", 0, id="of-a-later-import"),
    ],
)
def test_a_module_sets_the_default_device(entry, count):
    settings = "import torch\ntorch.set_default_device('cuda')"
    masks = "import torch\nmask = torch.ones(3)"

    assert len(facts_of({"train.py": entry, "settings.py": settings, "masks.py": masks}).mismatches) == count


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("files", PROJECTS)
def test_the_device_of_another_file_is_found(files):
    assert len(facts_of(files).mismatches) == 1


def test_what_is_not_in_the_project_is_unknown():
    assert facts_of({"train.py": "from config import DEVICE"}).mismatches == []


def test_a_file_that_cannot_be_parsed_is_unknown():
    assert facts_of({"train.py": "from config import DEVICE", "config.py": "DEVICE = ("}).mismatches == []


@pytest.mark.parametrize(("name", "count"), [("math", 0), ("torch", 0), ("model", 1)])
def test_a_file_in_a_package_hides_no_installed_module(name, count):
    script = f"from {name} import DEVICE"
    files = {"pkg/train.py": script, "pkg/__init__.py": "", f"pkg/{name}.py": "DEVICE = 'cuda'"}

    assert len(facts_of(files).mismatches) == count


@pytest.mark.parametrize(("package", "fails"), [({}, True), ({"models/other.py": ""}, False)])
def test_a_class_whose_file_the_project_lacks_may_place_what_it_builds(package, fails):
    train = "import torch\nfrom models.net import Net\nnet = Net()\nnet.parameters()\nnet(torch.ones(3).cuda())\n"

    mismatches = facts_of({"train.py": train, **package}).mismatches

    assert any(each.point.tree.line(each.point.span.line).startswith("net(") for each in mismatches) is fails


def test_a_script_that_imports_itself_comes_to_an_end():
    assert facts_of({"train.py": "import train\nfrom train import DEVICE\nDEVICE = 'cuda'"}).is_complete


def test_a_finding_in_another_file_carries_its_path():
    files = {
        "train.py": "from other import add\nDEVICE = 'cpu'\nadd()",
        "other.py": "import torch\ndef add():\n    return torch.ones(3).cuda() + torch.ones(3)\n",
    }
    (mismatch,) = facts_of(files).mismatches

    assert mismatch.point.tree.path == "other.py"


def test_a_script_that_cannot_be_read_has_no_facts():
    assert analysis.analyse("nothing.py", lambda path: None, ".") is None


def test_a_name_that_only_a_circle_binds_ends():
    files = {"train.py": "from a import DEVICE", "a.py": "from b import DEVICE", "b.py": "from a import DEVICE"}

    assert facts_of(files).is_complete


def test_a_file_is_not_read_for_names_that_are_not_used():
    files = {
        "train.py": "from pkg import DEVICE",
        "pkg/__init__.py": "import typing\nif typing.TYPE_CHECKING:\n    from .a import DEVICE\n    from .b import Net",
        "pkg/a.py": "DEVICE = 'cuda'",
        "pkg/b.py": "class Net:\n    pass",
    }

    opened: set[str] = set()
    facts_of(files, opened)

    assert opened == {"train.py", "pkg/__init__.py", "pkg/a.py"}


STARS = {
    "losses.py": "from torch import nn\n",
    "reexported.py": "from monai.losses import *\n",
    "mine.py": "from torch import nn\n\nclass DiceLoss(nn.Linear):\n    pass\n",
}


@pytest.mark.parametrize(
    ("imports", "made", "count"),
    [
        ("from monai.losses import *", "DiceLoss", 0),
        ("from monai.losses import *\nfrom torch.nn import *", "DiceLoss", 0),
        ("from losses import *\nfrom monai.losses import *", "DiceLoss", 0),
        ("from reexported import *", "DiceLoss", 0),
        ("from monai.losses import *\nfrom mine import *", "DiceLoss", 1),
        ("from torch.nn import *", "Linear", 1),
    ],
)
def test_a_star_import_of_a_package_binds_the_names_that_the_stubs_know(imports, made, count):
    net = "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    net += f"        self.part = {made}(3, 3)\n\n    def forward(self, x):\n        return self.part(x)\n"
    program = f"import torch\n{imports}\n{net}Net()(torch.ones(3).cuda())\nDEVICE = 'cpu'\n"

    assert len(facts_of({"train.py": program, **STARS}).mismatches) == count


def test_a_star_import_of_a_package_leaves_the_built_in_names(analyse):
    program = "from torch import *\nfor i in range(3):\n    x = ones(3)\n    [x, x][i] + ones(3).cuda()\n"

    assert len(analyse(program).mismatches) == 1


def test_the_wildcard_of_a_stub_does_not_tell_what_a_star_import_brings():
    assert name_of_library(["monai.losses"], "DiceLoss") == External("monai.losses.DiceLoss")
    assert name_of_library(["torch.optim.lr_scheduler"], "build_model") is None


def test_a_name_that_another_module_sets_has_its_value_from_then_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    program = """
        import torch, settings
        from ops import make

        make() + torch.ones(3)
        settings.device, DEVICE = "cpu", "cpu"
        settings.FAST = False
        make() + torch.ones(3)
        if settings.FAST:
            torch.ones(3).cuda() + torch.ones(3)
    """
    files = {
        "train.py": textwrap.dedent(program),
        "settings.py": "device = 'cuda'\nFAST = True\n",
        "ops.py": "import torch, settings\n\ndef make():\n    return torch.ones(3, device=settings.device)\n",
    }

    assert [mismatch.point.span.line for mismatch in facts_of(files).mismatches] == [5]


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("Options.cuda = False", [7]),
        ("setattr(Options, 'cuda', False)", [7]),
        ("config.Options.cuda = False", [7]),
        ("Options.cuda = len(sys.argv) > 1", [7, 10]),
        ("(Options if len(sys.argv) > 1 else Others).cuda = False", [7, 10]),
        ("(Options if len(sys.argv) > 1 else config).cuda = False", [7, 10]),
    ],
)
def test_an_attribute_that_is_set_on_a_class_has_its_value_from_then_on(line, lines, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    program = f"""
        import sys, torch, config
        from config import Options, Others

        DEVICE = "cpu"
        if Options.cuda:
            torch.ones(3).cuda() + torch.ones(3)
        {line}
        if Options.cuda:
            torch.ones(3).cuda() + torch.ones(3)
    """
    files = {
        "train.py": textwrap.dedent(program),
        "config.py": "class Options:\n    cuda = True\n\nclass Others:\n    cuda = True\n",
    }

    assert [mismatch.point.span.line for mismatch in facts_of(files).mismatches] == lines


def test_a_module_of_python_whose_names_are_all_imported_is_known(met):
    program = """
        from typing import *

        class Row(NamedTuple):
            item: torch.Tensor

        print(cast(Any, Row(torch.ones(3))).item + torch.ones(3).cuda())
        """

    assert met(program) == ["print(cast(Any, Row(torch.ones(3))).item + torch.ones(3).cuda())"]
