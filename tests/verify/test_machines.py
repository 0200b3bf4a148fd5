"""Machines by name."""

import pytest

from devfix.verify.matrix import Machine, UnknownMachine, parse_machines


def test_machines_are_parsed_in_order_each_once():
    assert parse_machines("cpu, CUDA,2xcuda,mps,sim:cuda,cpu,") == (
        Machine("cpu", "cpu"),
        Machine("cuda", "cuda"),
        Machine("2xcuda", "cuda", 2),
        Machine("mps", "mps"),
        Machine("sim:cuda", "cuda", must_simulate=True),
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no machine is named"),
        ("cpu,gpu", "'gpu' is no machine"),
        ("cdua", "did you mean cuda?"),
        ("tpu", "there is no simulated TPU"),
        ("2xcpu", "cpu has no accelerator"),
        ("sim:cpu", "cpu has no accelerator"),
        ("2xmps", "MPS has one device"),
        ("0xcuda", "the number of devices is 1 to 16"),
        ("17xcuda", "the number of devices is 1 to 16"),
        ("cuda:1", "'cuda:1' is no machine"),
    ],
)
def test_other_names_are_refused(text, told):
    with pytest.raises(UnknownMachine, match=told.replace("?", r"\?")):
        parse_machines(text)
