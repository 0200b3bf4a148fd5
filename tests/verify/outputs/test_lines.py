"""Texts compared line by line and value by value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devfix.verify.outputs.lines import has_computed_number, line_changes


def changes(ours: str, theirs: str, repeated: str | None = None, exact: bool = True):
    again = None if repeated is None else repeated.splitlines()
    return list(line_changes(ours.splitlines(), theirs.splitlines(), again, exact))


LOG = "Using device: cpu\nepoch 0 loss 0.7512 time 0.31\nepoch 1 loss 0.5312 time 0.30\naccuracy 0.75\nsaved to a.pt\n"


def test_devices_and_times_are_no_difference():
    ours = LOG.replace("cpu", "cuda:0").replace("0.31", "11.2")

    assert changes(ours, LOG, LOG.replace("0.31", "0.44")) == []


def test_a_time_that_is_reproduced_is_a_result():
    reproduced = changes(LOG.replace("0.31", "11.2"), LOG, LOG)

    assert [change.number for change in reproduced] == [2]
    assert changes(LOG.replace("0.31", "11.2"), LOG) == reproduced  # a repetition is needed to leave it out


@pytest.mark.parametrize("zero", ["time 0.0", "time 0", "took 1 s", "peak memory: 312.4 MB", "RSS 210 MB"])
def test_what_is_reproduced_by_chance_or_depends_on_the_device_is_no_result(zero: str):
    assert changes(zero.replace("0", "3").replace("1", "2"), zero, zero) == []


def held(ours: str, theirs: str, elsewhere: str, repeated: str | None = None, shifts: frozenset[int] = frozenset({0})):
    return [
        (change.ours, change.theirs)
        for change in line_changes([ours], [theirs], [repeated or theirs], True, [elsewhere], shifts)
    ]


@pytest.mark.parametrize("text", ["model memory: 312.4 MB", "RSS 210 MB", "worst sample: line 317"])
def test_amounts_of_memory_and_lines_that_no_run_of_the_original_changes_are_results(text: str):
    ours = text.replace("1", "4")

    assert held(ours, text, text) == [(ours, text)]
    assert held(ours, text, text.replace("1", "5")) == []  # it depends on the device
    assert held(ours, text, text, text.replace("1", "5")) == []  # and here on the run


@pytest.mark.parametrize(
    "theirs",
    [
        "train.step line 40: loss 0.5",
        "[INFO: train.py:   40]: loss 0.5",
        "(train.py 40): INFO loss 0.5",
        "[train.py, 40] loss 0.5",
    ],
)
def test_line_numbers_may_differ_as_the_patch_moves_the_source(theirs: str):
    assert held(theirs.replace("40", "42"), theirs, theirs, shifts=frozenset({0, 2})) == []
    assert held(theirs.replace("40", "43"), theirs, theirs, shifts=frozenset({0, 2})) != []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("accuracy 0.75", "accuracy 0.5", id="number"),
        pytest.param("loss 0.5312", "loss 0.5313", id="last-digit"),
        pytest.param("accuracy 0.75\n", "", id="vanished"),
        pytest.param(
            "accuracy 0.75\n",
            "evaluation failed: Expected all tensors to be on the same device, cuda:0 and cpu\n",
            id="caught",
        ),
        pytest.param("saved to a.pt\n", "saved to a.pt\nskipping evaluation on cpu\n", id="skipped"),
        pytest.param("accuracy 0.75", "accuracy nan", id="not-a-number"),
        pytest.param("saved to a.pt", "saved to b.pt", id="word"),
    ],
)
def test_results_that_change_are_differences(old, new):
    assert old in LOG and len(changes(LOG.replace(old, new), LOG)) >= 1
    assert len(changes(LOG.replace(old, new), LOG, LOG)) >= 1


def test_a_change_names_the_line_and_both_texts():
    (change,) = changes(LOG.replace("0.75\n", "0.5\n"), LOG)

    assert change == (4, "accuracy 0.5", "accuracy 0.75")


def test_a_value_that_two_reference_runs_do_not_share_is_left_out_and_its_neighbours_are_not():
    theirs, repeated = "id 17 loss 0.5\n", "id 99 loss 0.5\n"

    assert changes("id 23 loss 0.5\n", theirs, repeated) == []
    assert len(changes("id 23 loss 0.4\n", theirs, repeated)) == 1


def test_lines_that_come_and_go_in_the_reference_are_left_out():
    theirs, repeated = "a 0.5\nretry after 3 tries\nb 0.5\n", "a 0.5\nb 0.5\n"

    assert changes("a 0.5\nretry after 8 tries\nb 0.5\n", theirs, repeated) == []
    assert changes(repeated, theirs, repeated) == []
    assert len(changes("a 0.5\n", theirs, repeated)) == 1


@pytest.mark.parametrize(
    "line",
    [
        "GPU: NVIDIA A100-SXM4-40GB",
        "Allocated GPU memory: 12.3 MB",
        "CUDA is available",
        "train.py:3: UserWarning: User provided device_type of 'cuda', but CUDA is not available. Disabling",
    ],
)
def test_lines_about_the_device_may_come_and_go(line):
    assert changes(f"{line}\n{LOG}", LOG) == changes(LOG, f"{line}\n{LOG}") == []


def test_settings_of_the_device_may_differ_beside_others_that_may_not():
    theirs = "Namespace(lr=0.1, cuda=False, device='cpu', amp=False)"

    assert changes("Namespace(lr=0.1, cuda=True, device='cuda', amp=True)", theirs) == []
    assert len(changes("Namespace(lr=0.2, cuda=True, device='cuda', amp=True)", theirs)) == 1


def test_lines_of_several_processes_may_come_in_another_order():
    assert changes("a 0.5\nb 0.25\nc 1.5\n", "b 0.25\na 0.5\nc 1.5\n") == []
    assert changes("reader has 0.5\nwriter has 1.5\n", "writer has 1.5\nreader has 0.5\n") == []
    assert len(changes("a 0.5\nb 1.5\n", "b 1.5\na 0.5\na 0.5\n")) == 1
    assert len(changes("worker 1 has 1.5\nworker 2 has 0.5\n", "worker 2 has 1.5\nworker 1 has 0.5\n")) == 2


def test_results_of_one_kind_stay_in_order():
    assert len(changes("loss 0.5\nloss 1.5\n", "loss 1.5\nloss 0.5\n")) == 2


def test_the_source_that_a_warning_shows_may_be_the_patched_one():
    theirs = "train.py:12: UserWarning: deprecated\n  loss = f(model(x))\nloss 0.5\n"
    ours = "train.py:13: UserWarning: deprecated\n  loss = f(model(x.to(device)))\nloss 0.5\n"

    assert changes(ours, theirs) == []
    assert len(changes(ours.replace("0.5", "0.6"), theirs)) == 1


def test_on_a_real_accelerator_numbers_may_differ_by_rounding():
    assert changes("acc 0.7501 n 3", "acc 0.7502 n 3", exact=False) == []
    assert changes("acc 0.75", "acc 0.76", exact=False) == []
    assert len(changes("acc 0.70", "acc 0.75", exact=False)) == 1
    assert len(changes("n 4", "n 3", exact=False)) == 1


def test_ten_thousand_lines_are_compared_at_once():
    log = "".join(f"step {number} loss {number / 7:.4f}\n" for number in range(10_000))

    assert changes(log, log) == []
    assert len(changes(log.replace("step 5000 loss 714.2857", "step 5000 loss 714.2858"), log)) == 1


def test_logs_that_start_and_end_differently_are_aligned_without_comparing_all_pairs():
    log = [f"step {number % 3} kind {'ab'[number % 2]}" for number in range(3_000)]
    ours, theirs = "\n".join(["begin 1.5", *log, "end 1.5"]), "\n".join(["start over 2.5", *log, "finish early 2.5"])

    assert {change.number for change in changes(ours, theirs)} == {1, 3_002}


texts = st.lists(st.text(alphabet="ab 01.\n:", max_size=8), max_size=6).map(" ".join)


@given(texts, st.none() | texts)
def test_no_text_differs_from_itself(text, repeated):
    assert changes(text, text, repeated) == []


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.data())
def test_noise_never_hides_a_value_that_two_reference_runs_agree_on(stable, data):
    noise = [data.draw(st.integers(10, 99)) for _ in stable]
    other = [data.draw(st.integers(10, 99)) for _ in stable]
    at = data.draw(st.integers(0, len(stable) - 1))
    changed = [value + 1 if index == at else value for index, value in enumerate(stable)]
    theirs, repeated, ours = (
        "\n".join(
            f"id{index} {value}.5 and {random}"
            for index, (value, random) in enumerate(zip(values, randoms, strict=True))
        )
        for values, randoms in ((stable, noise), (stable, other), (changed, other))
    )

    assert changes(ours, theirs, repeated) != []


@pytest.mark.parametrize(
    ("line", "computed"),
    [("loss 0.5", True), ("took 0.5 s", False), ("epoch 3", False), ("score 1e-5", True), ("version", False)],
)
def test_a_printed_float_is_computed_unless_it_is_a_time(line, computed):
    assert has_computed_number(line) == computed


@given(st.lists(st.text("0123456789abcdef", min_size=8, max_size=8), min_size=3, max_size=3, unique=True))
def test_random_identifiers_are_noise(identifiers: list[str]):
    texts = [f"run-20261123_09113{number}-{identifier}" for number, identifier in enumerate(identifiers)]

    assert changes(texts[0], texts[1], texts[2]) == []
