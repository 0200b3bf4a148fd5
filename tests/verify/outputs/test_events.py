"""TensorBoard's event files without TensorFlow."""

from __future__ import annotations

import struct

from hypothesis import given
from hypothesis import strategies as st

from devfix.verify.outputs.events import is_event_file, read_events
from devfix.verify.outputs.values import Array


def varint(number: int) -> bytes:
    found = b""
    while number > 0x7F:
        found += bytes([number & 0x7F | 0x80])
        number >>= 7
    return found + bytes([number])


def field(number: int, value) -> bytes:
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    return varint(number << 3) + varint(value)


def record(time: float, step: int, tag: str, value: bytes) -> bytes:
    event = varint(1 << 3 | 1) + struct.pack("<d", time) + field(2, step)
    event += field(5, field(1, field(1, tag.encode()) + value))
    return framed(event)


def framed(event: bytes) -> bytes:
    return struct.pack("<Q", len(event)) + b"crc0" + event + b"crc0"


def events(time: float) -> bytes:
    start = framed(varint(1 << 3 | 1) + struct.pack("<d", time) + field(3, b"brain.Event:2"))
    scalars = [record(time + step, step, "loss", field(2, 0.5 / (step + 1))) for step in range(200)]
    return start + b"".join(scalars) + record(time, 3, "weights", field(5, b"a histogram"))


def test_scalars_are_read_by_tag_and_step_and_times_are_left_out():
    found = read_events(events(1.7e9))

    assert is_event_file(events(1.7e9)) and found == read_events(events(1.8e9))
    assert (found["loss at step 0"], found["loss at step 199"]) == (
        0.5,
        struct.unpack("<f", struct.pack("<f", 0.0025))[0],
    )
    assert isinstance(found["weights at step 3"], Array)


def test_a_text_is_compared_as_a_text():
    tensor = field(1, 7) + field(8, b"cuda:0")

    assert read_events(record(0, 1, "device", field(8, tensor))) == {"device at step 1": "cuda:0"}


def test_values_at_one_step_are_kept_apart():
    found = read_events(record(0, 1, "a", field(2, 1.0)) + record(0, 1, "a", field(2, 2.0)))

    assert found == {"a at step 1": 1.0, "a at step 1 (2)": 2.0}


def test_an_unfinished_file_is_read_up_to_its_end():
    assert len(read_events(events(0)[:-5])) == 200


@given(st.binary(max_size=200))
def test_any_bytes_are_read(data):
    assert isinstance(read_events(framed(data) + data), dict)
