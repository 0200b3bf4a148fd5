"""What the names of a program's flags ask for."""

from __future__ import annotations

import pytest

from devfix.models.flags import asks_for_accelerator


@pytest.mark.parametrize(
    ("names", "answer"),
    [
        ("cuda gpu use_cuda usegpu gpu_mode on_gpu cuda_on train_on_gpu has_gpu mps use_accel isGPU", True),
        ("no_cuda nocuda disable_gpu without_cuda cpu use_cpu cpu_only force_cpu run_on_cpu", False),
        ("device cuda_device multi_gpu gpus num_gpu gpu_id gpu_metrics cudnn cpu_count cuda_or_cpu accelerate", None),
    ],
    ids=["accelerator", "none", "another-question"],
)
def test_a_flag_is_known_by_its_words(names, answer):
    assert {asks_for_accelerator(name) for name in names.split()} == {answer}
