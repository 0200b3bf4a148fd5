"""[tool.devfix] and the flags on top of it."""

import pytest

from devfix import config
from devfix.config import ConfigError, Settings
from devfix.model import Severity

KNOWN = {"DEV101": "batch-not-moved", "DEV201": "submodule-replaced", "DEV401": "optimizer-order"}


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "a.py").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def configure(folder, text, name="pyproject.toml"):
    (folder / name).write_text(text)
    return str(folder / name)


def test_every_key_is_read(project):
    configure(
        project,
        """
        [tool.devfix]
        select = ["DEV1", "optimizer-order"]
        ignore = ["dev101"]
        exclude = ["third_party/"]
        severity = "latent"
        device = "args.device"
        unsafe-fixes = true
        [tool.devfix.per-file-ignores]
        "tests/" = ["DEV4"]
        """,
    )

    assert config.load(["pkg/a.py"], KNOWN) == Settings(
        select=("DEV1", "DEV401"),
        ignore=("DEV101",),
        per_file_ignores=(("tests/", ("DEV4",)),),
        exclude=("third_party/",),
        severity=Severity.LATENT,
        device="args.device",
        unsafe_fixes=True,
        root=str(project),
    )


def test_settings_can_be_a_cache_key(project):
    configure(project, '[tool.devfix]\nselect = ["DEV1"]\n')

    assert len({config.load(["pkg"], KNOWN), config.load(["."], KNOWN)}) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            "selct = []", r"pyproject\.toml: unknown key tool\.devfix\.selct; did you mean 'select'\?", id="key"
        ),
        pytest.param('select = ["DEV999"]', r"tool\.devfix\.select: unknown rule 'DEV999'", id="code"),
        pytest.param('select = ["batch-not-move"]', r"did you mean 'batch-not-moved'\?", id="name"),
        pytest.param('select = "DEV1"', r"select must be a list of strings, not 'DEV1'", id="list"),
        pytest.param('severity = "loud"', r"severity must be one of error, latent, advice, not 'loud'", id="severity"),
        pytest.param('device = "cuda:"', r"device must be an expression", id="device"),
        pytest.param("unsafe-fixes = 1", r"unsafe-fixes must be true or false", id="bool"),
        pytest.param('per-file-ignores = ["a"]', r"per-file-ignores must be a table", id="table"),
        pytest.param('per-file-ignores = {"a" = ["X1"]}', r"per-file-ignores\.a: unknown rule 'X1'", id="per-file"),
        pytest.param("select = [", r"not valid TOML", id="toml"),
    ],
)
def test_a_wrong_configuration_is_an_error_that_names_file_and_key(project, text, message):
    configure(project, f"[tool.devfix]\n{text}\n")

    with pytest.raises(ConfigError, match=message):
        config.load(["pkg"], KNOWN)


def test_the_nearest_pyproject_with_our_table_counts(project):
    configure(project, '[tool.devfix]\ndevice = "outer"\n')
    configure(project / "pkg", "[tool.other]\nx = 1\n")
    assert config.load(["pkg/a.py"], KNOWN).device == "outer"

    configure(project / "pkg", '[tool.devfix]\ndevice = "inner"\n')
    assert config.load(["pkg/a.py"], KNOWN).device == "inner"
    assert config.load(["pkg/a.py", "."], KNOWN).device == "outer", "the common folder decides"


def test_a_broken_pyproject_that_is_not_about_us_is_not_our_business(project):
    configure(project, "[tool.other\n")

    assert config.load(["pkg"], KNOWN) == Settings(root=str(project))


def test_a_configuration_above_the_repository_is_not_read(project):
    inner = project / "vendor"
    (inner / ".git").mkdir(parents=True)
    configure(project, '[tool.devfix]\ndevice = "outer"\n')

    assert config.load(["vendor"], KNOWN).device is None


def test_isolated_and_a_named_file(project):
    configure(project, '[tool.devfix]\ndevice = "outer"\n')
    other = configure(project / "pkg", '[tool.devfix]\ndevice = "other"\n', "ci.toml")

    assert config.load(["pkg"], KNOWN, isolated=True).device is None
    assert config.load(["pkg"], KNOWN, config_file=other).device == "other"
    with pytest.raises(ConfigError, match=r"nowhere\.toml: cannot be read"):
        config.load(["pkg"], KNOWN, config_file="nowhere.toml")


