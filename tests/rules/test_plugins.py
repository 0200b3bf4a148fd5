"""Rules of other packages and of a repository: installed, listed, explained, selected, suppressed, kept, refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.sample(15)  # each takes seconds

PLUGIN = Path(__file__).parents[1] / "data" / "plugin"
PROGRAM = "import torch\n\nx = torch.ones(3)\nx = x.cuda()\n"
RULES = "from devfix.rules import Rule\n\nRULE = Rule({})\n"
TRUST = "--trust-plugins"
END = "--- end of a command\n"
SEVERAL = f"""\
import sys
from devfix.cli import main
for command in sys.argv[1:]:
    try:
        main(command.split())
    except SystemExit as done:
        assert done.code in (0, 1), done.code
    print({END!r}, end="", flush=True)
"""
GOOD = 'code="ACME101", name="cuda-call", summary="s.", documentation="d", detect=lambda facts: ()'


@pytest.fixture
def install(tmp_path):
    """Lay a package into a folder as pip would: its files, and metadata with the entry point."""
    site = tmp_path / "site"

    def call(target: str = "acme_rules", files: dict[str, str] | None = None, version: str = "1.0") -> Path:
        shutil.rmtree(site, ignore_errors=True)
        shutil.copytree(PLUGIN, site)
        for name, text in (files or {}).items():
            (site / name).write_text(text)
        info = site / f"acme_rules-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: acme-rules\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[devfix.rules]\nacme = {target}\n")
        return site

    return call


@pytest.fixture
def devfix(tmp_path):
    """Run the command in a folder with one program; gives exit code, standard output and standard error."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_text(PROGRAM)

    def start(command: list[str], site: Path | None):
        environment = {**os.environ, "DEVFIX_CACHE_DIR": str(tmp_path / "cache"), "COLUMNS": "200"}
        if site is not None:
            environment["PYTHONPATH"] = str(site)
        return subprocess.run(
            [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )

    def call(*arguments: str, site: Path | None = None):
        done = start(["-m", "devfix", *arguments], site)
        return done.returncode, done.stdout, done.stderr

    def in_one_process(*commands: str, site: Path):
        done = start(["-c", SEVERAL, *commands], site)
        assert done.returncode == 0, done.stderr
        return done.stdout.split(END)[:-1]

    call.folder, call.in_one_process = folder, in_one_process
    return call


def found(report: str) -> list[str]:
    return [each["code"] for each in json.loads(report)["findings"]]


def codes(result) -> list[str]:
    return found(result[1])


def test_an_installed_rule_is_one_of_all(install, devfix):
    site = install()

    check = "check . --output-format json"
    selections = {"all": 1, "ACME": 1, "ACME1": 1, "acme101": 1, "cuda-call": 1, "DEV1": 0}

    checked, listed, described, explained, ignored, *selected = devfix.in_one_process(
        *(check, "rules", "rules --format json", "explain cuda-call", f"{check} --ignore ACME"),
        *(f"{check} --select {word}" for word in selections),
        site=site,
    )

    assert found(checked) == ["ACME101"] and found(ignored) == []
    assert "ACME101  cuda-call" in listed
    origins = {each["code"]: each["origin"] for each in json.loads(described)}
    assert origins["ACME101"] == "the plugin 'acme' of acme-rules 1.0" and origins["DEV101"] is None
    assert explained.startswith("ACME101 cuda-call: `x.cuda()` names one vendor.")
    assert [len(found(report)) for report in selected] == list(selections.values())


def test_an_installed_rule_repairs(install, devfix):
    assert devfix("apply", ".", site=install())[0] == 0
    assert (devfix.folder / "train.py").read_text() == PROGRAM.replace(".cuda()", '.to("cuda")')


@pytest.mark.parametrize("comment", ["devfix: ignore[ACME101]", "devfix: ignore[cuda-call]", "noqa: ACME101"])
def test_a_comment_suppresses_an_installed_rule(install, devfix, comment):
    (devfix.folder / "train.py").write_text(PROGRAM.replace(".cuda()", f".cuda()  # {comment}"))

    assert devfix("check", ".", site=install())[0] == 0


def test_without_the_package_its_code_is_unknown(devfix):
    code, _, err = devfix("check", ".", "--select", "ACME101")

    assert (code, "unknown rule 'ACME101'" in err) == (2, True)


def test_what_is_kept_belongs_to_a_version_of_the_package(install, devfix):
    assert codes(devfix("check", ".", "--output-format", "json", site=install())) == ["ACME101"]

    silent = install(files={"acme_rules/__init__.py": RULES.format(GOOD)}, version="1.1")
    assert codes(devfix("check", ".", "--output-format", "json", site=silent)) == []
    assert devfix("check", ".")[0] == 0


@pytest.mark.parametrize(
    ("target", "text", "told"),
    [
        ("nowhere", "", "cannot be imported (ModuleNotFoundError: No module named 'nowhere')"),
        ("acme_rules:GONE", "", "cannot be imported (AttributeError: module 'acme_rules' has no attribute 'GONE')"),
        ("acme_rules", "1 / 0\n", "cannot be imported (ZeroDivisionError: division by zero)"),
        ("acme_rules", "\n", "defines no rules"),
        (
            "acme_rules",
            RULES.format(GOOD.replace("ACME101", "DEV101")),
            "the code 'DEV101' must be 3 to 10 capital",
        ),
        ("acme_rules", RULES.format(GOOD.replace("cuda-call", "Cuda Call")), "the name 'Cuda Call' must be lowercase"),
        (
            "acme_rules",
            RULES.format(GOOD.replace("cuda-call", "mixed-devices")),
            "'mixed-devices' is already used by",
        ),
        ("acme_rules", RULES.format(GOOD) + "RULES = [RULE, RULE]\n", "'ACME101' is already used by"),
        (
            "acme_rules",
            RULES.format(f"{GOOD}, subscriptions=(print,)"),
            "subscriptions must be a tuple of Subscription(",
        ),
        ("acme_rules", RULES.format(GOOD.replace('"d"', '""')), "a rule needs a summary and documentation"),
    ],
)
def test_a_package_that_cannot_be_used_is_one_clear_line(install, devfix, target, text, told):
    site = install(target, {"acme_rules/__init__.py": text} if text else None)

    code, out, err = devfix("check", ".", site=site)

    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert err.startswith("devfix: the plugin 'acme' of acme-rules 1.0") and told in err


def test_a_rule_that_crashes_is_told_by_its_name(install, devfix):
    crashing = RULES.format(GOOD.replace("lambda facts: ()", "lambda facts: 1 / 0"))

    code, _, err = devfix("check", ".", site=install(files={"acme_rules/__init__.py": crashing}))

    assert code == 1
    assert "ACME101 of the plugin 'acme' of acme-rules 1.0 failed (ZeroDivisionError: division by zero)" in err


# --- modules of the repository --------------------------------------------------------------------------------------
@pytest.fixture
def repository(devfix):
    """A project with a rule of its own, which its configuration names."""
    source = (PLUGIN / "acme_rules" / "cuda_call.py").read_text()
    (devfix.folder / "tools").mkdir()
    (devfix.folder / "tools" / "rules.py").write_text(source)
    (devfix.folder / "pyproject.toml").write_text('[tool.devfix]\nplugins = ["tools.rules"]\nselect = ["ACME1"]\n')
    return devfix


def test_a_local_module_counts_where_the_configuration_names_it_and_the_run_trusts_it(repository):
    assert codes(repository("check", "train.py", TRUST, "--output-format", "json")) == ["ACME101"]
    assert "ACME101" in repository("rules", TRUST)[1]
    assert repository("explain", "ACME101", TRUST)[0] == 0
    for number in range(12):
        (repository.folder / f"train{number}.py").write_text(PROGRAM)
    assert len(codes(repository("check", ".", TRUST, "-j", "2", "--no-cache", "--output-format", "json"))) == 13


MARKS = "open('imported', 'w')\n"
NOT_LOADED = "devfix: the plugin 'tools.rules' in {} was not loaded; it is code of the repository: "


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["check", "train.py"], id="check"),
        pytest.param(["apply", "train.py"], id="apply"),
        pytest.param(["apply", "train.py", "--diff", "--config", "pyproject.toml"], id="config"),
        pytest.param(["rules"], id="rules"),
        pytest.param(["explain", "ACME101"], id="explain"),
        pytest.param(["verify", "quick.py", "--device", "cpu"], id="verify"),
        pytest.param(["trace", "quick.py"], id="trace"),
        pytest.param(["trace", "quick.py", "--map"], id="map"),
    ],
)
def test_a_local_module_that_nobody_trusts_does_not_run_and_is_named_once(repository, command):
    (repository.folder / "tools" / "rules.py").write_text(MARKS)
    (repository.folder / "quick.py").write_text("print(1)\n")

    result = repository(*command)

    assert not (repository.folder / "imported").exists()
    told = [line for line in result[2].splitlines() if line.startswith(NOT_LOADED.format(repository.folder))]
    if command[0] == "trace":
        assert len(told) <= 1  # it analyses only where the program fails
    else:
        assert len(told) == 1, result[2]


