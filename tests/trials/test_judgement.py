"""One right repair and one wrong patch, through the proof."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from benchmarks.trials.catalogue import programs
from benchmarks.trials.judgement import verdict


@pytest.mark.parametrize(
    "name",
    [
        "plain_classifier: labels moved in the call",
        "warmup_script: weight decay",
        "weight_average: averaged",
        "ema_model: averages on the CPU",
        "sharpness: gradient norm on the CPU",
        "reported_sizes: half",
        "reported_sizes: another worst sample",
        "reported_sizes: targets moved on a line that is added",
        "reported_sizes: saved samples",
        "clock_seed: labels",
        "fresh_entropy: sine",
        "host_statistics: statistics",
    ],
)
def test_a_trial_has_an_acceptable_verdict(name):
    for program in programs([name]):
        for trial in program.trials:
            assert not verdict(program, trial).is_off
