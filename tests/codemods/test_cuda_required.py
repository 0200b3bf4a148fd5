"""DEV815 by example: checks that end the program without CUDA."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.sources import SourceFile

CODE = "DEV815"
HEAD = "import sys\nimport torch\n\n"


def reported(tmp_path, text: str):
    file = SourceFile(str(tmp_path / "train.py"), text.encode(), text)
    return fixpoint.check([file], Settings(select=(CODE,), root=str(tmp_path))).resolutions


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('assert torch.cuda.is_available(), "no GPU"\n', id="assert"),
        pytest.param("if not torch.cuda.is_available():\n    raise RuntimeError\n", id="raise"),
        pytest.param("if not torch.cuda.is_available():\n    print('no')\n    sys.exit(1)\n", id="exit"),
        pytest.param("assert torch.cuda.device_count() > 0\n", id="number"),
        pytest.param("assert torch.cuda.device_count()\n", id="number-as-truth"),
        pytest.param("if torch.cuda.device_count() == 0:\n    raise RuntimeError('no GPU')\n", id="none"),
        pytest.param("if not torch.cuda.device_count():\n    sys.exit(1)\n", id="no-number"),
    ],
)
def test_a_check_that_ends_the_program_is_deleted(text, tmp_path):
    file = SourceFile(str(tmp_path / "train.py"), (HEAD + text).encode(), HEAD + text + "print(1)\n")
    (change,) = fixpoint.apply([file], Settings(select=(CODE,), root=str(tmp_path))).patch.files
    assert change.new.decode() == HEAD + "print(1)\n"


def ported(tmp_path, text: str) -> str:
    file = SourceFile(str(tmp_path / "train.py"), (HEAD + text).encode(), HEAD + text)
    changes = fixpoint.apply([file], Settings(select=(CODE,), root=str(tmp_path))).patch.files
    return changes[0].new.decode().removeprefix(HEAD) if changes else text


def test_the_number_of_accelerators_may_have_a_name(tmp_path):
    text = "count = torch.cuda.device_count()\nif count < 1:\n    sys.exit('no GPU')\nprint(count)\n"

    assert ported(tmp_path, text) == "count = torch.cuda.device_count()\nprint(count)\n"


@pytest.mark.parametrize(
    "text",
    [
        "assert torch.cuda.device_count() >= 2\n",
        "class C:\n    k = k\n\n\nif k > 0:\n    raise ValueError\n",
        "count = torch.cuda.device_count()\ncount = 4\nassert count\n",
        "def f(count):\n    assert count > 0\n",
    ],
)
def test_a_check_for_more_than_one_accelerator_stays(text, tmp_path):
    assert ported(tmp_path, text) == text


FORWARD = """
def forward(self, x, scale):
    assert {test}
    return {value}
