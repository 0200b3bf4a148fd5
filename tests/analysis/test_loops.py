"""Loops are followed until a round brings nothing new: what a later round sees is seen, in no more rounds than that."""

from __future__ import annotations

import ast
import textwrap

import pytest

from devfix import analysis

ON = "torch.ones(3).cuda()"
LATE = [
    pytest.param("a = b = x\nfor i in f():\n    x + a\n    a = b\n    b = torch.ones(3)", id="third-round"),
    pytest.param(
        "a = b = c = x\nfor i in f():\n    x + a\n    a = b\n    b = c\n    c = torch.ones(3)", id="fourth-round"
    ),
    pytest.param("a = b = x\nwhile f():\n    x + a\n    a = b\n    b = torch.ones(3)", id="while"),
    pytest.param(
        "a = b = x\nfor i in f():\n    for j in g():\n        x + a\n        a = b\n        b = torch.ones(3)",
        id="nested",
    ),
    pytest.param(
        "a = b = x\nfor i in f():\n    for j in g():\n        x + a\n    a = b\n    b = torch.ones(3)", id="inner"
    ),
    pytest.param(
        "a = b = x\nfor i in f():\n    x + a\n    a = b\n    b = torch.ones(3)\n    if g():\n        continue",
        id="continue",
    ),
    pytest.param("a = [x, x]\nfor i in f():\n    x + a[0]\n    a[0] = a[1]\n    a[1] = torch.ones(3)", id="items"),
    pytest.param(
        "class A:\n    pass\ns = A()\ns.a = s.b = x\nfor i in f():\n    x + s.a\n    s.a, s.b = s.b, torch.ones(3)",
        id="attributes",
    ),
    pytest.param(
        "def step(a, b):\n    x + a\n    return b, torch.ones(3)\na = b = x\nfor i in f():\n    a, b = step(a, b)",
        id="call",
    ),
    pytest.param(
        "def run():\n    a = b = x\n    for i in f():\n        x + a\n        a, b = b, torch.ones(3)\nrun()",
        id="function",
    ),
    pytest.param("a = b = x\nfor i in f():\n    a = b\n    b = torch.ones(3)\nx + a", id="behind-the-loop"),
    pytest.param(
        "a = b = x\nfor i in f():\n    a = b\n    b = torch.ones(3)\n    if g():\n        break\nx + a", id="break"
    ),
    pytest.param(
        "net = old = nn.Linear(3, 3).cuda()\nfor i in f():\n    old(x)\n    old = net\n    net = nn.Linear(3, 3)",
        id="modules",
    ),
]


@pytest.mark.parametrize("program", LATE)
def test_what_fails_in_a_later_round_is_seen(met, program):
    assert len(met(f"x = {ON}\n{program}")) == 1


@pytest.mark.parametrize(
    "program",
    [
        pytest.param("a = torch.ones(3)\nfor i in f():\n    a = x\n    x + a", id="overwritten"),
        pytest.param(
            "done = False\nwhile not done:\n    x + a\n    a = torch.ones(3)\n    done = True", id="one-round"
        ),
        pytest.param("for i in f():\n    if g():\n        a = torch.ones(3)\n    a = x\n    x + a", id="on-one-path"),
        pytest.param("while True:\n    x + a\n    if f():\n        break\nx + a", id="endless"),
        pytest.param(
            "a = torch.ones(3)\nfor i in range(f()):\n    if i == 0:\n        a = x\n    else:\n        a = x + a",
            id="first-round",
        ),
        pytest.param(
            "a = torch.ones(3)\nfor i, y in enumerate(f()):\n    if i > 0:\n        x + a\n    a = x", id="enumerated"
        ),
        pytest.param(
            "a = torch.ones(3)\nfor i in range(1, f()):\n    a = x + a if i != 1 else x", id="counted-from-one"
        ),
    ],
)
def test_what_holds_in_every_round_is_no_mismatch(met, program):
    assert met(f"x = a = {ON}\n{program}") == []


