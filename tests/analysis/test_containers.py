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


def test_of_several_outputs_only_the_lengths_are_read(analyse):
    found = analyse("""
    packed, lengths = torch.ones(2, 3).cuda()
    nn.utils.rnn.pack_padded_sequence(packed, lengths)
    nn.utils.rnn.pack_padded_sequence(packed, lengths=lengths)
    """)

    assert [access.expression.id for access in found.host_accesses.values()] == ["lengths", "lengths"]


def test_lengths_that_an_unknown_module_returns_may_be_numbers(analyse):
    found = analyse("""
    from decoders import Decoder
    decoder = Decoder().cuda()
    scores, lengths = decoder(torch.ones(2, 3).cuda())
    nn.utils.rnn.pack_padded_sequence(scores, lengths)
    """)

    assert not found.host_accesses


@pytest.mark.parametrize("empty", ["torch.empty(0)", "torch.Tensor()", "torch.tensor([])"])
def test_placeholders_of_a_list_are_replaced(met, empty):
    program = f"""
        def run(first, steps, seen=None):
            states, known = [{empty}] * steps, [{empty}] * steps
            states[0], known[0] = first, first
            for t in range(steps - 1):
                state = states[t] if seen is None else known[t]
                states[t + 1] = torch.cat([state, torch.ones(3).cuda()])
                if seen is not None:
                    known[t + 1] = states[t + 1]

        run(torch.ones(3).cuda(), 3)
        run(torch.ones(3).cuda(), 3, torch.ones(3).cuda())
        """

    assert met(program) == []


def test_tensors_in_a_repeated_list_are_no_placeholders(met):
    program = """
        states = [torch.zeros(3)] * 4
        for t in range(3):
            states[t + 1] = states[t] + torch.ones(3).cuda()
        """

    assert met(program) == ["states[t + 1] = states[t] + torch.ones(3).cuda()"]


def test_a_tensor_of_a_checkpoint_keeps_its_device_when_a_part_is_written(met):
    program = """
        bank = torch.load("bank.pt", map_location="cuda")["bank"]
        for index, x in DataLoader(Dataset(), batch_size=4):
            bank[0:4] = index
            print(torch.ones(8, device=bank.device) + torch.ones(8).cuda())
        """

    assert met(program) == []


NETS = """
from munch import Munch

class Keyed(dict):
    def __getattr__(self, name):
        return self[name]

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(4))
    def forward(self, x):
        return x * self.gamma

there = torch.ones(4, device="cuda")
nets = {made}
{moves}
print(nets["a"](there))
print(nets.b(there))
"""


@pytest.mark.parametrize(
    "made", ["Munch(a=Net(), b=Net())", "Munch({'a': Net(), 'b': Net()})", "Keyed(a=Net(), b=Net())"]
)
@pytest.mark.parametrize(
    "moves",
    [
        "_ = [nets[key].to('cuda') for key in nets]",
        "for key in nets: nets[key] = nets[key].to('cuda')",
        "for key in nets: nets[key] = prepare(nets[key])",
        "for key, net in nets.items(): net.to('cuda')",
    ],
)
def test_a_dictionary_with_attributes_iterates_over_its_keys(met, made, moves):
    assert met(NETS.replace("{made}", made).replace("{moves}", moves)) == []


@pytest.mark.parametrize("moves", ["for key in nets: print(key)", "nets['c'] = Net().cuda()"])
def test_modules_of_a_dictionary_with_attributes_stay_where_they_are(met, moves):
    text = NETS.replace("{made}", "Munch(a=Net(), b=Net())").replace("{moves}", moves)

    assert met(text) == ["return x * self.gamma"]


def test_items_of_a_list_that_a_round_of_a_loop_makes_keep_their_places(met):
    program = """
        def pair(batch):
            pair = []
            pair.append(torch.ones(3))
            pair.append(torch.ones(3))
            pair[0] = pair[0].cuda()
            pair[1] = pair[1].cuda()
            return pair

        rows = []
        for batch in batches():
            x = torch.ones(3).cuda()
            for row in pair(batch):
                x + row
            rows.append(torch.ones(3))
        x + rows[0]
    """

    assert met(program) == ["x + rows[0]"]
