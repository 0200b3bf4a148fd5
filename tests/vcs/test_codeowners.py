"""Whose file it is, as each forge's documentation says."""

from __future__ import annotations

import pytest

from devfix.vcs.codeowners import CodeOwners

GITHUB = r"""
# comment
*              @everyone
*.py           @python   # who reads Python
*.pyi          types@example.org
/build/logs/   @logs
docs/*         @writers
apps/          @apps
/apps/free
/src/**/deep   @deep
**/tests       @lab/tests
a\ b.py        @space
x?.py          @one
"""


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        pytest.param("README", ("@everyone",), id="default"),
        pytest.param("lab/train.py", ("@python",), id="suffix-anywhere"),
        pytest.param("stubs/a.pyi", ("types@example.org",), id="address"),
        pytest.param("build/logs/a/b.txt", ("@logs",), id="anchored-folder"),
        pytest.param("x/build/logs/a.txt", ("@everyone",), id="anchored-folder-elsewhere"),
        pytest.param("docs/a.md", ("@writers",), id="files-of-a-folder"),
        pytest.param("docs/a/b.md", ("@everyone",), id="not-of-its-subfolders"),
        pytest.param("apps/a/b.py", ("@apps",), id="folder-at-the-root"),
        pytest.param("x/apps/b.py", ("@apps",), id="folder-anywhere"),
        pytest.param("apps/free/b.py", (), id="nobody-by-a-line-without-owners"),
        pytest.param("src/deep/x.py", ("@deep",), id="no-folder-between"),
        pytest.param("src/a/b/deep/x.py", ("@deep",), id="folders-between"),
        pytest.param("a/tests/x.py", ("@lab/tests",), id="folder-without-slash"),
        pytest.param("a b.py", ("@space",), id="escaped-space"),
        pytest.param("x1.py", ("@one",), id="one-character"),
        pytest.param("x12.py", ("@python",), id="two-characters"),
    ],
)
def test_owners_on_github(path, owners):
    assert CodeOwners.parse(GITHUB, "github").of(path) == owners


def test_the_last_line_that_matches_counts():
    assert CodeOwners.parse("/a/ @first\n* @last @other\n", "github").of("a/b.py") == ("@last", "@other")


@pytest.mark.parametrize("line", ["!*.py @a", "[ab].py @a", r"\#x @a", "*.py a,b"])
def test_a_line_that_github_does_not_accept_is_skipped_and_reported(line):
    owners = CodeOwners.parse(f"* @all\n{line}\n", "github")

    assert owners.of("a.py") == ("@all",)
    assert [number for number, _ in owners.problems] == [2]


GITLAB = """
* @default
!generated.py
README.md @docs
/docs/* @root-docs
config/deep/ @deep

[Python][2] @py @py/lead
*.py
/lab/special.py @special
!/lab/free/

^[Optional] @maybe
internal/x.py

[PYTHON]
*.pyi @types
"""


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        pytest.param("a.txt", ("@default",), id="unnamed-section"),
        pytest.param("x/README.md", ("@docs",), id="relative-path-anywhere"),
        pytest.param("docs/a.md", ("@root-docs",), id="files-of-a-folder"),
        pytest.param("docs/a/b.md", ("@default",), id="not-of-its-subfolders"),
        pytest.param("x/config/deep/y/z", ("@deep",), id="relative-folder"),
        pytest.param("a.py", ("@default", "@py", "@py/lead"), id="owners-of-each-section"),
        pytest.param("lab/special.py", ("@default", "@special"), id="owners-of-the-line-replace-those-of-the-section"),
        pytest.param("lab/free/a.py", ("@default",), id="excluded-in-a-section"),
        pytest.param("generated.py", ("@py", "@py/lead"), id="excluded-in-the-unnamed-section"),
        pytest.param("a/internal/x.py", ("@default", "@maybe", "@py", "@py/lead"), id="optional-section"),
        pytest.param("a.pyi", ("@default", "@types"), id="sections-of-one-name-are-one"),
    ],
)
def test_owners_on_gitlab(path, owners):
    assert CodeOwners.parse(GITLAB, "gitlab").of(path) == owners


def test_on_gitlab_a_path_that_is_excluded_stays_excluded():
    assert CodeOwners.parse("* @all\n!*.py\n/a.py @a\n", "gitlab").of("a.py") == ()


def test_on_gitlab_a_name_without_a_slash_is_no_folder():
    assert CodeOwners.parse("lab @a\n", "gitlab").of("lab/x.py") == ()


GITEA = r"""
.*\\.py @python # comment
lab/.* @lab/core @ann
!docs/.* @code
with\ space/.* @space
(wrong @nobody
alone
"""


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        pytest.param("a.py", ("@code", "@python"), id="all-lines-that-match"),
        pytest.param("lab/x", ("@ann", "@code", "@lab/core"), id="two-owners"),
        pytest.param("docs/x", (), id="a-negative-line"),
        pytest.param("apyx", ("@code",), id="the-dot-is-escaped"),
        pytest.param("with space/x", ("@code", "@space"), id="escaped-space"),
    ],
)
def test_owners_on_gitea(path, owners):
    assert CodeOwners.parse(GITEA, "gitea").of(path) == owners


def test_wrong_lines_on_gitea_are_reported():
    assert [number for number, _ in CodeOwners.parse(GITEA, "gitea").problems] == [6, 7]
