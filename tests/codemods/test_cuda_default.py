"""DEV816 by example: options and fields whose default is CUDA."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import PortTargets, Status
from devfix.sources import SourceFile

CODE = "DEV816"
HEAD = "import argparse\nimport torch\n\nparser = argparse.ArgumentParser()\n"
OPTION = 'parser.add_argument("--device", default={})\nprint(torch.ones(3, device=parser.parse_args().device))\n'
CHOICE = '"cuda" if torch.cuda.is_available() else "cpu"'


def run(folder, text: str, targets: PortTargets | None = None):
    file = SourceFile(str(folder / "train.py"), text.encode(), text)
    settings = Settings(select=(CODE,), root=str(folder), targets=targets or PortTargets())
    return fixpoint.apply([file], settings)


def test_the_default_of_an_option_follows_what_is_available(repair):
    before, after = HEAD + OPTION.format('"cuda"'), HEAD + OPTION.format(CHOICE)

    assert repair(CODE, before) == after
    assert repair(CODE, after) == after


def test_an_imported_dataclass_changes_with_its_program(repair):
    config = "import torch\nfrom dataclasses import dataclass, field\n\n@dataclass\nclass Config:\n"
    field = '    train_device: str = field(default="cuda")\n'
    train = "import torch\nfrom config import Config\n\nprint(torch.ones(3, device=Config().train_device))\n"

    repaired = repair(CODE, {"config.py": config + field, "train.py": train})

    assert repaired == {"config.py": config + field.replace('"cuda"', CHOICE), "train.py": train}


def test_a_check_tells_the_fix_of_a_default_that_a_program_reads(tmp_path):
    config = "import torch\nfrom dataclasses import dataclass\n\n@dataclass\nclass Config:\n    device: str = 'cuda'\n"
    texts = {
        "config.py": config,
        "train.py": "import torch\nfrom config import Config\n\ntorch.ones(1, device=Config().device)\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    files = [SourceFile(str(tmp_path / name), text.encode(), text) for name, text in texts.items()]

    (resolution,) = fixpoint.check(files, Settings(select=(CODE,), root=str(tmp_path))).resolutions

    assert resolution.status is Status.FIXABLE


def test_other_accelerators_can_be_the_default(tmp_path):
    outcome = run(tmp_path, HEAD + OPTION.format('"cuda"'), PortTargets(("cpu", "cuda", "mps")))

    (change,) = outcome.patch.files
    assert '"mps" if torch.backends.mps.is_available() else "cpu"' in change.new.decode()


def test_other_accelerators_follow_a_default_with_an_index(tmp_path):
    outcome = run(tmp_path, HEAD + OPTION.format('"cuda:1"'), PortTargets(("cpu", "cuda", "mps")))

    (change,) = outcome.patch.files
    others = '"mps" if torch.backends.mps.is_available() else "cpu"'
    assert f'"cuda:1" if torch.cuda.is_available() else {others}' in change.new.decode()


def test_a_file_without_torch_imports_it(tmp_path):
    text = "import argparse\n\nfrom torch import ones\n\nparser = argparse.ArgumentParser()\n"
    (change,) = run(tmp_path, text + OPTION.format('"cuda"').replace("torch.ones", "ones")).patch.files

    assert change.new.decode().startswith("import argparse\n\nimport torch\nfrom torch import ones\n")
    assert CHOICE in change.new.decode()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(HEAD + 'parser.add_argument("--name", default="cuda")\n', id="another-option"),
        pytest.param(HEAD + OPTION.format('"cpu"'), id="the-cpu"),
        pytest.param(HEAD + OPTION.format(CHOICE), id="it-chooses"),
        pytest.param(
            "import torch\n\nclass Net:\n    device: str = 'cuda'\n\nprint(Net().device)\n", id="no-dataclass"
        ),
    ],
)
def test_left_alone(text, tmp_path):
    assert run(tmp_path, text).resolutions == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(HEAD + "torch = torch.nn\n", "torch has no name", id="no-torch"),
        pytest.param(
            HEAD + "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n", "the program selects devices", id="early"
        ),
    ],
)
def test_what_stays_is_listed_with_the_reason(text, reason, tmp_path):
    (resolution,) = run(tmp_path, text + OPTION.format('"cuda"').replace("torch.ones", "repr")).resolutions
    assert not resolution.finding.fixes
    assert resolution.finding.reason.startswith(reason)