@pytest.mark.parametrize("test", ["i == 0", "i != 0", "not i", "i == 1"])
@pytest.mark.parametrize("depth", [0, 4])
def test_rounds_after_the_first_are_seen(met, test, depth):
    outer = "".join(f"{'    ' * i}for j{i} in f():\n" for i in range(depth))
    inner = f"for i in range(f()):\n    if {test}:\n        pass\n    else:\n        x + a\n"
    loops = outer + textwrap.indent(inner, "    " * depth)

    assert met(f"x = {ON}\na = torch.ones(3)\n{loops}") == ["x + a"]


def test_a_loop_that_leaves_in_its_first_round_has_others(met):
    program = "for i in range(f()):\n    if i == 0:\n        raise ValueError\n    x + a\n"

    assert met(f"x = {ON}\na = torch.ones(3)\n{program}") == ["x + a"]


@pytest.mark.parametrize("count", [3, 20])
def test_a_loop_that_sets_attributes_sets_each_of_them(met, count):
    names = [f"a{i}" for i in range(count)]
    stores = "".join(f"        self.{name} = torch.ones(3).cuda()\n" for name in names)
    engine = f"class Engine:\n    def __init__(self):\n{stores}engine = Engine()\n"
    moves = f"for name in {names}:\n    setattr(engine, name, getattr(engine, name).cpu())\n"

    assert met(engine + moves + "engine.a0 + torch.ones(3)\n") == []
    assert met(f"x = {ON}\n" + engine + moves + "x + engine.a1\n") == ["x + engine.a1"]


def test_a_loop_may_end_behind_each_round_of_a_cycle(place):
    assert place("a = torch.ones(3)\nb = a.cuda()\nfor i in f():\n    a, b = b, a", "a") == "either"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("y = y + [z]", id="list"),
        pytest.param("y = y + (z,)", id="tuple"),
        pytest.param("y = (y, z)", id="nested-tuple"),
        pytest.param("y = [y, z]", id="nested-list"),
        pytest.param("y = {'next': y}", id="nested-dictionary"),
        pytest.param("y = y.setdefault(k, {})", id="found-dictionary"),
        pytest.param("y = str(y) + 'a'", id="text"),
        pytest.param("s += 'a'", id="constant-text"),
        pytest.param("y = y[0]", id="items"),
        pytest.param("y = lambda: y()", id="function"),
        pytest.param("y = nn.Sequential(y, nn.Linear(3, 3))", id="module"),
        pytest.param("y = Node(y)", id="object"),
        pytest.param("node.next = Node(node.next)", id="linked-list"),
        pytest.param("node = node.next = Node(None)", id="growing-list"),
        pytest.param("setattr(node, s, z)\n    s += 'a'", id="attributes"),
        pytest.param("class A(Node):\n        pass\n    y = A(y)", id="class"),
    ],
)
def test_what_grows_without_end_comes_to_an_end(analyse, body):
    node = "class Node:\n    def __init__(self, next):\n        self.next = next\n"
    start = f"{node}node = Node(None)\ny = []\ns = ''\nz = torch.ones(3)\n"
    observations = analyse(f"{start}for k in f():\n    {body}\n{ON} + torch.ones(3)")

    assert observations.is_complete
    assert len(observations.mismatches) == 1


def test_a_list_that_grows_keeps_its_items(met):
    program = f"ys = []\nfor i in f():\n    ys = ys + [torch.ones(3)]\nfor y in ys:\n    {ON} + y"

    assert met(program) == [f"{ON} + y"]


def visits(program: str, text: str) -> int:
    """How often an expression is evaluated."""
    count = 0

    def watch(interp: object, node: ast.expr, value: object) -> None:
        nonlocal count
        count += isinstance(node, ast.Call) and ast.unparse(node) == text

    files = {"/p/train.py": "import torch\nfrom torch import nn\n" + textwrap.dedent(program)}
    analysis.analyse("/p/train.py", files.get, "/p", watch=watch)
    return count


TRAIN = "net = nn.Linear(3, 3).cuda()\noptimizer = torch.optim.SGD(net.parameters())\n"


