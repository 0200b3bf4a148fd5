"""Rollout windows."""

from datetime import datetime, timezone

import pytest

from devfix.migrate.window import Window


def moment(text):
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp()


@pytest.mark.parametrize(
    ("window", "inside", "outside"),
    [
        ("Mon-Fri 09:00-16:00", "2026-11-23T09:00", "2026-11-23T16:00"),
        ("Mon-Fri 09:00-16:00", "2026-11-27T15:59", "2026-11-28T12:00"),
        ("Mon-Fri 09:00-16:00 Europe/Berlin", "2026-11-23T08:00", "2026-11-23T15:30"),
        ("sat-mon,Wed 10:00-11:00", "2026-11-22T10:30", "2026-11-24T10:30"),
        ("Fri 22:00-06:00", "2026-11-28T05:00", "2026-11-27T05:00"),
    ],
    ids=["hours", "days", "zone", "over the week", "over midnight"],
)
def test_a_window_opens_and_closes(window, inside, outside):
    found = Window.parse(window)

    assert (found.contains(moment(inside)), found.contains(moment(outside))) == (True, False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("always", "is not of the form"),
        ("Mon 9:00-10:00", "is not of the form"),
        ("Mon-Tue-Wed 09:00-10:00", "is not a day"),
        ("Moon 09:00-10:00", "is not a day"),
        ("Mon 09:00-25:00", "hour must be in"),
        ("Mon 09:00-10:00 Moon/Crater", "unknown time zone"),
        ("Mon 09:00-10:00 ../etc/passwd", "unknown time zone"),
    ],
)
def test_a_wrong_window_is_told(text, words):
    with pytest.raises(ValueError, match=words):
        Window.parse(text)
