"""``devfix verify``: how, where, on which device and with which interpreter a script starts."""

import importlib.resources
import json
import os
import pathlib
import sys
import tempfile
import venv

import jsonschema
import pytest

pytestmark = pytest.mark.sample(13)  # each takes seconds

torch = pytest.importorskip("torch")

ROOT = pathlib.Path(__file__).parents[2]

LOOP = """\
torch.manual_seed(3)
model = torch.nn.Linear(4, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    x = torch.randn(8, 4)
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
CUDA = 'import torch\n\ndevice = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n' + LOOP
MPS = 'import torch\n\ndevice = torch.device("mps" if torch.backends.mps.is_available() else "cpu")\n' + LOOP
OLD, NEW = "torch.randn(8, 4)", "torch.randn(8, 4, device=device)"


@pytest.fixture
def verify(monkeypatch, capfd):
    """Run the command in this process, on a patch made by hand, and give the exit code and the document."""
    from devfix.cli import main

    def call(*arguments):
        with pytest.raises(SystemExit) as exited:
            main(["verify", "--output-format", "json", *map(str, arguments)])
        out, err = capfd.readouterr()
        if exited.value.code == 2:
            return 2, err
        document = json.loads(out)
        schema = json.loads(importlib.resources.files("devfix").joinpath("schema", "verdict-2.json").read_text("utf-8"))
        jsonschema.validate(document, schema)
        return exited.value.code, document

    return call


@pytest.fixture
def patched(tmp_path_factory):
    """Write files into the project and, repaired, into another folder, whose path is returned."""
    other = tmp_path_factory.mktemp("patched")

    def write(project, **files):
        for name, text in files.items():
            for folder, content in ((project, text), (other, text.replace(OLD, NEW))):
                path = folder / name.replace("__", "/").replace("_py", ".py")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content)
        return other

    return write


# --- modules ----------------------------------------------------------------------------------------------------------
PACKAGE = {
    "pkg__models_py": "from torch import nn\n\n\ndef build():\n    return nn.Linear(4, 3)\n",
    "pkg__train_py": "import sys\nfrom .models import build\n\nassert __package__ == 'pkg', __package__\n"
    "assert sys.argv[1:] == ['--epochs', '1'], sys.argv\n" + CUDA.replace("torch.nn.Linear(4, 3)", "build()"),
}


@pytest.mark.parametrize("named", ["pkg.train", "pkg/train.py"])
def test_a_module_starts_as_python_m_does(verify, patched, project, named):
    folder = patched(project, **PACKAGE)

    code, document = verify("-m", named, "--patched", folder, "--", "--epochs", "1")

    assert (code, document["verdict"]) == (0, "fixed"), document["reason"]
    assert (document["module"], document["script"]) == ("pkg.train", "pkg/train.py")


def test_a_package_starts_by_its_main_module(verify, patched, project):
    files = {**PACKAGE, "pkg____main___py": "import runpy\nrunpy.run_module('pkg.train', run_name='__main__')\n"}
    folder = patched(project, **{name.replace("____main__", "__main"): text for name, text in files.items()})
    for each in (project, folder):
        (each / "pkg" / "main.py").rename(each / "pkg" / "__main__.py")

    code, document = verify("-m", "pkg", "--patched", folder, "--", "--epochs", "1")

    assert (code, document["script"]) == (0, "pkg/__main__.py"), document["reason"]


def test_a_project_that_is_on_pythonpath_is_imported_from_its_copy(verify, patched, project, monkeypatch):
    folder = patched(project, src__steps_py=CUDA, train_py="import steps\n")
    monkeypatch.setenv("PYTHONPATH", str(project / "src"))

    code, document = verify("train.py", "--patched", folder)

    assert (code, document["verdict"]) == (0, "fixed"), document["reason"]


# --- torchrun ---------------------------------------------------------------------------------------------------------
DISTRIBUTED = """\
import os
import torch
import torch.distributed as dist

