"""Scripts that look for files, sockets and devices of the user: what they do not need is not there."""

# ruff: noqa: E501
from __future__ import annotations

import errno
import os
import pty
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from devfix.verify import Run, run
from devfix.verify.probe.confinement import mounts
from devfix.verify.servers import interpreter_info

from .scripts import project

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="namespaces are Linux's")

MARK = f"hostile-{os.getpid()}"


@pytest.fixture(scope="module", autouse=True)
def _confined() -> None:
    if "files" in interpreter_info(sys.executable)["exposed"]:
        pytest.skip("this kernel does not let us isolate files")


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A folder that is neither in a home folder nor in one for temporary files."""
    temporary = tuple(os.path.realpath(each) for each in ("/tmp", "/var/tmp"))
    candidates = [each for each in (str(Path(__file__).parent), "/srv", "/opt") if os.access(each, os.W_OK)]
    parent = next((each for each in candidates if not os.path.realpath(each).startswith(temporary)), None)
    if parent is None:
        pytest.skip("every folder that this user may write to is hidden from runs")
    with tempfile.TemporaryDirectory(dir=parent, prefix=".tree-") as folder:
        yield Path(folder)


@pytest.fixture
def home(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = elsewhere / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("TORCH_HOME", "HF_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


def write(path: Path, text: str = "hunter2") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def outcome(tmp_path: Path, source: str, *args: object, **more: Any) -> Run:
    found = run("train.py", [str(each) for each in args], "cpu", project(tmp_path / "user", source), 30.0, **more)
    print(found.output)
    return found


def completes(tmp_path: Path, source: str, *args: object, **more: Any) -> None:
    found = outcome(tmp_path, f"import os, sys\nargs = sys.argv[1:]\n{source}", *args, **more)
    assert found.outcome == "completed"


# --- home folders -----------------------------------------------------------------------------------------------------
CREDENTIALS = (
    *(".netrc", ".ssh/id_ed25519", ".aws/credentials", ".config/gh/hosts.yml", ".cache/huggingface/token"),
    *(".git-credentials", ".kaggle/kaggle.json", ".config/some-new-editor/session", ".assistant/token"),
    *("service.json", "notes/passwords.txt", ".env"),
)
UNREADABLE = "for path in args:\n    assert not os.path.exists(path), path\n"


def test_nothing_of_the_home_folder_can_be_read(tmp_path: Path, home: Path) -> None:
    paths = [write(home / name) for name in CREDENTIALS]
    source = (
        "import subprocess\nhome = args.pop()\n"
        f"{UNREADABLE}subprocess.run(['umount', home], stderr=subprocess.DEVNULL)\n{UNREADABLE}"
        "assert os.listdir(home) == []\n"
    )
    completes(tmp_path, source, *paths, home)
    assert all(path.read_text() == "hunter2" for path in paths)


def test_credentials_elsewhere_are_empty(
    tmp_path: Path, elsewhere: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(write(elsewhere / "service.json")))
    monkeypatch.setenv("KUBECONFIG", str(elsewhere / "kube"))
    write(elsewhere / "kube" / "config")
    completes(tmp_path, "assert not open(args[0]).read()\n", elsewhere / "service.json")
    completes(tmp_path, UNREADABLE, elsewhere / "kube" / "config")


def test_files_of_root_are_hidden_from_the_runs_of_root(tmp_path: Path) -> None:
    if os.getuid() != 0 or not os.path.getsize("/etc/shadow"):
        pytest.skip("only root can read them")
    completes(tmp_path, "assert not open('/etc/shadow').read()\n")


def test_the_environment_has_no_variable_that_is_not_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_TOKEN", "A_NEW_TOOLS_SESSION", "HF_TOKEN", "WANDB_API_KEY", "LD_PRELOAD_KEY"):
        monkeypatch.setenv(name, "hunter2")
    source = (
        "import glob\nassert 'hunter2' not in str(os.environ)\n"
        "for path in glob.glob('/proc/[0-9]*/environ'):\n"
        "    try:\n        told = open(path, 'rb').read()\n    except PermissionError:\n        continue\n"
        "    assert b'hunter2' not in told, path\n"
    )
    completes(tmp_path, source)


def test_a_readable_folder_of_the_home_is_read_only(tmp_path: Path, home: Path) -> None:
    data, other = write(home / "data" / "rows.txt", "7"), write(home / "other" / "rows.txt")
    source = (
        "assert open(args[0]).read() == '7'\nassert not os.path.exists(args[1])\n"
        "try:\n    open(args[0], 'w')\nexcept OSError as error:\n    assert error.errno == 30\nelse:\n    assert False\n"
    )
    completes(tmp_path, source, data, other, allow_read=[str(data.parent)])


def test_a_readable_home_still_has_no_hidden_files(tmp_path: Path, home: Path) -> None:
    data, key, token = write(home / "rows.txt", "7"), write(home / ".ssh" / "key"), write(home / ".token")
    source = "assert open(args[0]).read() == '7'\nassert not os.path.exists(args[1])\nassert not open(args[2]).read()\n"
    completes(tmp_path, source, data, key, token, allow_read=[str(home)])


@pytest.mark.thorough
def test_a_project_with_an_environment_in_the_home_folder_works(tmp_path: Path, home: Path) -> None:
    """The environment is not copied, and stays at its place in the project; the rest there is the copy."""
    folder = project(home / "work", "SIZE = 1\n", "model.py")
    (folder / ".venv" / "bin").mkdir(parents=True)
    shutil.copyfile(Path(sys.prefix, "pyvenv.cfg"), folder / ".venv" / "pyvenv.cfg")
    (folder / ".venv" / "bin" / "python").symlink_to(sys.executable)
    (folder / ".venv" / "lib").symlink_to(Path(sys.prefix, "lib"))
    source = (
        "import subprocess, sys\nassert sys.prefix == sys.argv[1], sys.prefix\nsys.path.insert(0, sys.argv[2])\n"
        "import model\nassert model.SIZE == 2\nsubprocess.run([sys.executable, '-c', 'import torch'], check=True)\n"
    )
    project(folder, source)
    python = str(folder / ".venv" / "bin" / "python")
    found = run(
        "train.py",
        [str(folder / ".venv"), str(folder)],
        "cpu",
        folder,
        30.0,
        python=python,
        changes={"model.py": b"SIZE = 2\n"},
    )
    assert found.outcome == "completed", found.output


def test_an_environment_in_the_home_folder_works(tmp_path: Path, home: Path) -> None:
    """Its interpreter is a link through other links of the home folder; its neighbours stay hidden."""
    key = write(home / ".ssh" / "key")
    (home / "pythons" / "3").mkdir(parents=True)
    (home / "current").symlink_to("pythons")
    (home / "current" / "3" / "python").symlink_to(sys.executable)
    (home / "envs" / "new" / "bin").mkdir(parents=True)
    shutil.copyfile(Path(sys.prefix, "pyvenv.cfg"), home / "envs" / "new" / "pyvenv.cfg")
    (home / "envs" / "new" / "bin" / "python").symlink_to(home / "current" / "3" / "python")
    (home / "envs" / "new" / "lib").symlink_to(Path(sys.prefix, "lib"))
    python = str(home / "envs" / "new" / "bin" / "python")
    source = (
        "import subprocess, torch\nassert sys.prefix == args[0], sys.prefix\n"
        "subprocess.run([sys.executable, '-c', 'import torch'], check=True)\nassert not os.path.exists(args[1])\n"
    )
    completes(tmp_path, source, home / "envs" / "new", key, python=python)


def test_data_sets_and_models_of_the_user_are_in_the_home_of_a_run(tmp_path: Path, home: Path) -> None:
    model = write(home / ".cache/torch/hub/checkpoints/net.pt", "7")
    write(home / ".cache/huggingface/hub/model/config.json", "7")
    write(home / ".cache/huggingface/token")
    source = (
        "import torch\nhub = torch.hub.get_dir()\nassert open(f'{hub}/checkpoints/net.pt').read() == '7'\n"
        "open(f'{hub}/checkpoints/net.pt', 'w').write('8')\nopen(f'{hub}/new', 'w').write('8')\n"
        "assert open(f'{hub}/checkpoints/net.pt').read() == '8'\n"
        "cache = os.path.expanduser('~/.cache/huggingface')\n"
        "assert open(f'{cache}/hub/model/config.json').read() == '7'\nassert os.listdir(cache) == ['hub']\n"
    )
    completes(tmp_path, source)
    assert (model.read_text(), os.listdir(home / ".cache/torch/hub")) == ("7", ["checkpoints"])


def test_a_configured_folder_of_models_has_no_token(
    tmp_path: Path, elsewhere: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (elsewhere, home / "models"):
        write(folder / "hub" / "config.json", "7")
        write(folder / "token")
        monkeypatch.setenv("HF_HOME", str(folder))
        source = (
            "cache = os.environ['HF_HOME']\nassert open(f'{cache}/hub/config.json').read() == '7'\n"
            "assert not os.path.exists(f'{cache}/token') or not open(f'{cache}/token').read()\n"
        )
        completes(tmp_path, source)


# --- the project ------------------------------------------------------------------------------------------------------
def test_credentials_of_the_project_are_not_copied(tmp_path: Path) -> None:
    write(tmp_path / "user" / ".env")
    write(tmp_path / "user" / "conf" / "secrets.toml")
    write(tmp_path / "user" / ".env.example", "KEY=")
    source = (
        f"for folder in ('.', {str(tmp_path / 'user')!r}):\n"
        "    assert not os.path.exists(f'{folder}/.env') and not os.path.exists(f'{folder}/conf/secrets.toml')\n"
        "    assert open(f'{folder}/.env.example').read() == 'KEY='\n"
    )
    found = outcome(tmp_path, "import os\n" + source)
    assert (found.outcome, found.left_out) == ("completed", (".env", "conf/secrets.toml"))


def test_a_readable_file_of_the_project_is_copied(tmp_path: Path) -> None:
    path = write(tmp_path / "user" / ".env", "EPOCHS=3")
    found = outcome(tmp_path, "assert open('.env').read() == 'EPOCHS=3'\n", allow_read=[str(path)])
    assert (found.outcome, found.left_out) == ("completed", ())


def test_the_project_by_its_absolute_path_is_the_copy(tmp_path: Path) -> None:
    """A script with absolute paths reads the patched files, and cannot see the original's credentials."""
    user = project(tmp_path / "user", "SIZE = 1\n", "model.py")
    (user / ".git").mkdir()
    write(user / ".git" / "config")
    source = (
        "folder = args[0]\nsys.path.insert(0, folder)\nimport model\nassert model.SIZE == 2\n"
        "assert not os.path.exists(f'{folder}/.git')\nopen(f'{folder}/out.txt', 'w').write('1')\n"
        "assert open('out.txt').read() == '1'\n"
    )
    completes(tmp_path, source, user, changes={"model.py": b"SIZE = 2\n"})
    assert not (user / "out.txt").exists()


