"""The page of findings in Chromium: filtered, opened and read by mouse and by keys."""

from dataclasses import replace

import pytest
from browsing import expect

from devfix.model import Outcome, Patch, Resolution, Status
from devfix.report import Mode, Report
from devfix.report.findings import page as findings_page
from devfix.report.positions import SourceTexts
from devfix.report.view import View

pytestmark = pytest.mark.browser


@pytest.fixture
def opened(shown, outcome):
    """Open the page of an outcome, of one finding of each fate where none is given."""

    def made(given=None, **options):
        result = given or outcome
        view = View(Report(result, Mode.CHECK), SourceTexts(Patch()), replace(result, patch=Patch()))
        return shown(findings_page.render(view), **options)

    return made


def rules(page):
    return page.locator("details.card:visible > summary > b")


def test_the_worst_is_on_top_and_everything_is_open(opened):
    page = opened()

    expect(rules(page)).to_have_text(["DEV101", "DEV201", "DEV102"])
    expect(page.locator("ol.path:visible")).to_have_count(3)
    expect(page.locator("#count")).to_have_text("3 of 3 shown")


def test_filters_are_joined_and_taken_back(opened):
    page = opened()

    page.get_by_label("Severity").select_option("error")
    expect(rules(page)).to_have_text(["DEV101", "DEV201"])
    page.get_by_label("Text").fill("not yours")
    expect(rules(page)).to_have_text(["DEV201"])
    expect(page.locator("#count")).to_have_text("1 of 3 shown")
    page.get_by_role("button", name="Show all").click()
    page.locator("#count", has_text="3 of 3 shown").wait_for()
    page.get_by_label("Rule", exact=True).select_option("DEV102")
    expect(rules(page)).to_have_text(["DEV102"])


def test_it_goes_by_keys(opened):
    page = opened()
    page.locator("h2 a").first.focus()

    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect(page.locator("summary:focus")).to_have_count(1)
    expect(page.locator("details.card[open]")).to_have_count(2)
    page.keyboard.press("j")
    expect(page.locator(":focus")).to_contain_text("DEV201")
    page.get_by_role("button", name="Open all").click()
    expect(page.locator("details.card[open]")).to_have_count(3)
    page.get_by_role("button", name="Close all").click()
    expect(page.locator("details.card[open]")).to_have_count(0)


def test_hostile_text_is_shown_and_does_not_run(opened, resolutions):
    words = "</script><script>alert('x')</script><img src=x onerror=alert(1)>"
    finding = replace(resolutions["not-fixed"].finding, message=words, path=words, reason=words)
    page = opened(Outcome((Resolution(finding, Status.NOT_FIXED, words),)))

    assert page.locator("details.card").inner_text().count(words) == 3
    expect(page.locator("details.card").locator("script, img")).to_have_count(0)


def test_many_findings_open_and_are_filtered_quickly(opened, resolutions):
    page = opened(Outcome((resolutions["not-fixed"],) * 2000))

    took = page.evaluate(
        "() => { const start = performance.now(); const text = document.getElementById('text'); text.value = 'nothing';"
        " text.dispatchEvent(new Event('input', {bubbles: true})); document.body.offsetHeight;"
        " return performance.now() - start }"
    )

    expect(page.locator("#count")).to_have_text("0 of 2000 shown")
    assert took < 2000, "milliseconds"