def test_the_language_server_names_a_module_that_it_does_not_run(repository, capsys):
    from devfix.lsp.settings import Wishes, load

    (repository.folder / "tools" / "rules.py").write_text(MARKS.replace("imported", f"{repository.folder}/imported"))

    assert load(str(repository.folder), Wishes()).plugins == ()
    assert not (repository.folder / "imported").exists()
    assert capsys.readouterr().err.startswith(NOT_LOADED.format(repository.folder))


def test_a_migration_runs_no_module_of_its_repositories_although_the_user_s_configuration_names_them(
    repository, tmp_path, monkeypatch
):
    configuration(tmp_path, monkeypatch, f'trust-plugins = ["{repository.folder}"]\n')
    (repository.folder / "tools" / "rules.py").write_text(MARKS.replace("imported", f"{tmp_path}/imported"))
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    for command in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "work"]):
        subprocess.run(["git", *command], cwd=repository.folder, check=True)
    (tmp_path / "plan.txt").write_text(f"{repository.folder}\n")

    code, _, err = repository("migrate", str(tmp_path / "plan.txt"), "--jobs", "1")

    assert code in (0, 1), err
    assert not (tmp_path / "imported").exists()
    assert "devfix: the plugin 'tools.rules' in " in err and " was not loaded; " in err


