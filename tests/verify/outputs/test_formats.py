"""Files are recognised by their content."""

from __future__ import annotations

import gzip
import io
import json
import struct
import tarfile
import time
import zipfile
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devfix.verify.outputs.files import Budget, Unreadable, open_content
from devfix.verify.outputs.formats import parse, parse_bytes
from devfix.verify.outputs.values import Array, array_of


def parsed(tmp_path, data: bytes):
    (tmp_path / "file").write_bytes(data)
    return parse(open_content(tmp_path / "file", Budget()))


def zipped(members: dict[str, bytes], method=zipfile.ZIP_DEFLATED, year=2020) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name, (year, 1, 1, 0, 0, 0)), data, compress_type=method)
    return stream.getvalue()


def test_json_lines_are_values_and_texts_are_lines(tmp_path):
    assert parsed(tmp_path, b'{"a": {"b": [1, 2.5]}}').values == {"a.b[0]": 1, "a.b[1]": 2.5}
    assert parsed(tmp_path, b'{"a": 1}\n{"a": 2}\n').values == {"line 1.a": 1, "line 2.a": 2}
    assert parsed(tmp_path, b"epoch 1, loss 0.5\ndone\n").lines == ("epoch 1, loss 0.5", "done", "")
    assert parsed(tmp_path, b"{not json").kind == "text"


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_a_table_with_a_heading_has_its_cells_by_line_and_column(tmp_path, separator):
    table = "epoch,loss,name\n0,0.5,a\n1,0.25,b\n".replace(",", separator)

    assert parsed(tmp_path, table.encode()).values == {
        "line 2.epoch": 0.0,
        "line 2.loss": 0.5,
        "line 2.name": "a",
        "line 3.epoch": 1.0,
        "line 3.loss": 0.25,
        "line 3.name": "b",
    }


@pytest.mark.parametrize("text", ["0,0.5\n1,0.25\n", "a,b\n1,2\n1,2,3\n", "a,b\n", 'a,b\n"' + "x" * 200_000])
def test_a_text_that_is_no_table_is_lines(tmp_path, text):
    assert parsed(tmp_path, text.encode()).kind == "text"


def test_members_of_archives_that_are_copies_of_the_source_are_named(tmp_path):
    data = zipped({"train.py": b"print(1)", "other.txt": b"1.5"})
    (tmp_path / "file").write_bytes(data)

    found = parse(open_content(tmp_path / "file", Budget()), lambda data: "train.py" if b"print" in data else None)

    assert found.values == {"train.py": "a copy of train.py", "other.txt: line 1": "1.5"}


@pytest.mark.parametrize("dtype", ["<f4", ">f8", "<f2", "|b1", "<i8", "<c8", "|u1"])
def test_numpy_files_have_their_elements(tmp_path, dtype):
    numpy = pytest.importorskip("numpy")
    array = numpy.arange(12).reshape(3, 4).astype(dtype)
    stream = io.BytesIO()
    numpy.save(stream, array)

    (found,) = parsed(tmp_path, stream.getvalue()).values.values()

    assert found.shape == (3, 4) and found.dtype == array.dtype.name
    assert found.samples == tuple(array.ravel().view(dtype.replace("c8", "f4")).astype(float))


def test_archives_of_arrays_ignore_times_and_compression(tmp_path):
    numpy = pytest.importorskip("numpy")
    arrays = {"x": numpy.ones((2, 3)), "y": numpy.arange(4)}
    streams = io.BytesIO(), io.BytesIO()
    numpy.savez(streams[0], **arrays)
    numpy.savez_compressed(streams[1], **arrays)

    plain, compressed = (parsed(tmp_path, stream.getvalue()).values for stream in streams)

    assert plain == compressed and set(plain) == {"x", "y"}


def test_members_of_archives_are_compared_without_their_times(tmp_path):
    members = {"a.json": b'{"loss": 0.5}', "b.txt": b"one\ntwo"}

    found = [parsed(tmp_path, zipped(members, year=year)).values for year in (2020, 2021)]

    assert found[0] == found[1] and found[0]["a.json: loss"] == 0.5 and found[0]["b.txt: line 2"] == "two"


def test_compressed_files_are_their_content(tmp_path):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        info = tarfile.TarInfo("m.json")
        info.size = 8
        archive.addfile(info, io.BytesIO(b'{"a": 1}'))

    assert parsed(tmp_path, gzip.compress(b'{"a": 1}', mtime=1)).values == {"a": 1}
    assert parsed(tmp_path, packed.getvalue()).values == {"m.json: a": 1}


def test_safetensors_have_their_tensors(tmp_path):
    body = struct.pack("<3f", 1, 2, 3)
    header = json.dumps({"w": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]}, "__metadata__": {"step": "3"}})
    data = struct.pack("<Q", len(header)) + header.encode() + body

    assert parsed(tmp_path, data).values == {"w": array_of("float32", (3,), body), "__metadata__.step": "3"}


def test_images_and_unknown_formats_are_their_bytes(tmp_path):
    image, unknown = parsed(tmp_path, b"\x89PNG\r\n\x1a\n\0\0"), parsed(tmp_path, b"SQLite format 3\0\1\2")

    assert (image.kind, unknown.kind) == ("image", "binary")
    assert isinstance(image.values[""], Array)


BOMBS = {  # made by the test that needs one: collecting tests costs every worker
    "zip": lambda: zipped({"a": b"\0" * (257 << 20)}),
    "gzip": lambda: gzip.compress(b"\0" * (257 << 20), 1),
    "quine-like": lambda: zipped({f"{number}": b"x" for number in range(20_000)}, zipfile.ZIP_STORED),
    "json": lambda: b"[" * 200_000,
    "pickle": lambda: b"\x80\x04" + b"]" * 250_000,
    "npy": lambda: b"\x93NUMPY\2\0\xff\xff\xff\xff",
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_costs_little_and_is_unreadable_or_text(tmp_path, name):
    bomb = BOMBS[name]()
    started = time.process_time()

    with suppress(Unreadable):
        assert parsed(tmp_path, bomb).kind == "text"

    assert time.process_time() - started < 10


@given(
    st.sampled_from([b"", b"PK\3\4", b"\x93NUMPY", b"\x80\x04", b"\x1f\x8b", b"{", b"\0\0\0\0"]),
    st.binary(max_size=300),
)
def test_any_bytes_are_read_or_unreadable(start, rest):
    with suppress(Unreadable):
        parse_bytes(start + rest)
