"""What people know from other linters: exit codes, what is read, colours, and the words of other tools."""

import os
import subprocess
import sys

import pytest

from devfix.sources.cache_folder import cache_folder

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@pytest.fixture
def files(project):
    (project / "a.py").write_bytes(b"x = BUG\n")
    (project / "deep").mkdir()
    (project / "deep/b.py").write_bytes(b"y = STUCK\n")
    return project


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        pytest.param(["fix"], "no such command 'fix'; did you mean 'apply'?", id="a-command-of-other-tools"),
        pytest.param(["rule", "DEV201"], "no such command 'rule'; did you mean 'explain'?", id="with-arguments"),
        pytest.param(["check", "--fix"], "no such option '--fix'; did you mean 'devfix apply'?", id="fix"),
        pytest.param(["check", "--diff"], "no such option '--diff'; 'devfix apply' has --diff", id="of-another-one"),
        pytest.param(["check", "--dry-run"], "no such option '--dry-run'; 'devfix apply' has --diff", id="both"),
        pytest.param(["apply", "--dry-run"], "no such option '--dry-run'; did you mean '--diff'?", id="another-name"),
        pytest.param(
            ["check", "--add-noqa"], "no such option '--add-noqa'; 'devfix apply' has --add-ignore", id="noqa"
        ),
        pytest.param(["check", "--no-color"], "no such option '--no-color'; did you mean '--color never'?", id="value"),
        pytest.param(["check", "--sevrity"], "no such option '--sevrity'; did you mean '--severity'?", id="misspelt"),
        pytest.param(["rules", "--zzz"], "no such option '--zzz'", id="nothing-near"),
        pytest.param(
            ["rules", "--format", "jsn"],
            "invalid value for '--format': 'jsn' is not one of 'text', 'json'; did you mean 'json'?",
            id="a-value",
        ),
        pytest.param(
            ["verify", "a.py", "--device", "gpu"],
            "invalid value for '--device': 'gpu' is not one of 'auto', 'cuda', 'mps', 'xpu', 'npu', 'sim', 'sim:mps',"
            " 'sim:xpu', 'sim:npu', 'cpu'; did you mean 'cuda'?",
            id="a-value-of-other-tools",
        ),
        pytest.param(
            ["verify", "a.py", "--timeout", "x"], "invalid value for '--timeout': 'x' is not a number", id="a-number"
        ),
        pytest.param(["completion"], "missing argument 'SHELL'; choose one of bash, zsh, fish", id="a-missing-one"),
        pytest.param(
            ["check", "--select", ","],
            "invalid value for '--select': it is empty: name codes, prefixes or rules",
            id="an-empty-list",
        ),
    ],
)
def test_words_of_other_tools_name_ours(inside, arguments, meant):
    result = inside(*arguments)

    assert (result.code, result.stdout) == (2, b"")
    assert result.stderr.splitlines()[0] == f"devfix: {meant}"


@pytest.mark.parametrize("words", [[], ["check"], ["migrate", "status"], ["bot", "review"]], ids=" ".join)
def test_help_of_a_command_is_its_option(inside, words):
    assert inside("help", *words) == inside(*words, "--help")


def test_help_of_an_unknown_command_names_the_nearest(inside):
    result = inside("help", "chek")

    assert result.code == 2 and "did you mean 'check'?" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["check"], 1),
        (["check", "--exit-zero"], 0),
        (["apply", "--diff", "--exit-zero"], 0),
        (["check", "missing.py", "--exit-zero"], 2),
        (["apply", "a.py"], 0),
        (["apply", "a.py", "--exit-non-zero-on-fix"], 1),
        (["apply", "a.py", "--diff", "--exit-zero", "--exit-non-zero-on-fix"], 0),
        (["apply", "deep", "--exit-non-zero-on-fix", "--exit-zero"], 0),
    ],
)
def test_options_change_the_exit_code(run, files, arguments, code):
    assert run(*arguments).code == code


def test_exit_zero_does_not_hide_a_file_that_cannot_be_read(run, files):
    (files / "bad.py").write_bytes(b'x = "\xe9"\n')

    assert run("check", "--exit-zero").code == 1


