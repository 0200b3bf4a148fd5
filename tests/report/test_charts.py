"""The layout of the timeline and of the icicle chart, and the bounds that keep a page small."""

import itertools

import pytest
from recorded_runs import recorded_map, recorded_trace

from devfix.report.runs import icicle, timeline_chart
from devfix.trace.device_map.tree import read_tree


def chart(folder, change=lambda timeline: timeline):
    trace = recorded_trace(folder, change)
    return timeline_chart.lay_out(trace.timeline, [trace.diagnosis.misplaced.last.index])


def test_values_of_one_expression_are_one_bar_and_the_misplaced_one_is_alone(tmp_path):
    bars = {bar.label: bar for bar in chart(tmp_path).bars}

    assert (bars["model"].count, bars["model"].kind, bars["model"].device) == (4, "moved", "cuda:0")
    assert bars["model"].bytes == 144 + 24 + 24 + 4
    assert (bars["layer.weight"].count, bars["layer.weight"].is_misplaced) == (1, True)
    assert [bar.label for bar in bars.values() if bar.is_misplaced] == ["layer.weight"]
    assert bars["x"].is_operand


def test_bars_of_a_row_do_not_overlap_and_stay_on_the_axis(tmp_path):
    for lane in chart(tmp_path).lanes:
        for top in {bar.top for bar in lane.bars}:
            row = sorted(bar.range.order for bar in lane.bars if bar.top == top)
            assert all(one[1] <= other[0] for one, other in itertools.pairwise(row))
            assert all(0 <= start <= end <= 1 for start, end in row)
            assert lane.rows_top <= top < lane.bottom


def test_arrows_go_from_the_cpu_to_the_accelerator_at_the_moment_of_the_move(tmp_path):
    found = chart(tmp_path)

    assert len(found.arrows) == 3
    moments = {bar.range.order[0] for bar in found.bars if bar.kind == "moved"}
    assert {arrow.range.order[0] for arrow in found.arrows} == moments
    assert all(arrow.is_down and arrow.top < arrow.bottom for arrow in found.arrows)


def test_many_values_do_not_make_a_large_page(tmp_path):
    def many(timeline):
        one = next(stay for stay in timeline["stays"] if stay["name"] == "inputs")
        copies = [{**one, "index": 100 + number, "name": f"v{number}", "foreign": None} for number in range(3000)]
        for number, each in enumerate(copies):
            each["chain"] = [number % len(timeline["positions"])]
        timeline["stays"] += copies
        return timeline

    found = chart(tmp_path, many)

    assert len(found.bars) <= 400
    assert found.height < 3000
    assert found.hidden + sum(bar.count for bar in found.bars) == 3020
    assert any(bar.is_misplaced for bar in found.bars)


def test_a_timeline_without_values_has_no_chart(tmp_path):
    assert recorded_trace(tmp_path, lambda timeline: {**timeline, "stays": []}).timeline.stays == ()
    empty = recorded_trace(tmp_path, lambda timeline: {**timeline, "stays": []}).timeline
    assert timeline_chart.lay_out(empty) is None


@pytest.fixture
def tree(tmp_path):
    survey = recorded_map(tmp_path)
    return read_tree(survey.run.map, survey.map)


def test_the_tree_holds_as_many_bytes_as_the_memory_of_each_device(tree, tmp_path):
    assert tree.sizes == {each.device: each.total for each in recorded_map(tmp_path).map.memory}


def test_objects_have_the_problems_of_the_map(tree, tmp_path):
    problems = {node.name: node.problem for node in tree.descendants() if node.problem}

    assert problems == {row.name: row.problem for row in recorded_map(tmp_path).map.misplaced}
    assert {"net.body.weight", "net.body.bias"} <= {node.name for node in tree.descendants()}


def test_cells_lie_in_the_cells_above_them(tree):
    found = icicle.lay_out(tree)

    assert (found.cells[0].start, found.cells[0].end, found.cells[0].node) == (0, 1, tree)
    parents = {id(part): node for node in (tree, *tree.descendants()) for part in node.parts}
    cells = {id(cell.node): cell for cell in found.cells}
    for cell in found.cells[1:]:
        parent = cells[id(parents[id(cell.node)])]
        assert parent.start <= cell.start < cell.end <= parent.end + 1e-6
        assert cell.depth == parent.depth + 1
        assert sum(share for _, _, share in cell.shares) == pytest.approx(100, abs=0.01)
