"""The page of a migration in Chromium: sorted, filtered, opened and read by mouse and by keys, with hostile content."""

from urllib.parse import quote

import migrations
import pytest

from devfix.report.migrations import page as migration_page

pytestmark = pytest.mark.browser


@pytest.fixture
def opened(shown):
    """Open the page of some records."""

    def made(records=None, part="", **options):
        page = shown(migration_page.page(migrations.one_of_each() if records is None else records), part, **options)
        page.locator("html[data-ready]").wait_for(state="attached")  # its rows are unpacked
        return page

    return made


def names(page):
    return page.locator("button.open:visible").all_inner_texts()


def opener(page, name):
    return page.get_by_role("button", name=name, exact=True)


def count(page, shown):
    page.locator("#count", has_text=f"{shown} of ").wait_for()


def test_what_needs_attention_is_on_top_and_nothing_is_open(opened):
    page = opened()

    assert names(page) == ["failed-2", "not-fixed-3", "fixed-1", "clean-0"]
    assert page.locator("th[aria-sort]").evaluate_all("all => all.map(one => one.innerText + one.ariaSort)") == [
        "outcomeascending"
    ]
    assert page.locator("tr.details").count() == 0


def test_a_heading_sorts_and_sorts_back(opened):
    page = opened([migrations.fixed(number) for number in (1, 2, 10)])
    heading = page.get_by_role("columnheader", name="seconds")

    heading.get_by_role("button").click()
    assert names(page) == ["fixed-10", "fixed-2", "fixed-1"] and heading.get_attribute("aria-sort") == "descending"
    heading.get_by_role("button").press("Enter")
    assert names(page) == ["fixed-1", "fixed-2", "fixed-10"] and heading.get_attribute("aria-sort") == "ascending"
    assert page.locator("th[aria-sort]").count() == 1


def test_details_move_with_their_repository(opened):
    page = opened()
    opener(page, "clean-0").click()

    page.get_by_role("columnheader", name="repository").get_by_role("button").click()

    assert names(page)[0] == "clean-0"
    assert page.locator("#repositories tbody tr").nth(1).get_attribute("class") == "details"


def test_filters_are_joined_and_the_count_follows(opened):
    page = opened()

    page.get_by_label("clean").uncheck()
    count(page, 3)
    page.get_by_label("Rule", exact=True).select_option("DEV301")
    count(page, 1)
    assert names(page) == ["not-fixed-3"]
    page.get_by_label("Severity", exact=True).select_option("error")
    count(page, 0)
    assert page.get_by_text("No matching repositories.").is_visible()
    page.get_by_role("button", name="Show all").click()
    count(page, 4)
    assert len(names(page)) == 4


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("labels = labels.to(device)", ["fixed-1"]),
        ("no such remote", ["failed-2"]),
        ("LINE 16", ["not-fixed-3"]),
        ("data.py team/3", ["not-fixed-3"]),
        (".*", []),
    ],
    ids=["diff", "log", "reason", "words", "no pattern"],
)
def test_text_is_searched_in_diffs_logs_and_findings(opened, text, found):
    page = opened()

    page.get_by_label("Text", exact=True).fill(text)

    count(page, len(found))
    assert names(page) == found


@pytest.fixture
def many():
    """Three pages of repositories."""
    return [*(migrations.record(number) for number in range(500)), migrations.fixed(500)]


def test_many_repositories_are_shown_by_pages(opened, many):
    page = opened(many)
    pages = page.get_by_role("navigation", name="Pages")

    assert names(page)[:2] == ["fixed-500", "clean-0"] and len(names(page)) == 200
    assert pages.get_by_role("button", name="Previous").is_disabled()
    pages.get_by_role("button", name="Next").click()
    assert names(page)[0] == "clean-199"
    pages.get_by_label("Page").fill("3")
    pages.get_by_label("Page").press("Enter")
    assert names(page)[-1] == "clean-499" and pages.get_by_role("button", name="Next").is_disabled()
    opener(page, "clean-499").click()
    page.get_by_text("https://git.example.org/team/499").wait_for()


def test_filters_and_links_reach_all_pages(opened, many):
    page = opened(many, "#clean-450")

    assert page.locator("tr.details").count() == 1 and page.locator(":focus").inner_text() == "clean-450"
    page.get_by_label("Text", exact=True).fill("team/42")
    count(page, 11)
    assert names(page) == ["clean-42", *(f"clean-{number}" for number in range(420, 430))]
    assert page.get_by_role("navigation", name="Pages").is_hidden()


def test_a_row_opens_unless_its_text_is_being_selected(opened):
    page = opened()
    reason = page.get_by_text("1 finding is left")

    reason.click(click_count=3)  # selects the line; the first of the clicks opens, the others do nothing
    assert opener(page, "not-fixed-3").get_attribute("aria-expanded") == "true"
    assert page.evaluate("getSelection().toString()").strip() == "1 finding is left"
    opener(page, "fixed-1").press("Enter")
    assert opener(page, "fixed-1").get_attribute("aria-expanded") == "true"


