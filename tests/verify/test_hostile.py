"""Scripts that do harm: one clear outcome each, nothing left running, nothing touched, nothing left behind.

Every script runs twice: confined as far as this kernel goes, and under an interpreter whose kernel refuses all
namespaces, where fewer promises hold, and the report says so.
"""

# ruff: noqa: E501
from __future__ import annotations

import os
import re
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from devfix.verify import Run, judge, run
from devfix.verify.servers import interpreter_info
from devfix.verify.verdict import VERDICTS

from .scripts import FIXED, project

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="namespaces and /proc are Linux's")

MARK = f"hostile{os.getpid()}"  # of these tests, and not of others that run at the same time
MARKED = f"open('/proc/self/comm', 'w').write('{MARK}')\n"
NO_NAMESPACES = """\
#!/bin/sh
exec unshare -Ur sh -c '
for each in user net mnt pid ipc; do echo 0 > /proc/sys/user/max_${each}_namespaces; done
exec %s "$@"' sh "$@"
"""


@pytest.fixture(scope="module")
def without_namespaces(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An interpreter to which the kernel refuses all namespaces; on some machines that is any interpreter."""
    if interpreter_info(sys.executable)["exposed"] == ["network", "files", "processes"]:
        return sys.executable
    python = tmp_path_factory.mktemp("bin") / "python"
    python.write_text(NO_NAMESPACES % sys.executable)
    python.chmod(0o755)
    assert interpreter_info(str(python))["exposed"] == ["network", "files", "processes"]
    return str(python)


@pytest.fixture(params=["confined", "bare"])
def python(request: pytest.FixtureRequest) -> str:
    """The interpreter of a run."""
    return sys.executable if request.param == "confined" else str(request.getfixturevalue("without_namespaces"))


@pytest.fixture
def confined() -> str:
    """An interpreter whose runs the kernel lets us confine wholly."""
    if interpreter_info(sys.executable)["exposed"]:
        pytest.skip(f"this kernel exposes {interpreter_info(sys.executable)['exposed']}")
    return sys.executable


def marked() -> list[str]:
    """Processes that a hostile script has started and that are still there."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            text = Path(f"/proc/{entry}/comm").read_text() + Path(f"/proc/{entry}/cmdline").read_text()
        except OSError:
            continue
        if MARK in text and int(entry) != os.getpid():
            found.append(entry)
    return found


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below a folder: its mode and its bytes."""
    return {
        str(path.relative_to(folder)): (path.lstat().st_mode, b"" if path.is_dir() else path.read_bytes())
        for path in folder.rglob("*")
    }


@pytest.fixture(autouse=True)
def _nothing_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """After every test: no process, no temporary file, and the user's tree as it was."""
    scratch, user = tmp_path / "scratch", tmp_path / "user"
    scratch.mkdir()
    (user / "data").mkdir(parents=True)
    (user / "data" / "labels.csv").write_bytes(b"1\r\n2\r\n")
    (user / "notes.txt").write_text("mine")
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    assert marked() == []
    before = contents(user)
    yield
    after = contents(user)
    after.pop("train.py", None)
    assert after == before
    assert list(scratch.iterdir()) == []
    for _ in range(40):
        if not marked():
            break
        time.sleep(0.05)
    assert marked() == []


def once(tmp_path: Path, source: str, python: str, *args: str, timeout: float = 20.0, **more: Any) -> Run:
    """Run a hostile script that lies in the user's tree; its last words are the test's if something is wrong."""
    found = run("train.py", args, "cpu", project(tmp_path / "user", source), timeout, python=python, **more)
    print(found.output)
    names = ("original/cpu", "original/device", "original/unchecked", "patched/cpu", "patched/device")
    verdict = judge(dict.fromkeys(names, found))
    assert verdict.status in VERDICTS
    assert verdict.status != "fixed"
    assert "\n" not in found.outcome + verdict.reason
    return found


FOREVER = "import time\nwhile True:\n    time.sleep(1)\n"

HARM = {
    "os._exit(0)": ("import os\nos._exit(0)\n", "exited with code 0 before it finished"),
    "os._exit(3)": ("import os\nos._exit(3)\n", "ended with exit code 3"),
    "kills itself": ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", "killed by SIGKILL"),
    "kills its group": ("import os, signal\nos.killpg(0, signal.SIGKILL)\n", "killed by SIGKILL"),
    "reads memory that is not there": ("import ctypes\nctypes.string_at(0)\n", "killed by SIGSEGV"),
    "asks": ("name = input()\n", "EOFError: EOF when reading a line at train.py:1"),
    "closes stdout": ("import os, sys\nsys.stdout.close()\nos.close(2)\n", "completed"),
    "puts something in place of stdout": ("import sys\nsys.stdout = sys.stderr = None\n", "completed"),
    "closes all files": ("import os\nos.closerange(3, 1024)\n", "completed"),
    "leaves its folder": ("import os\nos.chdir('/')\n", "completed"),
    "deletes its folder": ("import os, shutil\nshutil.rmtree(os.getcwd())\n", "completed"),
    "deletes the folder above": (
        "import os, shutil\nshutil.rmtree(os.path.dirname(os.getcwd()), True)\n",
        "completed",
    ),
    "takes rights away": (
        "import os\nos.mkdir('a')\nopen('a/b', 'w')\nos.chmod('a', 0)\nos.chmod('.', 0o500)\n",
        "completed",
    ),
    "registers exits": ("import atexit, os\natexit.register(os._exit, 5)\n", "ended with exit code 5"),
    "traces": (
        "import sys, threading\nthreading.settrace(print)\nsys.setprofile(print)\nsys.settrace(lambda *a: 1 / 0)\n",
        "completed",
    ),
    "floods": (
        "import sys\nfor _ in range(1 << 10):\n    sys.stdout.write('x' * (1 << 20))\nprint('end')\n",
        "completed",
    ),
    "eats memory": ("x = bytearray(3 << 30)\n", "MemoryError at train.py:1"),
    "writes one large file": (
        "with open('big', 'wb') as target:\n    for _ in range(300):\n        target.write(bytes(1 << 20))\n",
        (
            "OSError: [Errno 27] File too large at train.py:3",
            "stopped because it wrote more than 100 MB to disk",
        ),  # who is first
    ),
}


@pytest.mark.sample(10)
@pytest.mark.parametrize("name", HARM)
def test_harm_has_one_clear_outcome(name: str, python: str, tmp_path: Path) -> None:
    source, outcome = HARM[name]
    found = once(tmp_path, source, python, memory_mb=2048, disk_mb=100)
    assert found.outcome in (outcome if isinstance(outcome, tuple) else (outcome,))
    assert len(found.output) <= 1 << 16


WAITING = {
    "a hang": FOREVER,
    "deaf to signals": (
        "import signal\nfor each in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:\n"
        f"    signal.signal(each, signal.SIG_IGN)\n{FOREVER}"
    ),
    "a thread that never ends": "import threading\nthreading.Thread(target=threading.Event().wait).start()\n",
    "a stopped process": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\n",
    "a busy loop in C": "list(zip(*[iter(int, 1)]))\n",
}


@pytest.mark.sample(4)
@pytest.mark.slow
@pytest.mark.parametrize("name", WAITING)
def test_what_never_ends_is_stopped_for_time(name: str, python: str, tmp_path: Path) -> None:
    started = time.monotonic()
    found = once(tmp_path, MARKED + WAITING[name], python, timeout=1.5, memory_mb=4096)
    assert found.outcome == "stopped by the time limit"
    assert time.monotonic() - started < 12


TAKING = {
    "processes": (
        (
            "import os, time\nfor _ in range(200):\n    if os.fork() == 0:\n"
            f"        {MARKED}        time.sleep(60)\n        os._exit(0)\ntime.sleep(60)\n"
        ),
        "stopped because it started more than 40 processes",
    ),
    "processes that start processes": (
        "import os, time\nfor _ in range(8):\n    os.fork()\n" + MARKED + "time.sleep(60)\n",
        "stopped because it started more than 40 processes",
    ),
    "memory of several processes": (
        (
            "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n"
            f"        {MARKED}        x = b'1' * (400 << 20)\n        time.sleep(60)\ntime.sleep(60)\n"
        ),
        "stopped because it used more than 1000 MB of memory",
    ),
    "shared memory": (
        (
            "import mmap, time\nx = mmap.mmap(-1, 1200 << 20)\nfor _ in range(1200):\n    x.write(b'1' * (1 << 20))\n"
            "time.sleep(60)\n"
        ),
        "stopped because it used more than 1000 MB of memory",
    ),
    "disk": (
        (
            "import time\nfor number in range(8):\n    with open(f'part{number}', 'wb') as target:\n"
            "        target.write(bytes(40 << 20))\ntime.sleep(60)\n"
        ),
        "stopped because it wrote more than 100 MB to disk",
    ),
}


@pytest.mark.sample(4)
@pytest.mark.slow
@pytest.mark.parametrize("what", TAKING)
def test_what_takes_too_much_is_stopped(what: str, python: str, tmp_path: Path) -> None:
    source, outcome = TAKING[what]
    found = once(tmp_path, source, python, memory_mb=1000, disk_mb=100, processes=40)
    assert found.outcome == outcome


DAEMONS = {
    "forked twice": f"import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        {MARKED}        time.sleep(60)\n    os._exit(0)\nos.wait()\ntime.sleep(0.2)\n",
    "started in a session of its own": f"import subprocess, sys, time\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)', '{MARK}'], start_new_session=True, env={{}})\ntime.sleep(0.2)\n",
    "a parent that is killed": f"import os, signal, time\nif os.fork() == 0:\n    {MARKED}    os.setsid()\n    time.sleep(60)\ntime.sleep(0.2)\nos.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(0.5)\n",
}


@pytest.mark.parametrize("name", DAEMONS)
def test_nothing_outlives_a_run(name: str, python: str, tmp_path: Path) -> None:
    found = once(tmp_path, DAEMONS[name], python)
    killed = name == "a parent that is killed" and "processes" in found.exposed
    assert found.outcome == ("killed by SIGKILL" if killed else "completed")


def test_a_run_cannot_signal_what_it_cannot_see(confined: str, tmp_path: Path) -> None:
    source = "import os, signal\nassert os.getpid() == 2, os.getpid()\nos.kill(-1, signal.SIGKILL)\n"
    assert once(tmp_path, source, confined).outcome == "ProcessLookupError: [Errno 3] No such process at train.py:3"


@pytest.mark.slow
def test_other_runs_go_on_while_one_does_harm(python: str, tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    folder = project(tmp_path / "other", FIXED)
    with ThreadPoolExecutor(2) as pool:
        other = pool.submit(run, "train.py", [], "sim", folder, python=python)
        harm = once(tmp_path, DAEMONS["a parent that is killed"], python)
        assert other.result().ok, (other.result().outcome, harm.outcome)


ELSEWHERE = """\
import os, shutil, sys
for path in sys.argv[1:]:
    try:
        open(os.path.join(path, "notes.txt"), "a").write("yours")
        open(os.path.join(path, "new.txt"), "w").write("yours")
        shutil.rmtree(path)
    except OSError as error:
        print(error)
"""


def test_the_users_tree_is_out_of_reach_by_its_absolute_path(confined: str, tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(dir=Path(__file__).parent, prefix=".tree-") as home:
        (Path(home) / "notes.txt").write_text("mine")
        before = contents(Path(home))
        found = once(tmp_path, ELSEWHERE, confined, str(tmp_path / "user"), home)
        assert found.outcome == "completed"
        assert contents(Path(home)) == before  # and the tree in the user's folder is looked at after every test


def test_common_folders_take_files_that_nobody_else_sees(confined: str, tmp_path: Path) -> None:
    names = [f"{folder}/{MARK}.txt" for folder in ("/tmp", "/var/tmp", "/dev/shm") if os.path.isdir(folder)]
    source = f"for name in {names}:\n    open(name, 'w').write('x')\n    assert open(name).read() == 'x'\n"
    assert once(tmp_path, source, confined).outcome == "completed"
    assert not [name for name in names if os.path.exists(name)]


def test_the_network_is_cut_off(python: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        found = once(tmp_path, f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 2)\n", python)
    reached = found.outcome == "completed"
    assert reached == ("network" in found.exposed)
    if not reached:
        assert re.match(r"ConnectionRefusedError.* at train\.py:2$", found.outcome)


def test_a_run_keeps_a_loopback_of_its_own(python: str, tmp_path: Path) -> None:
    source = (
        "import socket\nserver = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(server.getsockname(), 2)\n"
    )
    assert once(tmp_path, source, python).outcome == "completed"


@pytest.mark.thorough
@pytest.mark.slow
def test_a_partly_willing_kernel_gives_what_it_can(tmp_path: Path, confined: str) -> None:
    """Where processes cannot be hidden, files and the network still are."""
    python = tmp_path / "python"
    python.write_text((NO_NAMESPACES % sys.executable).replace("user net mnt pid ipc", "pid"))
    python.chmod(0o755)
    assert interpreter_info(str(python))["exposed"] == ["processes"]
    found = once(tmp_path, "import os\nos.listdir('/proc/1')\nopen('/var/x', 'w')\n", str(python))
    assert found.outcome == "OSError: [Errno 30] Read-only file system: '/var/x' at train.py:3"
    assert found.exposed == ("processes",)


@pytest.mark.slow
def test_an_ordinary_user_is_confined_as_well(confined: str, tmp_path: Path) -> None:
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can become another user; without root this is what every test shows")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec setpriv --reuid 65534 --regid 65534 --clear-groups {sys.executable} "$@"\n')
    python.chmod(0o755)
    try:
        exposed = interpreter_info(str(python))["exposed"]
    except Exception as error:
        pytest.skip(f"another user cannot run this interpreter: {error}")
    assert exposed == []