def test_a_project_that_is_the_home_folder_is_copied_without_hidden_files(tmp_path: Path, home: Path) -> None:
    write(home / ".ssh" / "key")
    write(home / ".profile")
    project(home, "import os\nassert sorted(os.listdir()) == ['train.py'], os.listdir()\n")
    found = run("train.py", [], "cpu", home, 30.0)
    assert (found.outcome, found.left_out) == ("completed", (".profile", ".ssh"))


# --- sockets, pipes, terminals ----------------------------------------------------------------------------------------
CONNECT = (
    "import socket\nwith socket.socket(socket.AF_UNIX) as client:\n    try:\n"
    "        client.connect(args[0].replace('@', '\\0', 1))\n    except OSError as error:\n        print(error)\n"
    "    else:\n        raise SystemExit(f'{args[0]} has answered')\n"
)


@pytest.mark.parametrize("place", ["abstract", "home", "temporary", "services", "elsewhere", "project"])
def test_a_socket_outside_of_a_run_is_out_of_reach(place: str, tmp_path: Path, home: Path, elsewhere: Path) -> None:
    (tmp_path / "user").mkdir()
    folders = {"home": home, "temporary": Path("/tmp"), "elsewhere": elsewhere, "project": tmp_path / "user"}
    folders["services"] = Path("/run")
    path = f"@{MARK}" if place == "abstract" else str(folders[place] / f"{MARK}.sock")
    if place == "services" and not os.access("/run", os.W_OK):
        pytest.skip("only root can listen there")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path.replace("@", "\0", 1))
        server.listen()
        try:
            completes(tmp_path, CONNECT, path)
        finally:
            Path(path).unlink(missing_ok=True)