def test_a_diff_is_shown_with_colours_and_numbers(opened):
    page = opened()

    opener(page, "fixed-1").click()

    diff = page.locator("details.diff.file")
    keyword, plain = diff.get_by_text("for", exact=True), diff.locator(".line.added").first
    assert len({one.evaluate("one => getComputedStyle(one).color") for one in (keyword, plain)}) == 2
    assert plain.locator("code").inner_text() == "        labels = labels.to(device)"
    assert (
        plain.locator(".no").evaluate_all("all => all.map(one => one.dataset.no)") == ["", "11"]
        and "fails" in page.locator("ol.path").inner_text()
    )
    assert opener(page, "fixed-1").get_attribute("aria-expanded") == "true"


def test_a_failure_says_why_and_ends_with_its_log(opened):
    page = opened()

    opener(page, "failed-2").click()

    assert "Failed in stage fetch: git ended with 128" in page.locator("tr.details").inner_text()
    log = page.get_by_role("region", name="End of log")
    assert log.inner_text() == "fatal: no such remote\nReceiving: 99%"


def test_a_curve_is_read_by_keys_and_by_pointer(opened):
    page = opened()
    opener(page, "fixed-1").click()
    slider, read = page.get_by_role("slider"), page.locator("output.read")

    assert read.inner_text() == "pass 4: original/cpu 0.55, patched/device 0.55, difference 0"
    slider.press("ArrowLeft")
    assert read.inner_text() == "pass 3: original/cpu 0.6, patched/device 0.6, difference 0"
    assert slider.get_attribute("aria-valuetext") == read.inner_text()
    picture = page.get_by_role("img", name="Losses of original/cpu and patched/device by backward pass")
    assert picture.locator("polyline").count() == 3
    picture.hover(position={"x": picture.bounding_box()["width"] * 0.36, "y": 50})
    assert read.inner_text() == "pass 2: original/cpu 0.7, patched/device 0.7, difference 0"


def test_everything_is_reached_by_keys(opened):
    page = opened()
    page.get_by_role("button", name="Show all").focus()
    for _ in range(9):  # eight headings, then the first repository
        page.keyboard.press("Tab")

    focused = page.locator(":focus")
    assert focused.inner_text() == "failed-2"
    assert focused.evaluate("one => getComputedStyle(one).outlineStyle") == "solid"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert focused.inner_text() == "not-fixed-3" and page.locator("tr.details").is_visible()
    page.keyboard.press("End")
    assert focused.inner_text() == "clean-0"
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    assert focused.inner_text() == "not-fixed-3" and not page.locator("tr.details").is_visible()


def test_a_link_opens_its_repository(opened):
    hostile = migrations.hostile(9)
    page = opened([*migrations.one_of_each(), hostile], "#" + quote("fixed-1"))

    assert page.locator("tr.details").count() == 1 and page.locator(":focus").inner_text() == "fixed-1"
    page.goto(page.url.split("#")[0] + "#%E0%A4%A")  # no text: nothing happens
    assert page.locator("tr.details").count() == 1


def test_hostile_text_is_shown_and_does_not_run(opened):
    page = opened([migrations.hostile(0)])

    page.locator("button.open").click()
    page.get_by_label("Text", exact=True).fill("<script>")
    count(page, 1)
    page.locator("tr.details details").evaluate_all("all => all.forEach(one => { one.open = true })")

    details = page.locator("tr.details")
    assert details.inner_text().count("</script><script>alert('x')</script><img src=x onerror=alert(1)>") > 20
    assert details.locator("script, img, iframe, b b, a").count() == 0
    assert page.title() == "findings remain: 1 repository – devfix migrate"
    assert page.locator("tr.details [onerror], tr.details [style]").count() == 0


def test_the_policy_stops_what_would_come_in_by_another_way(chromium, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(migration_page.page(migrations.one_of_each()), encoding="utf-8")
    page = chromium.new_page()
    page.goto(file.as_uri())

    for attempt in (
        "document.body.innerHTML = '<b>'",
        "document.body.append(Object.assign(document.createElement('script'), {text: 'ran = 1'}))",
        "(b => { b.setAttribute('onclick', 'ran = 1'); b.click() })(document.createElement('button'))",
        "(a => { a.href = 'javascript:ran = 1'; document.body.append(a); a.click() })(document.createElement('a'))",
    ):
        page.evaluate("attempt => { try { %s } catch {} }" % attempt)  # noqa: UP031  # braces
    got_out = "fetch('https://example.org').then(() => 'out', () => 'stopped')"
    assert page.evaluate(got_out) == "stopped"
    assert page.evaluate("typeof ran") == "undefined" and page.locator("h1").count() == 1
    page.close()


@pytest.mark.parametrize("width", [320])
def test_a_phone_shows_it_without_scrolling_aside(opened, width):
    page = opened(viewport={"width": width, "height": 800})

    page.get_by_label("Sort by", exact=True).select_option(label="repository: A to Z")
    assert names(page)[0] == "clean-0"
    for name in ("fixed-1", "failed-2", "not-fixed-3"):
        opener(page, name).click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
