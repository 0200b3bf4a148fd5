"""The head of a page: the command behind it, and links to files."""

import subprocess

import pytest

from devfix.report.head import UNKNOWN, about_command, duration_text
from devfix.report.source_links import Checkout


@pytest.fixture
def repository(tmp_path):
    """Return a function that gives a repository with a commit the address of its remote."""
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)

    def call(remote):
        subprocess.run([*git, "remote", "add", "origin", remote], check=True)
        return Checkout.of(str(tmp_path))

    return call


@pytest.mark.parametrize(
    ("remote", "link"),
    [
        ("https://github.com/owner/name.git", "https://github.com/owner/name/blob/{commit}/a%20b.py#L3"),
        ("git@github.com:owner/name.git", "https://github.com/owner/name/blob/{commit}/a%20b.py#L3"),
        ("https://token@gitlab.com/group/sub/name", "https://gitlab.com/group/sub/name/-/blob/{commit}/a%20b.py#L3"),
        ("https://codeberg.org/owner/name", "https://codeberg.org/owner/name/src/commit/{commit}/a%20b.py#L3"),
        ("https://git.example.org/owner/name", "./a%20b.py"),
        ("/srv/git/name", "./a%20b.py"),
    ],
)
def test_a_file_is_linked_at_the_commit_where_the_forge_is_known(repository, remote, link):
    checkout = repository(remote)

    assert len(checkout.commit) == 40
    assert checkout.link("a b.py", 3) == link.format(commit=checkout.commit)
    assert "token" not in checkout.web + checkout.web_commit


def test_outside_of_a_repository_links_are_relative(tmp_path):
    checkout = Checkout.of(str(tmp_path))

    assert checkout == Checkout() and checkout.link("javascript:alert(1)", 3) == "./javascript%3Aalert%281%29"


def test_the_command_is_quoted_and_has_no_credentials(tmp_path):
    found = about_command(["check", "a b.py", "--remote", "https://me:secret@host/x"], None, tmp_path)

    assert found.command == "devfix check 'a b.py' --remote https://***@host/x"
    assert found.duration == "" and found.date.endswith("+00:00") and found.day.endswith(" UTC")
    assert [name for name, _ in found.versions][:2] == ["devfix", "Python"]


def test_a_fixed_date_makes_the_same_page_twice(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")

    found = about_command(["check"], 1.0, tmp_path)

    assert (found.day, found.duration) == ("1970-01-01 00:00 UTC", "")
    assert found == about_command(["check"], 2.0, tmp_path)


def test_the_version_of_the_runs_replaces_the_installed_one():
    found = UNKNOWN.with_torch("1.2").with_torch("")

    assert found.versions[-1] == ("torch", "1.2") and len(found.versions) == 2


@pytest.mark.parametrize(
    ("seconds", "text"), [(4.21, "4.2 s"), (119.9, "119.9 s"), (185, "3 min 5 s"), (9000, "2.5 h")]
)
def test_durations_are_in_the_unit_that_suits_them(seconds, text):
    assert duration_text(seconds) == text
