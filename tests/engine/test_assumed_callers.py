"""Findings that rest on callers that nobody has seen: shown where no file starts a program."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.engine.cache import MemoryCache
from devfix.model import Severity
from devfix.rules import levels
from devfix.rules.bases import Basis
from devfix.rules.levels import Row
from devfix.sources import decode

LIBRARY = """
import torch


def shifted(x: torch.Tensor):
    return x + torch.ones(2)


def restored(model, path):
    model.load_state_dict(torch.load(path))
"""
PROGRAM = "import torch\n\nprint(torch.ones(2))\n"


@pytest.fixture
def check(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(files, **settings):
        outcome = outcome_of(files, **settings)
        return [(each.finding.code, each.finding.severity) for each in outcome.resolutions]

    return call


def outcome_of(files, cache=None, **settings):
    given = [decode(name, text.encode()) for name, text in files.items()]
    return fixpoint.check(given, Settings(root=".", **settings), cache=cache)


def test_a_library_shows_what_any_caller_meets_but_no_other_latent_finding(check):
    assert check({"lib.py": LIBRARY}) == [("DEV102", Severity.LATENT)]


def test_beside_a_program_the_level_of_the_finding_decides(check):
    assert check({"lib.py": LIBRARY, "train.py": PROGRAM}) == []


def test_a_file_that_cannot_be_parsed_starts_no_program(check):
    assert check({"lib.py": LIBRARY, "train.py": PROGRAM + "x = = 1\n"}) == [("DEV102", Severity.LATENT)]


@pytest.mark.parametrize(("severity", "codes"), [(Severity.ERROR, []), (Severity.LATENT, ["DEV102", "DEV301"])])
def test_a_severity_that_is_asked_for_holds(check, severity, codes):
    assert [code for code, _ in check({"lib.py": LIBRARY}, severity=severity)] == codes


@pytest.mark.parametrize("name", ["setup.py", "tests/test_lib.py", "docs/conf.py"])
def test_a_script_that_builds_or_tests_a_library_is_no_program(check, name):
    assert check({"lib.py": LIBRARY, name: PROGRAM}) == [("DEV102", Severity.LATENT)]


UNSURE = """
import torch

x = torch.ones(2)
if torch.cuda.is_available():
    x = x.cuda()
print(torch.ones(2).cuda() @ x)
"""


@pytest.mark.parametrize(
    ("text", "settings", "number"),
    [
        pytest.param(UNSURE, {}, 1, id="one"),
        pytest.param(UNSURE, {"severity": Severity.LATENT}, 0, id="shown"),
        pytest.param(UNSURE, {"severity": Severity.ERROR}, 0, id="not-asked-for"),
        pytest.param(UNSURE, {"ignore": ("DEV501",)}, 0, id="ignored"),
        pytest.param(UNSURE.replace("@ x)", "@ x)  # noqa: DEV501"), {}, 0, id="suppressed"),
        pytest.param(PROGRAM, {}, 0, id="none"),
    ],
)
def test_latent_findings_of_a_program_are_counted(tmp_path, monkeypatch, text, settings, number):
    monkeypatch.chdir(tmp_path)
    cache = MemoryCache()

    told = [outcome_of({"train.py": text}, cache, **settings) for _ in range(2)]

    assert [(outcome.hidden, outcome.notes) for outcome in told] == [(number, ())] * 2


DOUBTFUL = """
import sys
import torch

x = torch.ones(2)
if sys.argv[1:]:
    x = x.cuda()
print(torch.ones(2).cuda() @ x)
"""


def test_what_another_program_shows_is_not_counted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    row = Row("DEV102", Basis.SOME_PATH, 7, 10)
    monkeypatch.setattr(levels, "_rows_of_programs", {(row.code, row.basis): row})
    (tmp_path / "made.py").write_text("import torch\n\nx = torch.ones(2)\n")
    files = {
        "made.py": (tmp_path / "made.py").read_text(),
        "sure.py": "import torch\nfrom made import x\n\nprint(torch.ones(2).cuda() @ x)\n",
        "unsure.py": DOUBTFUL.replace("x = torch.ones(2)\nif", "from made import x\n\nif"),
    }

    outcome = outcome_of(files)

    assert [each.finding.severity for each in outcome.resolutions] == [Severity.ERROR]
    assert outcome.hidden == 0
    assert outcome_of({name: files[name] for name in ("made.py", "unsure.py")}).hidden == 1


@pytest.mark.parametrize(
    ("files", "code"),
    [
        pytest.param({"train.py": DOUBTFUL}, "DEV102", id="on-one-of-several-paths"),
        pytest.param({"lib.py": LIBRARY, "train.py": PROGRAM}, "DEV102", id="uncalled-beside-a-program"),
    ],
)
def test_what_is_mostly_false_is_shown_only_where_it_is_asked_for(check, files, code):
    asked_for = check(files, severity=Severity.LATENT, includes_doubtful=True)

    assert (code, Severity.LATENT) in asked_for
    assert code not in [code for code, _ in check(files, severity=Severity.LATENT)]
    assert "DEV100" not in [code for code, _ in check(files, severity=Severity.LATENT)]


METADATA = '[project]\nname = "ops"\n'


@pytest.mark.parametrize(
    ("folder", "metadata", "found"),
    [
        pytest.param("lib", {"pyproject.toml": METADATA}, [("DEV102", Severity.LATENT)], id="package"),
        pytest.param("src/lib", {"setup.py": "setup(name='ops')\n"}, [("DEV102", Severity.LATENT)], id="in-src"),
        pytest.param("lib", {"setup.cfg": "[metadata]\nname = ops\n"}, [("DEV102", Severity.LATENT)], id="cfg"),
        pytest.param("old/lib", {"pyproject.toml": METADATA}, [], id="copy-of-a-package"),
        pytest.param("lib", {}, [], id="nothing-to-install"),
        pytest.param("lib", {"pyproject.toml": "[tool.ruff]\n", "setup.cfg": "[flake8]\n"}, [], id="settings-only"),
    ],
)
def test_others_call_what_is_in_a_package_that_they_can_install(check, tmp_path, folder, metadata, found):
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "__init__.py").write_text("")
    (tmp_path / folder / "ops.py").write_text(LIBRARY)
    for name, text in metadata.items():
        (tmp_path / name).write_text(text)
    told = check({f"{folder}/ops.py": LIBRARY, "train.py": PROGRAM}, severity=Severity.LATENT)

    assert [(code, level) for code, level in told if code != "DEV301"] == found


def test_packages_of_several_repositories_are_packages(check, tmp_path):
    files = {}
    for name in ("one", "other"):
        (tmp_path / name / "lib").mkdir(parents=True)
        (tmp_path / name / ".git").mkdir()
        (tmp_path / name / "pyproject.toml").write_text(METADATA)
        (tmp_path / name / "lib" / "__init__.py").write_text("")
        files |= {f"{name}/lib/ops.py": LIBRARY, f"{name}/train.py": PROGRAM}
    told = check(files, severity=Severity.LATENT)

    assert [code for code, _ in told if code != "DEV301"] == ["DEV102", "DEV102"]
