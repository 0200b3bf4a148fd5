"""The claim itself: each broken program dies, its repaired twin does not, and trains as it does on one device.

``nox -s corpus`` proves every program; the ordinary suite one of each kind in a folder, and some of the others.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.sample(14)  # each takes seconds

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

torch = pytest.importorskip("torch")

CORPUS = Path(__file__).parents[2] / "corpus"


def load(name="verdicts"):
    spec = importlib.util.spec_from_file_location(f"corpus_{name}", CORPUS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    before = list(sys.path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)  # it looks for its siblings on sys.path
    sys.path[:] = before
    return module


verdicts = load()
CASES = {case.name: case for case in verdicts.cases()}
EVERY = 1 if os.environ.get("DEVFIX_ALL_CORPUS") else 60
OF_EVERY_CASE = {"title", "link", "rules", "script", "args", "kind", "error"}


def kind_of(name):
    """The folder of a case, and how it is run: the keys that few cases have, the values of some, and a notebook."""
    meta = CASES[name].meta
    told = (meta.get("losses"), meta.get("run_on"), meta["error"] == "silent")
    return name.split("/")[0], frozenset(meta.keys() - OF_EVERY_CASE), told, meta["script"].endswith(".ipynb")


def sample(names, kind=lambda name: None):
    """The first name of each kind, and one of ``EVERY`` names."""
    kinds = [kind(name) for name in names]
    return [
        name for number, name in enumerate(names) if number % EVERY == EVERY - 1 or kinds.index(kinds[number]) == number
    ]


PROVED = sample(list(CASES), kind_of)


def test_the_corpus_is_there():
    assert len(CASES) > 70


def test_each_kind_of_case_is_proved():
    assert {kind_of(name) for name in CASES} == {kind_of(name) for name in PROVED}


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", PROVED)
def test_a_broken_program_is_fixed_under_the_simulator(name):
    found = verdicts.verdict(CASES[name])

    assert found.status == "fixed", found.reason
    assert "it prints" not in found.reason
    if CASES[name].meta["error"] != "silent":
        assert CASES[name].meta["error"] in found.runs["original/device"].failure.text
    if CASES[name].meta.get("losses") != "close":
        here, there = found.runs["patched/cpu"], repaired_on_the_simulator(name, found)
        assert there.ok and (here.losses, here.digest) == (there.losses, there.digest)


def repaired_on_the_simulator(name, found):
    """The repaired program's run there; one that is proved without an accelerator is run once more."""
    from devfix.verify import run

    known, meta = found.runs["patched/device"], CASES[name].meta
    if known.device == "sim":
        return known
    stages = {"setup": meta.get("setup"), "setup_script": meta.get("setup_script")}
    return run(meta["script"], meta["args"], "sim", CORPUS / name / "fixed", **stages)


CLEAN = sorted([*(CORPUS / "clean").iterdir(), *(CORPUS / "notebooks").glob("clean_*")])


@pytest.mark.parametrize("case", sample(CLEAN, lambda case: case.parent), ids=lambda case: case.name)
def test_a_clean_program_trains_under_the_simulator_bit_for_bit_as_without(case):
    assert load("prove").prove(case) == []


# --- on a GPU ---------------------------------------------------------------------------------------------------------
HAS_CUDA = torch.cuda.is_available()
needs_cuda = pytest.mark.skipif(not HAS_CUDA, reason="no CUDA device here: `nox -s cuda` on one")


@pytest.mark.cuda
@needs_cuda
@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("seeds/")])
def test_a_founding_incident_is_fixed_on_a_gpu(name):
    found = verdicts.verdict(CASES[name], "cuda")

    assert found.status == "fixed", found.reason
    assert CASES[name].meta["error"] in found.runs["original/device"].failure.text


@pytest.mark.cuda
@needs_cuda
@pytest.mark.parametrize("name", ["ai_toolkit"])
def test_a_founding_incident_without_a_repair_dies_on_a_gpu_and_not_without(name):
    from devfix.verify import run

    folder = CORPUS / "seeds" / name
    meta = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
    here, there = (run(meta["script"], meta["args"], device, folder / "broken") for device in ("cpu", "cuda"))

    assert here.ok, here.output
    assert meta["error"] in there.failure.text


def test_a_checkpoint_is_written_on_the_gpu_and_read_without_one(monkeypatch):
    case, asked = CASES["load_without_map_location/resume_flag"], {}
    found = verdicts.verdict(case)
    monkeypatch.setattr(verdicts, "prove", lambda *given, **more: asked.update(more))

    verdicts.verdict(case, "cuda")

    assert (asked["setup_on"], asked["run_on"]) == ("cuda", "cpu")
    stages = {(run.setup_device, run.device) for name, run in found.runs.items() if name.endswith("/device")}
    assert stages == {("sim", "cpu")}


def test_the_table_of_a_gpu_names_it(tmp_path, monkeypatch):
    asked, verdict = [], verdicts.verdict
    monkeypatch.setattr(verdicts, "gpu", lambda: "A double with CUDA 0.0")
    monkeypatch.setattr(verdicts, "verdict", lambda case, device: asked.append(device) or verdict(case))
    table = tmp_path / "table.md"

    code = verdicts.main(["seeds/recognize_anything", "--device", "cuda", "--table", str(table)])

    text = table.read_text(encoding="utf-8")
    assert (code, asked) == (0, ["cuda"])
    assert "on A double with CUDA 0.0, torch " in text and "`nox -s cuda`" in text
    assert text.splitlines()[-2].startswith("| seeds/recognize_anything | ")


@pytest.mark.skipif(HAS_CUDA, reason="this machine has a CUDA device")
@pytest.mark.parametrize("program", ["on_gpu.py", "verdicts.py --device cuda --table no.md"])
def test_without_a_gpu_it_is_said_in_one_line(program, tmp_path):
    done = subprocess.run(
        [sys.executable, *f"{CORPUS}/{program}".split()], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"no CUDA device: {sys.executable} has no torch that sees one\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("tests", "proofs", "code"), [(0, 0, 0), (1, 0, 1), (0, 1, 1)])
def test_on_a_gpu_all_is_done_also_where_a_part_fails(monkeypatch, tests, proofs, code):
    program = load("on_gpu")
    done = []
    monkeypatch.setattr(program.verdicts, "gpu", lambda: "A double")
    monkeypatch.setattr(program.verdicts, "main", lambda arguments: done.append(arguments) or proofs)
    monkeypatch.setattr(program, "tested", lambda extra: done.append(extra) or tests)

    assert program.main(["-x"]) == code
    assert done == [["-x"], ["--device", "cuda", "--table", str(program.TABLE)]]
    assert {"tests/verify/test_on_cuda.py", "tests/corpus/test_verdicts.py"} <= set(program.marked())


def test_the_table_has_a_row_for_each_case(tmp_path, capsys):
    table = tmp_path / "docs" / "table.md"

    code = verdicts.main(["seeds/recognize_anything", "--table", str(table)])

    lines = table.read_text(encoding="utf-8").splitlines()
    assert (code, lines[0]) == (0, "# Verification")
    assert "on a simulated CUDA device, torch " in lines[3]
    assert lines[-2].startswith("| seeds/recognize_anything | ") and lines[-2].endswith(" | fixed | 0 |")
    assert capsys.readouterr().out.splitlines()[-1] == "1 of 1 are fixed."
