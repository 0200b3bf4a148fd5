"""Differences of what two runs produced."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devfix.verify.outputs import File, Outputs, differences
from devfix.verify.outputs.values import array_of
from devfix.verify.sandbox.scratch import RUN_PREFIX

from .written import document, printed, report


def told(ours: Outputs, theirs: Outputs, repeated: Outputs | None = None, exact: bool = True) -> list[str]:
    return [str(difference) for difference in differences(ours, theirs, repeated, exact)]


def array(*numbers: float):
    import struct

    return array_of("float32", (len(numbers),), struct.pack(f"<{len(numbers)}f", *numbers))


def test_a_difference_reads_as_a_sentence():
    assert told(document({"val.accuracy": 0.5}), document({"val.accuracy": 0.75})) == [
        "metrics.json: `val.accuracy` is 0.5 instead of 0.75"
    ]
    assert told(printed("a\nacc 0.5"), printed("a\nacc 0.75")) == [
        "line 2 of the output is `acc 0.5` instead of `acc 0.75`"
    ]
    assert told(report("acc 0.5"), report("acc 0.75")) == ["line 1 of log.txt is `acc 0.5` instead of `acc 0.75`"]
    assert told(Outputs(), document({"a": 1})) == ["the file metrics.json is missing: 1 value"]
    assert told(document({"a": 1}), Outputs()) == ["the file metrics.json is not expected: 1 value"]
    assert told(document({}), document({"a": 1})) == ["metrics.json: `a` is missing: 1"]
    assert told(printed("a 0.5\n"), printed("a 0.5\nb 0.5\n")) == ["line 2 of the output is missing: `b 0.5`"]


def test_a_long_line_is_shown_from_shortly_before_its_difference():
    (line,) = told(printed("word " * 60 + "acc 0.5"), printed("word " * 60 + "acc 0.75"))

    assert len(line) < 200 and "acc 0.5` instead of `…" in line and line.endswith("acc 0.75`")


def test_arrays_are_shown_by_the_first_sample_that_differs():
    (zeros,) = told(document({"w": array(0, 0)}, "m.pt"), document({"w": array(1, 2)}, "m.pt"))
    (other,) = told(document({"w": array(1, 3)}, "m.pt"), document({"w": array(1, 2)}, "m.pt"))

    assert zeros == "m.pt: `w` is float32 [2] of zeros instead of float32 [2] with 1 at sample 1"
    assert other == "m.pt: `w` is float32 [2] with 3.0 instead of 2.0 at sample 2"


def test_a_view_that_keeps_more_of_its_storage_is_another_file():
    kept, alone = (document({"w": replace(array(1, 2), excess=excess)}, "m.pt") for excess in (4096, 0))

    assert told(kept, alone) == [
        "m.pt: `w` is float32 [2] that keeps 4,096 bytes of the storage which it is a view of instead of 0"
    ]
    assert told(alone, kept) == told(kept, kept) == []  # a view may become a tensor when it is moved
    assert told(kept, alone, exact=False) == []


def test_an_amount_of_memory_that_is_the_same_on_another_device_is_a_result():
    theirs, ours = document({"model_memory": 125_000}), document({"model_memory": 62_500})

    def found(elsewhere: Outputs | None) -> list[str]:
        return [str(each) for each in differences(ours, theirs, theirs, True, elsewhere)]

    assert found(None) == found(document({"model_memory": 9_000})) == []
    assert found(theirs) == ["metrics.json: `model_memory` is 62500 instead of 125000"]


def test_what_the_reference_does_not_reproduce_is_left_out_per_value():
    theirs, repeated = document({"id": 1, "loss": 0.5}), document({"id": 2, "loss": 0.5})

    assert told(document({"id": 3, "loss": 0.5}), theirs, repeated) == []
    assert told(document({"id": 3, "loss": 0.4}), theirs, repeated) == ["metrics.json: `loss` is 0.4 instead of 0.5"]


def test_keys_and_files_that_the_reference_does_not_reproduce_are_left_out():
    theirs, repeated, ours = (document({f"run {number}": 1, "loss": 0.5}) for number in (1, 2, 3))
    assert told(ours, theirs, repeated) == []

    theirs, repeated, ours = (document({"loss": 0.5}, f"worker_{number}.json") for number in (11, 12, 13))
    assert told(ours, theirs, repeated) == []
    assert told(document({"loss": 0.4}, "worker_13.json"), theirs, repeated) == [
        "worker_13.json: `loss` is 0.4 instead of 0.5"
    ]


@pytest.mark.parametrize(
    ("key", "ours", "theirs"),
    [
        ("args.device", "cuda", "cpu"),
        ("use_cuda", True, False),
        ("n_gpu", 1, 0),
        ("train_runtime", 3.5, 0.2),
        ("started", 1795405793.6, 1795409999.1),
        ("path", f"/tmp/{RUN_PREFIX}aaaaaaaa/project/x", f"/tmp/{RUN_PREFIX}bbbbbbbb/project/x"),
    ],
)
def test_settings_of_the_device_and_times_are_no_difference(key, ours, theirs):
    assert told(document({key: ours}), document({key: theirs})) == []


def test_a_random_state_of_the_accelerator_may_be_extra_and_a_loss_on_it_may_not():
    state = array_of("uint8", (4,), b"abcd")

    assert told(document({"cuda_rng_state": state}), document({})) == []
    assert len(told(document({"loss_cuda": 0.5}), document({}))) == 1


def test_on_a_real_accelerator_arrays_of_a_file_agree_in_their_direction():
    theirs = document({"w": array(1, 2, 3), "b": array(0.1)})

    assert told(document({"w": array(1.001, 2, 2.999), "b": array(0.11)}), theirs, exact=False) == []
    assert len(told(document({"w": array(1.001, 2, 2.999), "b": array(0.11)}), theirs)) == 2
    assert len(told(document({"w": array(-1, 2, 1), "b": array(0.1)}), theirs, exact=False)) == 1
    assert len(told(document({"w": array(1, 2, 3), "b": array(0.0)}), theirs, exact=False)) == 1


def test_images_count_on_the_simulator_only():
    ours, theirs = (
        Outputs(files={"a.png": File("image", values={"": array_of("bytes", (1,), data)})}) for data in (b"a", b"b")
    )

    assert len(told(ours, theirs)) == 1
    assert told(ours, theirs, exact=False) == []


def test_a_file_that_becomes_unreadable_is_a_difference_unless_a_limit_is_reached():
    damaged, limited = (
        Outputs(files={"m.pt": File("unreadable", note=note)})
        for note in ("it is damaged", "the limit for reading outputs is reached")
    )
    theirs = document({"w": 1}, "m.pt")

    assert len(told(damaged, theirs)) == 1
    assert told(limited, theirs) == told(theirs, limited) == []


def test_copies_of_the_patched_script_are_equal():
    outputs = Outputs(files={"runs/train.py": File("copy", note="train.py")})

    assert told(outputs, outputs) == []


def test_random_names_among_temporary_files_say_nothing():
    assert told(Outputs(files={"/tmp/tmpabcdefgh": File("text")}), Outputs()) == []
    assert len(told(Outputs(), document({"w": 1}, "/tmp/best.pt"))) == 1


def test_the_middle_of_a_very_long_output_counts_if_it_is_reproduced():
    theirs, other = (Outputs(("a",), ("z",), 10, digest) for digest in ("one", "two"))

    assert told(other, theirs) == told(other, theirs, other) == []
    assert len(told(other, theirs, theirs)) == 1


values = st.dictionaries(
    st.text(max_size=3),
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=9)
    | st.binary().map(lambda b: array_of("uint8", (len(b),), b)),
    max_size=5,
)


@given(values, values, st.booleans())
def test_nothing_differs_from_itself_whatever_the_noise(leaves, noise, exact):
    assert told(document(leaves), document(leaves), document(noise), exact) == []
    assert told(document(leaves), document(leaves), None, exact) == []


@given(st.dictionaries(st.text("abc", max_size=3), st.floats(-1e6, 1e6), min_size=1, max_size=5), st.data())
def test_noise_never_hides_a_number_that_two_reference_runs_agree_on(leaves, data):
    changed = data.draw(st.sampled_from(sorted(leaves)))
    noisy = data.draw(st.sets(st.sampled_from(sorted(leaves)))) - {changed}
    repeated = {key: value + 1 if key in noisy else value for key, value in leaves.items()}
    ours = {key: value - 1 if key in noisy | {changed} else value for key, value in leaves.items()}

    found = differences(document(ours), document(leaves), document(repeated), True)

    assert [difference.where for difference in found] == [f"metrics.json: `{changed}`" if changed else "metrics.json"]