@pytest.mark.parametrize(
    ("program", "count"),
    [
        pytest.param("for i in f():\n    here()", 1, id="nothing-written"),
        pytest.param("for i in f():\n    y = torch.ones(3)\n    here()", 1, id="overwritten"),
        pytest.param("for i in f():\n    y = nn.Linear(3, 3)\n    y.cuda()\n    here()", 1, id="made-anew"),
        pytest.param("for i in f():\n    y = {'a': [i]}\n    here()", 1, id="containers-made-anew"),
        pytest.param(
            "y = None\nfor i in f():\n    g(y)\n    here()\n    y = torch.ones(3)", 2, id="new-in-the-second-round"
        ),
        pytest.param("ys = []\nfor i in f():\n    ys.append(torch.ones(3))\n    here()", 2, id="list"),
        pytest.param(
            "ys = []\nfor i in f():\n    ys.append(nn.Sequential(nn.Linear(3, 3)))\n    here()", 2, id="list-of-modules"
        ),
        pytest.param(
            "ys = nn.ModuleList()\nfor i in f():\n    ys.append(nn.Sequential(nn.Linear(3, 3)))\n    here()",
            2,
            id="module-list",
        ),
        pytest.param(
            TRAIN
            + "for x in f():\n    loss = net(x.cuda()).sum()\n    loss.backward()\n    optimizer.step()\n    here()",
            1,
            id="training",
        ),
        pytest.param("for i in f():\n    for j in f():\n        for k in f():\n            here()", 1, id="nested"),
        pytest.param(
            "y = 0\nfor i in f():\n    y += 1\n    for j in f():\n        y += 1\n        here()", 2, id="counters"
        ),
        pytest.param(
            "y = None\n"
            + "".join(f"{'    ' * depth}for i{depth} in f():\n" for depth in range(6))
            + " " * 24
            + "here()",
            1,
            id="six-nested",
        ),
        pytest.param("for i in (1, 2, 3):\n    here()", 3, id="known-elements"),
        pytest.param("while True:\n    here()\n    if f():\n        break", 1, id="endless"),
        pytest.param("done = False\nwhile not done:\n    here()\n    done = True", 1, id="ends-with-its-condition"),
        pytest.param("while False:\n    here()", 0, id="never"),
        pytest.param("for i in ():\n    here()", 0, id="empty"),
    ],
)
def test_a_body_is_executed_as_often_as_it_brings_something_new(program, count):
    assert visits(program, "here()") == count


def test_nested_loops_that_never_settle_are_left(analyse):
    depth = 8
    loops = "".join(f"{'    ' * i}for i{i} in f():\n{'    ' * (i + 1)}s{i} += 'a'\n" for i in range(depth))
    program = "".join(f"s{i} = ''\n" for i in range(depth)) + loops
    observations = analyse(f"{program}{ON} + torch.ones(3)")

    assert observations.is_complete
    assert len(observations.mismatches) == 1


def test_many_loops_that_settle_late_leave_steps_for_the_rest(analyse):
    loop = "a = b = c = d\nfor i in f():\n    a = b\n    b = c\n    c = torch.ones(3)\n" + "    g(a)\n" * 20
    observations = analyse(f"d = 1\n{loop * 200}{ON} + torch.ones(3)")

    assert observations.is_complete
    assert len(observations.mismatches) == 1


def test_what_each_round_observes_is_recorded_once(analyse):
    observations = analyse(
        "y = torch.ones(3, device='cuda')\nz = torch.ones(3)\ns = None\n"
        "for x in DataLoader([1, 2]):\n    x = x.cuda()\n    y + z\n    s = [s, x]"
    )

    assert len(observations.mismatches) == 1
    assert len(observations.transfers) == 1
    assert len([binding for binding in observations.bindings if binding.name == "x"]) <= 2


def test_what_two_calls_observe_is_recorded_for_each(analyse):
    observations = analyse(f"def run(z):\n    {ON} + z\nrun(torch.ones(3))\nrun(torch.ones(3))")

    assert len(observations.mismatches) == 2


IN_PLACE = """
import models
x = torch.ones(3).cuda()
for part, weights in zip(models.parts(), models.weights()):
    {move}
    for weight in weights:
        x * weight
"""


def test_what_moves_in_place_is_a_module_and_its_iterable_no_loader(met):
    assert met(IN_PLACE.format(move="part.to('cuda').eval()")) == []


