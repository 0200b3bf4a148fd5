"""Stubs of a project and of installed packages: found, used, and reported if they are wrong."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import devfix.engine.parallel_scan
from devfix import sources
from devfix.config import ConfigError, Settings, load
from devfix.engine.cache import Cache
from devfix.engine.fixpoint import apply, check
from devfix.engine.project_models import models_of, stub_problems
from devfix.models.stored_index import package_folders

TRAIN = """\
import acme
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.ones(3, device=device)
y = torch.ones(3)
print(acme.blend(x, y))
"""
STUB = "# https://acme.example/blend\ndef blend(first: On, second: On) -> On: ...\n"
BAD = "def bad(first: Tensor) -> On: ...\n"
CONFIGURATION = '[tool.devfix]\nmodels = ["stubs"]\n'


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with a program that uses a library, and a stub of the library."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "stubs").mkdir()
    (tmp_path / "stubs" / "acme.pyi").write_text(STUB, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(CONFIGURATION, encoding="utf-8")
    (tmp_path / "train.py").write_text(TRAIN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def settings():
    return load(["train.py"], {})


def look(cache=None, configured=None):
    files, _ = sources.load(["train.py"])
    return check(files, configured or settings(), 1, cache=cache)


def codes(outcome):
    return [item.finding.code for item in outcome.resolutions]


def test_a_stub_of_the_project_finds_what_the_code_does_not_show(project):
    assert codes(look()) == ["DEV102"]
    assert codes(look(configured=Settings(root="."))) == []


def test_the_finding_is_repaired(project):
    files, _ = sources.load(["train.py"])
    (change,) = apply(files, settings(), 1).patch.files

    assert change.new.decode() == TRAIN.replace("y = torch.ones(3)", "y = torch.ones(3, device=device)")


def test_a_bad_declaration_is_a_problem_with_file_and_line_and_the_rest_counts(project):
    (project / "stubs" / "acme.pyi").write_text(BAD + STUB, encoding="utf-8")
    (project / "stubs" / "broken.pyi").write_text("\ndef (\n", encoding="utf-8")
    outcome = look()

    assert codes(outcome) == ["DEV102"]
    assert [(problem.path, problem.line, problem.hint) for problem in outcome.problems] == [
        (os.path.join("stubs", "acme.pyi"), 1, "the declaration is left out"),
        (os.path.join("stubs", "broken.pyi"), 2, "the file is left out"),
    ]
    assert "stub: `bad`: parameter `first`: `Tensor` is not a word for parameters" in outcome.problems[0].message
    assert stub_problems(models_of(settings())) == list(outcome.problems)


def test_stubs_without_problems_are_not_told(project):
    assert stub_problems(models_of(settings())) == []


@pytest.mark.parametrize("value", ['["nowhere"]', '["pyproject.toml"]', '["stubs", "stubs/more"]'])
def test_a_folder_that_is_not_there_is_an_error_of_the_configuration(project, value):
    (project / "pyproject.toml").write_text(f"[tool.devfix]\nmodels = {value}\n", encoding="utf-8")

    with pytest.raises(ConfigError, match=r"pyproject\.toml: tool\.devfix\.models: there is no folder '"):
        settings()


def test_a_changed_stub_is_another_scan(project, tmp_path_factory, monkeypatch):
    cache = Cache(str(tmp_path_factory.mktemp("scans")))
    scanned = []
    original = devfix.engine.parallel_scan.scan_program
    monkeypatch.setattr(
        devfix.engine.parallel_scan,
        "scan_program",
        lambda space, path: (scanned.append(path), original(space, path))[1],
    )
    assert codes(look(cache)) == codes(look(cache)) == ["DEV102"]
    assert len(scanned) == 1

    (project / "stubs" / "acme.pyi").write_text(STUB.replace("second: On", "second: Any"), encoding="utf-8")

    assert codes(look(cache)) == []
    assert len(scanned) == 2
    cache.close()


@pytest.fixture
def site(tmp_path_factory, monkeypatch):
    """A folder of installed packages, one of which ships stubs."""
    site = tmp_path_factory.mktemp("environment") / "site-packages"
    (site / "acme" / "devfix-models").mkdir(parents=True)
    (site / "acme" / "devfix-models" / "acme.pyi").write_text(STUB, encoding="utf-8")
    monkeypatch.setattr(sys, "path", [*sys.path, str(site)])
    package_folders.cache_clear()
    yield site
    package_folders.cache_clear()


def test_a_package_ships_stubs(project, site):
    assert codes(look(configured=Settings(root="."))) == ["DEV102"]


def test_the_stubs_of_the_project_come_before_those_of_a_package(project, site):
    (project / "stubs" / "acme.pyi").write_text("def blend(*args) -> Any: ...\n", encoding="utf-8")

    assert codes(look()) == []


# --- from outside -----------------------------------------------------------------------------------------------------
@pytest.fixture
def devfix_command(project):
    """Run devfix as a process in the project: exit code, output, and lines on standard error."""

    def call(*arguments):
        done = subprocess.run([sys.executable, "-m", "devfix", *arguments], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr.splitlines()

    return call


def test_the_command_finds_and_fixes(devfix_command):
    code, output, _ = devfix_command("check", "train.py", "--output-format", "concise")
    assert (code, output) == (
        1,
        "train.py:6:5: DEV102 [*] `y` is created on the CPU, but is used with tensors on the accelerator\n",
    )

    code, output, _ = devfix_command("apply", "train.py", "--diff")
    assert code == 1
    assert "+y = torch.ones(3, device=device)\n" in output


def test_a_bad_stub_is_one_line_and_the_rest_goes_on(project, devfix_command):
    (project / "stubs" / "acme.pyi").write_text(STUB + BAD, encoding="utf-8")
    code, output, errors = devfix_command("check", "train.py")

    assert code == 1
    assert "DEV102" in output
    (line,) = errors
    assert line == (
        f"devfix: {os.path.join('stubs', 'acme.pyi')}:3: stub: `bad`: parameter `first`: `Tensor` is not a word for "
        "parameters; the declaration is left out"
    )


def test_a_bad_stub_alone_is_no_success(project, devfix_command):
    (project / "stubs" / "acme.pyi").write_text(BAD, encoding="utf-8")

    assert devfix_command("check", "train.py")[0] == 1


def test_a_missing_folder_is_a_usage_error(project, devfix_command):
    (project / "pyproject.toml").write_text('[tool.devfix]\nmodels = ["nowhere"]\n', encoding="utf-8")
    code, output, errors = devfix_command("check", "train.py")

    assert (code, output) == (2, "")
    assert len(errors) == 1
    assert "there is no folder 'nowhere' beside the file" in errors[0]