dist.init_process_group("nccl")
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
assert (dist.get_rank(), dist.get_world_size(), os.environ["MASTER_ADDR"]) == (0, 1, "127.0.0.1")
""" + LOOP.replace("    loss.backward", "    dist.all_reduce(loss.detach())\n    loss.backward")


def test_a_script_that_asks_for_the_variables_of_torchrun_gets_them(verify, patched, project):
    code, document = verify("train.py", "--patched", patched(project, train_py=DISTRIBUTED))

    assert (code, document["verdict"]) == (0, "fixed"), document["reason"]
    assert any("torchrun" in note for note in document["notes"])


@pytest.mark.thorough
def test_a_script_that_can_do_without_torchrun_is_started_without(verify, patched, project):
    optional = "import os\nassert 'RANK' not in os.environ, 'distributed'\n" + CUDA
    folder = patched(project, train_py=optional)

    code, document = verify("train.py", "--patched", folder)
    assert (code, document["verdict"]) == (0, "fixed"), document["reason"]

    code, document = verify("train.py", "--patched", folder, "--torchrun")
    assert (code, document["runs"]["original/cpu"]["failure"]["message"]) == (1, "distributed")


# --- where ------------------------------------------------------------------------------------------------------------
def test_inside_the_project_a_run_starts_in_the_copy(verify, patched, project):
    (project / "sub").mkdir()
    (project / "sub" / "rows.txt").write_text("1")
    text = "import os\nint(open('rows.txt').read())\nopen('made.txt', 'w').write(os.getcwd())\n" + CUDA

    code, document = verify("train.py", "--cwd", "sub", "--patched", patched(project, train_py=text))

    assert (code, document["notes"]) == (0, document["notes"]), document["reason"]
    assert not any("not copied" in note for note in document["notes"])
    assert sorted(os.listdir(project / "sub")) == ["rows.txt"]


@pytest.fixture
def data():
    """A folder outside of every project and of the folders for temporary files."""
    with tempfile.TemporaryDirectory(dir=ROOT, prefix=".data-") as folder:
        yield pathlib.Path(folder)


def test_outside_the_project_a_run_starts_where_its_data_are(verify, patched, project, data):
    (data / "rows.txt").write_text("1")
    text = "import sys, os\nint(open('rows.txt').read())\nassert os.path.isabs(sys.argv[0])\n" + CUDA

    code, document = verify("train.py", "--cwd", data, "--patched", patched(project, train_py=text))

    assert (code, document["verdict"]) == (0, "fixed"), document["reason"]
    assert any(f"the working directory {data} is not copied: " in note for note in document["notes"])


def test_what_a_run_writes_outside_the_project_does_not_stay(verify, patched, project, data):
    (data / "rows.txt").write_text("1")
    writes = (
        "open('rows.txt', 'w').write('2')\nopen('new.txt', 'w').write('3')\nassert open('rows.txt').read() == '2'\n"
    )

    code, document = verify("train.py", "--cwd", data, "--patched", patched(project, train_py=writes + CUDA))

    if any("files" in run["exposed"] for run in document["runs"].values()):
        pytest.skip("the kernel does not let us protect files here")
    assert ((data / "rows.txt").read_text(), os.listdir(data)) == ("1", ["rows.txt"])
    assert any("files written there are discarded" in note for note in document["notes"])
    assert (code, document["verdict"]) == (0, "fixed") or "Read-only file system" in document["reason"]


def test_a_path_among_the_arguments_of_a_script_is_readable(verify, patched, project, tmp_path_factory):
    rows = tmp_path_factory.mktemp("data") / "rows.txt"
    rows.write_text("1")
    text = "import sys\nint(open(sys.argv[1].partition('=')[2]).read())\n" + CUDA

    code, document = verify("train.py", "--patched", patched(project, train_py=text), "--", f"--rows={rows}")

    assert (code, document["verdict"]) == (0, "fixed"), document["reason"]


def test_a_hidden_file_is_named_until_it_is_made_readable(verify, patched, project, tmp_path_factory):
    rows = tmp_path_factory.mktemp("data") / "rows.txt"
    rows.write_text("1")
    folder = patched(project, train_py=f"int(open({str(rows)!r}).read())\n" + CUDA)

    code, document = verify("train.py", "--patched", folder)
    if any("files" in run["exposed"] for run in document["runs"].values()):
        pytest.skip("the kernel does not let us protect files here")
    assert (code, f"hidden from runs: make it readable with --allow-read {rows}" in document["reason"]) == (1, True)

    code, document = verify("train.py", "--patched", folder, "--allow-read", rows)
    assert (code, document["verdict"]) == (0, "fixed"), document["reason"]


def test_credentials_that_were_not_copied_are_named(verify, patched, project):
    (project / ".env").write_text("TOKEN=1")

    code, document = verify("train.py", "--patched", patched(project, train_py=CUDA))

    assert (code, document["verdict"]) == (0, "fixed"), document["reason"]
    assert document["notes"][0].startswith("not copied, because they may hold credentials: .env (")


def test_the_folder_that_is_copied_can_be_named(verify, patched, project):
    (project / "large").mkdir()
    text = "import os\nassert os.listdir() == ['train.py']\n" + CUDA
    folder = patched(project, sub__train_py=text)

    code, document = verify("sub/train.py", "--project", "sub", "--patched", folder / "sub")

    assert (code, document["verdict"]) == (0, "fixed"), document["reason"]


# --- devices ----------------------------------------------------------------------------------------------------------
@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("device", "text", "kind", "why"),
    [
        ("sim:mps", MPS, "mps", "--device sim:mps"),
        ("sim:xpu", CUDA.replace("cuda", "xpu"), "xpu", "--device sim:xpu"),
        ("sim:npu", "import torch_npu\n" + CUDA.replace("cuda", "npu"), "npu", "--device sim:npu"),
        ("sim", CUDA, "cuda", "--device sim"),
        ("auto", CUDA, "cuda", "the interpreter's torch has no CUDA device"),
        ("auto", MPS, "mps", "the script uses mps only, and the interpreter's torch has no CUDA device"),
    ],
)
def test_simulated_devices(verify, patched, project, device, text, kind, why):
    if device == "auto" and torch.cuda.is_available():
        pytest.skip("this machine has a CUDA device")

    code, document = verify("train.py", "--device", device, "--patched", patched(project, train_py=text))

    assert (code, document["verdict"]) == (0, "fixed"), document["reason"]
    assert (document["device"], document["device_type"], document["device_reason"]) == ("sim", kind, why)
    expected = "not been allocated on MPS device" if kind == "mps" else f"{kind}:0"
    assert expected in document["reason"]


def test_several_devices(verify, patched, project):
    text = "import torch\n\ndevice = torch.device('cuda', torch.cuda.device_count() - 1)\n" + LOOP
    folder = patched(project, train_py=text)

    code, document = verify("train.py", "--devices", "2", "--patched", folder)

    assert (code, document["verdict"]) == (0, "fixed"), document["reason"]
    assert "cuda:1" in document["reason"]


@pytest.mark.sample(1)
@pytest.mark.parametrize("device", ["cuda", "mps", "xpu"])
def test_a_real_device_that_is_not_there_is_named(verify, project, device):
    there = {"cuda": torch.cuda, "mps": torch.backends.mps, "xpu": torch.xpu}
    if there[device].is_available():
        pytest.skip(f"this machine has an {device} device")
    (project / "train.py").write_text(CUDA)

    code, error = verify("train.py", "--device", device)

    simulated = "sim" if device == "cuda" else f"sim:{device}"
    assert (code, f"has no {device.upper()} device: simulate one with --device {simulated}" in error) == (2, True)


COMPILED = CUDA.replace(".to(device)\n", ".to(device)\nmodel = torch.compile(model, backend='eager')\n", 1)


def test_compiled_code_is_not_judged_on_a_simulated_device(verify, patched, project):
    folder = patched(project, train_py=COMPILED)

    code, document = verify("train.py", "--compile", "--patched", folder)
    assert (code, document["verdict"]) == (1, "inconclusive")
    assert document["reason"].endswith("uses features that cannot be compared: torch.compile")

    code, document = verify("train.py", "--patched", folder)
    assert (code, document["verdict"]) == (0, "fixed"), document["reason"]


# --- interpreters -----------------------------------------------------------------------------------------------------
def test_the_virtual_environment_of_the_project_is_used_and_needs_no_devfix(verify, patched, project):
    venv.create(project / ".venv", with_pip=False, symlinks=True)
    packages = next((project / ".venv").glob("lib/python*/site-packages"))
    (packages / "torch.pth").write_text(str(pathlib.Path(torch.__file__).parents[1]))
    text = "import sys\nassert sys.prefix.endswith('.venv'), sys.prefix\n" + CUDA

    code, document = verify("train.py", "--patched", patched(project, train_py=text))

    assert (code, document["verdict"]) == (0, "fixed"), document["reason"]
    assert document["python"] == str(project / ".venv" / "bin" / "python")


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("exit 1", "is not a Python interpreter"),
        ("yes", "is not a Python interpreter"),
        ('case "$*" in *-c*) echo python 2.7;; esac; exit 1', "is Python 2.7; Python 3.9 or later is required"),
        (
            'case "$*" in *-c*) echo python 3.12; echo torch 1.13.1;; esac; exit 1',
            "has torch 1.13.1; torch 2.4 or later is required",
        ),
        (
            'case "$*" in *-c*) echo python 3.12; echo "OSError: libcudart.so" >&2;; esac; exit 1',
            "cannot import torch: OSError: libcudart.so",
        ),
        (f'exec {sys.executable} -S -I "$@"', "has no torch: select the script's interpreter with --python"),
    ],
    ids=["nothing", "babble", "old Python", "old torch", "broken torch", "no torch"],
)
def test_an_interpreter_that_will_not_do_is_one_clear_line(verify, project, program, message):
    (project / "train.py").write_text(CUDA)
    python = project / "odd"
    python.write_text(f"#!/bin/sh\n{program}\n")
    python.chmod(0o755)

    code, error = verify("train.py", "--python", "./odd")

    assert (code, len(error.splitlines()), message in error) == (2, 1, True), error
