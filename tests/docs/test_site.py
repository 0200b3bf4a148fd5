"""The site: it builds without a warning, says what the code says, and its links lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import moved_pages
import pytest
import reference_pages
import transcripts

from devfix import __version__, config
from devfix.cli import cli
from devfix.report.formats import FORMATS
from devfix.rules import registry
from devfix.verify.verdict import VERDICTS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
KNOWN = {rule.code: rule.name for rule in registry.all_rules()}
PAGES = transcripts.pages()
CONFIGURATION = (DOCS / "reference" / "configuration.md").read_text(encoding="utf-8")


def words_of(heading):
    """A heading's anchor, as GitHub and MyST make it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return {words_of(heading) for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_of_a_page_leads_to_a_file_and_a_heading(page):
    generated = {(DOCS / name).resolve() for name in reference_pages.pages()}
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.exists() or path in generated, f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(path), f"{page.name} links to {target}: no such heading"


@pytest.mark.thorough
def test_the_site_builds_without_a_warning_and_holds_every_command(tmp_path):
    options = ["-q", "-W", "--keep-going", "-d", tmp_path / "trees"]
    command = [sys.executable, "-m", "sphinx", *options, DOCS, tmp_path / "site"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    commands = (tmp_path / "site" / "reference" / "commands.html").read_text(encoding="utf-8")
    for verb in cli.list_commands(None):
        assert f'id="devfix-{verb}"' in commands
    assert 'id="cmdoption-devfix-apply-diff"' in commands, "options are entries of their own"
    for code in KNOWN:
        assert (tmp_path / "site" / "reference" / "rules" / f"{code}.html").exists()
    for old, new in moved_pages.MOVED.items():
        assert f'content="0; url={new}.html"' in (tmp_path / "site" / f"{old}.html").read_text(encoding="utf-8")
        assert (tmp_path / "site" / f"{new}.html").exists()
    listed = (tmp_path / "site" / "llms.txt").read_text(encoding="utf-8")
    assert {
        path for path in re.findall(r"\]\((\S+\.html)\)", listed) if not (tmp_path / "site" / path).exists()
    } == set()
    assert "(how-to/traceback.html): This page leads from an error message to its repair." in listed
    everything = (tmp_path / "site" / "llms-full.txt").read_text(encoding="utf-8")
    assert everything.count("\n# DEV") == len(KNOWN), "each rule once"
    for page in DOCS.glob("*/*.md"):
        assert f"({page.relative_to(DOCS).with_suffix('').as_posix()}.html)" in listed


def test_every_key_of_the_configuration_has_its_paragraph():
    described = re.findall(r"^### `([\w-]+)`$", CONFIGURATION, re.MULTILINE)

    assert sorted(described) == sorted(config.KEYS), "docs/reference/configuration.md describes each key under its name"


def test_the_configuration_that_is_shown_is_valid(tmp_path):
    shown = re.search(r"```toml\n(.*?)```", CONFIGURATION, re.DOTALL)[1]
    (tmp_path / "pyproject.toml").write_text(shown, encoding="utf-8")

    settings = config.load([str(tmp_path)], KNOWN)

    assert settings.select == ("DEV1", "DEV401")
    assert (settings.severity.value, settings.device) == ("latent", "args.device")


def test_every_verdict_is_told():
    words = (DOCS / "reference" / "words.md").read_text(encoding="utf-8")

    assert sorted(re.findall(r"^\| `([\w-]+)` \|", words, re.MULTILINE)) == sorted(VERDICTS)


def test_the_changelog_has_the_version_with_its_date_and_known_groups():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (.*)$", text, re.MULTILINE)

    assert versions[0] == "Unreleased"
    assert re.fullmatch(rf"{re.escape(__version__)} - \d{{4}}-\d\d-\d\d", versions[1])
    assert set(re.findall(r"^### (.*)$", text, re.MULTILINE)) <= {
        "Added",
        "Changed",
        "Deprecated",
        "Removed",
        "Fixed",
        "Security",
    }


def test_every_extra_for_users_has_its_row():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    page = (DOCS / "how-to" / "install.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z]+)` \|", page, re.MULTILINE)

    assert sorted(rows) == sorted(extras.keys() - {"browser", "dev", "docs", "test"})
    for page in PAGES:
        named = re.findall(r"devfix\[([a-z,]+)\]", page.read_text(encoding="utf-8"))
        assert {extra for names in named for extra in names.split(",")} <= extras.keys(), page.name


def test_every_output_format_has_its_row():
    page = (DOCS / "reference" / "formats.md").read_text(encoding="utf-8")
    table = page[page.index("| format |") : page.index("\n\nReports")]

    assert sorted(re.findall(r"`(\w+)`", "".join(row.split("|")[1] for row in table.splitlines()))) == sorted(FORMATS)


def test_the_first_figure_of_the_accuracy_page_is_that_of_real_bugs():
    """The page gives the sums of the table that was measured."""
    page = (DOCS / "explanation" / "accuracy.md").read_text(encoding="utf-8")
    measured = (DOCS / "development" / "accuracy.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (application|library): .*? \| (\d+) \| (\d+) \(.*?\| (\d+) \(", measured, re.MULTILINE)
    bugs, found, repaired = (sum(int(row[column]) for row in rows) for column in (1, 2, 3))

    first = re.findall(r"\d+", page)[:5]
    assert len(rows) == 2
    assert first == [str(n) for n in (bugs, found, round(100 * found / bugs), repaired, round(100 * repaired / bugs))]


def test_every_command_has_its_exit_codes():
    text = (DOCS / "reference" / "exit-codes.md").read_text(encoding="utf-8")
    told = set(re.findall(r"`(\w+)[` ]", text[text.index("| command |") :]))

    assert set(cli.list_commands(None)) - told <= {"explain", "rules"}, "these cannot find or repair anything"
