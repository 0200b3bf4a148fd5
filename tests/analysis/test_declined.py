"""Paths on which the program has declined the accelerator."""

from __future__ import annotations

import pytest

PROGRAM = """
import argparse
import config

parser = argparse.ArgumentParser()
parser.add_argument("--{option}", type=int, default=config.option)
args = parser.parse_args()
x = torch.ones(3)
if {test}:
    x = x.cuda()
else:
    print("on the CPU")
if {test}:
    print("again")
noise = torch.rand(3).cuda()
x + noise
"""


@pytest.mark.parametrize(
    ("option", "test"),
    [("cuda", "args.cuda"), ("run_on_gpu", "args.run_on_gpu"), ("no_cuda", "not args.no_cuda")],
)
def test_what_stays_on_the_cpu_there_is_right(met, option, test):
    assert met(PROGRAM.format(option=option, test=test)) == []


@pytest.mark.parametrize(
    ("option", "test"),
    [("fast", "args.fast"), ("multi_gpu", "args.multi_gpu"), ("gpu_metrics", "args.gpu_metrics")],
)
def test_other_options_do_not_say_so(met, option, test):
    assert met(PROGRAM.format(option=option, test=test)) == ["x + noise"]
