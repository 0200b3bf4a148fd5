"""After a number of contexts, a call of a function has the joined result of the earlier ones."""

from __future__ import annotations

from devfix.syntax.tree import text_of

CALLS = 40
LONG = "    t = torch.ones(3)\n" * 400


def test_a_function_is_followed_in_a_bounded_number_of_contexts(analyse):
    text = f"def f(x):\n{LONG}    return x + 1\n" + "y = torch.ones(3).cuda()\n" + "y = f(y)\n" * CALLS
    observations = analyse(text + "y + torch.ones(3)\n")

    assert observations.is_complete
    assert len(observations.mismatches) == 1


def test_what_a_function_may_change_is_unknown_afterwards(analyse):
    text = f"def f(model):\n{LONG}    model.to('cuda')\nmodels = [nn.Linear(3, 3) for _ in range({CALLS})]\n"
    calls = "".join(f"m{i} = nn.Linear(3, 3)\nf(m{i})\nm{i}(torch.ones(3).cuda())\n" for i in range(CALLS))

    assert analyse(text + calls).mismatches == []


def test_devices_tell_contexts_apart(analyse):
    text = f"def f(device):\n{LONG}    return torch.ones(3, device=device)\n"
    text += "cpu, gpu = torch.device('cpu'), torch.device('cuda')\n" + "f(cpu)\n" * 4 + "y = f(gpu)\n" * 4
    observations = analyse(text + "y + torch.ones(3).cuda()\n")

    assert observations.mismatches == []


def test_the_items_of_lists_tell_contexts_apart(analyse):
    text = f"def f(items):\n{LONG}    return torch.stack(items)\nxs = [torch.ones(3) for _ in names()]\n"
    text += "f([x.cuda() for x in xs])\n" * 4 + "y = f([x for x in xs])\n" * 4
    observations = analyse(text + "y + torch.ones(3)\n")

    assert observations.mismatches == []


def test_what_a_function_leaves_on_the_cpu_is_there_afterwards(analyse):
    text = f"def f(model):\n{LONG}    model.calls = 1\n    return t\n"
    calls = "".join(f"m{i} = nn.Linear(3, 3)\nf(m{i})\n" for i in range(4))

    assert len(analyse(text + calls + "m3(torch.ones(3).cuda())\n").mismatches) == 1


def test_a_function_returns_its_own_argument(analyse):
    text = f"def fill(x):\n{LONG}    return x.zero_()\n" + "fill(torch.ones(3))\n" * 4
    net = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    net += "        self.w = fill(nn.Parameter(torch.ones(3)))\n"
    observations = analyse(text + net + "net = Net().cuda()\nnet.w + torch.ones(3).cuda()\n")

    assert observations.mismatches == []


def test_a_result_comes_from_the_arguments_of_its_own_call(analyse):
    text = f"def double(x):\n{LONG}    return x * 2, x\n" + "double(torch.ones(3))\n" * 4
    observations = analyse(text + "y = torch.zeros(3)\ndouble(y)[0] + torch.ones(3).cuda()\n")

    (mismatch,) = observations.mismatches
    (origin,) = mismatch.cpu[0].origins
    assert text_of(observations.sources[origin.site_id].point.node) == "torch.zeros(3)"


def test_names_tell_few_contexts_apart(analyse):
    text = f"def f(name, x):\n{LONG}    return x + 1\n" + "y = torch.ones(3).cuda()\n"
    observations = analyse(text + "".join(f"y = f('n{i}', y)\n" for i in range(10 * CALLS)) + "y + torch.ones(3)\n")

    assert observations.is_complete
    assert len(observations.mismatches) == 1


def test_devices_tell_contexts_apart_after_many_names(analyse):
    text = f"def f(name, x, y):\n{LONG}    return x + 1\n" + "x, y = torch.ones(3), torch.ones(3).cuda()\n"
    names = "".join(f"f('n{i}', y, x)\n" for i in range(CALLS))
    observations = analyse(text + names + "z = f('last', x, y)\nz + torch.ones(3)\n")

    assert observations.mismatches == []


def test_the_device_of_an_object_whose_constructor_is_not_followed_again_is_unknown(analyse):
    text = f"class Net:\n    def __init__(self, width, device):\n{LONG.replace('    t', '        t')}"
    text += "        self.device = device\n\n"
    calls = (f"net = Net({i}, 'cpu')\ntorch.ones(3, device=net.device) + torch.ones(3)\n" for i in range(CALLS))

    assert analyse(text + "".join(calls)).mismatches == []
