"""Loops, branches, tries, deletions: which values are there afterwards."""

from __future__ import annotations

import pytest

ACCELERATOR = [
    pytest.param("for _ in range(3):\n    x = x.cuda()", id="loop"),
    pytest.param("try:\n    x = x.cuda()\nexcept Exception:\n    x = torch.ones(3)", id="a-handler-for-the-cpu"),
    pytest.param("try:\n    x = torch.ones(3).to('cuda')\nexcept:\n    x = torch.ones(3)", id="moved-by-name-or-not"),
    pytest.param("while busy():\n    pass\nx = x.cuda()", id="after-a-while"),
    pytest.param("while True:\n    x = x.cuda()\n    if done():\n        break", id="endless-with-a-break"),
    pytest.param("for _ in range(3):\n    if done():\n        continue\n    pass\nx = x.cuda()", id="after-a-continue"),
    pytest.param("for _ in range(3):\n    pass\nelse:\n    x = x.cuda()", id="else-of-a-loop"),
    pytest.param("try:\n    x = x.cuda()\nexcept RuntimeError:\n    pass", id="try"),
    pytest.param("try:\n    pass\nfinally:\n    x = x.cuda()", id="finally"),
    pytest.param(
        "try:\n    import missing\nexcept ImportError:\n    missing = None\nx = x.cuda()", id="optional-import"
    ),
    pytest.param("if choose():\n    x = x.cuda()\nelse:\n    x = x.to('cuda')", id="both-branches"),
    pytest.param("if choose():\n    raise ValueError\nelse:\n    x = x.cuda()", id="other-branch-ends"),
    pytest.param("with torch.cuda.stream(stream):\n    x = x.cuda()", id="with"),
    pytest.param("with open('f') as f, torch.no_grad():\n    x = x.cuda()", id="two-contexts"),
    pytest.param("with torch.device('cuda'):\n    x = torch.ones(3)", id="device-context"),
    pytest.param("with torch.device('cuda'):\n    pass\nx = torch.ones(3).cuda()", id="after-a-device-context"),
    pytest.param("match kind:\n    case 'a':\n        x = x.cuda()\n    case _:\n        x = x.to('cuda')", id="match"),
    pytest.param("assert x is not None\nx = x.cuda()", id="assert"),
    pytest.param("y = x.cuda()\ndel x\nx = y", id="delete"),
    pytest.param("xs = []\nfor _ in range(3):\n    xs.append(x.cuda())\nx = xs[0]", id="list-filled-in-a-loop"),
    pytest.param(
        "xs = {}\nfor name in ('a', 'b'):\n    xs[name] = x.cuda()\nx = xs['a']", id="dictionary-filled-in-a-loop"
    ),
    pytest.param("x = [x.cuda() for _ in range(2)][0]", id="comprehension"),
    pytest.param("for x in (x.cuda(), x.cuda()):\n    pass", id="target-stays"),
    pytest.param("def f():\n    pass\nclass A:\n    pass\nx = x.cuda()", id="definitions"),
]


@pytest.mark.parametrize("program", ACCELERATOR)
def test_the_tensor_is_on_the_accelerator_afterwards(place, program):
    assert place(f"x = torch.ones(3)\n{program}", "x") == "accelerator"


@pytest.mark.parametrize(
    "program",
    [
        pytest.param("if choose():\n    x = x.cuda()", id="one-branch"),
        pytest.param("x = x.cuda() if choose() else x", id="conditional"),
        pytest.param("try:\n    x = x.cuda()\nexcept OSError:\n    x = torch.ones(3)", id="handler"),
        pytest.param("match kind:\n    case 'a':\n        x = x.cuda()\n    case 'b':\n        pass", id="match"),
    ],
)
def test_the_tensor_is_here_on_one_path_and_there_on_another(place, program):
    assert place(f"x = torch.ones(3)\n{program}", "x") == "either"


def test_a_device_context_ends_with_its_block(place):
    assert place("with torch.device('cuda'):\n    pass\nx = torch.ones(3)", "x") == "cpu"


def test_statements_of_one_line_are_all_run(place):
    assert place("x = torch.ones(3); x = x.cuda(); y = x", "y") == "accelerator"


BUILD = """
def build(path):
    net = nn.Linear(3, 3)
    try:
        net.load_state_dict(torch.load(path))
        net = net.cuda()
    except OSError:
        {handler}
    return net


build("net.pt")(torch.ones(3).cuda())
"""