def test_the_analysis_goes_on_without_a_module_that_nobody_trusts(repository):
    (repository.folder / "pyproject.toml").write_text('[tool.devfix]\nplugins = ["tools.rules"]\n')
    (repository.folder / "broken.py").write_text("import torch\n\ny = torch.ones(3).cuda() + torch.ones(3)\n")

    code, out, err = repository("check", "broken.py", "--output-format", "json")

    assert (code, found(out)) == (1, ["DEV102"])
    assert f"add {TRUST}, or name its folder under trust-plugins in " in err


@pytest.mark.parametrize("named", ["{folder}", "{folder}/", "~/project"])
def test_the_user_s_configuration_names_repositories_that_are_trusted(repository, tmp_path, monkeypatch, named):
    monkeypatch.setenv("HOME", str(tmp_path))
    configuration(tmp_path, monkeypatch, f'trust-plugins = ["{named.format(folder=repository.folder)}"]\n')

    code, out, err = repository("check", "train.py", "--output-format", "json")

    assert (code, found(out), err) == (1, ["ACME101"], "")


def test_a_folder_around_the_repository_is_not_the_repository(repository, tmp_path, monkeypatch):
    configuration(tmp_path, monkeypatch, f'trust-plugins = ["{tmp_path}"]\n')

    assert codes(repository("check", "train.py", "--output-format", "json")) == []


