"""What frameworks pass to the methods of a subclass."""

from __future__ import annotations

import pytest

from devfix.models.protocols import hook_arguments


@pytest.mark.parametrize(
    ("base", "method", "expected"),
    [
        pytest.param("pytorch_lightning.LightningModule", "training_step", ("batch", "number", "number"), id="step"),
        pytest.param("LightningModule", "on_train_batch_end", ("", "batch", "number", "number"), id="no-package"),
        pytest.param("fairseq.criterions.FairseqCriterion", "forward", ("module", "batch", ""), id="fairseq"),
        pytest.param("fairseq.criterions.FairseqCriterion", "reduce_metrics", (), id="another-method"),
        pytest.param("torch.nn.Module", "forward", (), id="another-class"),
        pytest.param("", "training_step", (), id="no-class"),
    ],
)
def test_words_follow_the_base_class_and_the_method(base, method, expected):
    assert hook_arguments(base, method) == expected
