"""The kind of an argument from all evidence."""

from __future__ import annotations

import pytest


def test_the_first_argument_of_forward_is_a_tensor(kinds):
    text = """
    class Block(nn.Module):
        def forward(self, x, other): ...
    """
    assert kinds(text) == {"x": "tensor", "other": "unknown"}


def test_forward_of_other_classes_says_nothing(kinds):
    text = """
    class Planner:
        def forward(self, x): ...
    """
    assert kinds(text) == {"x": "unknown"}


def test_classes_of_the_file_derive_from_modules(kinds):
    text = """
    class Base(nn.Module): ...

    class Block(Base):
        def forward(self, x): ...
    """
    assert kinds(text) == {"x": "tensor"}


def test_static_methods_have_no_self(kinds):
    text = """
    class Block:
        @staticmethod
        def f(x: int): ...
    """
    assert kinds(text) == {"x": "number"}


def test_namesakes_are_alike(kinds):
    text = """
    class Loss(nn.Module):
        def compute(self, embeddings, labels, value):
            return embeddings.detach(), labels.unsqueeze(0), value.detach()

        def forward(self, x, embeddings, labels, value):
            if labels > 3:
                return self.compute_all(embeddings, value)
    """
    assert kinds(text) == {"x": "tensor", "embeddings": "tensor", "labels": "unknown", "value": "unknown"}


def test_namesakes_that_differ_say_nothing(kinds):
    text = """
    def one(mask):
        return mask.detach()

    def two(mask: str): ...

    def three(mask): ...
    """
    assert kinds(text) == {"mask": "unknown"}


def test_arguments_named_like_objects_are_no_tensors(kinds):
    text = """
    class Criterion(nn.Module):
        def forward(self, model, sample): ...
    """
    assert kinds(text) == {"model": "unknown", "sample": "unknown"}


def test_constructors_have_no_namesakes(kinds):
    text = """
    class Model(nn.Module):
        def embed(self, token_emb):
            return token_emb.detach()

        def __init__(self, token_emb):
            self.emb = token_emb
    """
    assert kinds(text) == {"token_emb": "unknown"}


STEP = """
import pytorch_lightning as pl

class Lit(pl.LightningModule):
    def training_step(self, {arguments}): ...
"""


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param("batch, index", {"batch": "batch", "index": "number"}, id="step"),
        pytest.param("batch: dict[str, Tensor]", {"batch": "tensor_dict"}, id="annotated"),
        pytest.param("batch: Any", {"batch": "batch"}, id="annotation-without-a-kind"),
    ],
)
def test_a_framework_passes_the_arguments_of_its_hooks(kinds, arguments, expected):
    assert kinds(STEP.format(arguments=arguments)) == expected


def test_a_method_that_no_framework_calls_gets_anything(kinds):
    assert kinds("class Lit(nn.Module):\n    def training_step(self, batch): ...") == {"batch": "unknown"}


def test_parts_of_an_argument_are_what_their_uses_show(arguments):
    for declared in ("pair", "pair: tuple"):
        found = arguments(f"""
        def decode(features, {declared}):
            scores, names = pair
            for name in names:
                print(name)
            return torch.exp(scores)
        """)["pair"]
        assert [part.kind.name for part in found.parts] == ["TENSOR", "UNKNOWN"]


def test_an_argument_that_is_unpacked_in_two_ways_has_no_parts(arguments):
    found = arguments("""
    def decode(pair, flag):
        if flag:
            scores, names = pair
        else:
            scores, names, rest = pair
        return torch.exp(scores)
    """)["pair"]
    assert found.parts == ()


def test_numbers_that_are_unpacked_say_nothing(arguments):
    found = arguments("def resized(x, size):\n    h, w = size\n    return x[:h, :w]\n")["size"]
    assert found.parts == ()


def test_what_no_module_has_tells_a_tensor_from_the_class_that_it_is_named_like(kinds):
    text = """
    class PatchEmbed(nn.Module): ...

    def resampled(patch_embed):
        return patch_embed.view(-1)

    """
    assert kinds(text) == {"patch_embed": "tensor"}
    assert kinds(text.replace(".view(-1)", ".float()")) == {"patch_embed": "unknown"}