def test_what_moves_to_another_object_comes_from_a_loader(met):
    assert met(IN_PLACE.format(move="part = part.to('cuda')")) == ["x * weight"]


BATCHES = """
class Data(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, i):
        return torch.rand(4), torch.rand(4)

def collate(samples):
    return {"size": len(samples), "x": torch.zeros(2)}, [torch.stack([s[0] for s in samples])]

def send(meta, data):
    for i, part in enumerate(data):
        data[i] = part.pin_memory().cuda()
    meta["x"] = meta["x"].pin_memory().cuda()

kept = []
for epoch in range(3):
    for i, (meta, data) in enumerate(DataLoader(Data(), batch_size=2, collate_fn=collate)):
        send(meta, data)
        kept.append(data)
"""


def test_each_round_has_a_new_batch(analyse):
    observations = analyse(BATCHES)

    assert not observations.host_accesses


def test_a_batch_that_is_kept_stays_where_it_was_moved(met):
    assert met(f"{BATCHES}\nprint(meta['x'] + torch.ones(2), kept[0][0] + torch.ones(2))\n") == [
        "print(meta['x'] + torch.ones(2), kept[0][0] + torch.ones(2))"
    ]
    assert met(f"{BATCHES}\nprint(data[0] + torch.ones(2).cuda())\n") == []


def test_objects_that_were_there_before_the_loop_stay_as_the_round_before_left_them(analyse):
    program = BATCHES.replace("enumerate(DataLoader(Data(), batch_size=2, collate_fn=collate))", "enumerate(batches)")
    batches = "batches = [({'x': torch.zeros(2)}, [torch.ones(2)])]\n"

    assert analyse(batches + program).host_accesses


def test_the_batch_of_the_round_before_stays_where_it_was_moved(met):
    program = (
        BATCHES.partition("kept = []")[0]
        + """
there = torch.ones(2).cuda()
last = [there]
for meta, data in DataLoader(Data(), batch_size=2, collate_fn=collate):
    print(last[0] + there)
    send(meta, data)
    last = data
"""
    )

    assert met(program) == []


COUNTED = """
from elsewhere import last, read, start

net = nn.Linear(3, 3)
for {counter} in {iterable}:
    if {test}:
        net(torch.ones(2, 3).cuda())
    net = net.cuda()
"""


@pytest.mark.parametrize(
    ("counter", "iterable", "test", "fails"),
    [
        ("i", "range(last)", "i > 0", False),
        ("i", "range(last)", "i", False),
        ("i", "range(start, last)", "i > start", False),
        ("i", "range(start, last)", "i != start", False),
        ("i, _", "enumerate(read(), start)", "i > start", False),
        ("i", "range(start, last)", "i >= start", True),
        ("i", "range(start, last)", "i > last", True),
        ("i", "range(start, last, -1)", "i > start", True),
    ],
)
def test_what_a_loop_does_from_its_second_round_comes_after_the_first(met, counter, iterable, test, fails):
    assert bool(met(COUNTED.format(counter=counter, iterable=iterable, test=test))) is fails


@pytest.mark.parametrize(("test", "fails"), [("i > start", False), ("i == start", True), ("i > last", True)])
def test_what_a_loop_does_from_its_second_round_is_done_in_every_later_one(met, test, fails):
    program = f"""
        from elsewhere import last, start

        net = nn.Linear(3, 3).cuda()
        for i in range(start, last):
            if {test}:
                net.cuda()
            net(torch.ones(2, 3).cuda())
            net.cpu()
        """

    assert bool(met(program)) is fails


@pytest.mark.parametrize(
    ("iterable", "number"),
    [
        ("range(20)", 0),
        ("tqdm(range(1, 3))", 0),
        ("enumerate(['a'])", 0),
        ("range(0)", 1),
        ("range(rounds())", 1),
        ("range(3, 1)", 1),
        ("[]", 1),
    ],
)
def test_what_ends_the_first_round_of_a_loop_ends_the_program_if_there_is_one(met, iterable, number):
    text = f"for _ in {iterable}:\n    raise SystemExit\ntorch.ones(3).cuda() + torch.ones(3)\n"

    assert len(met(text)) == number