def test_sockets_of_a_run_connect(tmp_path: Path) -> None:
    source = (
        "import socket, tempfile\nfor path in ('here', tempfile.mktemp(), '/tmp/there', '\\0abstract'):\n"
        "    server, client = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)\n"
        "    server.bind(path)\n    server.listen()\n    client.connect(path)\n"
    )
    completes(tmp_path, source)


@pytest.mark.parametrize("place", ["home", "temporary", "elsewhere"])
def test_a_pipe_outside_of_a_run_takes_nothing(place: str, tmp_path: Path, home: Path, elsewhere: Path) -> None:
    folder = {"home": home, "temporary": tmp_path, "elsewhere": elsewhere}[place]
    path = str(folder / "pipe")
    os.mkfifo(path, 0o666)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    source = (
        "try:\n    pipe = os.open(args[0], os.O_WRONLY | os.O_NONBLOCK)\nexcept OSError as error:\n    print(error)\n"
        "else:\n    os.write(pipe, b'rm -rf')\n"
    )
    try:
        completes(tmp_path, source, path)
        assert os.read(reader, 100) == b""
    finally:
        os.close(reader)


def test_pipes_of_a_run_work(tmp_path: Path) -> None:
    source = (
        "import threading\nos.mkfifo('pipe')\nthreading.Thread(target=lambda: open('pipe', 'w').write('7')).start()\n"
        "assert open('pipe').read() == '7'\nos.mkdir('a')\nos.rename('pipe', 'a/pipe')\n"
        "print('8', file=open('/dev/null', 'w'))\nprint('9', file=open('/dev/stdout', 'w'))\n"
    )
    completes(tmp_path, source)


