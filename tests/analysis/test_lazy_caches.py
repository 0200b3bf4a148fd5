"""Caches that begin with a placeholder, and are made when the shape of the input is known."""

from __future__ import annotations

import pytest

HEAD = """
class Head(nn.Module):
    def __init__(self, levels):
        super().__init__()
        self.offset = {first}
        self.offsets = [{first}] * levels

    def one(self, x):
        if self.offset.size(0) != x.size(0):
            self.offset = {made}
        return x + self.offset

    def each(self, xs):
        for k in range(len(xs)):
            x = xs[k]
            if self.offsets[k].shape[0] != x.shape[0]:
                self.offsets[k] = {made}
            x = x + self.offsets[k]


head = Head(3)
head.one(torch.ones(5).cuda())
head.each([torch.ones(5).cuda(), torch.ones(7).cuda(), torch.ones(9).cuda()])
"""
THERE = "torch.arange(x.size(0)).to(x.device)"


@pytest.mark.parametrize("first", ["torch.zeros(1)", "torch.empty(0)", "torch.tensor([])", "torch.Tensor()"])
def test_a_placeholder_never_takes_part(met, first):
    assert met(HEAD.format(first=first, made=THERE)) == []


def test_what_is_made_on_the_cpu_does(met):
    text = HEAD.format(first="torch.zeros(1)", made="torch.arange(x.size(0))")

    assert met(text) == ["return x + self.offset", "x = x + self.offsets[k]"]


def test_a_first_value_that_may_fit_does_too(met):
    assert met(HEAD.format(first="torch.zeros(64)", made=THERE)) == [
        "return x + self.offset",
        "x = x + self.offsets[k]",
    ]


MODELS = """
MODELS = {{}}


def encoder(name):
    if name not in MODELS:
        MODELS[name] = {made}
    return MODELS[name]


def place(name):
    encoder(name).cuda()


name = input()
place(name)
encoder(name)(torch.ones(3, 3){where})
"""


def test_a_module_is_built_once_for_a_key(met):
    assert met(MODELS.format(made="nn.Linear(3, 3)", where=".cuda()")) == []
    assert met(MODELS.format(made="nn.Linear(3, 3)", where="")) == ["encoder(name)(torch.ones(3, 3))"]


WINDOWS = """
windows = {}


def window(x, size):
    if size not in windows:
        windows[KEY] = torch.hann_window(size).to(x.device)
    return x * windows[KEY]


size = int(input())
for _ in range(3):
    window(torch.ones(size).cuda(), size)
    window(torch.ones(size), size)
"""


@pytest.mark.parametrize("key", ["x.device", "str(x.device)", "f'{size}-{x.device}'"])
def test_what_is_kept_under_a_device_is_there(met, key):
    assert met(WINDOWS.replace("KEY", key)) == []


@pytest.mark.parametrize(
    ("test", "lines"),
    [
        pytest.param("name in batch", [], id="entry"),
        pytest.param("batch.get(name) and ready()", ['net(batch["x"])'], id="more"),
    ],
)
def test_an_entry_that_is_moved_where_there_is_one_is_moved(met, test, lines):
    program = f"""
        from itertools import repeat

        from settings import collate, dataset, ready

        def moved(batch):
            for name in ["x", "mask"]:
                if {test}:
                    batch[name] = batch[name].to("cuda")
            return batch

        net = nn.Linear(4, 2).cuda()
        for loader in repeat(DataLoader(dataset, collate_fn=collate)):
            for batch in loader:
                batch = moved(batch)
                net(batch["x"])
        """

    assert met(program) == lines
