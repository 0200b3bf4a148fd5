"""Tests of devices narrow what is tested: on each side of the test, a value is only where it can be."""

from __future__ import annotations

import pytest

SETUP = """
def table():
    return torch.ones(3)

class Cache:
    def __init__(self):
        self.table = table()

    def forward(self, x):
        if TEST:
            known = self.table
        else:
            known = table().to(x.device)
            self.table = known
        return known + x

cache = Cache()
for batch in DataLoader(Dataset()):
    cache.forward(batch["x"].cuda() if choose() else torch.ones(3).cuda())
"""
MATCHES = [
    "self.table.type() == x.type()",
    "self.table.data.type() == x.data.type()",
    "x.type() == self.table.type()",
    "self.table.device == x.device",
    "choose() and self.table.device == x.device",
]


@pytest.mark.parametrize("test", MATCHES)
def test_a_cached_tensor_is_used_where_its_device_matches_only(met, test):
    assert met(SETUP.replace("TEST", test)) == []


@pytest.mark.parametrize("test", ["choose()", "self.table.shape == x.shape"])
def test_a_test_of_something_else_narrows_nothing(met, test):
    assert met(SETUP.replace("TEST", test)) == ["return known + x"]


DRIFT = """
class Drift(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 3)

    def forward(self, t, y):
        if {test}:
            t = torch.full_like(y[:, :1], fill_value=t)
        return self.net(torch.cat((t, y), dim=-1))

times = torch.linspace(0, 1, 5)
drift = Drift().cuda()
y = torch.ones(2, 3).cuda()
for t in times:
    drift({argument}, y)
"""


@pytest.mark.parametrize("argument", ["t", "times[0]", "times[0] + 0.1 * t"])
@pytest.mark.parametrize(
    "test", ["t.dim() == 0", "t.ndim == 0", "not t.dim() != 0", "len(t.shape) == 0", "len(t.size()) == 0"]
)
def test_a_number_that_gets_dimensions_where_it_has_none_is_not_on_the_cpu_then(met, test, argument):
    assert met(DRIFT.replace("{test}", test).replace("{argument}", argument)) == []


@pytest.mark.parametrize("argument", ["times[:1].expand(2, 1)", "torch.ones(2, 1)"])
def test_a_tensor_with_dimensions_stays_where_it_is(met, argument):
    failing = "return self.net(torch.cat((t, y), dim=-1))"

    assert met(DRIFT.replace("{test}", "t.dim() == 0").replace("{argument}", argument)) == [failing]


def test_a_conditional_expression_narrows_within_itself(met):
    program = """
        class Cache:
            def __init__(self):
                self.table = torch.ones(3) if choose() else torch.ones(3).cuda()

            def use(self, x):
                place = self.table if self.table.device == x.device else x
                return self.table + x

        Cache().use(torch.ones(3).cuda())
        """

    assert met(program) == ["return self.table + x"]


@pytest.mark.parametrize("test", ["value is not None", "not (value is None)"])
def test_what_is_none_on_one_side_of_a_test_is_no_tensor_there(met, test):
    program = f"""
        from data import batches

        net = nn.Linear(4, 2).cuda()
        for batch in batches():
            parts = [batch["x"], batch["y"]]
            x, y = [value.cuda() if {test} else value for value in parts]
            net(x)
            known = torch.ones(4) if y is None else y
            net(known)
        """

    assert met(program) == ["net(known)"]


MODULES = """
from settings import layers, kind

class Known(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x)

class Built(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList()
        for layer in layers:
            self.layers.append(layer)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

def count(model):
    x = torch.ones(3)
    MOVE
    model(x)

def chosen():
    if kind == "known":
        return Known()
    elif kind == "built":
        return Built(layers)
    raise ValueError(kind)

count(chosen())
"""


def test_an_input_follows_the_parameters_of_one_of_several_modules(met):
    assert met(MODULES.replace("MOVE", "if next(model.parameters()).is_cuda:\n        x = x.cuda()")) == []


def test_an_input_follows_the_parameters_of_one_of_many_modules(met):
    many = (
        "".join(f"class Known{number}(Known):\n    pass\n\n" for number in range(6))
        + "kinds = {"
        + ", ".join(f"'{number}': Known{number}" for number in range(6))
        + "}\n"
    )
    follows = MODULES.replace("MOVE", "if next(model.parameters()).is_cuda:\n        x = x.cuda()")
    program = follows.replace("def count", f"{many}\ndef count").replace("return Known()", "return kinds[kind]()")

    assert met(program) == []
    assert met(program.replace("if next(model.parameters()).is_cuda:", "if True:")) == ["return self.layer(x)"]


