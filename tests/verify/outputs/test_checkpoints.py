"""Checkpoints give the tensors that torch loads."""

from __future__ import annotations

import argparse
import datetime
import io
import pickle
from contextlib import suppress

import pytest

torch = pytest.importorskip("torch")
numpy = pytest.importorskip("numpy")

from devfix.verify.outputs.formats import parse_bytes  # noqa: E402
from devfix.verify.outputs.values import Array, array_of  # noqa: E402


def saved(value, **options) -> bytes:
    stream = io.BytesIO()
    torch.save(value, stream, **options)
    return stream.getvalue()


def read(tmp_path, data: bytes):
    from devfix.verify.outputs.files import Budget, open_content
    from devfix.verify.outputs.formats import parse

    (tmp_path / "file").write_bytes(data)
    return parse(open_content(tmp_path / "file", Budget())).values


def expected(tensor) -> Array:
    tensor = tensor.detach().contiguous()
    return array_of(str(tensor.dtype)[6:], tuple(tensor.shape), tensor.reshape(-1).view(torch.uint8).numpy().tobytes())


FORMATS = pytest.mark.parametrize("options", [{}, {"_use_new_zipfile_serialization": False}], ids=["zip", "legacy"])


@FORMATS
def test_tensors_that_share_their_memory_are_told_from_equal_ones(tmp_path, options):
    tied = torch.arange(4.0)
    one = expected(tied)

    assert read(tmp_path, saved({"a": tied, "b": tied.detach()}, **options)) == {
        "a": one,
        "b": one,
        "b.is_shared": True,
    }
    assert read(tmp_path, saved({"a": tied, "b": tied.clone()}, **options)) == {"a": one, "b": one}


@FORMATS
def test_views_of_parts_are_not_shared(tmp_path, options):
    low, high = torch.arange(4.0).chunk(2)

    assert read(tmp_path, saved([low, high], **options)) == {"[0]": expected(low), "[1]": expected(high)}


@FORMATS
def test_a_view_says_how_much_of_its_storage_the_file_keeps(tmp_path, options):
    everything = torch.arange(100.0)

    kept = read(tmp_path, saved({"view": everything[:10], "copy": everything[:10].clone()}, **options))

    assert (kept["view"].excess, kept["copy"].excess) == (360, 0)


@FORMATS
@pytest.mark.parametrize("trains", [True, False])
def test_a_parameter_says_whether_it_trains(tmp_path, options, trains):
    weight = torch.nn.Parameter(torch.ones(2), requires_grad=trains)

    assert read(tmp_path, saved({"w": weight}, **options)) == {"w": expected(weight), "w.requires_grad": trains}


@FORMATS
@pytest.mark.parametrize(
    "tensor",
    [
        pytest.param(torch.arange(6.0).reshape(2, 3), id="plain"),
        pytest.param(torch.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1), id="permuted"),
        pytest.param(torch.arange(12).reshape(3, 4)[1:, ::2], id="strided-view"),
        pytest.param(torch.arange(3.0).expand(4, 3), id="expanded"),
        pytest.param(torch.arange(3.0).reshape(3, 1).expand(3, 4), id="expanded-columns"),
        pytest.param(torch.randn(2, 3, 4, 4).to(memory_format=torch.channels_last), id="channels-last"),
        pytest.param(torch.tensor(3.5), id="scalar"),
        pytest.param(torch.empty(0, 3), id="empty"),
        pytest.param(torch.randn(5, dtype=torch.bfloat16), id="bfloat16"),
        pytest.param(torch.randn(5, dtype=torch.float16), id="float16"),
        pytest.param(torch.tensor([True, False]), id="bool"),
        pytest.param(torch.randn(3, dtype=torch.complex64), id="complex"),
    ],
)
def test_a_tensor_is_read_as_torch_saved_it(tmp_path, tensor, options):
    assert read(tmp_path, saved({"state": {"fc.weight": tensor}}, **options)) == {"state.fc.weight": expected(tensor)}


@pytest.mark.parametrize("protocol", range(2, 6))
def test_a_tensor_in_a_plain_pickle_is_read(protocol):
    tensor = torch.arange(6.0).reshape(2, 3).t()

    assert parse_bytes(pickle.dumps({"t": tensor}, protocol)).values == {"t": expected(tensor)}


@pytest.mark.parametrize("protocol", range(2, 6))
@pytest.mark.parametrize("dtype", ["float32", ">f8", "int64", "bool"])
def test_a_numpy_array_in_a_pickle_has_its_elements(dtype, protocol):
    array = numpy.arange(6).reshape(2, 3).astype(dtype)

    found = parse_bytes(pickle.dumps({"a": array, "mean": array.mean()}, protocol)).values

    assert found["a"].samples == tuple(map(float, array.ravel())) and found["a"].shape == (2, 3)
    assert found["mean"] == float(array.mean())


def test_shared_storages_are_read_for_each_tensor(tmp_path):
    base = torch.arange(10.0)

    found = read(tmp_path, saved([base[:3], base[5:]]))

    assert found == {"[0]": expected(base[:3]), "[1]": expected(base[5:])}


def test_a_whole_model_and_an_optimizer_have_leaves(tmp_path):
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(2, 2)).sum().backward()
    optimizer.step()

    found = read(
        tmp_path, saved({"model": model, "optimizer": optimizer.state_dict(), "args": argparse.Namespace(lr=2)})
    )

    assert expected(model[0].weight) in found.values()
    assert expected(optimizer.state_dict()["state"][0]["exp_avg"]) == found["optimizer.state.0.exp_avg"]
    assert (found["args.lr"], found["optimizer.param_groups[0].lr"]) == (2, 0.001)
    assert any(key.endswith("training") and value is True for key, value in found.items())


def test_the_device_of_a_checkpoint_is_left_out(tmp_path):
    data = saved({"w": torch.ones(2), "device": torch.device("cpu")}, _use_new_zipfile_serialization=False)

    moved = data.replace(b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:0")

    assert moved != data and read(tmp_path, moved) == read(tmp_path, data)


def test_moments_in_a_pickle_are_left_out():
    one, other = ({"at": datetime.datetime(2026, 11, day), "loss": 0.5} for day in (1, 2))

    assert parse_bytes(pickle.dumps(one)).values == parse_bytes(pickle.dumps(other)).values


@pytest.mark.parametrize("options", [{}, {"_use_new_zipfile_serialization": False}], ids=["zip", "legacy"])
def test_a_damaged_checkpoint_is_unreadable_and_nothing_else(tmp_path, options):
    from devfix.verify.outputs.files import Unreadable

    data = saved({"w": torch.randn(20), "b": [1, 2]}, **options)

    for at in range(0, len(data), 7):
        for damaged in (data[:at], data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]):
            with suppress(Unreadable):
                read(tmp_path, damaged)


class WithAttribute(torch.nn.Module):
    def __init__(self, registered: bool) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)
        mean = torch.arange(3.0)
        if registered:
            self.register_buffer("mean", mean, persistent=False)
        else:
            self.mean = mean


def test_a_tensor_of_a_pickled_module_has_one_name_registered_or_not(tmp_path):
    torch.manual_seed(0)
    plain = read(tmp_path, saved(WithAttribute(False)))
    torch.manual_seed(0)
    registered = read(tmp_path, saved(WithAttribute(True)))

    assert plain == registered
    assert isinstance(plain["mean"], Array) and isinstance(plain["layer.weight"], Array)