"""


@pytest.mark.parametrize("test", ["x.is_cuda", "x.is_cuda and scale.is_cuda", "x.device.type == 'cuda'"])
def test_a_value_need_not_be_on_an_accelerator(test, tmp_path):
    text = FORWARD.format(test=test, value="torch.relu(self.layer(x)) * scale")

    assert ported(tmp_path, text) == text.replace(f"    assert {test}\n", "")


def test_the_type_of_a_value_is_still_checked(tmp_path):
    text = FORWARD.format(test="isinstance(x, torch.Tensor) and x.is_cuda, 'no tensor'", value="x * scale")

    assert ported(tmp_path, text) == text.replace(" and x.is_cuda", "")


@pytest.mark.parametrize(
    ("test", "value"),
    [
        ("isinstance(x, torch.Tensor) and isinstance(scale, torch.Tensor)", "x * scale"),
        ("x.is_cuda and x.numel() > 1", "x * scale"),
        ("x.add_(1).is_cuda", "x * scale"),
        ("isinstance(self.queue.pop(), torch.Tensor) and x.is_cuda", "x * scale"),
        ("x.is_cuda", "kernels.scale(x, scale)"),
        ("x.is_cuda", "Scale.apply(x, scale)"),
        ("x.is_cuda", "scale_with_triton(x, scale)"),
        ("x.is_cuda or scale.is_cuda", "x * scale"),
        ("not x.is_cuda", "x * scale"),
    ],
)
def test_a_check_of_a_value_stays_before_a_kernel(test, value, tmp_path):
    text = "import kernels\nfrom kernels import Scale\n" + FORWARD.format(test=test, value=value)

    assert ported(tmp_path, text) == text


def test_a_check_that_stands_alone_leaves_a_statement(tmp_path):
    text = HEAD + "def check():\n    assert torch.cuda.is_available()\n\n\ncheck()\n"
    file = SourceFile(str(tmp_path / "train.py"), text.encode(), text)
    (change,) = fixpoint.apply([file], Settings(select=(CODE,), root=str(tmp_path))).patch.files
    assert change.new.decode() == text.replace("assert torch.cuda.is_available()", "pass")


def test_the_code_behind_a_check_is_ported_with_it(tmp_path):
    text = HEAD + "def main():\n    assert torch.cuda.is_available()\n    print(torch.ones(3).cuda())\n\n\nmain()\n"
    file = SourceFile(str(tmp_path / "train.py"), text.encode(), text)
    (change,) = fixpoint.apply([file], Settings(select=("DEV8",), root=str(tmp_path))).patch.files
    assert "assert" not in change.new.decode() and ".cuda()" not in change.new.decode()


def test_a_check_goes_before_a_block_on_one_device(tmp_path):
    text = HEAD + "assert torch.cuda.is_available()\nwith torch.cuda.device(0):\n    print(torch.ones(3).cuda())\n"
    file = SourceFile(str(tmp_path / "train.py"), text.encode(), text)
    (change,) = fixpoint.apply([file], Settings(select=("DEV8",), root=str(tmp_path))).patch.files
    assert "assert" not in change.new.decode() and "0 if torch.cuda.is_available() else -1" in change.new.decode()


def test_a_check_of_a_flag_that_is_on_goes(tmp_path):
    text = (
        HEAD + "import argparse\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--nocuda', action='store_true')\nopt = parser.parse_args()\n\n"
        "if __name__ == '__main__':\n    cuda = not opt.nocuda\n"
        "    if cuda and not torch.cuda.is_available():\n        raise Exception('no GPU')\n"
        "    device = torch.device('cuda' if cuda else 'cpu')\n    print(torch.ones(3, device=device))\n"
    )
    file = SourceFile(str(tmp_path / "train.py"), text.encode(), text)
    (change,) = fixpoint.apply([file], Settings(select=("DEV8",), root=str(tmp_path))).patch.files
    assert "raise" not in change.new.decode() and "if torch.cuda.is_available() else 'cpu'" in change.new.decode()


def test_a_check_stays_before_what_has_no_equivalent(tmp_path):
    text = "assert torch.cuda.is_available()\ngraph = torch.cuda.CUDAGraph()\n"
    (resolution,) = reported(tmp_path, HEAD + text)
    assert not resolution.finding.fixes
    assert resolution.finding.reason == "other code relies on it, or has no equivalent without CUDA"


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    assert torch.cuda.is_available()\n    d = 'cuda'\nexcept AssertionError:\n    d = 'cpu'\n",
        "def f():\n    assert torch.cuda.is_available()\ntry:\n    f()\nexcept AssertionError:\n    pass\n",
        "def f():\n    assert torch.cuda.is_available()\ntry:\n    f()\nexcept Exception:\n    pass\n",
        "def f():\n    assert torch.cuda.is_available()\ntry:\n    f()\nexcept:\n    pass\n",
        "def f():\n    assert torch.cuda.is_available()\ndef g():\n    f()\ntry:\n    g()\nexcept Exception:\n    g\n",
        "class A:\n def __init__(self):\n  assert torch.cuda.is_available()\ntry:\n A()\nexcept (E, Exception):\n A\n",
        "def f(name):\n    if name == 'cuda':\n        assert torch.cuda.is_available()\n    return name\n",
        "if not torch.cuda.is_available():\n    raise unittest.SkipTest('no GPU')\n",
        "if not torch.cuda.is_available():\n    main_on_the_cpu()\n    sys.exit(0)\n",
        "if not torch.cuda.is_available():\n    sys.exit(main_on_the_cpu())\n",
        "if not torch.cuda.is_available():\n    # a comment\n    sys.exit(1)\n",
        "if sys.argv[1:]:\n    pass\nelif not torch.cuda.is_available():\n    sys.exit(1)\n",
        "import cupy\nassert torch.cuda.is_available()\n",
        "assert torch.cuda.is_available()\nstream = torch.cuda.Stream()\n",
    ],
)
def test_a_check_that_something_relies_on_stays(text, tmp_path):
    file = SourceFile(str(tmp_path / "train.py"), (HEAD + text).encode(), HEAD + text)
    assert fixpoint.apply([file], Settings(select=(CODE,), root=str(tmp_path))).patch.files == ()


def test_a_handler_that_ends_the_program_does_not_rely_on_a_check(tmp_path):
    check = "def f():\n    assert torch.cuda.is_available()\n    return 1\n"
    text = HEAD + check + "try:\n    f()\nexcept Exception as error:\n    print(error)\n    raise\n"
    file = SourceFile(str(tmp_path / "train.py"), text.encode(), text)
    (change,) = fixpoint.apply([file], Settings(select=(CODE,), root=str(tmp_path))).patch.files
    assert "assert" not in change.new.decode()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("if not torch.cuda.is_available():\n    print('slow')\n", id="goes-on"),
        pytest.param("def f():\n    if not torch.cuda.is_available():\n        return 0\n", id="returns"),
        pytest.param("if not torch.cuda.is_available() and strict:\n    raise RuntimeError\n", id="asked"),
    ],
)
def test_left_alone(text, tmp_path):
    assert reported(tmp_path, HEAD + text) == ()


def test_a_check_stays_that_another_file_catches(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check = "import torch\n\n\ndef require():\n    if torch.cuda.device_count() == 0:\n        raise RuntimeError\n"
    main = "from check import require\n\ntry:\n    require()\n    d = 'cuda'\nexcept RuntimeError:\n    d = 'cpu'\n"
    files = [SourceFile(name, text.encode(), text) for name, text in (("check.py", check), ("main.py", main))]

    changed = fixpoint.apply(files, Settings(select=(CODE,), root=str(tmp_path))).patch.files

    assert [change.path for change in changed] == []
