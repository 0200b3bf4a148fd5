"""One run: what is recorded, and that nothing it does reaches beyond its scratch copy."""

# ruff: noqa: E501
from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from devfix.verify import Run, RunError, run

from .scripts import FIXED, edited, project


def once(tmp_path: Path, source: str, *args: str, device: str = "sim", **options: Any) -> Run:
    return run("train.py", args, device, project(tmp_path / "project", source), **options)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_losses_steps_and_parameters_are_recorded(tmp_path: Path) -> None:
    here, there = once(tmp_path, FIXED, device="cpu"), once(tmp_path, FIXED)
    assert here.ok
    assert there.ok
    assert (here.losses, here.digest, here.random, here.steps) == (there.losses, there.digest, there.random, 4)
    assert (there.parameters, there.forgotten, here.all_operations) == (6, (), 0)
    assert there.accelerator_share > 0.5


def test_the_script_runs_as_main_with_its_arguments_and_folder(tmp_path: Path) -> None:
    folder = project(tmp_path / "project", "VALUE = 7\n", "sub/helper.py" if False else "helper.py")
    source = (
        "import sys, os, pickle\nimport helper\n"
        "class Thing: pass\n"
        "assert __name__ == '__main__' and pickle.loads(pickle.dumps(Thing())) is not None\n"
        "def annotated(x: int): pass\n"
        "assert annotated.__annotations__['x'] is int\n"  # no future import of ours leaks in
        "print(sys.argv[1:], helper.VALUE, os.path.basename(os.getcwd()), os.path.basename(__file__))\n"
    )
    project(folder, source)
    found = run("train.py", ["--lr", "1"], "cpu", folder)
    assert found.ok, found.outcome
    assert found.output.strip() == "['--lr', '1'] 7 project train.py"


def test_a_module_runs(tmp_path: Path) -> None:
    folder = project(tmp_path / "project", "from pkg import value\nprint(value, __name__)\n", "tool.py")
    package = project(folder / "pkg", "value = 3\n", "__init__.py")
    project(package, "from . import value\nprint(value, __name__, __package__)\n", "run.py")
    assert run("pkg.run", [], "cpu", folder, module=True).output.strip() == "3 __main__ pkg"


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        ("sys.exit(0)", 0),
        ("sys.exit()", 0),
        ("sys.exit(3)", 3),
        ("sys.exit('no')", 1),
        ("os._exit(5)", 5),
        ("sys.exit(-1)", 255),
    ],
)
def test_exit_codes(ending: str, code: int, tmp_path: Path) -> None:
    found = once(tmp_path, f"import os, sys\n{ending}\n", device="cpu")
    assert (found.exit_code, found.ok) == (code, code == 0)


def test_a_failure_has_its_deepest_line_in_the_project(tmp_path: Path) -> None:
    folder = project(
        tmp_path / "project",
        "import torch\n\ndef call(x):\n    return torch.nn.functional.relu(x) @ x.cpu()\n",
        "layers.py",
    )
    project(folder, "import torch, layers\nlayers.call(torch.ones(2, 2, device='cuda'))\n")
    found = run("train.py", [], "sim", folder).failure
    assert found is not None
    assert (found.where, found.code, found.family) == (
        "layers.py:4",
        "return torch.nn.functional.relu(x) @ x.cpu()",
        "same-device",
    )
    assert found.type == "RuntimeError"
    assert str(tmp_path) not in found.traceback


def test_the_cause_of_an_exception_counts(tmp_path: Path) -> None:
    source = "import torch\ntry:\n    torch.ones(2).cuda() @ torch.ones(2)\nexcept RuntimeError as error:\n    raise ValueError('step failed') from error\n"
    found = once(tmp_path, source).failure
    assert found is not None
    assert (found.type, found.family) == ("ValueError", "same-device")


def test_the_number_of_steps_can_be_limited(tmp_path: Path) -> None:
    found = once(tmp_path, FIXED, max_steps=2)
    assert (found.ok, found.ended_early, found.steps, len(found.losses)) == (True, True, 2, 2)