def test_show_files_prints_what_would_be_read(run, files):
    assert run("check", "--show-files").text == "a.py\ndeep/b.py\n"
    assert run("check", "--show-files", "--exclude", "deep/").text == "a.py\n"
    assert run("check", "--show-files", "--force-exclude", "--exclude", "a.py", "a.py", "deep").text == "deep/b.py\n"
    missing = run("check", "--show-files", "missing.py", "a.py")
    assert (missing.code, missing.text) == (2, "a.py\n")
    assert missing.stderr == "devfix: missing.py: no such file or folder; check the spelling\n"


def test_paths_that_name_no_file_say_why(run, files):
    (files / "dangling.py").symlink_to("nowhere.py")

    result = run("check", "*.py", "dangling.py", "nowhere.py")

    assert result.code == 2
    assert result.stderr.splitlines() == [
        "devfix: *.py: no such file or folder; no file matches, or the pattern is in quotes",
        "devfix: dangling.py: is a link to a file that does not exist; remove or correct the link",
        "devfix: nowhere.py: no such file or folder; check the spelling",
    ]


def test_exclude_is_relative_to_the_current_folder(run, files, monkeypatch):
    (files / "pyproject.toml").write_text("[tool.devfix]\n")
    monkeypatch.chdir(files / "deep")
    (files / "deep/c.py").touch()

    assert run("check", "--show-files", "--exclude", "./b.py").text == "c.py\n"
    assert run("check", "--show-files", "--exclude", "/b.py").text == "c.py\n"
    assert run("check", "--show-files", "--exclude", "b.py").text == "c.py\n"


def test_a_pattern_that_is_none_is_refused(run, files):
    result = run("check", "--exclude", "!")

    assert (result.code, result.stderr) == (2, "devfix: --exclude: '!' is not a gitignore pattern\n")


def test_show_settings_prints_toml_with_the_flags_of_the_run(run, files):
    (files / "pyproject.toml").write_text('[tool.devfix]\nignore = ["DEV2"]\nexclude = ["deep/"]\n')

    result = run("check", "--show-settings", "--severity", "latent", "--config", 'device = "args.device"')

    assert result.code == 0
    assert tomllib.loads(result.text)["tool"]["devfix"] == {
        "select": [],
        "ignore": ["DEV2"],
        "per-file-ignores": {},
        "exclude": ["deep/"],
        "severity": "latent",
        "unsafe-fixes": False,
        "plugins": [],
        "models": [],
        "device": "args.device",
    }
    assert f"# file: {files / 'pyproject.toml'}\n" in result.text
    assert "# rules: DEV191, DEV391\n" in result.text


def test_settings_that_were_shown_are_a_configuration(run, files):
    shown = run("check", "--show-settings", "--ignore", "DEV1").text
    (files / "shown.toml").write_text(shown)

    again = run("check", "--show-settings", "--config", "shown.toml").text
    assert tomllib.loads(again) == tomllib.loads(shown)


def test_extend_select_adds_a_rule_to_the_configured_ones(run, files, engine):
    (files / "pyproject.toml").write_text('[tool.devfix]\nselect = ["DEV1"]\nignore = ["DEV391"]\n')

    run("check", "--extend-select", "DEV391")

    assert [code for code in ("DEV191", "DEV291", "DEV391") if engine.settings.enabled(code, "a.py")] == [
        "DEV191",
        "DEV391",
    ]


def test_extend_select_without_a_configuration_keeps_the_others(run, files, engine):
    run("check", "--extend-select", "DEV391")

    assert all(engine.settings.enabled(code, "a.py") for code in ("DEV191", "DEV291", "DEV391"))
    assert engine.settings.asks_for("DEV391") and not engine.settings.asks_for("DEV191")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--config", "severity=latent"], "; quote strings, as in 'severity=\"latent\"'"),
        (["--config", "selekt=[]"], "devfix: --config: unknown key tool.devfix.selekt; did you mean 'select'?"),
        (["--config", "bot={}"], "devfix: --config: tool.devfix.bot must be in a file"),
        (["--config", "a.toml", "--config", "b.toml"], "devfix: --config names two files, a.toml and b.toml"),
        (["--watch", "--show-files"], "devfix: --watch cannot be combined with --show-files"),
    ],
)
def test_mistakes_with_these_options(run, files, arguments, message):
    result = run("check", *arguments)

    assert result.code == 2 and message in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-"], "devfix: --add-ignore cannot be used with standard input"),
        (["a.py", "--verify"], "devfix: --add-ignore cannot be combined with --verify, which proves fixes"),
        (["--watch"], "devfix: --watch cannot be combined with --add-ignore"),
    ],
)
def test_mistakes_with_add_ignore(run, files, arguments, message):
    result = run("apply", "--add-ignore", *arguments)

    assert result.code == 2 and message in result.stderr