def test_an_input_follows_the_parameters_that_are_known(met):
    parts = "nn.Linear(3, 3), build(), nn.Linear(3, 3)"
    program = f"""
        from library import build

        net = nn.Sequential({parts})
        x = torch.ones(3)
        if next(net.parameters()).is_cuda:
            x = x.cuda()
        net(x)
    """

    assert met(program) == []


def test_an_input_that_follows_nothing_meets_the_module_on_the_cpu(met):
    assert met(MODULES.replace("MOVE", "x = x.cuda()")) == ["return self.layer(x)"]


@pytest.mark.parametrize("latent", ["encode(x)", "choose(encode(x), net(x.cuda()))", "net(x.cuda())"])
def test_what_asks_an_unknown_value_for_cuda_is_answered_by_the_followed_run(met, latent):
    program = f"""
        from library import encode
        import random

        def choose(one, other):
            return one if random.random() < 0.5 else other

        def decode(net, latent):
            is_cuda = latent.is_cuda
            start = torch.ones(4)
            if is_cuda:
                start = start.cuda()
            return net(start)

        net = nn.Linear(4, 2).cuda()
        x = torch.ones(4)
        decode(net, {latent})
        """

    assert met(program) == []


def test_a_tensor_that_may_be_anywhere_is_taken_to_be_on_the_accelerator_when_asked(met):
    program = """
        x = torch.ones(3, device=chosen())
        kind = torch.cuda.FloatTensor if x.is_cuda else torch.FloatTensor
        kind([1.0, 2.0, 3.0]) * torch.ones(3).cuda()
        """

    assert met(program) == []


def test_a_tensor_on_the_cpu_answers_for_itself(met):
    program = """
        def decode(net, latent):
            start = torch.ones(4)
            if latent.is_cuda:
                start = start.cuda()
            return net(start)

        decode(nn.Linear(4, 2).cuda(), torch.ones(3))
        """

    assert met(program) == ["return net(start)"]


TESTED = """
from other import something

def one_hot(y, device=None):
    if {test}:
        device = y.device
    c = torch.ones(3)
    return c if device is None else c.to(device)

print(one_hot(something(), device=torch.device("cuda")) + torch.ones(3, device="cuda"))
"""


@pytest.mark.parametrize(
    "test", ["type(y) == torch.Tensor", "type(y) is torch.Tensor", "isinstance(y, torch.Tensor)", "torch.is_tensor(y)"]
)
def test_a_tensor_has_a_device(met, test):
    assert met(TESTED.replace("{test}", test)) == []


def test_what_may_be_an_array_is_one_where_a_test_says_so(analyse):
    program = """
        import numpy as np

        def index(x):
            if isinstance(x, np.ndarray):
                return np.floor(x * 3)
            return (x * 3).long()

        for batch in unknown():
            batch = batch.cuda()
            index(batch["points"] if flag() else other(batch))
        """

    assert analyse(program).host_accesses == {}


@pytest.mark.parametrize("name", ["cpu", "detach", "numpy", "to"])
def test_a_tensor_has_what_a_test_asks_for(analyse, name):
    program = f"""
        def array(x):
            if hasattr(x, "{name}"):
                x = x.cpu()
            return x.numpy() if is_wanted() else x

        array(build(config).cuda()(torch.ones(3, 3).cuda()))
        """

    assert analyse(program).host_accesses == {}


@pytest.mark.parametrize("move", ["out = out.to(device)", "out.to(device)"])
@pytest.mark.parametrize("other", ["nn.Linear(3, 2)", "torch.load('net.pt')"])
def test_a_module_has_the_methods_of_modules(met, other, move):
    program = f"""
        import sys

        def build(name, device):
            if name == "small":
                out = nn.Linear(3, 3)
            else:
                out = {other}
            if hasattr(out, "to"):
                {move}
            return out

        build(sys.argv[1], "cuda")(torch.ones(3).cuda())
        """

    assert met(program) == []


def test_an_item_of_what_is_a_dictionary_need_not_be_a_tensor(analyse):
    program = """
        import numpy as np

        facts = build(config).cuda()(torch.ones(3, 3).cuda())
        if isinstance(facts, dict):
            np.asarray(facts.get("counts"))
            np.asarray(facts["rows"])
        """

    assert analyse(program).host_accesses == {}


TYPED = """
def padded(x):
    zeros = torch.zeros(3)
    if isinstance(x, {name}):
        zeros = zeros.cuda()
    return x + zeros

padded(torch.ones(3, device="{device}"))
"""


