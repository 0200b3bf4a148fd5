"""What is in the way of a run, and lies neither in the script nor in devfix: one line each."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from devfix.verify import RunError, run
from devfix.verify.sandbox import scratch

from .scripts import project

LISTS = "import os\nprint(sorted(os.listdir('.')))\n"


@pytest.fixture
def small_files() -> Iterator[Callable[[], None]]:
    """No file may be longer than 512 kB, as on a disk that is full; taken back after the test."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, before[1]))

    yield limit
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def refusal(folder: Path, **options: Any) -> str:
    with pytest.raises(RunError) as caught:
        run("train.py", [], "cpu", folder, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_links_that_lead_nowhere_or_in_a_circle_are_copied_as_they_are(tmp_path: Path) -> None:
    folder = project(tmp_path / "a", LISTS)
    for name, target in (("circle", "circle"), ("self", "."), ("gone", "/nonexistent"), ("up", "..")):
        (folder / name).symlink_to(target)

    found = run("train.py", [], "cpu", folder)

    assert found.output == "['circle', 'gone', 'self', 'train.py', 'up']\n"


def test_a_folder_that_vanishes_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = project(tmp_path / "a", LISTS)
    monkeypatch.setattr(scratch, "_check_size", lambda project, limit, ignored: shutil.rmtree(project))

    assert refusal(folder) == f"{folder} could not be copied: No such file or directory"


def test_no_room_for_the_copy_is_told(tmp_path: Path, small_files: Callable[[], None]) -> None:
    folder = project(tmp_path / "a", LISTS)
    (folder / "data.bin").write_bytes(bytes(1 << 20))
    small_files()

    told = refusal(folder)

    assert told.startswith(f"{folder / 'data.bin'} could not be copied to {tempfile.gettempdir()}: [Errno 27] File too")
    assert told.endswith("; set TMPDIR to a folder with more space")


def test_no_folder_for_copies_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))

    assert refusal(project(tmp_path / "a", LISTS)).startswith("cannot create a scratch folder: No such file or dir")


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), FileNotFoundError(2, "No such file")])
def test_a_file_that_cannot_be_read_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    folder = project(tmp_path / "a", LISTS)
    (folder / "secret.txt").write_text("x")
    real = scratch._clone_or_copy

    def copy(source: str, target: str) -> str:
        if source.endswith("secret.txt"):
            raise error
        return real(source, target)

    monkeypatch.setattr(scratch, "_clone_or_copy", copy)

    assert run("train.py", [], "cpu", folder).output == "['train.py']\n"


def test_version_control_and_environments_are_not_copied(tmp_path: Path) -> None:
    folder = project(tmp_path / "a", LISTS)
    for name in (".git", ".venv", "__pycache__", "data"):
        (folder / name).mkdir()

    assert run("train.py", [], "cpu", folder).output == "['data', 'train.py']\n"


@pytest.mark.parametrize(("verb", "path"), [("verify", None), ("check", "."), ("apply", "train.py")])
def test_a_current_folder_that_is_gone_is_told(tmp_path: Path, verb: str, path: str | None) -> None:
    script = project(tmp_path / "a", LISTS) / "train.py"
    (tmp_path / "gone").mkdir()
    arguments = [sys.executable, "-m", "devfix", verb, path or str(script)]
    program = f"import os; os.rmdir('../gone'); os.execv({sys.executable!r}, {arguments!r})"

    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path / "gone",
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )

    said = "devfix: the current directory has been deleted: change to an existing one\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
