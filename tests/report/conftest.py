"""A run with one finding of each fate, and a browser that says what a page does."""

import shutil
from dataclasses import replace

import pytest

from devfix.model import (
    AppendCode,
    Applicability,
    Event,
    FileChange,
    Finding,
    Fix,
    Outcome,
    Patch,
    Problem,
    Resolution,
    Severity,
    Span,
    Status,
)
from devfix.report import Mode, Report
from devfix.report.positions import SourceTexts
from devfix.report.view import View

SPAN = Span(23, 4, 23, 10)
EVENTS = (
    Event("moved", "train.py", 18, 0, "model = Net().to(device)", "the model moves here"),
    Event("created", "lib/data.py", 7, 8, "return x, y", "`labels` is created here, on the CPU"),
    Event("used", "train.py", 27, 11, "loss = criterion(model(images), labels)", "fails here"),
)


def fix(applicability=Applicability.SAFE):
    return Fix("move `labels` to `device`", (AppendCode("train.py", SPAN, ".to(device)"),), applicability)


def finding(code="DEV101", **changes):
    given = {
        "code": code,
        "name": "batch-not-moved",
        "severity": Severity.ERROR,
        "path": "train.py",
        "span": SPAN,
        "message": "`labels` stays on the CPU",
        "events": EVENTS,
        "fixes": (fix(),),
    }
    return Finding(**{**given, **changes})


@pytest.fixture
def resolutions():
    """One of each: fixed, fixable, not-fixed, suppressed."""
    unsafe = fix(Applicability.UNSAFE)
    return {
        "fixed": Resolution(finding(), Status.FIXED, fix=fix()),
        "fixable": Resolution(finding("DEV102", severity=Severity.LATENT, fixes=(unsafe,)), Status.FIXABLE),
        "not-fixed": Resolution(finding("DEV201", fixes=(), reason="the file is not yours"), Status.NOT_FIXED),
        "suppressed": Resolution(finding("DEV301", severity=Severity.ADVICE), Status.SUPPRESSED),
    }


@pytest.fixture
def outcome(resolutions):
    return Outcome(
        resolutions=tuple(resolutions.values()),
        patch=Patch((FileChange("train.py", b"old\n", b"new\n"),)),
        problems=(Problem("odd.py", "not valid utf-8: byte 0xe9", 3, "save it as UTF-8"),),
        checked=4,
        notes=(Problem("train.py", "unused suppression (DEV999)", 9, "remove the comment"),),
    )


def view_of(outcome, mode=Mode.CHECK):
    """What the writer of a format is given."""
    return View(Report(outcome, mode), SourceTexts(outcome.patch), outcome)


@pytest.fixture
def view(outcome, tmp_path, monkeypatch):
    """The run in a folder that holds its file: 27 lines, the finding's with a letter of two bytes and one of four."""
    monkeypatch.chdir(tmp_path)
    lines = ["x = 1"] * 27
    lines[22] = "é😀; labels = next(batches)"
    (tmp_path / "train.py").write_text("\n".join(lines), encoding="utf-8")
    return view_of(replace(outcome, patch=Patch()))


@pytest.fixture(scope="session")
def chromium():
    sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install 'devfix[browser]'")
    executable = shutil.which("chromium") or shutil.which("google-chrome")
    if executable is None:
        pytest.skip("no Chromium on PATH: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable)
        yield browser
        browser.close()


class Watched:
    """An open page, and everything that it did beside showing itself."""

    def __init__(self, page, address):
        self.page, self.did = page, []
        page.set_default_timeout(10_000)
        page.on("request", lambda request: request.url == address or self.did.append(f"request {request.url}"))
        page.on("dialog", lambda dialog: (self.did.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("console", lambda message: self.did.append(f"console {message.text}"))
        page.on("pageerror", lambda error: self.did.append(f"error {error}"))
        page.on("popup", lambda popup: self.did.append(f"popup {popup.url}"))


@pytest.fixture
def shown(chromium, tmp_path):
    """Open a page; whatever it does beside showing itself fails the test."""
    contexts, watched = [], []

    def made(content, part="", **options):
        file = tmp_path / "report.html"
        file.write_text(content, encoding="utf-8")
        context = chromium.new_context(**options)
        contexts.append(context)
        watched.append(Watched(context.new_page(), file.as_uri()))
        watched[-1].page.goto(file.as_uri() + part)
        return watched[-1].page

    yield made
    did = [what for each in watched for what in each.did]
    for context in contexts:
        context.close()
    assert did == []
