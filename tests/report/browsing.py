"""Assertions about a page in Chromium: each waits, since a page answers a click or a key when it gets to it."""

import time

SECONDS = 10


def expect(subject):
    """Return Playwright's assertions of a locator or page."""
    from playwright import sync_api  # the browser's fixture skips the test without it

    sync_api.expect.set_options(timeout=1000 * SECONDS)
    return sync_api.expect(subject)


def until(page, holds):
    """Wait until something holds that Playwright has no assertion for: the size, place or order of parts."""
    deadline = time.monotonic() + SECONDS
    while not holds() and time.monotonic() < deadline:
        page.wait_for_timeout(20)
    assert holds()
