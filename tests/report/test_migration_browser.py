"""The page of a migration in Chromium: sorted, filtered, opened and read by mouse and by keys, with hostile content."""

from urllib.parse import quote

import migrations
import pytest
from browsing import expect

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
    return page.locator("button.open:visible")


def opener(page, name):
    return page.get_by_role("button", name=name, exact=True)


def count(page, shown):
    expect(page.locator("#count")).to_contain_text(f"{shown} of ")


def test_what_needs_attention_is_on_top_and_nothing_is_open(opened):
    page = opened()

    expect(names(page)).to_have_text(["failed-2", "not-fixed-3", "fixed-1", "clean-0"])
    assert page.locator("th[aria-sort]").evaluate_all("all => all.map(one => one.innerText + one.ariaSort)") == [
        "outcomeascending"
    ]
    expect(page.locator("tr.details")).to_have_count(0)


def test_a_heading_sorts_and_sorts_back(opened):
    page = opened([migrations.fixed(number) for number in (1, 2, 10)])
    heading = page.get_by_role("columnheader", name="seconds")

    heading.get_by_role("button").click()
    expect(names(page)).to_have_text(["fixed-10", "fixed-2", "fixed-1"])
    expect(heading).to_have_attribute("aria-sort", "descending")
    heading.get_by_role("button").press("Enter")
    expect(names(page)).to_have_text(["fixed-1", "fixed-2", "fixed-10"])
    expect(heading).to_have_attribute("aria-sort", "ascending")
    expect(page.locator("th[aria-sort]")).to_have_count(1)


def test_details_move_with_their_repository(opened):
    page = opened()
    opener(page, "clean-0").click()

    page.get_by_role("columnheader", name="repository").get_by_role("button").click()

    expect(names(page).first).to_have_text("clean-0")
    expect(page.locator("#repositories tbody tr").nth(1)).to_have_attribute("class", "details")


def test_filters_are_joined_and_the_count_follows(opened):
    page = opened()

    page.get_by_label("clean").uncheck()
    count(page, 3)
    page.get_by_label("Rule", exact=True).select_option("DEV301")
    count(page, 1)
    expect(names(page)).to_have_text(["not-fixed-3"])
    page.get_by_label("Severity", exact=True).select_option("error")
    count(page, 0)
    expect(page.get_by_text("No matching repositories.")).to_be_visible()
    page.get_by_role("button", name="Show all").click()
    count(page, 4)
    expect(names(page)).to_have_count(4)


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
    expect(names(page)).to_have_text(found)


@pytest.fixture
def many():
    """Three pages of repositories."""
    return [*(migrations.record(number) for number in range(500)), migrations.fixed(500)]


def test_many_repositories_are_shown_by_pages(opened, many):
    page = opened(many)
    pages = page.get_by_role("navigation", name="Pages")

    expect(names(page).nth(0)).to_have_text("fixed-500")
    expect(names(page).nth(1)).to_have_text("clean-0")
    expect(names(page)).to_have_count(200)
    expect(pages.get_by_role("button", name="Previous")).to_be_disabled()
    pages.get_by_role("button", name="Next").click()
    expect(names(page).first).to_have_text("clean-199")
    pages.get_by_label("Page").fill("3")
    pages.get_by_label("Page").press("Enter")
    expect(names(page).last).to_have_text("clean-499")
    expect(pages.get_by_role("button", name="Next")).to_be_disabled()
    opener(page, "clean-499").click()
    page.get_by_text("https://git.example.org/team/499").wait_for()


def test_filters_and_links_reach_all_pages(opened, many):
    page = opened(many, "#clean-450")

    expect(page.locator("tr.details")).to_have_count(1)
    expect(page.locator(":focus")).to_have_text("clean-450")
    page.get_by_label("Text", exact=True).fill("team/42")
    count(page, 11)
    expect(names(page)).to_have_text(["clean-42", *(f"clean-{number}" for number in range(420, 430))])
    expect(page.get_by_role("navigation", name="Pages")).to_be_hidden()


def test_a_row_opens_unless_its_text_is_being_selected(opened):
    page = opened()
    reason = page.get_by_text("1 finding is left")

    reason.click(click_count=3)  # selects the line; the first of the clicks opens, the others do nothing
    expect(opener(page, "not-fixed-3")).to_have_attribute("aria-expanded", "true")
    assert page.evaluate("getSelection().toString()").strip() == "1 finding is left"
    opener(page, "fixed-1").press("Enter")
    expect(opener(page, "fixed-1")).to_have_attribute("aria-expanded", "true")


