"""Which files start a program, and which ones callers import."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine.entry_files import is_library, starts_any_program
from devfix.engine.workspace import Workspace
from devfix.sources import decode

TRAIN = "import torch\n\nprint(torch.ones(3).cuda())\n"
GUARDED = "import torch\n\n\ndef main():\n    print(torch.ones(3).cuda())\n\n\nif __name__ == '__main__':\n    main()\n"
LAYERS = "import torch\n\n\ndef scale(x):\n    return x * torch.ones(3)\n"
CALLBACK = "from other import run\n\n\ndef work():\n    return torch.ones(3)\n"
METHOD = "\n\nclass A:\n    def f(self):\n        run(a=self.g)\n\n    def g(self): ...\n"


def space_of(files: dict[str, str]) -> Workspace:
    return Workspace([decode(path, text.encode()) for path, text in files.items()], Settings(root="."))


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param({"train.py": TRAIN}, True, id="a-script"),
        pytest.param({"layers.py": LAYERS, "main.py": GUARDED}, True, id="a-guarded-one-beside-a-library"),
        pytest.param({"layers.py": LAYERS}, False, id="a-library"),
        pytest.param({"setup.py": TRAIN, "tests/run.py": TRAIN, "docs/conf.py": TRAIN}, False, id="builds-and-tests"),
        pytest.param({"broken.py": "import torch\nprint(", "train.py": TRAIN}, True, id="beside-a-broken-one"),
    ],
)
def test_whether_one_of_some_files_starts_a_program(files, expected):
    assert starts_any_program(space_of(files), list(files)) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(LAYERS, True, id="functions"),
        pytest.param(GUARDED, True, id="functions-and-a-guard"),
        pytest.param(TRAIN, False, id="a-script-from-its-first-line"),
        pytest.param(f"{TRAIN}\n{CALLBACK}\nrun(work)\n", True, id="a-script-that-passes-a-function"),
        pytest.param(f"{TRAIN}\n{CALLBACK}\nrun(work())\n", False, id="a-script-that-passes-a-result"),
        pytest.param(TRAIN + METHOD, True, id="a-script-that-passes-a-method"),
    ],
)
def test_whether_others_may_call_the_functions_of_a_file(text, expected):
    space = space_of({"lib.py": text})

    assert is_library(space, "lib.py", space.parse("lib.py", text), {}, space.text) is expected


def test_a_script_whose_functions_programs_call_is_no_library():
    space = space_of({"train.py": f"{TRAIN}{CALLBACK}run(work)\n"})
    tree = space.parse("train.py", space.text("train.py"))
    (line,) = (number for number, text in enumerate(tree.text.splitlines(), 1) if text.startswith("def work"))

    assert is_library(space, "train.py", tree, {}, space.text, called={line + 1})
    assert not is_library(space, "train.py", tree, {}, space.text, called={line})