def test_terminals_of_the_user_are_not_there(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    try:
        source = (
            "import pty\nassert not os.path.exists(args[0])\nmaster, slave = pty.openpty()\n"
            "os.write(slave, b'7')\nassert os.read(master, 1) == b'7'\n"
        )
        completes(tmp_path, source, os.ttyname(slave))
    finally:
        os.close(master)
        os.close(slave)


# --- temporary files --------------------------------------------------------------------------------------------------
TEMPORARY = [folder for folder in ("/tmp", "/var/tmp", "/dev/shm") if os.path.isdir(folder)]


@pytest.mark.parametrize("folder", TEMPORARY)
def test_temporary_files_are_those_of_the_run(folder: str, tmp_path: Path) -> None:
    theirs = Path(folder, f"{MARK}-theirs")
    theirs.write_text("hunter2")
    source = (
        f"assert not os.path.exists({str(theirs)!r})\nname = '{folder}/{MARK}.txt'\n"
        "assert not os.path.exists(name), 'of another run'\nopen(name, 'w').write('x')\nassert open(name).read() == 'x'\n"
    )
    try:
        completes(tmp_path, source)
        completes(tmp_path, source)
    finally:
        theirs.unlink()
    assert not Path(folder, f"{MARK}.txt").exists()


@pytest.mark.parametrize("folder", ["/tmp", "/var/tmp"])
def test_temporary_files_count_as_disk(folder: str, tmp_path: Path) -> None:
    source = (
        f"import time\nfor number in range(8):\n    with open(f'{folder}/part{{number}}', 'wb') as target:\n"
        "        target.write(bytes(40 << 20))\ntime.sleep(60)\n"
    )
    assert outcome(tmp_path, source, disk_mb=100).outcome == "stopped because it wrote more than 100 MB to disk"


def test_files_in_shared_memory_count_as_memory(tmp_path: Path) -> None:
    source = (
        "import time\nwith open('/dev/shm/part', 'wb') as target:\n    for _ in range(10):\n"
        "        target.write(bytes(100 << 20))\nx = b'1' * (300 << 20)\ntime.sleep(60)\n"
    )
    found = outcome(tmp_path, source, memory_mb=1300)
    assert found.outcome == "stopped because it used more than 1300 MB of memory"


def test_the_temporary_folder_of_python_is_tmp(tmp_path: Path) -> None:
    source = "import tempfile\nassert os.path.samefile(tempfile.gettempdir(), '/tmp')\n"
    completes(tmp_path, source)


# --- privileges -------------------------------------------------------------------------------------------------------
def test_root_without_a_user_namespace_has_no_privileges(tmp_path: Path, home: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("other users need a user namespace")
    key = write(home / ".ssh" / "key")
    python = tmp_path / "python"
    python.write_text(
        "#!/bin/sh\nexec unshare -r sh -c 'echo 0 > /proc/sys/user/max_user_namespaces; "
        f'exec {sys.executable} "$@"\' sh "$@"\n'
    )
    python.chmod(0o755)
    if "files" in interpreter_info(str(python))["exposed"]:
        pytest.skip("this kernel does not isolate files without a user namespace")
    source = (
        "import ctypes\nlibc = ctypes.CDLL(None)\n"
        "for path in (os.path.dirname(os.path.dirname(args[0])), '/tmp'):\n    libc.umount2(path.encode(), 2)\n"
        "assert not os.path.exists(args[0])\nassert 'CapEff:\\t0000000000000000' in open('/proc/self/status').read()\n"
    )
    completes(tmp_path, source, key, python=str(python))


def test_a_run_is_told_which_path_was_kept_from_it(tmp_path: Path, home: Path) -> None:
    data = write(home / "data" / "rows.txt", "7")
    (tmp_path / "user").mkdir()
    (tmp_path / "user" / "data").symlink_to(data.parent)
    for path in (str(data), "data/rows.txt"):
        assert outcome(tmp_path, f"open({path!r})\n").withheld == str(data)
    assert outcome(tmp_path, "open('/no/such/file')\n").withheld is None


def test_a_path_in_the_home_folder_is_shown_as_the_user_writes_it_and_can_be_made_readable(
    tmp_path: Path, home: Path
) -> None:
    data = write(home / "sets" / "data.txt", "1 2 3")
    source = "import os\nassert open(os.path.expanduser('~/sets/data.txt')).read() == '1 2 3'\n"

    found = outcome(tmp_path, source)

    assert found.outcome == "FileNotFoundError: [Errno 2] No such file or directory: '~/sets/data.txt' at train.py:2"
    assert found.withheld == str(data)
    assert "'~/sets/data.txt'" in found.output
    completed = outcome(tmp_path, source, allow_read=[str(data)])
    assert completed.outcome == "completed"
    assert not completed.outputs.files


@pytest.mark.parametrize("is_there", [False, True])
def test_a_file_that_is_gone_needs_no_cover(tmp_path, monkeypatch, is_there):
    """Other programs close their sockets between the plan and the mount."""

    def mount(*_):
        raise OSError(errno.ENOENT, "mount: No such file or directory")

    monkeypatch.setattr(mounts, "mount", mount)
    path = tmp_path / "socket"
    if is_there:
        path.touch()

    with pytest.raises(FileNotFoundError) if is_there else nullcontext():
        mounts._cover(str(path))
