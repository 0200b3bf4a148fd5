"""Credentials are not shown."""

import time

import pytest

from devfix.vcs.redaction import redacted

SECRET = "s3cr3t-T0k3n-0123456789"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"https://{SECRET}@example.org/a.git", "https://***@example.org/a.git"),
        (f"https://me:{SECRET}@example.org/a.git", "https://***@example.org/a.git"),
        (
            f"fatal: unable to access 'https://me:{SECRET}@h/a.git/': x",
            "fatal: unable to access 'https://***@h/a.git/': x",
        ),
        (f"http://me:p@ss{SECRET}@example.org/a", "http://***@example.org/a"),
        (f"https://h/a.git?private_token={SECRET}&ref=x", "https://h/a.git?private_token=***&ref=x"),
        (f"https://h/a.git?a=b?token={SECRET}", "https://h/a.git?a=b?token=***"),
        (f"Authorization: Bearer {SECRET}", "Authorization: Bearer ***"),
        ("a ghp_0123456789abcdefABCDEF0123 b", "a *** b"),
        ("a glpat-0123456789abcdefABCD b", "a *** b"),
    ],
)
def test_a_secret_goes(text, shown):
    assert redacted(text) == shown
    assert SECRET not in redacted(text)


@pytest.mark.parametrize(
    "text",
    [
        "https://example.org/a.git",
        "ssh://git@example.org/a.git",
        "git@example.org:a.git",
        "/home/me/a",
        "https://example.org/a@b.git",
        "write to me@example.org about https://example.org/x",
    ],
)
def test_the_rest_stays(text):
    assert redacted(text) == text


@pytest.mark.parametrize("part", ["?token", "?a=", "a", "a://", "authorization: ", "glpat-", "&secret&", "@"])
def test_a_long_text_is_searched_quickly(part):
    started = time.perf_counter()

    redacted(part * 50_000)

    assert time.perf_counter() - started < 5
