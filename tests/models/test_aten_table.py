"""The generated table of PyTorch's functions: it can be generated again, is parsed, and says what is known."""

from __future__ import annotations

import json
import os
import re

import pytest
import torch

from conformance.agreement import load, nearest
from devfix.models.signatures import parse_signature
from models.generate import aliases, names, recorded, table, versions

TABLE = json.loads(table.PATH.read_text(encoding="utf-8"))
FUNCTIONS, ALIASES = TABLE["functions"], TABLE["aliases"]
PINNED = torch.__version__.partition("+")[0] == TABLE["torch"]
needs_pinned = pytest.mark.skipif(not PINNED, reason=f"the table is that of PyTorch {TABLE['torch']}")

# Every kind of function, of source and of probe; the whole table takes minutes.
SAMPLED = (
    "torch.addmm torch.max torch.clamp torch.einsum torch.diff torch.nonzero torch.zeros_like torch.tensor_split "
    "torch.fft.fftfreq torch.linalg.solve torch.nn.functional.cross_entropy torch.Tensor.copy_ torch.Tensor.new_zeros "
    "torch.Tensor.count_nonzero"
).split()


# Names for which the table says more than some calls: the reason.
OTHERWISE = {
    "torch.nn.functional.cosine_embedding_loss": "one number as target may be on another device",
    "torch.nn.functional.l1_loss": "numbers of dimension 0 may be on the CPU, if both operands are",
}


def signatures(name: str) -> list[str]:
    return FUNCTIONS[ALIASES.get(name, name)]


def words(name: str) -> list[dict[str, str]]:
    """Words of the parameters of each overload."""
    parsed = map(parse_signature, signatures(name))
    return [{each.name: str(each.word) for each in one.parameters} for one in parsed]


def results(name: str) -> list[str]:
    return [str(parse_signature(text).result) for text in signatures(name)]


# --- the file -------------------------------------------------------------------------------------------------------
@needs_pinned
def test_functions_of_every_kind_are_generated_as_they_are_in_the_table():
    assert table.rows(SAMPLED) == {name: FUNCTIONS[name] for name in SAMPLED}


@needs_pinned
@pytest.mark.skipif("DEVFIX_ALL_MODELS" not in os.environ, reason="takes minutes; run by nox -s models")
def test_the_table_is_generated_byte_by_byte():
    assert table.text(table.table()) == table.PATH.read_text(encoding="utf-8")


@needs_pinned
def test_aliases_are_those_of_pytorch():
    assert set(ALIASES.items()) <= set(aliases.aliases().items())


def test_the_file_has_one_function_per_line_in_order():
    lines = table.PATH.read_text(encoding="utf-8").splitlines()
    found = [match[1] for match in (re.match(r'  "([\w.]+)": \[', line) for line in lines) if match]

    assert found == sorted(FUNCTIONS)
    assert table.PATH.stat().st_size < 300_000


def test_versions_are_those_that_were_read():
    spans = json.loads(versions.PATH.read_text(encoding="utf-8"))

    assert TABLE["versions"] == list(versions.VERSIONS)
    assert {"since": TABLE["since"], "until": TABLE["until"]} == spans
    assert set(TABLE["since"].values()) | set(TABLE["until"].values()) <= set(TABLE["versions"])


def test_names_that_came_later_are_in_the_table_and_names_that_went_are_not():
    assert TABLE["since"].keys() <= FUNCTIONS.keys() | ALIASES.keys()
    assert not TABLE["until"].keys() & (FUNCTIONS.keys() | ALIASES.keys())


@needs_pinned
def test_every_name_exists_in_torch():
    assert FUNCTIONS.keys() | ALIASES.keys() <= names.functions().keys()


@needs_pinned
def test_every_public_name_is_in_the_table_or_was_left_out_by_hand():
    corrections = json.loads(table.CORRECTIONS.read_text(encoding="utf-8"))

    missing = names.functions().keys() - FUNCTIONS.keys() - ALIASES.keys()

    assert missing == {name for name, each in corrections.items() if not each["signatures"]}
    assert all(each["source"].startswith("https://") and each["reason"] for each in corrections.values())


def test_an_alias_names_a_function_and_is_none_itself():
    assert set(ALIASES.values()) <= FUNCTIONS.keys()
    assert not ALIASES.keys() & FUNCTIONS.keys()


@pytest.mark.parametrize("prefix", sorted({name.rpartition(".")[0] for name in FUNCTIONS}))
def test_every_signature_is_in_the_language_of_the_stubs(prefix):
    for name, texts in FUNCTIONS.items():
        if name.rpartition(".")[0] == prefix:
            assert texts, name
            for text in texts:
                parse_signature(text)


# --- real builds ----------------------------------------------------------------------------------------------------
@needs_pinned
def test_the_table_says_what_a_cuda_build_answered():
    recording = nearest(TABLE["torch"])
    assert recording is not None

    every = 1 if "DEVFIX_ALL_MODELS" in os.environ else 30  # all of them take most of a minute
    outcomes = dict(list(load(recording).outcomes.items())[::every])

    found = list(recorded.answers(TABLE, outcomes))

    wrong = [each for each in found if not each.agrees]
    assert len(found) > 5_000 / every
    assert [each for each in wrong if each.recorded == "refused"] == []
    assert {each.name for each in wrong} <= OTHERWISE.keys(), wrong
    assert len(wrong) <= max(2, len(found) / 500)


