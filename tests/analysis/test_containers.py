"""Lists, dictionaries and their methods: what they hold stays where it is."""

from __future__ import annotations

import pytest

SETUP = "from collections import OrderedDict, defaultdict, deque\nhere, there = torch.ones(3), torch.ones(3).cuda()\n"

ACCELERATOR = [
    pytest.param("xs = []\nxs.append(there)", "xs[0]", id="append"),
    pytest.param("xs = []\nxs.append(there)", "xs[-1]", id="last"),
    pytest.param("xs = []\nxs.extend([here, there])", "xs[1]", id="extend"),
    pytest.param("xs = [here]\nxs.insert(0, there)\nx = there", "x", id="insert-leaves-others-alone"),
    pytest.param("xs = [there]\nx = xs.pop()", "x", id="pop"),
    pytest.param("xs = [here] + [there]", "xs[1]", id="concatenation"),
    pytest.param("xs = [there] * 3", "xs[2]", id="repetition"),
    pytest.param("xs = [there, there, here]", "xs[:2][0]", id="slice"),
    pytest.param("xs = [there for _ in range(3)]", "xs[1]", id="comprehension"),
    pytest.param("xs = list((there, there))", "xs[0]", id="list"),
    pytest.param("xs = tuple([there, there])", "xs[1]", id="tuple"),
    pytest.param("xs = sorted([there, there])", "xs[0]", id="sorted"),
    pytest.param("xs = list(reversed([there, there]))", "xs[0]", id="reversed"),
    pytest.param("xs = deque()\nxs.append(there)", "xs[0]", id="deque"),
    pytest.param("d = {}\nd['x'] = there", "d['x']", id="item"),
    pytest.param("d = {'x': here}\nd['x'] = d['x'].cuda()", "d['x']", id="replaced-item"),
    pytest.param("d = dict(x=there)", "d['x']", id="dict"),
    pytest.param("d = {}\nd.update(x=there)", "d['x']", id="update"),
    pytest.param("d = {}\nd.update({'x': there})", "d['x']", id="update-mapping"),
    pytest.param("d = {}\nd.setdefault('x', there)", "d['x']", id="setdefault"),
    pytest.param("d = {'x': there}\nx = d.pop('x')", "x", id="dict-pop"),
    pytest.param("d = {**{'x': there}}", "d['x']", id="merged"),
    pytest.param("d = OrderedDict([('x', there)])", "d['x']", id="ordered-dict"),
    pytest.param("d = {'x': there}\nx = [v for k, v in d.items()][0]", "x", id="items"),
    pytest.param("d = {'x': there}\nx = list(d.values())[0]", "x", id="values"),
    pytest.param("d = {'x': here}\nfor k in d:\n    d[k] = d[k].cuda()", "d['x']", id="moved-by-key"),
    pytest.param("d = {'x': here}\nfor k, v in d.items():\n    d[k] = v.cuda()", "d['x']", id="moved-by-item"),
    pytest.param("d = {k: v for k, v in zip(['x', 'y'], [there, there])}", "d['x']", id="zip"),
    pytest.param("d = {'a': {'b': [there]}}", "d['a']['b'][0]", id="nested"),
    pytest.param("d = {'x': there}.copy()", "d['x']", id="copy"),
]


@pytest.mark.parametrize(("program", "expression"), ACCELERATOR)
def test_what_a_container_holds_is_where_it_was_put(place, program, expression):
    assert place(SETUP + program, expression) == "accelerator"


@pytest.mark.parametrize(
    ("program", "expression"),
    [
        pytest.param("xs = [here, there]", "xs[0]", id="list"),
        pytest.param("d = {'x': here, 'y': there}", "d['x']", id="dictionary"),
        pytest.param("t = (here, there)", "t[0]", id="tuple"),
        pytest.param("xs = [here]\nys = [there]", "xs[0]", id="two-lists"),
        pytest.param("xs = [here]\nys = xs.copy()\nys[0] = there", "xs[0]", id="a-copy-is-another-list"),
    ],
)
def test_items_are_told_apart(place, program, expression):
    assert place(SETUP + program, expression) == "cpu"


def test_two_names_of_one_list_are_one_list(place):
    assert place(SETUP + "xs = [here]\nys = xs\nys[0] = there", "xs[0]") == "accelerator"


CACHE = """
windows = {}

def windowed(x, size, kind):
    key = "%s-%s" % (kind, x.device)
    if key not in windows:
        windows[key] = torch.hann_window(size).to(x.device)
    return x * windows[key]

def other(x, size, kind):
    key = f"{kind}_{x.device}_{size}"
    if key not in windows:
        windows[key] = torch.hann_window(size, device=x.device)
    return x * windows[key]

for kind in unknown():
    windowed(torch.ones(4), 4, kind)
    other(torch.ones(4).cuda(), 4, kind)
    windowed(torch.ones(4).cuda(), 4, kind)
    other(torch.ones(4), 4, kind)
"""


def test_a_cache_by_device_has_the_item_that_is_needed(met):
    assert met(CACHE) == []


def test_an_item_that_is_named_has_its_device(met):
    assert met("d = {'a': torch.ones(3), 'b': torch.ones(3).cuda()}\nd['a'] + d['b']\n") == ["d['a'] + d['b']"]


def test_a_list_of_a_tensor_holds_its_elements(analyse):
    found = analyse("""
    x = torch.ones(3).cuda()
    nn.utils.rnn.pack_padded_sequence(torch.ones(3, 3).cuda(), list(x))
    nn.utils.rnn.pack_padded_sequence(torch.ones(3, 3).cuda(), x)
    """)

    assert [access.expression.id for access in found.host_accesses.values()] == ["x"]
