"""What is tried for a failure, and in which order: stories told by hand, nothing is run."""

from __future__ import annotations

import ast
import dataclasses

import pytest

from devfix.trace.failure_trace import DeviceName
from devfix.trace.repair.candidates import candidates

DEVICE = DeviceName(0, "device", "cuda:0")


def made_without_device(program):
    told = program("""\
        import torch

        device = torch.device("cuda")
        x = torch.randn(3).to(device)
        shift = torch.zeros(3)
        print(x + shift)
        """)
    culprit, peer = told.value("shift", told.made("torch.zeros(3)")), told.value("x", device="cuda:0")
    return told, told.failure(culprit, peer, told.at("x + shift"), devices=(DEVICE,))


def random_numbers_in_a_loop(program):
    told = program("""\
        import torch

        x = torch.randn(3).cuda()
        for _ in range(3):
            noise = torch.rand(3)
            x = x + noise
        """)
    culprit = told.value("noise", told.made("torch.rand(3)", operation="aten::rand"))
    return told, told.failure(culprit, told.value("x", device="cuda:0"), told.at("x + noise"))


def plain_attribute(program):
    told = program("""\
        import torch
        from torch import nn


        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = nn.Linear(3, 3)
                self.scale = torch.ones(3)

            def forward(self, x):
                return self.body(x) * self.scale


        model = Net().cuda()
        model(torch.randn(3).cuda())
        """)
    made = told.made("torch.ones(3)", "__init__", owner=told.owned("attribute", "scale"))
    culprit, peer = told.value("self.scale", made), told.value("self.body(x)", device="cuda:0")
    return told, told.failure(culprit, peer, told.at("self.body(x) * self.scale", "forward"), cause="plain-attribute")


def weights_that_nobody_moves(program):
    told = program("""\
        import torch
        from torch import nn

        device = torch.device("cuda")
        model = nn.Linear(3, 3)
        x = torch.ones(3, device=device)
        out = model(x)
        """)
    made = told.made("nn.Linear(3, 3)", owner=told.owned("parameter", "weight", "Linear"))
    culprit, peer = told.value("model.weight", made, kind="parameter"), told.value("x", device="cuda:0")
    return told, told.failure(culprit, peer, told.at("model(x)"), cause="module-never-moved", devices=(DEVICE,))


def batch_of_a_loader(program):
    told = program("""\
        import torch
        from torch import nn

        device = torch.device("cuda")
        model = nn.Linear(3, 3).to(device)
        for x in torch.utils.data.DataLoader(torch.ones(8, 3), batch_size=2):
            out = model(x)
        """)
    culprit = told.value("x", told.made("out = model(x)", from_loader=True, stack=()))
    peer = told.value("model.weight", device="cuda:0", kind="parameter")
    return told, told.failure(culprit, peer, told.at("model(x)"), cause="batch-from-loader", devices=(DEVICE,))


def numpy_of_the_accelerator(program):
    told = program("""\
        import torch

        x = torch.randn(3).cuda()


        def plot(values):
            return values.numpy()


        plot(x)
        """)
    moved = dataclasses.replace(told.made("torch.randn(3).cuda()", device="cuda:0"), kind="moved", operation="cuda")
    culprit = told.value("values", moved, device="cuda:0")
    return told, told.failure(culprit, None, told.at("values.numpy()", "plot"), cause="generator-on-other-device")


def rows_of_a_batch(program):
    told = program("""\
        import torch

        device = torch.device("cuda")
        for images, targets in loader:
            images = images.to(device)
            loss = criterion(images, targets)
        """)
    made = told.made("loader", from_loader=True)
    culprit, peer = told.value('targets[0]["boxes"]', made), told.value("images", device="cuda:0")
    return told, told.failure(
        culprit, peer, told.at("criterion(images, targets)"), devices=(DEVICE,), cause="batch-from-loader"
    )


FAILURES = [
    made_without_device,
    random_numbers_in_a_loop,
    plain_attribute,
    weights_that_nobody_moves,
    batch_of_a_loader,
    numpy_of_the_accelerator,
    rows_of_a_batch,
]
FIRST = {
    made_without_device: ("shift = torch.zeros(3)", "shift = torch.zeros(3, device=device)"),
    random_numbers_in_a_loop: ("noise = torch.rand(3)", "noise = torch.rand(3).cuda()"),
    plain_attribute: ("self.scale = torch.ones(3)", 'self.register_buffer("scale", torch.ones(3), persistent=False)'),
    weights_that_nobody_moves: ("model = nn.Linear(3, 3)", "model = nn.Linear(3, 3).to(device)"),
    batch_of_a_loader: ("    out = model(x)", "    x = x.to(device)\n    out = model(x)"),
    numpy_of_the_accelerator: ("return values.numpy()", "return values.detach().cpu().numpy()"),
    rows_of_a_batch: (
        "    loss =",
        "    targets = [{key: value.to(device) for key, value in row.items()} for row in targets]\n    loss =",
    ),
}


def results(told, diagnosis):
    """The program after each candidate, by its title; of those that say the same, the first."""
    texts = told.edited
    found = {}
    for each in candidates(diagnosis, texts):
        found.setdefault(each.title, texts.after(each.edits).text(told.file))
    return found


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.__name__)
def test_what_an_expert_would_write_comes_first(program, failure):
    told, diagnosis = failure(program)
    before, after = FIRST[failure]

    first = next(iter(results(told, diagnosis).values()))

    assert first == told.text.replace(before, after)


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.__name__)
def test_every_candidate_is_another_program_that_compiles(program, failure):
    told, diagnosis = failure(program)

    texts = list(results(told, diagnosis).values())

    assert texts
    assert told.text not in texts
    for text in texts:
        ast.parse(text)


def test_random_numbers_stay_those_of_the_cpu(program):
    told, diagnosis = random_numbers_in_a_loop(program)

    assert not [title for title in results(told, diagnosis) if "on `" in title]
    assert not [text for text in results(told, diagnosis).values() if "device=" in text]


def test_a_device_that_is_out_of_scope_is_not_written(program):
    told = program("""\
        import torch


        def main():
            device = torch.device("cuda")
            return helper(torch.zeros(3).to(device))


        def helper(x):
            return x + torch.ones(3)


        main()
        """)
    made = told.made("torch.ones(3)", "helper")
    culprit, peer = told.value("torch.ones(3)", made), told.value("x", device="cuda:0")
    diagnosis = told.failure(culprit, peer, told.at("x + torch.ones(3)", "helper"))

    texts = list(results(told, diagnosis).values())

    assert texts[0] == told.text.replace("torch.ones(3)", "torch.ones(3, device=x.device)")
    assert all("(device)" not in text.split("def helper")[1] for text in texts)


def test_nothing_is_tried_in_files_outside_the_project(program, tmp_path):
    told, diagnosis = made_without_device(program)
    outside = tmp_path.parent / f"{tmp_path.name}-outside.py"
    outside.write_text(told.text)
    (born,) = diagnosis.misplaced.history
    there = dataclasses.replace(born.stack[0], file=str(outside))
    culprit = dataclasses.replace(diagnosis.misplaced, history=(dataclasses.replace(born, stack=(there,)),))
    where = dataclasses.replace(diagnosis.where, file=str(outside))
    diagnosis = told.failure(culprit, diagnosis.peer, where, devices=(DEVICE,))

    assert candidates(diagnosis, told.edited) == []
