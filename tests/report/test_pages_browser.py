"""All pages in Chromium: four widths, two themes, on paper, by keys and without a script."""

import shutil
from pathlib import Path

import migrations
import pytest
from browsing import expect
from click.testing import CliRunner
from recorded_runs import recorded_map, recorded_trace
from test_trace import traced
from test_verdict import make, metrics, with_outputs

from devfix.cli import cli
from devfix.trace.repair.proposal import Proposal

pytest.importorskip("jinja2")

from devfix.report.head import about_command
from devfix.report.migrations import page as migration_page
from devfix.report.runs import device_map_html, trace_html, verdict_html

pytestmark = pytest.mark.browser

CORPUS = Path(__file__).parents[2] / "corpus"
WIDTHS = (400, 800, 1280, 3840)
FOCUSABLE = "a[href], button, input, select, summary, [tabindex='0']"
ABOUT = about_command(["verify", "train.py"], None, "/")


def check_page(folder):
    """Return the page of `devfix check` for a program whose path goes through two files."""
    shutil.copytree(CORPUS / "batch_not_moved" / "dict_of_targets" / "broken", folder, dirs_exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return CliRunner().invoke(cli, ["check", ".", "--output-format", "html"]).stdout


def verify_page(folder):
    proof = make(folder, tuple(1 / step for step in range(1, 40)), args=("--epochs", "2"))
    ours, theirs = metrics(accuracy=0.5, loss=1.0), metrics(accuracy=0.75, loss=1.0)
    return verdict_html.page(with_outputs(proof, ours, theirs), ABOUT)


def trace_page(folder):
    (folder / "main.py").write_text("a = 1\n")
    return trace_html.page(traced(folder, "replaced_head", Proposal({"main.py": b"a = 2\n"}, "move it", "x")), ABOUT)


def timeline_page(folder):
    return trace_html.page(recorded_trace(folder), ABOUT)


def map_page(folder):
    return device_map_html.page(recorded_map(folder), ABOUT)


def migrate_page(folder):
    return migration_page.page(migrations.one_of_each(), "plan.toml", ABOUT)


PAGES = {
    "check": check_page,
    "verify": verify_page,
    "trace": trace_page,
    "timeline": timeline_page,
    "map": map_page,
    "migrate": migrate_page,
}


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    made = {}

    def content(name):
        if name not in made:
            made[name] = PAGES[name](tmp_path_factory.mktemp(name))
        return made[name]

    return content


@pytest.fixture
def opened(shown, contents):
    def open_page(name, part="", **options):
        return shown(contents(name), part, **options)

    return open_page


def unfold(page):
    """Open everything that opens."""
    page.evaluate("for (const one of document.querySelectorAll('main details')) one.open = true")
    for opener in page.locator("button.open").all():
        opener.click()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_scrolled_aside_and_axe_finds_nothing(opened, name, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe: pip install 'devfix[browser]'")
    page = opened(name, bypass_csp=True, color_scheme=scheme, viewport={"width": 1280, "height": 900})
    unfold(page)

    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") == width
        if width in (400, 1280):
            found = axe.Axe().run(page).response["violations"]
            assert [f"{each['id']}: {node['html']}" for each in found for node in each["nodes"]] == []


@pytest.mark.parametrize("name", PAGES)
def test_every_control_is_reached_by_keys(opened, name):
    page = opened(name)
    controls = page.locator(FOCUSABLE).evaluate_all(
        "all => all.filter(one => one.checkVisibility() && !one.disabled && !one.closest('dialog')).length"
    )

    reached = set()
    for _ in range(controls):
        page.keyboard.press("Tab")
        reached.add(page.evaluate(f"[...document.querySelectorAll({FOCUSABLE!r})].indexOf(document.activeElement)"))

    assert -1 not in reached and len(reached) == controls > 3


@pytest.mark.parametrize("name", ["check", "verify", "trace"])
def test_paper_shows_what_is_folded_also_without_a_script(opened, name):
    page = opened(name, java_script_enabled=False)
    folded = page.locator("details.card > :not(summary), details.diff > :not(summary)")

    page.emulate_media(media="print")

    assert folded.count() > 0
    assert all(one.bounding_box()["height"] > 0 for one in folded.all() if one.inner_text())


def test_the_head_says_what_was_run_and_how(opened):
    page = opened("check")

    facts = page.locator("dl.about").inner_text()
    assert "devfix check . --output-format html" in facts and "Duration" in facts and "Python 3." in facts
    expect(page.locator(".verdict")).to_contain_text("1 finding")


def test_the_source_is_annotated_from_origin_to_failure(opened):
    page = opened("check", java_script_enabled=False)

    steps = page.locator(".listing .line.at .step").all_inner_texts()
    assert sorted(steps) == ["1", "2", "3", "4", "5"]
    assert page.locator(".listing .where").all_inner_texts() == ["src/main.py", "src/losses.py"]
    expect(page.locator(".line.at.origin code")).to_contain_text("for image, targets in loader")
    expect(page.locator(".line.at.failure mark")).to_have_count(2)
    expect(page.locator(".line.at.failure")).to_have_count(2)
    expect(page.locator(".rail.to")).to_have_count(4)


def test_the_address_holds_the_filters(opened):
    page = opened("check", "#rule=DEV101&severity=error")

    expect(page.get_by_label("Severity")).to_have_value("error")
    expect(page.locator("#count")).to_contain_text("1 of 1")
    page.locator("[data-filter=file]").click()
    page.wait_for_url(lambda url: "file=src%2Fmain.py" in url and "rule=DEV101" in url)
    page.keyboard.press("/")
    page.keyboard.type("no such words")
    expect(page.get_by_text("No matching findings.")).to_be_visible()
    page.get_by_role("button", name="Show all").click()
    expect(page.locator("#count")).to_have_text("1 of 1 shown")
    page.wait_for_url(lambda url: "#" not in url)


def test_the_filters_of_a_migration_are_in_its_address(opened):
    page = opened("migrate", "#outcome=1&rule=DEV301")

    expect(page.locator("#count")).to_contain_text("1 of 4 shown")
    page.get_by_role("button", name="Show all").click()
    expect(page.locator("#count")).to_contain_text("4 of 4 shown")
    page.wait_for_url(lambda url: "#" not in url)


def test_a_finding_has_an_address(opened):
    page = opened("check", "#DEV101:src/main.py:27")

    expect(page.locator("details.finding:target")).to_have_count(1)


def test_the_patch_is_copied_and_downloaded(opened):
    page = opened("check", permissions=["clipboard-read", "clipboard-write"])

    with page.expect_download() as download:
        page.locator("#whole-download").click()
    patch = Path(download.value.path()).read_text(encoding="utf-8")
    page.get_by_role("button", name="Copy the whole patch").click()
    page.locator("[data-done]").wait_for()

    assert patch.startswith(("--- a/src/main.py", "diff --git a/src/main.py"))
    assert download.value.suggested_filename == "devfix.patch" and "+" in patch
    assert page.evaluate("navigator.clipboard.readText()") == patch


def test_the_theme_and_the_keys(opened):
    page = opened("verify", color_scheme="light")
    back = "getComputedStyle(document.body).backgroundColor"

    light = page.evaluate(back)
    page.keyboard.press("t")
    page.keyboard.press("t")
    expect(page.locator("#theme")).to_have_text("Theme: dark")
    assert page.evaluate(back) != light
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    expect(page.locator("main details[open]")).to_have_count(0)
    page.keyboard.press("o")
    expect(page.locator("main details:not([open])")).to_have_count(0)


def test_a_curve_is_read_by_keys(opened):
    page = opened("verify")

    page.get_by_role("slider").press("Home")

    expect(page.locator("output.read")).to_have_text("pass 1: original/cpu 1, patched/device 1, difference 0")
    label = page.locator("figure svg").get_attribute("aria-label")
    assert label.endswith("no difference at any pass")
