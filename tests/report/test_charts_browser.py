"""The timeline and the icicle chart in Chromium: zoom, pan, selection, scales and sorting, by mouse and by keys."""

import re

import pytest

pytest.importorskip("jinja2")

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

    for key in "+++":
        timeline.keyboard.press(key)
    timeline.keyboard.press("ArrowRight")
    zoomed = timeline.locator(".cell:visible").count()
    timeline.keyboard.press("0")

    assert zoomed < timeline.locator(".cell:visible").count()
    assert width(timeline, "inputs") == pytest.approx(before)


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
    timeline.wait_for_timeout(100)

    assert width(timeline, "model ×4") > before


def test_dragging_moves_the_view_and_selects_nothing(timeline):
    stage = timeline.locator(".stage")
    timeline.locator("[data-zoom=in]").click()
    box = stage.bounding_box()
    before = cell(timeline, "layer.bias").bounding_box()["x"]

    timeline.mouse.move(box["x"] + 600, box["y"] + 100)
    timeline.mouse.down()
    timeline.mouse.move(box["x"] + 500, box["y"] + 100, steps=5)
    timeline.mouse.up()

    assert cell(timeline, "layer.bias").bounding_box()["x"] == pytest.approx(before - 100, abs=3)
    assert timeline.locator(".cell.selected").count() == 0


def test_a_click_on_a_bar_describes_it_and_marks_its_row(timeline):
    cell(timeline, "✗ layer.weight").click()

    described = timeline.locator(".chosen").inner_text()
    assert described.startswith("layer.weight: float32 [6, 6], 144 B, created on cpu, ")
    assert timeline.locator("tr.chosen-row code").inner_text() == "layer.weight"


def test_arrow_keys_go_from_value_to_value(timeline):
    timeline.locator(".stage").focus()

    timeline.keyboard.press("ArrowDown")
    first = timeline.locator(".chosen").inner_text()
    timeline.keyboard.press("ArrowDown")
    second = timeline.locator(".chosen").inner_text()
    timeline.keyboard.press("ArrowUp")

    assert first.startswith("nn.Linear(width, width)") and first != second
    assert timeline.locator(".chosen").inner_text() == first
    timeline.keyboard.press("Escape")
    assert timeline.locator(".chosen").inner_text() == ""


def test_a_row_of_the_table_shows_its_bar(timeline):
    timeline.locator("[data-show]", has_text="inputs[chunk].to(device)").click()

    assert timeline.locator(".cell.selected text").text_content() == "inputs[chunk].to(device)"
    assert timeline.evaluate("document.activeElement.className") == "stage"


def test_the_scale_of_time_has_ticks(timeline):
    assert timeline.locator(".ticks text").count() == 0

    timeline.locator("[data-axis]").click()

    assert timeline.locator("[data-axis]").get_attribute("aria-pressed") == "true"
    texts = timeline.locator(".ticks text").all_text_contents()
    assert len(texts) > 3 and all(text.endswith(" ms") for text in texts)
    assert "time" in timeline.locator(".scale").inner_text()


def test_a_tooltip_names_the_bar_under_the_mouse(timeline):
    cell(timeline, "perm").hover()

    assert timeline.locator(".tip").inner_text().startswith("perm: int64 [40]")


def test_without_a_script_the_chart_and_the_table_are_there(shown, tmp_path):
    page = shown(trace_html.page(recorded_trace(tmp_path)), java_script_enabled=False, viewport=WIDE)

    assert page.locator(".stay").count() == page.locator(".values tbody tr").count() > 5
    assert page.locator(".stage").bounding_box()["width"] > 1000
    assert page.locator(".actions.scripted").is_hidden()
    assert "created on cpu" in page.locator(".stay title").first.text_content()


def test_text_of_the_run_is_shown_and_obeyed_nowhere(shown, tmp_path):
    words = "</title></svg><script>alert('x')</script><img src=x onerror=alert(1)>"

    def hostile(timeline):
        for stay in timeline["stays"]:
            stay["name"] = stay["dtype"] = words
        return timeline

    page = shown(trace_html.page(recorded_trace(tmp_path, hostile)))

    assert page.locator("main img, main script").count() == 0
    assert words in page.locator(".values").inner_text()


def test_a_click_on_an_object_zooms_to_it(memory):
    whole = memory.locator(".stage").bounding_box()["width"]
    assert width(memory, "modules 196 B") < whole / 2

    cell(memory, "modules 196 B").click()

    assert width(memory, "modules 196 B") == pytest.approx(whole, rel=0.02)
    assert memory.locator(".chosen").inner_text().startswith("modules: ")
    memory.locator("[data-zoom=all]").click()
    assert width(memory, "modules 196 B") < whole / 2


def test_the_table_of_objects_sorts_by_each_column(memory):
    def sizes():
        return [
            int(each)
            for each in memory.locator("[data-name=size][data-value]").evaluate_all(
                "all => all.map(one => one.dataset.value)"
            )
        ]

    memory.get_by_role("button", name="size").click()
    assert sizes() == sorted(sizes(), reverse=True) and len(sizes()) > 6
    memory.get_by_role("button", name="size").click()
    assert sizes() == sorted(sizes())
    memory.get_by_role("button", name="name").focus()
    memory.keyboard.press("Enter")
    names = memory.locator("table.objects tbody th").all_inner_texts()
    assert names == sorted(names, key=str.lower)
    assert memory.locator("th[aria-sort]").inner_text() == "name"


def test_the_tree_holds_each_part_of_a_module(memory):
    labels = memory.locator(".tree code").all_inner_texts()

    assert {"modules", "net", "body", "weight", "bias", "net.heads[0]", "optimizer", "loss"} <= set(labels)
    assert memory.locator(".tree .not-fixed").count() == 2