def test_a_folder_of_a_trusted_repository_is_trusted_and_a_repository_in_it_is_not(repository, tmp_path, monkeypatch):
    configuration(tmp_path, monkeypatch, f'trust-plugins = ["{repository.folder}"]\n')
    (repository.folder / ".git").mkdir()
    inner = repository.folder / "inner"
    inner.mkdir()
    for name in ("tools", "pyproject.toml", "train.py"):
        shutil.move(repository.folder / name, inner / name)
    assert codes(repository("check", "inner", "--output-format", "json")) == ["ACME101"]

    (inner / ".git").mkdir()

    assert codes(repository("check", "inner", "--output-format", "json")) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("trust-plugins = 'x'\n", "trust-plugins must be a list of folders, not 'x'"),
        ("trust-plugins = ['nets']\n", "trust-plugins must name absolute folders, not 'nets'"),
        ("trust-plugins = [\n", "not valid TOML"),
    ],
)
def test_a_user_s_configuration_that_cannot_be_read_is_one_clear_line(repository, tmp_path, monkeypatch, text, told):
    configuration(tmp_path, monkeypatch, text)

    code, _, err = repository("check", "train.py")

    assert (code, err.count("\n")) == (2, 1) and told in err


def test_a_user_s_configuration_that_is_a_folder_is_told(repository, tmp_path, monkeypatch):
    (tmp_path / "config.toml").mkdir()
    monkeypatch.setenv("DEVFIX_CONFIG_DIR", str(tmp_path))

    code, _, err = repository("check", "train.py")

    assert (code, err.count("\n")) == (2, 1) and "config.toml: cannot be read: Is a directory" in err


def configuration(folder, monkeypatch, text):
    (folder / "config.toml").write_text(text)
    monkeypatch.setenv("DEVFIX_CONFIG_DIR", str(folder))


@pytest.mark.parametrize("name", ["click", "libcst", "multiprocessing", "pickle"])
def test_a_module_beside_the_analysed_files_is_not_imported_by_devfix(devfix, name):
    (devfix.folder / f"{name}.py").write_text(MARKS)
    (devfix.folder / "acme-1.0.dist-info").mkdir()
    (devfix.folder / "acme-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (devfix.folder / "acme-1.0.dist-info" / "entry_points.txt").write_text(f"[devfix.rules]\nacme = {name}\n")

    assert devfix("check", "train.py")[0] == 0
    assert not (devfix.folder / "imported").exists()


SPAWNING = """\
import multiprocessing
if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    from devfix.cli import main
    main(["check", ".", "-j", "2", "--no-cache"])
"""


def test_a_module_beside_the_analysed_files_is_not_imported_by_workers(devfix, tmp_path):
    (devfix.folder / "multiprocessing.py").write_text(MARKS)
    for number in range(12):
        (devfix.folder / f"train{number}.py").write_text(PROGRAM)
    (tmp_path / "start.py").write_text(SPAWNING)

    done = subprocess.run([sys.executable, tmp_path / "start.py"], cwd=devfix.folder, check=False)

    assert done.returncode == 0
    assert not (devfix.folder / "imported").exists()


def test_a_local_module_is_not_imported_in_isolation(repository):
    (repository.folder / "tools" / "rules.py").write_text("raise SystemExit('imported')\n")

    assert repository("check", "train.py", "--isolated")[0] == 0
    assert repository("rules", "--isolated")[0] == 0


def test_what_is_kept_belongs_to_the_text_of_the_module(repository):
    check = ("check", "train.py", TRUST, "--output-format", "json")
    assert codes(repository(*check)) == ["ACME101"]
    path = repository.folder / "tools" / "rules.py"

    path.write_text(path.read_text().replace('func.attr != "cuda"', 'func.attr != "xpu"'))

    assert codes(repository(*check)) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "there is no tools/rules.py"),
        ("import nowhere\n", "No module named 'nowhere'"),
        ("x = (\n", "SyntaxError"),
        ("raise SystemExit(3)\n", "SystemExit: 3"),
    ],
)
def test_a_local_module_that_cannot_be_used_is_one_clear_line(repository, text, told):
    path = repository.folder / "tools" / "rules.py"
    path.unlink() if text is None else path.write_text(text)

    code, out, err = repository("check", "train.py", TRUST)

    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert err.startswith("devfix: the plugin 'tools.rules' of tool.devfix.plugins") and told in err
