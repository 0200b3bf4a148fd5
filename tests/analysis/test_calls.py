"""Functions: arguments, closures, generators, partial, decorators, recursion."""

from __future__ import annotations

import textwrap

import pytest

from devfix import analysis

PROGRAMS = [
    pytest.param("def f(x):\n    return x.cuda()\nx = f(torch.ones(3))", id="argument"),
    pytest.param("def f(x, device='cuda'):\n    return x.to(device)\nx = f(torch.ones(3))", id="default"),
    pytest.param("def f(x, *, device):\n    return x.to(device)\nx = f(torch.ones(3), device='cuda')", id="keyword"),
    pytest.param("def f(*args):\n    return args[0].cuda()\nx = f(torch.ones(3), 1)", id="star"),
    pytest.param("def f(**kw):\n    return kw['x'].cuda()\nx = f(x=torch.ones(3))", id="double-star"),
    pytest.param("def f(x, d):\n    return x.to(d)\nx = f(*[torch.ones(3), 'cuda'])", id="spread"),
    pytest.param("def f(x, d):\n    return x.to(d)\nx = f(torch.ones(3), **{'d': 'cuda'})", id="spread-keywords"),
    pytest.param(
        "def f(x):\n    if choose():\n        return x.cuda()\n    return x.to('cuda')\nx = f(torch.ones(3))",
        id="two-returns",
    ),
    pytest.param("def f(x):\n    return x, x.cuda()\n_, x = f(torch.ones(3))", id="tuple-returned"),
    pytest.param("def f(x):\n    return {'x': x.cuda()}\nx = f(torch.ones(3))['x']", id="dictionary-returned"),
    pytest.param(
        "def outer(d):\n    def inner(x):\n        return x.to(d)\n    return inner\nx = outer('cuda')(torch.ones(3))",
        id="closure",
    ),
    pytest.param("d = 'cpu'\ndef f(x):\n    return x.to(d)\nd = 'cuda'\nx = f(torch.ones(3))", id="global-at-the-call"),
    pytest.param("x = torch.ones(3)\ndef f():\n    global x\n    x = x.cuda()\nf()", id="global-statement"),
    pytest.param(
        "def outer():\n"
        "    x = torch.ones(3)\n"
        "    def inner():\n"
        "        nonlocal x\n"
        "        x = x.cuda()\n"
        "    inner()\n"
        "    return x\n"
        "x = outer()",
        id="nonlocal-statement",
    ),
    pytest.param(
        "from functools import partial\nmake = partial(torch.ones, 3, device='cuda')\nx = make()", id="partial"
    ),
    pytest.param(
        "from functools import partial\ndef f(d, x):\n    return x.to(d)\nx = partial(f, 'cuda')(torch.ones(3))",
        id="partial-of-a-function",
    ),
    pytest.param(
        "import types\ndef f(self, x):\n    return x.to(self)\nx = types.MethodType(f, 'cuda')(torch.ones(3))",
        id="a-function-that-becomes-a-method",
    ),
    pytest.param(
        "def f(self, x):\n    return x.to(self)\nx = f.__get__('cuda')(torch.ones(3))", id="a-function-bound-by-hand"
    ),
    pytest.param(
        "net = nn.Linear(3, 3)\nnet.forward = lambda x: x.cuda()\nx = net(torch.ones(3))", id="another-forward"
    ),
    pytest.param(
        "xs = [torch.ones(3), torch.ones(3)]\n"
        "for i, x in enumerate(xs, 0):\n"
        "    xs[i] = x.cuda() if i == 1 else x\n"
        "x = xs[1]",
        id="items-are-numbered",
    ),
    pytest.param(
        "from functools import lru_cache\n"
        "@lru_cache\n"
        "def device():\n"
        "    return 'cuda'\n"
        "x = torch.ones(3, device=device())",
        id="lru-cache",
    ),
    pytest.param("@torch.no_grad()\ndef f(x):\n    return x.cuda()\nx = f(torch.ones(3))", id="no-grad"),
    pytest.param("@torch.inference_mode()\ndef f(x):\n    return x.cuda()\nx = f(torch.ones(3))", id="inference-mode"),
    pytest.param(
        "from functools import wraps\n"
        "def there(f):\n"
        "    @wraps(f)\n"
        "    def inner(*args):\n"
        "        return f(*args).cuda()\n"
        "    return inner\n"
        "@there\n"
        "def make():\n"
        "    return torch.ones(3)\n"
        "x = make()",
        id="project-decorator",
    ),
    pytest.param("f = lambda x, d='cuda': x.to(d)\nx = f(torch.ones(3))", id="lambda"),
    pytest.param("def gen():\n    yield torch.ones(3).cuda()\nx = next(gen())", id="generator"),
    pytest.param(
        "def inner():\n    yield torch.ones(3).cuda()\ndef gen():\n    yield from inner()\nfor x in gen():\n    pass",
        id="yield-from",
    ),
    pytest.param(
        "import contextlib\n"
        "@contextlib.contextmanager\n"
        "def there():\n"
        "    yield torch.ones(3).cuda()\n"
        "with there() as x:\n"
        "    pass",
        id="context-manager",
    ),
    pytest.param("def apply(f, x):\n    return f(x)\nx = apply(lambda t: t.cuda(), torch.ones(3))", id="higher-order"),
    pytest.param("x = torch.ones(3)\nmove = x.cuda\nx = move()", id="bound-method"),
    pytest.param("OPS = {'there': lambda x: x.cuda()}\nx = OPS['there'](torch.ones(3))", id="dispatch-table"),
    pytest.param("x = getattr(torch.ones(3), 'cuda')()", id="getattr"),
    pytest.param(
        "def f(x, n):\n    return x if n == 0 else f(x.cuda(), n - 1)\nx = f(torch.ones(3), 3)", id="recursion"
    ),
    pytest.param(
        "def f(x):\n    try:\n        return x.cuda()\n    except RuntimeError:\n        raise\nx = f(torch.ones(3))",
        id="try",
    ),
    pytest.param("def f(x):\n    with torch.no_grad():\n        return x.cuda()\nx = f(torch.ones(3))", id="with"),
    pytest.param(
        "def move(held):\n    held['x'] = held['x'].cuda()\nheld = {'x': torch.ones(3)}\nmove(held)\nx = held['x']",
        id="changed-argument",
    ),
    pytest.param(
        "def move(held):\n"
        "    for i in range(len(held)):\n"
        "        held[i] = held[i].cuda()\n"
        "held = [torch.ones(3)]\n"
        "move(held)\n"
        "x = held[0]",
        id="changed-list",
    ),
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_tensor_is_followed_through_the_call(place, program):
    assert place(program, "x") == "accelerator"


@pytest.mark.parametrize(
    "program",
    [
        pytest.param("x = somewhere(torch.ones(3))", id="unknown-function"),
        pytest.param("from lib import f\nx = f(torch.ones(3))", id="foreign-function"),
        pytest.param("def f(x):\n    return f(x)\nx = f(torch.ones(3))", id="endless-recursion"),
        pytest.param(
            "def a(x):\n    return b(x)\ndef b(x):\n    return a(x)\nx = a(torch.ones(3))", id="mutual-recursion"
        ),
        pytest.param("x = eval('torch.ones(3)')", id="eval"),
    ],
)
def test_nothing_is_known_of_what_cannot_be_read(place, program):
    assert place(program, "x") == "unknown"


def test_one_function_with_two_devices_gives_two_places(place):
    program = "def f(d):\n    return torch.ones(3, device=d)\nhere, there = f('cpu'), f('cuda')"

    assert place(program, "here") == "cpu"
    assert place(program, "there") == "accelerator"


def test_defaults_are_evaluated_at_the_definition(place):
    program = "d = 'cpu'\ndef f(x, where=d):\n    return x.to(where)\nd = 'cuda'\nx = f(torch.ones(3).cuda())"

    assert place(program, "x") == "cpu"


def test_what_nobody_calls_is_not_run(met):
    program = "def f():\n    torch.ones(3).cuda() + torch.ones(3)\n"

    assert met(program) == []


def test_the_levels_of_a_site_tell_who_called(analyse):
    program = "def f(x):\n    return x + torch.ones(3)\ndef g():\n    f(torch.ones(3).cuda())\ng()\n"
    (mismatch,) = analyse(program).mismatches

    assert [level.tree.line(level.stmt.lineno) for level in mismatch.point.call_stack] == [
        "g()",
        "f(torch.ones(3).cuda())",
        "return x + torch.ones(3)",
    ]


def test_a_generator_may_yield_objects_of_a_path_that_ends(analyse):
    program = (
        "def items(n):\n    for i in range(n):\n        part = [torch.ones(3)]\n        yield part\n"
        "        raise ValueError\n    yield torch.ones(3)\n"
        "for x in items(int(input())):\n    print(x[0])\ntorch.ones(3).cuda() + torch.ones(3)\n"
    )
    assert len(analyse(program).mismatches) == 1


def test_a_progress_bar_of_another_library_yields_what_it_wraps(met):
    text = """
    from ultra.utils import TQDM
    loader = DataLoader(TensorDataset(torch.ones(4, 3)), batch_size=2)
    bar = enumerate(loader)
    if args.verbose:
        bar = TQDM(bar, total=3)
    total = torch.zeros(3).cuda()
    for i, (x,) in bar:
        total = (total * i + x.cuda()) / (i + 1)
    """
    assert met(text) == []


def test_a_method_moves_whichever_object_it_is_called_on(met):
    text = """
        class Reader:
            def __init__(self):
                self.net = nn.Linear(3, 3)

            def cuda(self):
                self.net.cuda()

        reader = Reader() if input() else Reader()
        reader.cuda()
        reader.net(torch.ones(3, 3).cuda())
        """

    assert met(textwrap.dedent(text)) == []


SEVERAL = """
    class Pipe:
        def __init__(self, net):
            self.net = net

        def to(self, device):
            self.net.to(device)
            return self

        def run(self, x):
            return self.net(x)

    class Reader(Pipe):
        def to(self, device):
            {move}
            return self

    class Layer(nn.Linear):
        def run(self, x):
            return self(x)

    def chosen():
        shared = nn.Linear(3, 3)
        if args.pipe:
            return Pipe({first})
        return Reader({second}) if args.reader else Layer(3, 3)

    one = chosen().to("cuda")
    one.run(torch.ones(3, 3).cuda())
    """
MOVES = "self.net = self.net.to(device)"


@pytest.mark.parametrize(
    ("move", "first", "second", "count"),
    [
        pytest.param(MOVES, "nn.Linear(3, 3)", "nn.Linear(3, 3)", 0, id="moved"),
        pytest.param("pass", "nn.Linear(3, 3)", "nn.Linear(3, 3)", 1, id="one-forgets-it"),
        pytest.param("pass", "shared", "shared", 1, id="one-forgets-what-they-share"),
    ],
)
def test_objects_of_several_classes_are_moved_by_their_own_methods(met, move, first, second, count):
    text = SEVERAL.format(move=move, first=first, second=second)

    assert len(met(textwrap.dedent(text))) == count


@pytest.mark.parametrize(
    ("signature", "meets"), [("x, on", False), ("x, *on", True), ("x, y, on", True)], ids=["fewer", "any", "as-many"]
)
def test_a_call_with_too_many_arguments_fails(met, signature, meets):
    text = f"""
        def scaled({signature}):
            return x * torch.ones(3)

        scaled(torch.ones(3).cuda(), 1, True)
        """

    assert bool(met(textwrap.dedent(text))) == meets


def test_a_checkpoint_that_is_called_with_an_array_is_a_model_of_another_framework(analyse):
    text = """
        net = torch.load("a.pt", map_location="cuda")
        x = torch.ones(3).cuda()
        {call}.numpy()
        """

    assert len(analyse(textwrap.dedent(text.format(call="net(x)"))).host_accesses) == 1
    assert not analyse(textwrap.dedent(text.format(call="net(x.cpu().numpy())"))).host_accesses


FUNCTIONS = """
from settings import name

def plain(loader, model):
    for x in loader:
        model(x.cuda())

def distilled(loader, teacher, model):
    for x in loader:
        teacher(x)

step = {"plain": plain, "distilled": distilled}[name]
"""


def test_a_function_that_cannot_take_the_arguments_is_not_called(met):
    assert met(FUNCTIONS + "step(DataLoader(Dataset()), nn.Linear(3, 3).cuda())\n") == []


def test_a_function_that_can_take_them_is(met):
    program = FUNCTIONS + "step(DataLoader(Dataset()), nn.Linear(3, 3).cuda(), nn.Linear(3, 3))\n"

    assert met(program) == ["teacher(x)"]


@pytest.mark.parametrize("argument", ["'cuda fp16'", "device", "strategy='cuda'"])
def test_a_constructor_that_gets_a_device_may_use_it(met, argument):
    program = f"""
        from runner import Engine

        device = torch.device("cuda")
        engine = Engine("weights.bin", {argument})
        engine.forward(torch.ones(3).cuda())
        """

    assert met(program) == []


def test_one_that_gets_none_creates_its_weights_on_the_cpu(met):
    program = """
        from runner import Engine

        engine = Engine("weights.bin")
        engine.forward(torch.ones(3).cuda())
        """

    assert met(program) == ["engine.forward(torch.ones(3).cuda())"]


def test_a_constructor_that_gets_a_module_may_wrap_it(met):
    program = """
        from runner import Engine

        engine = Engine(nn.Linear(3, 3).cuda())
        engine.forward(torch.ones(3).cuda())
        """

    assert met(program) == []


PIPELINE = """
from library import Pipeline

class Mine(BASE):
    def __init__(self, net):
        self.net = net

    def run(self, x):
        return self.net(x)

mine = Mine(nn.Linear(3, 3))
"""


@pytest.mark.parametrize("move", ["mine.to('cuda')", "mine = mine.to('cuda')", "mine.cuda()"])
def test_a_class_of_a_library_moves_what_it_knows(met, move):
    assert met(f"{PIPELINE.replace('BASE', 'Pipeline')}\n{move}\nmine.run(torch.ones(3).cuda())\n") == []


def test_without_a_move_it_stays_on_the_cpu(met):
    program = f"{PIPELINE.replace('BASE', 'Pipeline')}\nmine.run(torch.ones(3).cuda())\n"

    assert met(program) == ["return self.net(x)"]


@pytest.mark.parametrize(
    "step", ["settings.step", "settings.pick()", "torch.load('x.pt', map_location='cuda')['step']"]
)
@pytest.mark.parametrize(("annotation", "lines"), [("int", []), ("object", ["return self.table[step] * x"])])
def test_an_annotation_says_that_an_unknown_value_is_a_number(met, step, annotation, lines):
    program = f"""
        import settings

        class Schedule:
            def __init__(self):
                self.table = torch.linspace(0, 1, 10)

            def scaled(self, step: {annotation}, x):
                return self.table[step] * x

        Schedule().scaled({step}, torch.ones(3).cuda())
        """

    assert met(program) == lines


@pytest.mark.parametrize("argument", ["batch", "batch[1:]", "send(batch)[1:]"])
def test_arguments_of_one_of_several_tuples_keep_their_places(met, argument):
    program = f"""
        def send(batch):
            if len(batch) == 4:
                names, x, y, z = batch
                return names, x.cuda(), y.cuda(), torch.ones(2)
            if len(batch) == 2:
                names, x = batch
                return names, x.cuda()

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(2, 2)

            def forward(self, x, y=None, z=None):
                return self.layer(x)

        model = Net().cuda()
        for batch in DataLoader(Data()):
            moved = send(batch)
            model(*{"moved[1:]" if argument == "batch" else argument})
        """

    assert met(program) == ([] if argument != "batch[1:]" else ["return self.layer(x)"])


STARTED = """
import threading
import torch.multiprocessing as mp
from options import opts

def work(rank, size, name):
    pass

{start}
x = torch.ones(3).cuda()
y = torch.ones(3)
x + y
"""


@pytest.mark.parametrize(
    "start",
    [
        "mp.spawn(work, args=opts(), nprocs=2)",
        "threading.Thread(target=work, args=opts()).start()",
        "mp.Process(target=work, kwargs=opts()).start()",
    ],
)
def test_what_a_library_passes_is_not_what_its_call_has(start):
    source = "import torch\n" + STARTED.format(start=start)

    found = analysis.analyse("/p/train.py", {"/p/train.py": source}.get, "/p")

    assert found is not None and [each.operation for each in found.mismatches] == ["operator"]


def test_names_of_what_methods_return_do_not_grow_without_end(analyse):
    loops = "".join(f"{'    ' * depth}for {name} in [1, 2]:\n" for depth, name in enumerate("abcdef"))
    program = f"from library import read\n{loops}{'    ' * 6}text = read(a)\n"
    program += "".join(f"{'    ' * 6}text = text.replace('{name}', str({name}))\n" for name in "abcdef" * 9)
    state = analyse(f"{program}torch.ones(3) + torch.ones(3, device='cuda')\n").mismatches[0].point.state

    assert state is not None
    assert max(obj.name.count(".") for _, obj in state.heap_objects()) < 20


@pytest.mark.parametrize(("options", "stays"), [("", True), (", **options", False)])
def test_unknown_options_may_give_another_device_than_the_default(met, options, stays):
    program = f"""
        from settings import options

        def place(x, device="cpu"):
            return x.to(device)

        y = place(torch.ones(3).cuda(){options})
        y + torch.ones(3).cuda()
    """

    assert met(program) == ["y + torch.ones(3).cuda()"] * stays


@pytest.mark.parametrize("decorator", ["functools.lru_cache(maxsize=None)", "functools.cache"])
def test_a_function_that_keeps_its_results_runs_once_for_the_same_arguments(met, decorator):
    program = f"""
        import functools

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 2)
                self.size()

            @{decorator}
            def size(self):
                return self.layer(torch.ones(1, 4)).shape[1]

            @{decorator}
            def mask(self, number):
                return torch.ones(number)

            def forward(self, x):
                return self.layer(x).reshape(-1, self.size()) * self.mask(2)

        net = Net().cuda()
        net(torch.ones(3, 4).cuda())
        """

    assert met(program) == ["return self.layer(x).reshape(-1, self.size()) * self.mask(2)"]


def test_a_model_whose_wrapped_module_is_read_is_wrapped(met):
    program = """
        import sys

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 2)

            def forward(self, x):
                return self.layer(x)

        def train(net, again):
            print(net.module.layer)
            net(torch.ones(3, 4))
            again(torch.ones(3, 4))

        net, again = Net().cuda(), Net().cuda()
        if len(sys.argv) > 2:
            net, again = nn.DataParallel(net), nn.DataParallel(again)
        train(net, again)
        """

    assert met(program) == ["return self.layer(x)"]
    assert met(program.replace("again(torch.ones(3, 4))", "")) == []


@pytest.mark.parametrize("second", ["pass", "net = Net().cuda()"])
def test_a_call_that_leaves_out_an_argument_ends_its_path(met, second):
    program = """
        import sys

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 2)

            def loss(self, x, y):
                return self.layer(x)

        if sys.argv[1] == "train":
            net = Net().cuda()
        elif sys.argv[1] == "tune":
            SECOND
        net.loss(torch.ones(3, 4)ARGUMENT)
        """.replace("SECOND", second)

    assert met(program.replace("ARGUMENT", ", 1")) == ["return self.layer(x)"]
    assert met(program.replace("ARGUMENT", "")) == []


@pytest.mark.parametrize(
    ("decorator", "base", "argument", "places"),
    [
        pytest.param("", "object", "'cuda'", ["return x / self.scale"], id="given"),
        pytest.param("", "object", "", [], id="left-out"),
        pytest.param("", "nn.Module", "", [], id="of-a-module"),
        pytest.param("@configurable", "object", "", ["return x / self.scale"], id="a-decorator-may-give-it"),
        pytest.param("", "outside.Base", "", ["return x / self.scale"], id="a-metaclass-may-give-it"),
        pytest.param("", "Registered", "", ["return x / self.scale"], id="a-metaclass-gives-it"),
    ],
)
def test_a_plain_class_without_the_arguments_of_its_constructor_ends_its_path(met, decorator, base, argument, places):
    program = f"""
        import outside
        from outside import configurable

        class Registry(type):
            def __call__(cls, *args):
                return super().__call__(*(args or ("cuda",)))

        class Registered(metaclass=Registry):
            pass

        {decorator}
        class Scale({base}):
            def __init__(self, device):
                super().__init__()
                self.scale = torch.ones(3, device="cuda")

            def apply(self, x):
                return x / self.scale

        Scale({argument}).apply(torch.ones(3))
        """

    assert met(program) == places


def test_super_may_be_a_class_that_requires_no_argument(met):
    program = """
        class Encoder(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.layer = nn.Linear(width, 2)

            def forward(self, x):
                return self.layer(x)

        class Small(Encoder):
            def __init__(self):
                super().__init__()

        class Four(Encoder):
            def __init__(self):
                super().__init__(4)

        class Net(Small, Four):
            pass

        Net()(torch.ones(3, 4).cuda())
        """

    assert met(program) == ["return self.layer(x)"]


LEFT_EARLY = """
import sys

kept = []

def build(path):
    model = nn.Linear(3, 3)
    KEEP
    if not path:
        return EARLY
    model.cuda()
    return LATE

MADE = build(sys.argv[1])
model(torch.ones(2, 3).cuda())
"""


@pytest.mark.parametrize(
    ("keep", "early", "late", "made", "is_met"),
    [
        pytest.param("pass", "None", "model", "model", False, id="none"),
        pytest.param("pass", "None, None", "model, 1", "model, _", False, id="tuple"),
        pytest.param("pass", "model", "model", "model", True, id="the-same"),
        pytest.param("kept.append(model)", "None", "model", "model", True, id="kept-elsewhere"),
    ],
)
def test_what_a_function_leaves_behind_without_returning_it_is_not_used(met, keep, early, late, made, is_met):
    program = LEFT_EARLY.replace("KEEP", keep).replace("EARLY", early).replace("LATE", late).replace("MADE", made)

    assert met(program) == ["model(torch.ones(2, 3).cuda())"] * is_met
