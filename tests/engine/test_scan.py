"""One program's scan: what it holds, and that nothing that goes wrong leaves it."""

from textwrap import indent

import pytest
from made_notebooks import notebook

from devfix import sources
from devfix.analysis.observations import Subscription
from devfix.analysis.observations.execution import FunctionCalled
from devfix.config import Settings
from devfix.engine.scan import scan_library, scan_program, unparsable
from devfix.engine.workspace import Workspace
from devfix.rules import registry
from devfix.sources import decode

FAILING = """\
import torch
from parts import step

device = torch.device("cuda")
x = torch.ones(2)
step(x, torch.ones(2, device=device))
"""
PARTS = "def step(x, y):\n    return x + y\n"


@pytest.fixture
def scan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts.py").write_text(PARTS, encoding="utf-8")

    def call(text, **settings):
        return scan_program(Workspace([decode("train.py", text.encode())], Settings(root=".", **settings)), "train.py")

    return call


def test_a_scan_knows_the_finding_what_goes_wrong_and_what_was_read(scan, tmp_path):
    found = scan(FAILING)

    assert [(each.code, each.path) for each in found.findings] == [("DEV102", "train.py")]
    assert [(hazard.path, hazard.text) for hazard in found.hazards] == [("parts.py", "x")]
    assert {(each.path, each.line) for each in found.failures} == {("parts.py", 2)}
    assert found.files >= {str(tmp_path / "train.py"), str(tmp_path / "parts.py")}
    assert "parts.py" in found.lookups[str(tmp_path)]


def test_a_rule_that_is_ignored_finds_nothing_and_what_goes_wrong_is_still_known(scan):
    found = scan(FAILING, ignore=("DEV102",))

    assert found.findings == []
    assert sum(found.hazards.values()) == 1


def test_the_functions_of_a_library_are_those_of_any_caller(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "import torch\n\n\ndef f(x: torch.Tensor):\n    return x + torch.ones(2)\n"
    space = Workspace([decode("lib.py", text.encode())], Settings(root=".", starts_no_program=True))

    assert scan_program(space, "lib.py").findings == []
    assert [found.code for found in scan_library(space, "lib.py").findings] == ["DEV102"]
    assert scan_library(space, "lib.py", [(str(tmp_path / "lib.py"), 4)]).findings == []


@pytest.mark.parametrize(("names", "codes"), [(["__init__.py"], ["DEV102"]), ([], [])], ids=["package", "scripts"])
def test_a_module_that_computes_on_import_is_a_library_in_a_package(tmp_path, monkeypatch, names, codes):
    monkeypatch.chdir(tmp_path)
    for name in names:
        (tmp_path / name).touch()
    text = "import torch\n\nprint(torch.ones(2) + 1)\n\n\ndef f(x: torch.Tensor):\n    return x + torch.ones(2)\n"
    space = Workspace([decode("lib.py", text.encode())], Settings(root=".", starts_no_program=True))

    assert [found.code for found in scan_library(space, "lib.py").findings] == codes


def test_a_library_knows_what_its_imports_looked_for_because_a_file_there_may_make_it_a_program(scan, tmp_path):
    text = "from parts import step\n\n\ndef f():\n    step(1, 2)\n"

    assert {"parts", "parts.py"} <= scan(text).lookups[str(tmp_path)]


def test_a_file_of_assignments_and_a_print_is_a_program(scan):
    found = scan("import torch\na = torch.rand(3, device='cuda')\nb = torch.rand(3)\nprint(a + b)\n")

    assert [each.code for each in found.findings] == ["DEV102"]


def test_a_file_that_calls_a_function_of_the_project_is_a_program(scan, tmp_path):
    (tmp_path / "training.py").write_text(f"def main():\n{indent(FAILING, '    ')}", encoding="utf-8")

    assert [each.code for each in scan("import training\n\ntraining.main()\n").findings] == ["DEV102"]


def test_every_notebook_is_a_program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "training.py").write_text(f"def main():\n{indent(FAILING, '    ')}", encoding="utf-8")
    (tmp_path / "parts.py").write_text(PARTS, encoding="utf-8")
    path = tmp_path / "train.ipynb"
    path.write_bytes(notebook("import torch", "from training import main", "result = main()"))
    found = scan_program(Workspace([sources.read(str(path))], Settings(root=".")), str(path))

    assert [each.code for each in found.findings] == ["DEV102"]


def test_a_file_that_cannot_be_parsed_is_a_problem_with_its_line(scan):
    found = scan("import torch\nx = = 1\n")

    (problem,) = found.problems
    assert (problem.path, problem.line) == ("train.py", 2)
    assert problem.message.startswith("cannot be parsed: ")


def test_a_crash_of_ours_is_a_problem_of_this_file(scan, monkeypatch):
    def crash(*_):
        raise KeyError("what")

    monkeypatch.setattr("devfix.analysis.analyse", crash)

    (problem,) = scan(FAILING).problems

    assert problem.message == "internal error (KeyError: 'what')"


def test_a_crash_of_a_plugins_rule_is_told_as_theirs(scan, monkeypatch):
    class Theirs:
        code, origin, default, fallback, subscriptions = "ABC100", "their-package", True, False, ()

        def detect(self, observations):
            raise ValueError("no")

    monkeypatch.setattr(registry, "all_rules", lambda: (Theirs(),))

    (problem,) = scan(FAILING).problems

    assert problem.message == "ABC100 of their-package failed (ValueError: no)"


def test_a_crash_of_a_plugins_subscription_is_told_as_theirs(scan, monkeypatch):
    def crash(interp, observation):
        raise ValueError("no")

    class Theirs:
        code, origin, default, fallback = "ABC100", "their-package", True, False
        subscriptions = (Subscription(FunctionCalled, crash),)

    monkeypatch.setattr(registry, "all_rules", lambda: (Theirs(),))

    (problem,) = scan(FAILING).problems

    assert problem.message == "ABC100 of their-package failed (ValueError: no)"


def test_files_that_no_scan_reads_are_looked_at_for_their_syntax():
    files = [
        decode("bad.py", b"def (:\n"),
        decode("good.py", b"x = 1\n"),
        decode("torch.py", b"import torch\ndef (:\n"),
    ]

    assert [problem.path for problem in unparsable(files)] == ["bad.py"]