def test_variables_are_defaults(run, files, monkeypatch):
    monkeypatch.setenv("DEVFIX_OUTPUT_FORMAT", "concise")

    assert run("check", "a.py").text == run("check", "a.py", "--output-format", "concise").text
    assert run("check", "a.py", "--output-format", "text").text != run("check", "a.py").text


def test_add_ignore_leaves_only_new_findings(inside, project):
    source = (
        b"import torch\r\n"
        b"from torch import nn\r\n"
        b"\r\n"
        b'device = torch.device("cuda")\r\n'
        b"model = nn.Linear(4, 2).to(device)\r\n"
        b"x = torch.randn(\r\n"
        b"    8,\r\n"
        b"    4,\r\n"
        b")  # a comment\r\n"
        b"model(x)"
    )
    (project / "train.py").write_bytes(source)

    shown = inside("apply", "--add-ignore", "--diff")
    assert shown.code == 1 and "\n+)  # a comment  # devfix: ignore[DEV102]\r\n" in shown.text
    assert (project / "train.py").read_bytes() == source

    added = inside("apply", "--add-ignore")

    assert (added.code, added.text) == (0, "no findings, 1 suppressed, 1 file checked, 1 changed\n")
    comment = b"# a comment  # devfix: ignore[DEV102]\r\n"
    assert (project / "train.py").read_bytes() == source.replace(b"# a comment\r\n", comment)
    again = inside("apply", "--add-ignore")
    assert (again.code, again.text) == (0, "no findings, 1 suppressed, 1 file checked\n")


def test_a_finding_whose_file_is_read_only_keeps_it(run, files):
    (files / "a.py").chmod(0o444)

    result = run("apply", "a.py", "--add-ignore")

    assert result.code == 1
    assert "a.py:1:5 error DEV191" in result.text and "is read-only" in result.stderr
    assert (files / "a.py").read_bytes() == b"x = BUG\n"


@pytest.mark.parametrize("arguments", [["check", "--color", "always"], ["--color", "always", "check"]], ids=" ".join)
def test_color_always_is_for_pipes_too(run, files, arguments, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")

    assert "\x1b[" in run(*arguments).text
    assert os.environ["NO_COLOR"] == "1" and "FORCE_COLOR" not in os.environ


def test_color_never_wins_over_the_variable(run, files, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")

    assert "\x1b[1;31m" in run("check").text
    assert "\x1b[1;31m" not in run("check", "--color", "never").text


def test_a_diff_is_coloured_on_request_only(run, files, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")

    assert "\x1b[" not in run("apply", "--diff").text
    assert "\x1b[" in run("apply", "--diff", "--color", "always").text


def test_clean_deletes_results_and_nothing_else(inside, project, monkeypatch):
    monkeypatch.setenv("DEVFIX_CACHE_DIR", str(project / "cache"))
    (project / "a.py").write_text("import torch\nx = torch.ones(3)\n")
    inside("check", "a.py")
    (project / "cache/notes.txt").write_text("mine")
    (project / "cache/mirrors").mkdir()

    shown = inside("clean", "--dry-run")

    names = sorted(os.listdir(cache_folder()))
    assert shown.text and all(os.path.exists(line) for line in shown.text.splitlines())
    assert any(name.startswith("scans-") for name in names)
    assert inside("clean").code == 0
    assert sorted(os.listdir(cache_folder())) == ["mirrors", "notes.txt"]
    assert inside("clean", "--all").code == 0
    assert os.listdir(cache_folder()) == ["notes.txt"]
    assert inside("clean").stderr == "nothing to delete\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux has it")
@pytest.mark.parametrize("arguments", [["check", "a.py"], ["--help"], ["rules"]], ids=" ".join)
def test_a_full_disk_is_one_line(environment, files, arguments):
    (files / "a.py").write_text("import torch\n")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "devfix", *arguments],
            env=environment,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )

    assert done.returncode == 2
    message = done.stderr.decode()
    assert message.startswith("devfix: ") and message.endswith(": No space left on device\n")
    assert message.count("\n") == 1