# --- facts ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "operands"),
    [
        ("torch.linalg.solve", {"A": "On", "B": "On"}),
        ("torch.searchsorted", {"sorted_sequence": "On", "input": "On", "sorter": "On"}),
        ("torch.scatter_add", {"input": "On", "index": "On", "src": "On"}),
        ("torch.Tensor.scatter_add_", {"self": "Written", "index": "On", "src": "On"}),
        ("torch.inner", {"input": "On", "other": "On"}),
        ("torch.column_stack", {"tensors": "On"}),
        ("torch.multiply", {"input": "Scalar", "other": "Scalar"}),
        ("torch.Tensor.multiply", {"self": "Scalar", "other": "Scalar"}),
        ("torch.Tensor.multiply_", {"self": "Written", "other": "Scalar"}),
        ("torch.lerp", {"input": "On", "end": "On", "weight": "Scalar"}),
        ("torch.addcmul", {"input": "On", "tensor1": "On", "tensor2": "Scalar"}),
        ("torch.where", {"condition": "On"}),
        ("torch.nn.functional.embedding", {"input": "On", "weight": "On"}),
        ("torch.nn.functional.batch_norm", {"input": "On", "running_mean": "On", "running_var": "On"}),
        ("torch.Tensor.copy_", {"self": "Written", "other": "Any"}),
        ("torch.Tensor.index_put_", {"self": "Written", "indices": "Any", "values": "Scalar"}),
        ("torch.Tensor.masked_fill_", {"self": "Written", "mask": "On", "value": "Scalar"}),
        ("torch.Tensor.expand_as", {"self": "Any", "other": "Any"}),
        ("torch.Tensor.numpy", {"self": "Host"}),
        ("torch.nn.functional.ctc_loss", {"targets": "Any", "input_lengths": "Any", "target_lengths": "Any"}),
        ("torch.diff", {"input": "On", "prepend": "On", "append": "On"}),
        ("torch.lstm", {"input": "On", "hx": "On", "params": "On"}),
        ("torch.zeros", {"device": "Device", "out": "Out"}),
        ("torch.multinomial", {"input": "On", "generator": "Generator"}),
    ],
)
def test_roles_of_operands(name, operands):
    assert any(operands.items() <= each.items() for each in words(name)), words(name)


def test_an_overload_for_numbers_comes_first_where_tensors_must_agree():
    assert [each["min"] for each in words("torch.clamp")] == ["float", "On"]
    assert [each.get("test_elements") for each in words("torch.isin")] == ["On", None, "On"]


def test_lengths_are_read_by_the_host():
    assert [each.get("tensor_indices_or_sections") for each in words("torch.tensor_split")] == [None, "Host", None]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("torch.add", {"On"}),
        ("torch.eq", {"Integral"}),
        ("torch.searchsorted", {"Integral"}),
        ("torch.dot", {"Number"}),
        ("torch.amax", {"Reduced[dim]"}),
        ("torch.argmax", {"Integral[dim]"}),
        ("torch.count_nonzero", {"Integral[dim]"}),
        ("torch.nn.functional.cross_entropy", {"Reduced[reduction]"}),
        ("torch.nn.functional.mse_loss", {"Reduced[reduction]"}),
        ("torch.topk", {"tuple[On, Integral]"}),
        ("torch.Tensor.split", {"list[On]"}),
        ("torch.unsqueeze", {"Vector"}),
        ("torch.equal", {"bool"}),
        ("torch.Tensor.item", {"float"}),
        ("torch.Tensor.dim", {"int"}),
        ("torch.Tensor.cpu", {"OnCPU"}),
        ("torch.from_numpy", {"OnCPU"}),
        ("torch.fft.fftfreq", {"Fresh[device]"}),
        ("torch.hann_window", {"Fresh[device]"}),
        ("torch.zeros", {"Fresh[device]"}),
        ("torch.zeros_like", {"Like[input]"}),
        ("torch.Tensor.new_zeros", {"Like[self]"}),
        ("torch.tensor", {"Like[data]"}),
        ("torch.Tensor.copy_", {"Of[self]"}),
        ("torch.Tensor.type_as", {"Of[other]"}),
    ],
)
def test_results(name, expected):
    assert set(results(name)) == expected


def test_the_first_overload_that_fits_is_the_right_one():
    assert results("torch.max") == ["Number", "tuple[On, Integral]", "On"]
    assert results("torch.sum") == ["Number", "On"]
    assert results("torch.nonzero") == ["list[Integral]", "Integral"]


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("torch.absolute", "torch.abs"),
        ("torch.concat", "torch.cat"),
        ("torch.Tensor.arccos_", "torch.Tensor.acos_"),
        ("torch.special.expit", "torch.sigmoid"),
        ("torch.nn.functional.conv2d", "torch.conv2d"),
    ],
)
def test_aliases(name, target):
    assert ALIASES[name] == target


def test_a_name_knows_its_versions():
    assert TABLE["since"]["torch.hash_tensor"] == "2.9"
    assert TABLE["until"]["torch.Tensor.rename"] == "2.12"
