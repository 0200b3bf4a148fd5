"""Signatures in the words of the stubs: what they say, and what is no signature."""

from __future__ import annotations

import pytest

from devfix.models.signatures import OPERAND_WORDS, PARAMETER_WORDS, BadSignature, parse_signature, parse_word


def test_a_parameter_has_a_name_a_word_a_kind_and_perhaps_a_default():
    signature = parse_signature("(a: On, /, b: int = ..., *args: Host, c: Device = ..., **options) -> On")

    assert [(each.name, str(each.word), each.kind, each.optional) for each in signature.parameters] == [
        ("a", "On", "positional", False),
        ("b", "int", "plain", True),
        ("args", "Host", "rest", True),
        ("c", "Device", "keyword", True),
        ("options", "Any", "keywords", True),
    ]


def test_operands_are_the_tensors_that_must_agree():
    signature = parse_signature("(a: On, b: Scalar, c: Written, d: Out, e: Host, f: Any, g) -> On")

    assert [each.name for each in signature.operands] == ["a", "b", "c", "d"]
    assert set(PARAMETER_WORDS) > OPERAND_WORDS


def test_a_parameter_is_found_by_name():
    signature = parse_signature("(a: On)")

    assert signature.parameter("a") is signature.parameters[0]
    assert signature.parameter("b") is None


@pytest.mark.parametrize(
    "result",
    [
        "On",
        "Reduced[dim]",
        "Integral",
        "Integral[dim]",
        "Fresh[device]",
        "Fresh[cpu]",
        "Fresh[accelerator]",
        "Fresh[default]",
        "Like[a]",
        "Of[a]",
        "Same[a]",
        "Copy[a]",
        "Calls[a, dim]",
        "Module[a]",
        "Object[matplotlib.axes.Axes]",
        "Literal[False]",
        "Device[accelerator]",
        "tuple[On, list[On]]",
        "None",
        "bool",
    ],
)
def test_a_result_is_written_as_it_is_read(result):
    signature = parse_signature(f"(a: On, dim=..., device: Device = ...) -> {result}")

    assert str(signature.result) == result


def test_without_an_annotation_nothing_is_known():
    signature = parse_signature("(a)")

    assert (signature.parameters[0].word.name, signature.result.name) == ("Any", "Any")


def test_the_letter_of_a_device_says_nothing():
    assert parse_signature("(a: On[D]) -> On") == parse_signature("(a: On) -> On")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("(a: On -> On", "invalid syntax", id="syntax"),
        pytest.param("(a: Tensor) -> On", "parameter `a`: `Tensor` is not a word for parameters", id="parameter"),
        pytest.param("(a: OnCPU) -> On", "parameter `a`: `OnCPU` is not a word for parameters", id="word-of-results"),
        pytest.param("(a) -> Tensor", "`Tensor` is not a word for results", id="result"),
        pytest.param("(a) -> Host", "`Host` is not a word for results", id="word-of-parameters"),
        pytest.param("(a) -> Of[b]", "`Of\\[b\\]` names no parameter of the function", id="no-such-parameter"),
        pytest.param("(a) -> Reduced[dim]", "names no parameter", id="reduced-by-nothing"),
        pytest.param("(a) -> Fresh[cuda]", "names no parameter", id="no-such-place"),
        pytest.param("(a) -> tuple[On, Of[b]]", "names no parameter", id="inside-a-tuple"),
        pytest.param("(a) -> Calls", "`Calls` names the parameter that is called", id="nothing-called"),
        pytest.param("(a) -> Calls[a, b]", "`Calls\\[a, b\\]` names no parameter", id="nothing-passed"),
        pytest.param("(a) -> Of", "`Of` takes 1 word in brackets, not 0", id="too-few-words"),
        pytest.param("(a) -> On[a]", "`On` takes no words in brackets, not 1", id="too-many-words"),
        pytest.param("(a) -> Same[a, a]", "`Same` takes 1 word in brackets, not 2", id="two-words"),
        pytest.param("(a: On | None) -> On", "`On \\| None` is not a word with words in brackets", id="union"),
        pytest.param("(a) -> f(a)", "`f\\(a\\)` is not a word with words in brackets", id="call"),
    ],
)
def test_what_is_no_signature_is_refused_with_a_reason(text, message):
    with pytest.raises(BadSignature, match=message):
        parse_signature(text)


def test_words_nest():
    import ast

    word = parse_word(ast.parse("tuple[On, Reduced[dim]]", mode="eval").body)

    assert (word.name, [str(each) for each in word.arguments]) == ("tuple", ["On", "Reduced[dim]"])
