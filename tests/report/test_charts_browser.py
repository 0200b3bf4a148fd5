"""The timeline and the icicle chart in Chromium: zoom, pan, selection, scales and sorting, by mouse and by keys."""

import re

import pytest

pytest.importorskip("jinja2")

from browsing import expect, until
from recorded_runs import recorded_map, recorded_trace

from devfix.report.runs import device_map_html, trace_html

pytestmark = pytest.mark.browser

WIDE = {"width": 1280, "height": 1000}


@pytest.fixture
def timeline(shown, tmp_path):
    return shown(trace_html.page(recorded_trace(tmp_path)), viewport=WIDE)


@pytest.fixture
def memory(shown, tmp_path):
    return shown(device_map_html.page(recorded_map(tmp_path)), viewport=WIDE)


def cell(page, text):
    return page.locator(".cell:visible", has=page.locator("text", has_text=re.compile(f"^{re.escape(text)}$"))).first


def width(page, text):
    return sum(part.bounding_box()["width"] for part in cell(page, text).locator("rect").all())


def test_keys_zoom_and_show_the_whole_run(timeline):
    before = width(timeline, "inputs")
    timeline.locator(".stage").focus()

    bars = timeline.locator(".cell:visible")
    whole = bars.count()
    for key in "+++":
        timeline.keyboard.press(key)
    timeline.keyboard.press("ArrowRight")
    until(timeline, lambda: bars.count() < whole)
    timeline.keyboard.press("0")

    expect(bars).to_have_count(whole)
    until(timeline, lambda: width(timeline, "inputs") == pytest.approx(before))


def test_the_wheel_zooms_with_ctrl_and_scrolls_the_page_without(timeline):
    stage = timeline.locator(".stage")
    stage.scroll_into_view_if_needed()
    stage.hover()
    before = width(timeline, "inputs")

    timeline.mouse.wheel(0, 10)
    timeline.wait_for_timeout(100)
    assert width(timeline, "inputs") == pytest.approx(before)
    timeline.keyboard.down("Control")
    timeline.mouse.wheel(0, 200)
    timeline.wait_for_timeout(100)
    assert width(timeline, "inputs") == pytest.approx(before)  # the whole run is shown already
    timeline.mouse.wheel(0, -200)

    until(timeline, lambda: width(timeline, "model ×4") > before)


def test_dragging_moves_the_view_and_selects_nothing(timeline):
    stage = timeline.locator(".stage")
    timeline.locator("[data-zoom=in]").click()
    box = stage.bounding_box()
    before = cell(timeline, "layer.bias").bounding_box()["x"]

    timeline.mouse.move(box["x"] + 600, box["y"] + 100)
    timeline.mouse.down()
    timeline.mouse.move(box["x"] + 500, box["y"] + 100, steps=5)
    timeline.mouse.up()

    until(timeline, lambda: cell(timeline, "layer.bias").bounding_box()["x"] == pytest.approx(before - 100, abs=3))
    expect(timeline.locator(".cell.selected")).to_have_count(0)


def test_a_click_on_a_bar_describes_it_and_marks_its_row(timeline):
    cell(timeline, "✗ layer.weight").click()

    expect(timeline.locator(".chosen")).to_contain_text("layer.weight: float32 [6, 6], 144 B, created on cpu, ")
    expect(timeline.locator("tr.chosen-row code")).to_have_text("layer.weight")


def test_arrow_keys_go_from_value_to_value(timeline):
    chosen = timeline.locator(".chosen")
    timeline.locator(".stage").focus()

    timeline.keyboard.press("ArrowDown")
    expect(chosen).to_contain_text("nn.Linear(width, width)")
    first = chosen.inner_text()
    timeline.keyboard.press("ArrowDown")
    expect(chosen).not_to_have_text(first)
    timeline.keyboard.press("ArrowUp")

    expect(chosen).to_have_text(first)
    timeline.keyboard.press("Escape")
    expect(chosen).to_be_empty()


def test_a_row_of_the_table_shows_its_bar(timeline):
    timeline.locator("[data-show]", has_text="inputs[chunk].to(device)").click()

    expect(timeline.locator(".cell.selected text")).to_have_text("inputs[chunk].to(device)")
    expect(timeline.locator(".stage")).to_be_focused()


def test_the_scale_of_time_has_ticks(timeline):
    expect(timeline.locator(".ticks text")).to_have_count(0)

    timeline.locator("[data-axis]").click()

    expect(timeline.locator("[data-axis]")).to_have_attribute("aria-pressed", "true")
    texts = timeline.locator(".ticks text").all_text_contents()
    assert len(texts) > 3 and all(text.endswith(" ms") for text in texts)
    expect(timeline.locator(".scale")).to_contain_text("time")


def test_a_tooltip_names_the_bar_under_the_mouse(timeline):
    cell(timeline, "perm").hover()

    expect(timeline.locator(".tip")).to_contain_text("perm: int64 [40]")


def test_without_a_script_the_chart_and_the_table_are_there(shown, tmp_path):
    page = shown(trace_html.page(recorded_trace(tmp_path)), java_script_enabled=False, viewport=WIDE)

    assert page.locator(".stay").count() == page.locator(".values tbody tr").count() > 5
    assert page.locator(".stage").bounding_box()["width"] > 1000
    expect(page.locator(".actions.scripted")).to_be_hidden()
    assert "created on cpu" in page.locator(".stay title").first.text_content()


def test_text_of_the_run_is_shown_and_obeyed_nowhere(shown, tmp_path):
    words = "</title></svg><script>alert('x')</script><img src=x onerror=alert(1)>"

    def hostile(timeline):
        for stay in timeline["stays"]:
            stay["name"] = stay["dtype"] = words
        return timeline

    page = shown(trace_html.page(recorded_trace(tmp_path, hostile)))

    expect(page.locator("main img, main script")).to_have_count(0)
    assert words in page.locator(".values").inner_text()


def test_a_click_on_an_object_zooms_to_it(memory):
    whole = memory.locator(".stage").bounding_box()["width"]
    assert width(memory, "modules 196 B") < whole / 2

    cell(memory, "modules 196 B").click()

    until(memory, lambda: width(memory, "modules 196 B") == pytest.approx(whole, rel=0.02))
    expect(memory.locator(".chosen")).to_contain_text("modules: ")
    memory.locator("[data-zoom=all]").click()
    until(memory, lambda: width(memory, "modules 196 B") < whole / 2)


def test_the_table_of_objects_sorts_by_each_column(memory):
    def sizes():
        return [
            int(each)
            for each in memory.locator("[data-name=size][data-value]").evaluate_all(
                "all => all.map(one => one.dataset.value)"
            )
        ]

    memory.get_by_role("button", name="size").click()
    until(memory, lambda: len(sizes()) > 6 and sizes() == sorted(sizes(), reverse=True))
    memory.get_by_role("button", name="size").click()
    until(memory, lambda: sizes() == sorted(sizes()))
    memory.get_by_role("button", name="name").focus()
    memory.keyboard.press("Enter")
    expect(memory.locator("th[aria-sort]")).to_have_text("name")
    names = memory.locator("table.objects tbody th").all_inner_texts()
    assert names == sorted(names, key=str.lower)


def test_the_tree_holds_each_part_of_a_module(memory):
    labels = memory.locator(".tree code").all_inner_texts()

    assert {"modules", "net", "body", "weight", "bias", "net.heads[0]", "optimizer", "loss"} <= set(labels)
    expect(memory.locator(".tree .not-fixed")).to_have_count(2)
