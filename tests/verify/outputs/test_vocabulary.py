"""Pieces of text that differ by nature."""

from __future__ import annotations

import pytest

from devfix.verify.outputs.vocabulary import is_moment, is_varying_key, name_pattern, neutral
from devfix.verify.sandbox.scratch import RUN_PREFIX

ALIKE = {
    "device": ("Using device: cuda:0", "Using device: cpu"),
    "repr": ("tensor(3., device='cuda:0')", "tensor(3.)"),
    "repr-with-gradient": ("tensor(0.5, device='cuda:0', grad_fn=<X>)", "tensor(0.5, grad_fn=<X>)"),
    "device-object": ("device(type='cuda', index=0)", "device(type='cpu')"),
    "count": ("Number of GPUs: 1", "Number of GPUs: 0"),
    "seconds": ("loss 0.5 (3.2s)", "loss 0.5 (11.7s)"),
    "minutes": ("Training completed in 0.01 minutes.", "Training completed in 0.00 minutes."),
    "label": ("took 3.2", "took 0.5"),
    "meter": ("Time 0.123 ( 0.200) Loss 0.5", "Time 1.111 ( 2.222) Loss 0.5"),
    "speed": ("12.5 it/s", "99.1 it/s"),
    "samples": ("1023.4 samples/s, loss 0.5", "7.1 samples/s, loss 0.5"),
    "memory": ("memory 3.2", "memory 0.0"),
    "megabytes": ("peak 12 MB", "peak 0 MB"),
    "clock": ("12:30:05 ready", "12:31:17 ready"),
    "duration": ("Elapsed: 0:00:03.123456", "Elapsed: 0:01:03.7"),
    "logging": ("2026-11-23 03:49:53,610 INFO loss 0.5", "2026-11-24 13:39:53,001 INFO loss 0.5"),
    "iso": ("at 2026-11-23T03:49:53.123456+00:00 x", "at 2025-01-02T13:00:00.5Z x"),
    "date": ("Mon Nov 23 03:28:03 2026", "Tue Dec  1 13:28:03 2026"),
    "moment": ("1795405793.614 done", "1795405999.1 done"),
    "address": ("<X object at 0x7f0012345678>", "<X object at 0x7f00aaaabbbb>"),
    "uuid": ("run 2f1c2c1e-7f0d-4c0b-9e39-111111111111", "run aaaaaaaa-7f0d-4c0b-9e39-222222222222"),
    "traceback": ('  File "train.py", line 12, in main', '  File "train.py", line 14, in main'),
    "warning": ("train.py:12: UserWarning: x", "train.py:14: UserWarning: x"),
    "bar": (
        "100%|████| 10/10 [00:00<00:00, 123.45it/s, loss=0.5]",
        "100%|████| 10/10 [00:03<00:00,  3.05s/it, loss=0.5]",
    ),
    "scratch": (f"saved /tmp/{RUN_PREFIX}ab12cd34/project/a.pt", f"saved /x/y/{RUN_PREFIX}zzzzzz_z/project/a.pt"),
}


@pytest.mark.parametrize("name", ALIKE)
def test_what_differs_by_nature_is_left_out(name):
    one, other = ALIKE[name]

    assert neutral(one) == neutral(other)


@pytest.mark.parametrize(
    "text",
    [
        "Epoch 3 loss 0.5312",
        "acc 0.75 (best 0.80)",
        "accuracy: 75.0%",
        "timesteps 100, reward 3.5",
        "time steps: 12",
        "model8 has 5.2M parameters",
        "[[3 1] [0 4]]",
        "conv1.weight 0.123",
        "step 10 of 20, lr 0.001",
        "score 1e-3",
        "sentiment 0.3",
    ],
)
def test_results_stay(text):
    assert neutral(text) == text


def test_a_number_after_a_time_stays():
    assert "0.5" in neutral("time 3.2 loss 0.5") and "3.2" not in neutral("time 3.2 loss 0.5")
    assert "0.25" in neutral("[12.3s] val_loss=0.25, 3.1 GB")


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("runs/Nov23_03-49-53_d3b4e82b/model.pt", "runs/Dec01_13-49-53_00a4e82b/model.pt"),
        ("runs/resnet_2026-11-28-9-51-43/a.txt", "runs/resnet_2026-12-1-13-2-5/a.txt"),
        ("logs/20261123-034953/a.csv", "logs/20261124-134953/a.csv"),
        ("events.out.tfevents.1795405793.host.12.0", "events.out.tfevents.1795409999.host.99.0"),
        ("tmpab12cd_x/a", "tmp00000000/a"),
    ],
)
def test_times_and_identifiers_in_names_are_left_out(name, other):
    assert name_pattern(name) == name_pattern(other) != name


def test_results_in_names_stay():
    assert name_pattern("ckpt/epoch=3-val_loss=0.35.ckpt") == "ckpt/epoch=3-val_loss=0.35.ckpt"


def test_keys_of_times_and_moments_are_known():
    assert all(map(is_varying_key, ("train_runtime", "_timestamp", "epoch.time", "train_samples_per_second")))
    assert not any(map(is_varying_key, ("val.accuracy", "timesteps", "total_timesteps", "time.loss", "members")))
    assert is_moment(1795405793.6) and is_moment(1795405793612) and not is_moment(0.5) and not is_moment(float("nan"))


def test_a_long_line_of_digits_costs_little():
    for text in ("1" * 4000, "1s" * 2000, "time" * 1000, "a " * 2000 + "cpu"):
        neutral(text)
