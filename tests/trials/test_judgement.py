"""Some right repairs and wrong patches, through the proof; ``nox -s trials`` judges all."""

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
    ],
)
def test_a_trial_has_an_acceptable_verdict(name):
    for program in programs([name]):
        for trial in program.trials:
            assert not verdict(program, trial).is_off
