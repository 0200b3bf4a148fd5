"""The whole tool, from inside, on input that is not as it should be."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import pytest

pytestmark = pytest.mark.sample(24)  # many take a second

BROKEN = b"""\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


def main():
    model = Net()
    model.to(device)
    model.head = nn.Linear(4, 3)  # three classes
    for _ in range(3):
        x = torch.randn(8, 4).to(device)
        model(x).sum().backward()


if __name__ == "__main__":
    main()
"""
_BEFORE, _AFTER = BROKEN.split(b"    for _ in range")
FIXED = _BEFORE + b"    model.to(device)\n    for _ in range" + _AFTER


def mixed(content):
    """Every third line ends in CRLF."""
    lines = content.split(b"\n")
    return (
        b"".join(line + (b"\r\n" if number % 3 == 0 else b"\n") for number, line in enumerate(lines[:-1])) + lines[-1]
    )


def tabs(content):
    lines = content.split(b"\n")
    return b"\n".join(b"\t" * ((len(line) - len(line.lstrip(b" "))) // 4) + line.lstrip(b" ") for line in lines)


STYLES = {
    "as-it-is": lambda content: content,
    "crlf": lambda content: content.replace(b"\n", b"\r\n"),
    "bom": lambda content: b"\xef\xbb\xbf" + content,
    "tabs": tabs,
    "no-final-newline": lambda content: content.rstrip(b"\n"),
    "latin-1": lambda content: b"# -*- coding: latin-1 -*-\n# caf\xe9\n" + content,
    "20000-lines": lambda content: content + b"# a comment\n" * 20_000,
}


@pytest.mark.parametrize("style", STYLES)
def test_the_edit_is_made_and_every_other_byte_stays(inside, project, style):
    path = project / "train.py"
    path.write_bytes(STYLES[style](BROKEN))

    result = inside("apply", "train.py")

    assert path.read_bytes() == STYLES[style](FIXED), result.stderr
    assert result.code == 0
    assert inside("apply", "train.py", "--check").code == 0, "a second run has nothing to do"


def test_mixed_newlines_stay_where_they_are(inside, project):
    path = project / "train.py"
    path.write_bytes(mixed(BROKEN))

    inside("apply", "train.py")

    after = path.read_bytes()
    assert after.replace(b"\r\n", b"\n") == FIXED
    kept = [line for line in after.splitlines(keepends=True) if line in set(mixed(BROKEN).splitlines(keepends=True))]
    assert len(kept) >= len(BROKEN.splitlines())


PROBLEMS = {
    "syntax-error": (b"import torch\ndef f(:\n    pass\n", 2),
    "unfinished": (b"import torch\nx = (1,\n", 2),
    "python-2": (b"import torch\nprint 'two'\n", 2),
    "bad-indent": (b"import torch\nif x:\ny = 1\n", 3),
    "nul-bytes": (b"import torch\n\0\n", 2),
    "wrong-cookie": (b"# coding: ascii\nimport torch\ns = '\xe9'\n", 3),
    "unknown-cookie": (b"# coding: klingon\nimport torch\n", 1),
    "not-utf-8": (b"import torch\n\ns = '\xe9'\n", 3),
    "utf-16": ("import torch\n".encode("utf-16"), 1),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_one_bad_file_is_one_line_and_the_rest_is_done(inside, project, name):
    content, line = PROBLEMS[name]
    (project / "bad.py").write_bytes(content)
    (project / "train.py").write_bytes(BROKEN)

    result = inside("apply", ".")

    assert result.code == 1
    assert (project / "bad.py").read_bytes() == content
    assert (project / "train.py").read_bytes() == FIXED
    problems = [text for text in result.stderr.splitlines() if "bad.py" in text]
    assert len(problems) == 1
    assert problems[0].startswith(f"devfix: bad.py:{line}: ")
    assert "Traceback" not in result.stderr


DEEP = 3_000
NESTED = {
    "parentheses": "x = " + "(" * DEEP + "1" + ")" * DEEP,
    "lists": "x = " + "[" * DEEP + "]" * DEEP,
    "calls": "x = " + "f(" * DEEP + ")" * DEEP,
    "unary": "x = " + "-" * DEEP + "1",
    "not": "x = " + "not " * DEEP + "a",
    "sum": "x = 1" + " + 1" * DEEP,
    "attributes": "x = a" + ".b" * DEEP,
    "method-chain": "x = torch.nn.Linear(1, 1)" + ".to(device)" * DEEP,
    "subscripts": "x = a" + "[0]" * DEEP,
    "elif": "if a:\n    pass\n" + "elif b:\n    pass\n" * DEEP,
    "indentation": "".join(" " * depth + "if a:\n" for depth in range(DEEP)) + " " * DEEP + "pass",
    "lambdas": "x = " + "lambda: " * DEEP + "1",
    "ternaries": "x = " + "1 if a else " * DEEP + "2",
    "f-strings": "x = " + "f'{" * DEEP + "1" + "}'" * DEEP,
}


@pytest.mark.parametrize("name", NESTED)
def test_deep_nesting_is_handled_or_a_problem_and_the_rest_is_done(inside, project, name):
    text = f"import torch\ndevice = torch.device('cuda')\n{NESTED[name]}\n".encode()
    (project / "deep.py").write_bytes(text)
    (project / "train.py").write_bytes(BROKEN)

    result = inside("apply", ".")

    assert result.code in (0, 1), result.stderr
    assert (project / "deep.py").read_bytes() == text
    assert (project / "train.py").read_bytes() == FIXED
    assert "Traceback" not in result.stderr
    assert len([line for line in result.stderr.splitlines() if "deep.py" in line]) == result.code


def test_deep_nesting_ends_no_process(outside, project):
    for name, text in NESTED.items():
        (project / f"{name}.py").write_text(f"import torch\ndevice = torch.device('cuda')\n{text}\n")
    (project / "train.py").write_bytes(BROKEN)

    result = outside("apply", ".", "-j", "2")

    assert result.code in (0, 1), result.stderr
    assert (project / "train.py").read_bytes() == FIXED
    assert "Traceback" not in result.stderr


def test_an_empty_file_and_blank_ones_are_clean(inside, project):
    for name, content in {"empty": b"", "blank": b"\n\n", "bom": b"\xef\xbb\xbf", "comment": b"# torch"}.items():
        (project / f"{name}.py").write_bytes(content)

    result = inside("apply", ".")

    assert (result.code, result.text, result.stderr) == (0, "no findings, 4 files checked\n", "")
    assert (project / "bom.py").read_bytes() == b"\xef\xbb\xbf"


def test_a_folder_without_python_and_a_missing_path(inside, project):
    (project / "docs").mkdir()

    result = inside("check", "docs", "nowhere.py")

    assert result.code == 2
    assert result.stderr.splitlines() == [
        "devfix: docs: no Python files here; are they excluded or ignored by git?",
        "devfix: nowhere.py: no such file or folder; check the spelling",
    ]
    assert inside("check", "docs").code == 1


def test_a_file_that_cannot_be_read(inside, project):
    (project / "train.py").write_bytes(BROKEN)
    (project / "locked.py").symlink_to("/proc/self/mem")  # a read fails for root too

    result = inside("apply", "locked.py", "train.py")

    assert result.code == 1
    assert result.stderr.count("devfix: locked.py: cannot be read") == 1
    assert (project / "train.py").read_bytes() == FIXED


@pytest.fixture
def unprivileged(environment):
    """Run devfix as somebody whom permissions stop: root without the capabilities to ignore them."""
    command = [sys.executable, "-m", "devfix"]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root ignores permissions, and setpriv is not there to change that")
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *command]

    def call(*arguments):
        return subprocess.run([*command, *arguments], env=environment, capture_output=True, text=True, check=False)

    return call


def test_a_file_without_read_permission(unprivileged, project):
    (project / "train.py").write_bytes(BROKEN)
    (project / "locked.py").write_bytes(BROKEN)
    (project / "locked.py").chmod(0)

    result = unprivileged("apply", ".")

    assert result.returncode == 1
    assert result.stderr.count("devfix: locked.py: cannot be read: permission denied") == 1
    assert (project / "train.py").read_bytes() == FIXED


def test_a_folder_without_write_permission(unprivileged, project):
    (project / "pkg").mkdir()
    (project / "pkg/train.py").write_bytes(BROKEN)
    (project / "train.py").write_bytes(BROKEN)
    (project / "pkg").chmod(0o555)

    result = unprivileged("apply", ".")

    (project / "pkg").chmod(0o755)
    assert result.returncode == 1
    assert "devfix: pkg/train.py: cannot be written: Permission denied" in result.stderr
    assert (project / "pkg/train.py").read_bytes() == BROKEN
    assert (project / "train.py").read_bytes() == FIXED


def test_a_file_that_cannot_be_written(inside, project):
    (project / "train.py").write_bytes(BROKEN)
    (project / "train.py").chmod(0o444)

    result = inside("apply", "train.py")

    assert result.code == 1
    assert (project / "train.py").read_bytes() == BROKEN
    assert "devfix: train.py: is read-only" in result.stderr
    assert "not fixed: train.py is read-only" in result.text


def test_a_link_stays_a_link(inside, project):
    (project / "real.py").write_bytes(BROKEN)
    (project / "real.py").chmod(0o755)
    (project / "link.py").symlink_to("real.py")

    result = inside("apply", "link.py")

    assert result.code == 0
    assert (project / "link.py").is_symlink()
    assert (project / "real.py").read_bytes() == FIXED
    assert (project / "real.py").stat().st_mode & 0o777 == 0o755


def test_a_package_that_imports_itself(inside, project):
    package = project / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import torch\nimport pkg\nfrom pkg import a\nfrom . import *\nfrom pkg.a import *\n"
    )
    (package / "a.py").write_text("import torch\nfrom pkg import *\nfrom pkg.b import x\nimport pkg.a as me\n")
    (package / "b.py").write_text("from pkg.a import y\nfrom .a import *\nfrom . import b as b\nx = y = b\n")
    (package / "train.py").write_bytes(BROKEN)

    result = inside("apply", ".")

    assert result.code == 0, result.stderr
    assert (package / "train.py").read_bytes() == FIXED


def test_a_link_loop_and_a_deep_folder(inside, project):
    folder = project.joinpath(*["d"] * 60)
    folder.mkdir(parents=True)
    (folder / "train.py").write_bytes(BROKEN)
    (project / "d" / "loop").symlink_to(project, target_is_directory=True)
    (project / "self.py").symlink_to("self.py")

    assert inside("apply", ".").code == 0
    assert (folder / "train.py").read_bytes() == FIXED
    assert "devfix: self.py: " in inside("apply", "self.py").stderr


PAUSED = textwrap.dedent(
    """
    import os, sys, time
    real = os.{step}
    def pause(*arguments, **keywords):
        print("pausing", flush=True)
        time.sleep(60)
        return real(*arguments, **keywords)
    os.{step} = pause
    from devfix.cli import main
    main(["apply", "."])
    """
)


@pytest.mark.sample(2)
@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("kill", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "kill-9"])
def test_a_stop_in_the_middle_of_a_write_leaves_old_bytes(environment, project, step, kill):
    (project / "train.py").write_bytes(BROKEN)
    process = subprocess.Popen(
        [sys.executable, "-c", PAUSED.format(step=step)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"pausing\n"
    time.sleep(0.1)
    process.send_signal(kill)
    _, stderr = process.communicate(timeout=30)

    assert (project / "train.py").read_bytes() == BROKEN
    if kill == signal.SIGINT:
        assert process.returncode == 130
        assert stderr.decode().strip() == "devfix: interrupted; no file is partially written"
        assert [path.name for path in project.iterdir() if path.name != ".git"] == ["train.py"]
    else:
        assert process.returncode == -signal.SIGKILL


WORKING = textwrap.dedent(
    """
    import time
    from devfix import analysis
    from devfix.cli import main
    def analyse(*arguments, **keywords):
        print("working", flush=True)
        time.sleep(60)
    analysis.analyse = analyse
    main(["apply", ".", "-j", "{jobs}"])
    """
)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_stop_during_the_analysis_is_one_line_also_with_workers(environment, project, jobs):
    for number in range(40):
        (project / f"train_{number}.py").write_bytes(BROKEN)
    process = subprocess.Popen(
        [sys.executable, "-c", WORKING.format(jobs=jobs)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert b"working" in process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it too
    _, stderr = process.communicate(timeout=30)

    assert process.returncode == 130
    assert stderr.decode().strip() == "devfix: interrupted; no file is partially written"


@pytest.mark.thorough
def test_any_number_of_workers_says_the_same(outside, project):
    for number in range(12):
        (project / f"train_{number:02}.py").write_bytes(BROKEN if number % 3 else FIXED)
    (project / "bad.py").write_bytes(b"import torch\n(")

    alone, *others = (outside("apply", ".", "--diff", "--output-format", "json", "-j", jobs) for jobs in (1, 1, 2, 5))

    for other in others:
        assert alone.stdout == other.stdout
        assert alone.stderr == other.stderr
    assert alone.stdout.count(b"diff --git") == 8


def test_the_order_of_sets_does_not_show(environment, project):
    cases = sorted((pathlib.Path(__file__).parents[2] / "corpus" / "batch_not_moved").glob("*/broken"))[:8]
    command = [sys.executable, "-m", "devfix", "apply", *cases, "--diff", "--output-format", "json", "-j", "2"]

    runs = [
        subprocess.run(command, env={**environment, "PYTHONHASHSEED": seed}, capture_output=True, check=False)
        for seed in ("1", "2")
    ]

    assert runs[0].stdout == runs[1].stdout
    assert runs[0].stderr == runs[1].stderr
    assert runs[0].stdout.startswith(b"diff --git")