@pytest.mark.parametrize(
    "handler",
    [
        pytest.param("net = nn.Linear(3, 3)\n        net.cuda()", id="made-anew-and-moved"),
        pytest.param("net = nn.Sequential(nn.Linear(3, 3), nn.ReLU()).to('cuda')", id="another"),
        pytest.param("net = net.cuda()", id="the-same"),
        pytest.param("if asked():\n            raise", id="raises-again"),
    ],
)
def test_a_module_that_a_handler_lets_go_of_is_as_the_body_left_it(met, handler):
    assert met(BUILD.format(handler=handler)) == []


@pytest.mark.parametrize(
    "handler",
    [
        pytest.param("net = nn.Linear(3, 3)", id="made-anew"),
        pytest.param("net.eval().apply(print)\n        net = net", id="kept"),
    ],
)
def test_a_handler_that_moves_nothing_leaves_the_module_behind(met, handler):
    assert met(BUILD.format(handler=handler)) == ['build("net.pt")(torch.ones(3).cuda())']


GRAPHS = """
graph = torch.ones(3)
graph.to("cuda")
print(graph.PART)
nn.Linear(3, 3).cuda()(graph)
"""


def test_an_object_with_attributes_that_no_tensor_has_moves_in_place(met):
    assert met(GRAPHS.replace("PART", "edge_index")) == []


def test_a_tensor_does_not(met):
    assert met(GRAPHS.replace("PART", "data")) == ["nn.Linear(3, 3).cuda()(graph)"]


def test_a_part_of_a_graph_that_is_written_is_elsewhere(met):
    program = """
        def convolve(graph, feature, norm):
            graph.ndata["h"] = feature
            return norm(graph.ndata["h"])

        for graph in DataLoader(Dataset()):
            convolve(graph, torch.ones(3).cuda(), nn.BatchNorm1d(3).cuda())
        """

    assert met(program) == []


@pytest.mark.parametrize("name", ["x", "box.x", "held[0]"])
@pytest.mark.parametrize(("move", "expected"), [("cuda", "unknown"), ("double", "cpu")])
def test_new_memory_may_be_elsewhere(place, name, move, expected):
    setup = "class Box:\n    pass\n\nx = torch.ones(3)\nbox = Box()\nbox.x = torch.ones(3)\nheld = [torch.ones(3)]\n"

    assert place(f"{setup}{name}.data = {name}.data.{move}()\n", name) == expected


@pytest.mark.parametrize(
    ("failed", "lines"),
    [
        pytest.param("net = net.cuda()", [], id="another-move"),
        pytest.param("net, x = net.cuda(), x * 2", ["return self.layer(x)"], id="binds-more"),
    ],
)
def test_what_replaces_a_failed_move_is_not_followed_with_an_accelerator(met, failed, lines):
    program = f"""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 2)

            def forward(self, x):
                return self.layer(x)

        net, x = Net(), torch.ones(3, 4)
        try:
            net = nn.DataParallel(net).cuda()
        except:
            {failed}
        net(x)
        """

    assert met(program) == lines


@pytest.mark.parametrize(("mapped", "lines"), [('map_location="cpu"', []), ("weights_only=False", ["net(x)"])])
def test_a_load_that_fails_without_an_accelerator_is_not_repeated_with_one(met, mapped, lines):
    program = f"""
        net = nn.Linear(4, 2).cuda()
        try:
            x = torch.ones(3, 4).to(net.weight.device)
            state = torch.load("state.pt")
        except:
            x = torch.ones(3, 4)
            state = torch.load("state.pt", {mapped})
        net(x)
        """

    assert met(program) == lines


ASSERTED = """
import sys

def add(x, y):
    TEST
    return x + y

add(torch.ones(3), VALUE)
"""


@pytest.mark.parametrize(
    ("test", "value", "is_met"),
    [
        ("assert x.device == y.device", "torch.ones(3).cuda()", True),
        ("device = x.device; assert y.device == device", "torch.ones(3).cuda()", False),
        ("assert not x.is_cuda", "torch.ones(3).cuda()", True),
        ("assert x.device == y.device", "torch.ones(3).cuda() if len(sys.argv) > 1 else torch.ones(3)", False),
        ("assert x.shape == y.shape", "torch.ones(3).cuda()", True),
        ("assert y is not None", "torch.ones(3).cuda() if len(sys.argv) > 1 else None", True),
    ],
)
def test_values_whose_devices_an_assertion_compares_are_on_one(met, test, value, is_met):
    assert met(ASSERTED.replace("TEST", test).replace("VALUE", value)) == ["return x + y"] * is_met