def test_scaled_losses_are_recorded_as_they_were(tmp_path: Path) -> None:
    plain = once(tmp_path, FIXED)
    source = edited(
        "    loss.backward()\n    optimizer.step()",
        "    scaler.scale(loss).backward()\n    scaler.step(optimizer)\n    scaler.update()",
    )
    scaled = once(tmp_path / "b", source.replace("for x, y", "scaler = torch.amp.GradScaler(device.type)\nfor x, y", 1))
    assert scaled.ok, scaled.outcome
    assert scaled.losses == plain.losses


def test_the_users_files_are_not_touched(tmp_path: Path) -> None:
    folder = project(
        tmp_path / "project",
        "open('train.py', 'a').write('#'); open('new.txt', 'w').write('x')\nimport shutil, os\nshutil.rmtree(os.getcwd())\n",
    )
    before = files(folder)
    assert run("train.py", [], "cpu", folder).ok
    assert files(folder) == before


def test_secrets_stay_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "hunter2")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    found = once(
        tmp_path,
        "import os\nprint(sorted(os.environ), os.path.expanduser('~'))\nassert 'hunter2' not in str(os.environ)\n",
        device="cpu",
    )
    assert found.ok, found.outcome
    assert os.path.expanduser("~") + "'" not in found.output


def _alive(marker: str) -> list[str]:
    listed = (
        subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=False).stdout
        if os.path.exists("/bin/ps")
        else ""
    )
    return [line for line in listed.splitlines() if marker in line]


def test_a_hang_is_stopped(tmp_path: Path) -> None:
    started = time.monotonic()
    found = once(tmp_path, "import time\nprint('waiting')\ntime.sleep(600)\n", device="cpu", timeout=3.0)
    assert (found.timed_out, found.ok, found.outcome) == (True, False, "stopped by the time limit")
    assert "waiting" in found.output
    assert time.monotonic() - started < 30


def test_children_that_leave_the_group_are_stopped(tmp_path: Path) -> None:
    marker = f"devfix-test-{os.getpid()}-{time.monotonic_ns()}"
    source = (
        "import subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', '{marker}'], start_new_session=True)\n"
        "time.sleep(0.3)\n"
    )
    assert once(tmp_path, source, device="cpu").ok
    for _ in range(50):
        if not _alive(marker):
            break
        time.sleep(0.1)
    assert not _alive(marker)


def test_a_killed_script_is_one_clear_outcome(tmp_path: Path) -> None:
    found = once(tmp_path, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", device="cpu")
    assert (found.exit_code, found.outcome) == (-9, "killed by SIGKILL")


def test_a_flood_of_output_is_cut(tmp_path: Path) -> None:
    found = once(
        tmp_path, "import sys\nfor _ in range(3000):\n    sys.stdout.write('x' * 65536)\nprint('end')\n", device="cpu"
    )
    assert found.ok
    assert len(found.output) <= 65536
    assert found.output.endswith("end\n")


def test_memory_is_limited(tmp_path: Path) -> None:
    found = once(tmp_path, "x = bytearray(3 << 30)\n", device="cpu", memory_mb=2048)
    assert not found.ok
    assert found.failure is not None
    assert found.failure.type == "MemoryError"


def test_a_project_that_is_too_large_is_refused(tmp_path: Path) -> None:
    folder = project(tmp_path / "project", "x" * 5000)
    with pytest.raises(RunError, match="is larger than"):
        run("train.py", [], "cpu", folder, size_limit=1000)


def test_a_script_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no such file or folder"):
        run("nothing.py", [], "cpu", tmp_path)


def test_an_interpreter_without_torch_is_refused(tmp_path: Path) -> None:
    folder = project(tmp_path / "project", "pass\n")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S -I "$@"\n')
    python.chmod(0o755)
    with pytest.raises(RunError, match="torch"):
        run("train.py", [], "cpu", folder, python=str(python))


def test_a_second_stage_sees_what_the_first_one_saw(tmp_path: Path) -> None:
    """Also if the modules are in a folder that is covered, such as the one for temporary files."""
    project(tmp_path / "packages" / "extra", "VALUE = 3\n", "__init__.py")
    folder = project(tmp_path / "project", "import extra\nprint(extra.VALUE)\n")

    found = run("train.py", [], "cpu", folder, setup=[], env={"PYTHONPATH": str(tmp_path / "packages")})

    assert found.ok, found.output