@pytest.mark.parametrize(
    ("select", "ignore", "enabled"),
    [
        pytest.param((), (), {"DEV101", "DEV201", "DEV401"}, id="all"),
        pytest.param(("DEV1",), (), {"DEV101"}, id="group"),
        pytest.param((), ("DEV4", "DEV201"), {"DEV101"}, id="ignore"),
        pytest.param(("DEV401", "DEV1"), ("DEV4",), {"DEV101", "DEV401"}, id="the-more-specific-wins"),
        pytest.param(("DEV101",), ("DEV101",), set(), id="ignore-wins-a-draw"),
        pytest.param(("DEV",), ("DEV2",), {"DEV101", "DEV401"}, id="all-by-name"),
    ],
)
def test_select_and_ignore(select, ignore, enabled):
    settings = Settings(select=select, ignore=ignore)

    assert {code for code in KNOWN if settings.enabled(code, "a.py")} == enabled


def test_per_file_ignores_are_relative_to_the_configuration(project, monkeypatch):
    settings = Settings(per_file_ignores=(("/tests/", ("DEV1",)), ("*_test.py", ("DEV",))), root=str(project))

    def enabled(path):
        return {code for code in KNOWN if settings.enabled(code, path)}

    assert enabled("pkg/a.py") == set(KNOWN)
    assert enabled("tests/a.py") == {"DEV201", "DEV401"}
    assert enabled("pkg/tests/a.py") == set(KNOWN)
    assert enabled("pkg/a_test.py") == set()
    monkeypatch.chdir(project / "pkg")
    assert enabled("../tests/a.py") == {"DEV201", "DEV401"}


@pytest.mark.parametrize(
    ("threshold", "reported"),
    [("error", ["error"]), ("latent", ["error", "latent"]), ("advice", ["error", "latent", "advice"])],
)
def test_severity_is_a_threshold(threshold, reported):
    settings = Settings(severity=Severity(threshold))

    assert [severity.value for severity in Severity if settings.reports(severity)] == reported


def test_flags_come_on_top():
    configured = Settings(select=("DEV1",), ignore=("DEV401",), unsafe_fixes=True)

    assert config.override(configured, KNOWN) == configured
    selected = config.override(configured, KNOWN, select=["all"], severity=Severity.ADVICE)
    assert (selected.select, selected.ignore, selected.severity) == (("DEV",), (), Severity.ADVICE)
    assert config.override(configured, KNOWN, ignore=["DEV2"]).ignore == ("DEV401", "DEV2")
    with pytest.raises(ConfigError, match="--select: unknown rule 'DEV10x'"):
        config.override(configured, KNOWN, select=["DEV10x"])


def test_a_file_extends_another_one(project):
    configure(project, '[tool.devfix]\nignore = ["DEV2"]\nseverity = "latent"\nmodels = ["stubs"]\n', "base.toml")
    (project / "stubs").mkdir()
    configure(project / "pkg", '[tool.devfix]\nextend = "../base.toml"\nseverity = "advice"\n')

    settings = config.load(["pkg/a.py"], KNOWN)

    assert (settings.ignore, settings.severity) == (("DEV2",), Severity.ADVICE)
    assert (settings.models, settings.root) == (("../stubs",), str(project / "pkg"))


@pytest.mark.parametrize(
    ("base", "message"),
    [
        pytest.param(None, "extend: there is no file 'base.toml' beside this one", id="missing"),
        pytest.param('[tool.devfix]\nextend = "pyproject.toml"\n', "'pyproject.toml' extends this file", id="circle"),
        pytest.param('[tool.devfix]\nselekt = ["DEV1"]\n', "base.toml: unknown key tool.devfix.selekt", id="its-keys"),
    ],
)
def test_a_file_that_cannot_be_extended(project, base, message):
    configure(project, '[tool.devfix]\nextend = "base.toml"\n')
    if base is not None:
        configure(project, base, "base.toml")

    with pytest.raises(ConfigError, match=message):
        config.load(["."], KNOWN)


def test_a_file_outside_of_the_project_is_not_extended(project, tmp_path_factory):
    outside = configure(tmp_path_factory.mktemp("outside"), "[tool.devfix]\n")
    configure(project, f"[tool.devfix]\nextend = {outside!r}\n")

    with pytest.raises(ConfigError, match="is outside of the project"):
        config.load(["."], KNOWN)


def test_plugins_are_named_in_the_file_that_extends(project):
    configure(project, '[tool.devfix]\nplugins = ["rules"]\n', "base.toml")
    configure(project / "pkg", '[tool.devfix]\nextend = "../base.toml"\n')

    with pytest.raises(ConfigError, match=r"plugins must be in .*, which extends this file"):
        config.load(["pkg"], KNOWN, local=lambda names, root: KNOWN)


def test_keys_on_the_command_line_win(project):
    configure(project, '[tool.devfix]\nselect = ["DEV1"]\nseverity = "latent"\n')

    settings = config.load(["."], KNOWN, inline=['select = ["DEV2"]', "unsafe-fixes = true"])

    assert (settings.select, settings.severity, settings.unsafe_fixes) == (("DEV2",), Severity.LATENT, True)
    assert config.load(["."], KNOWN, isolated=True, inline=['severity = "latent"']).severity is Severity.LATENT
