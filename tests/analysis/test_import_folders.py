"""Folders that scripts add to ``sys.path``: read from their text, and searched for imports."""

from __future__ import annotations

import textwrap

import pytest

from devfix import analysis
from devfix.analysis.import_folders import added_folders, path_modules
from devfix.analysis.program import Program

ADDED = {
    'sys.path.append("./lib2")': ["./lib2"],
    'sys.path.insert(0, "/elsewhere/net")': ["/elsewhere/net"],
    'sys.path.extend(["a", "b"])': ["a", "b"],
    'sys.path.append(os.path.join(os.path.dirname(__file__), "..", "nets"))': ["/p/tools/../nets"],
    'sys.path.insert(0, osp.abspath(osp.join(osp.dirname(__file__), "nets")))': ["/p/tools/nets"],
    'ROOT = os.path.dirname(os.path.abspath(__file__))\nsys.path.append(os.path.join(ROOT, "nets"))': ["/p/tools/nets"],
    'sys.path.append(os.path.join(os.getcwd(), "nets"))': ["./nets"],
    'sys.path.insert(0, str(Path(__file__).resolve().parent / "nets"))': ["/p/tools/nets"],
    "sys.path.insert(0, str(Path(__file__).parents[1]))": ["/p"],
    'ROOT = Path(__file__).parent.parent\nsys.path.append(str(ROOT.joinpath("nets")))': ["/p/nets"],
    'sys.path.append(f"{os.path.dirname(__file__)}/../nets")': ["/p/tools/../nets"],
    'sys.path.append(os.path.dirname(__file__) + "/nets")': ["/p/tools/nets"],
    'for folder in ("a", "b"):\n    sys.path.insert(0, folder)': ["a", "b"],
    'def add(path):\n    sys.path.insert(0, path)\nadd("nets")': ["nets"],
    'if True:\n    from sys import path\n    path.append("nets")': ["nets"],
    "sys.path.append(args.root)": [],
    "sys.path.append(os.environ['ROOT'])": [],
    "path = sys.path\nprint(path)": [],
    "a = b\nb = a\nsys.path.append(a)": [],
    "sys.path.append('a'": [],
    "folder = 'a'\nfolders.append(folder)": [],
    "import sys\npath = ['a']\npath.append('b')": [],
}


@pytest.mark.parametrize(("text", "folders"), ADDED.items(), ids=[text.splitlines()[-1] for text in ADDED])
def test_the_text_says_which_folders_a_script_adds(text, folders):
    assert list(added_folders(text, "/p/tools/train.py")) == folders


def test_modules_that_change_the_path_are_known_by_their_names():
    text = "import os.path\nimport pathlib\nimport _init_paths\nfrom set_path import root\nimport torch\n"

    assert path_modules(text) == ["_init_paths", "set_path"]


NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(x) + torch.zeros(3)
"""
MAIN = "import torch\nfrom net import Net\nNet().cuda()(torch.ones(3).cuda())\n"


def mismatches(tmp_path, files: dict[str, str]) -> int:
    for name, text in {"models/net/net.py": NET, **files}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(textwrap.dedent(text), encoding="utf-8")

    def read(path: str) -> str | None:
        try:
            with open(path, encoding="utf-8") as file:
                return file.read()
        except OSError:
            return None

    observations = analysis.analyse(str(tmp_path / next(iter(files))), read, str(tmp_path))
    assert observations is not None
    return len(observations.mismatches)


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"train.py": 'import sys\nsys.path.append("models/net")\n' + MAIN}, id="from-the-script-s-folder"),
        pytest.param({"tools/train.py": 'import sys\nsys.path.append("models/net")\n' + MAIN}, id="from-the-root"),
        pytest.param({"tools/train.py": 'import sys\nsys.path.append("../models/net")\n' + MAIN}, id="from-its-folder"),
        pytest.param(
            {
                "tools/train.py": "import _init_paths\n" + MAIN,
                "tools/_init_paths.py": "import os.path as osp\nimport sys\n\ndef add_path(path):\n"
                "    if path not in sys.path:\n        sys.path.insert(0, path)\n\n"
                "add_path(osp.join(osp.dirname(__file__), '..', 'models', 'net'))\n",
            },
            id="by-another-module",
        ),
        pytest.param(
            {
                "train.py": MAIN.replace("from net import", "from tools.entry import"),
                "tools/entry.py": "import os, sys\n"
                "sys.path.append(os.path.join(os.path.dirname(__file__), '../models/net'))\nfrom net import *\n",
            },
            id="by-an-imported-module",
        ),
    ],
)
def test_a_program_is_followed_into_folders_that_it_adds(tmp_path, files):
    assert mismatches(tmp_path, files) == 1


@pytest.mark.parametrize("added", ["models", "elsewhere", "/"])
def test_other_folders_are_not_searched(tmp_path, added):
    assert mismatches(tmp_path, {"train.py": f'import sys\nsys.path.append("{added}")\n' + MAIN}) == 0


def test_a_folder_outside_the_project_is_not_searched(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other/net.py").write_text(NET, encoding="utf-8")
    project = tmp_path / "project"
    project.mkdir()

    assert mismatches(project, {"train.py": f'import sys\nsys.path.append("{tmp_path}/other")\n' + MAIN}) == 0


def test_whether_a_folder_is_there_is_noted(tmp_path):
    path = str(tmp_path / "train.py")
    program = Program({path: 'import sys\nsys.path.append("nets")\n'}.get, str(tmp_path))
    program.search_from(path)

    assert "nets" in program.lookups[str(tmp_path)]