@pytest.mark.parametrize(
    ("name", "device", "count"),
    [
        ("torch.cuda.FloatTensor", "cuda", 0),
        ("torch.cuda.FloatTensor", "cpu", 0),
        ("torch.FloatTensor", "cpu", 1),
        ("torch.FloatTensor", "cuda", 1),
    ],
)
def test_a_typed_class_names_the_device(met, name, device, count):
    assert len(met(TYPED.replace("{name}", name).replace("{device}", device))) == count


@pytest.mark.parametrize("kind", ["torch.Tensor", "torch.autograd.Variable", "(list, torch.autograd.Variable)"])
def test_what_is_a_variable_is_a_tensor(analyse, kind):
    program = f"""
        import numpy as np

        def to_numpy(x):
            if isinstance(x, {kind}):
                return x.detach().cpu().numpy()
            return x

        np.clip(to_numpy(torch.ones(3).cuda()), 0, 1)
        """

    assert not analyse(program).host_accesses


@pytest.mark.parametrize("test", ["type(x).__module__ == 'numpy'", "type(x).__module__ != 'torch'"])
def test_the_module_of_its_type_tells_a_tensor_from_an_array(met, test):
    program = f"""
        def to_torch(x):
            if {test}:
                return torch.from_numpy(x)
            return x

        to_torch(torch.ones(3).cuda()) + torch.ones(3).cuda()
        """

    assert met(program) == []


CONVERTED = """
import numpy as np
from library import read

def convert(x):
    if TEST:
        return np.array(x)
    return None

for given in (torch.ones(2).cuda(), read(), 3):
    convert(given)
convert(torch.ones(2).cuda())
"""


@pytest.mark.parametrize(
    ("test", "count"),
    [
        ("np.isscalar(x)", 0),
        ("'jax' in str(type(x))", 0),
        ("'torch' in str(type(x))", 1),
        ("not ('torch' in str(type(x)))", 0),
        ("type(x) == torch.Tensor", 1),
        ("type(x) != torch.Tensor", 0),
        ("type(x) is not torch.Tensor", 0),
        ("not type(x) == torch.Tensor", 0),
        ("type(x) != np.ndarray", 1),
        ("x is not None", 1),
    ],
)
def test_the_name_of_a_type_tells_tensors_apart(analyse, test, count):
    assert len(analyse(CONVERTED.replace("TEST", test)).host_accesses) == count


LENGTHS = """
def prepare(flag):
    x = torch.ones(3).cuda()
    if flag:
        return x, x, 1
    return x, 1

def run(flag):
    pair = prepare(flag)
    if {two}:
        x, label = pair
    elif {three}:
        x, edge, label = pair
    y = torch.ones(3)
    if isinstance(x, torch.cuda.FloatTensor):
        y = y.cuda()
    return x.div(y)

run(choose())
"""


@pytest.mark.parametrize("two", ["len(pair) == 2", "len(pair) != 3"])
def test_the_number_of_its_items_tells_one_tuple_from_another(met, two):
    assert met(LENGTHS.format(two=two, three="len(pair) == 3")) == []


def test_an_unknown_module_beside_a_known_one_does_not_answer_for_both(met):
    text = """
    def infos(model):
        x = torch.rand(3, 3)
        if next(model.parameters()).is_cuda:
            x = x.cuda()
        model(x)

    infos(nn.Linear(3, 3) if choose() else choose())
    """

    assert met(text) == []


@pytest.mark.parametrize(
    ("test", "count"),
    [
        pytest.param("v is not None and hasattr(v, 'item')", 0, id="what-every-tensor-has"),
        pytest.param("v is not None and torch.is_tensor(v)", 0, id="every-tensor"),
        pytest.param("v is not None and picked(v)", 1, id="another-part"),
    ],
)
def test_what_an_elif_says_decides_which_part_of_the_test_before_fails(analyse, test, count):
    """A value that is there has no ``item``: it is no tensor."""
    text = "import numpy as np\nv = torch.ones(3).cuda() if choose() else None\n"
    found = analyse(f"{text}if {test}:\n    pass\nelif v is not None:\n    np.asarray(v)\n").host_accesses

    assert len(found) == count


@pytest.mark.parametrize("test", ["isinstance(net, nn.DataParallel)", 'hasattr(net, "module")'])
def test_a_wrapper_is_told_from_the_module_that_it_wraps(met, test):
    program = f"""
        net = nn.Linear(3, 3)
        if input():
            net = nn.DataParallel(net)
        net = net.cuda()
        core = net.module if {test} else net
        core.cpu()
        core(torch.ones(2, 3))
        """

    assert met(program) == []
    assert met(program.replace("core.cpu()", "pass")) == ["core(torch.ones(2, 3))"]