def test_a_diff_is_shown_with_colours_and_numbers(opened):
    page = opened()

    opener(page, "fixed-1").click()

    diff = page.locator("details.diff.file")
    keyword, plain = diff.get_by_text("for", exact=True), diff.locator(".line.added").first
    assert len({one.evaluate("one => getComputedStyle(one).color") for one in (keyword, plain)}) == 2
    expect(plain.locator("code")).to_have_text("        labels = labels.to(device)")
    assert (
        plain.locator(".no").evaluate_all("all => all.map(one => one.dataset.no)") == ["", "11"]
        and "fails" in page.locator("ol.path").inner_text()
    )
    expect(opener(page, "fixed-1")).to_have_attribute("aria-expanded", "true")


def test_a_failure_says_why_and_ends_with_its_log(opened):
    page = opened()

    opener(page, "failed-2").click()

    expect(page.locator("tr.details")).to_contain_text("Failed in stage fetch: git ended with 128")
    log = page.get_by_role("region", name="End of log")
    expect(log).to_have_text("fatal: no such remote\nReceiving: 99%")


def test_a_curve_is_read_by_keys_and_by_pointer(opened):
    page = opened()
    opener(page, "fixed-1").click()
    slider, read = page.get_by_role("slider"), page.locator("output.read")

    expect(read).to_have_text("pass 4: original/cpu 0.55, patched/device 0.55, difference 0")
    slider.press("ArrowLeft")
    expect(read).to_have_text("pass 3: original/cpu 0.6, patched/device 0.6, difference 0")
    expect(slider).to_have_attribute("aria-valuetext", read.inner_text())
    picture = page.get_by_role("img", name="Losses of original/cpu and patched/device by backward pass")
    expect(picture.locator("polyline")).to_have_count(3)
    picture.hover(position={"x": picture.bounding_box()["width"] * 0.36, "y": 50})
    expect(read).to_have_text("pass 2: original/cpu 0.7, patched/device 0.7, difference 0")


def test_everything_is_reached_by_keys(opened):
    page = opened()
    page.get_by_role("button", name="Show all").focus()
    for _ in range(9):  # eight headings, then the first repository
        page.keyboard.press("Tab")

    focused = page.locator(":focus")
    expect(focused).to_have_text("failed-2")
    expect(focused).to_have_css("outline-style", "solid")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(focused).to_have_text("not-fixed-3")
    expect(page.locator("tr.details")).to_be_visible()
    page.keyboard.press("End")
    expect(focused).to_have_text("clean-0")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    expect(focused).to_have_text("not-fixed-3")
    expect(page.locator("tr.details")).to_be_hidden()


def test_a_link_opens_its_repository(opened):
    hostile = migrations.hostile(9)
    page = opened([*migrations.one_of_each(), hostile], "#" + quote("fixed-1"))

    expect(page.locator("tr.details")).to_have_count(1)
    expect(page.locator(":focus")).to_have_text("fixed-1")
    page.goto(page.url.split("#")[0] + "#%E0%A4%A")  # no text: nothing happens
    expect(page.locator("tr.details")).to_have_count(1)


def test_hostile_text_is_shown_and_does_not_run(opened):
    page = opened([migrations.hostile(0)])

    page.locator("button.open").click()
    page.get_by_label("Text", exact=True).fill("<script>")
    count(page, 1)
    page.locator("tr.details details").evaluate_all("all => all.forEach(one => { one.open = true })")

    details = page.locator("tr.details")
    assert details.inner_text().count("</script><script>alert('x')</script><img src=x onerror=alert(1)>") > 20
    expect(details.locator("script, img, iframe, b b, a")).to_have_count(0)
    expect(page).to_have_title("findings remain: 1 repository – devfix migrate")
    expect(page.locator("tr.details [onerror], tr.details [style]")).to_have_count(0)


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
    assert page.evaluate("typeof ran") == "undefined"
    expect(page.locator("h1")).to_have_count(1)
    page.close()


@pytest.mark.parametrize("width", [320])
def test_a_phone_shows_it_without_scrolling_aside(opened, width):
    page = opened(viewport={"width": width, "height": 800})

    page.get_by_label("Sort by", exact=True).select_option(label="repository: A to Z")
    expect(names(page).first).to_have_text("clean-0")
    for name in ("fixed-1", "failed-2", "not-fixed-3"):
        opener(page, name).click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
