"""Modules: where their weights live, and what moves them."""

from __future__ import annotations

import pytest

SETUP = """
import copy
from torchvision import models

class Block(nn.Module):
    def __init__(self, width=3):
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.scale = nn.Parameter(torch.ones(width))
        self.register_buffer("offset", torch.zeros(width))

    def forward(self, x):
        return self.norm(self.fc(x)) * self.scale + self.offset

class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(3)])
        self.heads = nn.ModuleDict({"a": nn.Linear(3, 3), "b": nn.Linear(3, 3)})
        self.tail = nn.Sequential(nn.Linear(3, 3), nn.ReLU())

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.tail(self.heads["a"](x))

class Child(Block):
    def __init__(self):
        super().__init__(width=3)
        self.extra = nn.Linear(3, 3)

    def forward(self, x):
        return self.extra(super().forward(x))

class Linear(nn.Linear):
    pass

class Layer(nn.Linear):
    def __init__(self, width, **options):
        super().__init__(width, width, **options)

class Named(nn.Linear):
    def __init__(self, width, device=None):
        nn.Linear.__init__(self, width, width, True, device)

x = torch.ones(3, 3)
"""

MOVED = [
    pytest.param("m = Block().to('cuda')", id="to"),
    pytest.param("m = Block()\nm.to('cuda')", id="in-place"),
    pytest.param("m = Block()\nm = m.to('cuda')", id="assigned"),
    pytest.param("m = Block().cuda()", id="cuda"),
    pytest.param("m = Block().eval().cuda().half().train()", id="chain"),
    pytest.param("m = Block()\nother = m\nother.cuda()", id="by-another-name"),
    pytest.param("m = Tower().cuda()", id="tree"),
    pytest.param("m = Child().cuda()", id="inherited"),
    pytest.param("m = nn.Sequential(Block(), Block()).cuda()", id="sequential"),
    pytest.param("m = torch.compile(Block().cuda())", id="compiled"),
    pytest.param("m = torch.compile(Block())\nm.cuda()", id="moved-when-compiled"),
    pytest.param("m = copy.deepcopy(Block().cuda())", id="copied"),
    pytest.param("m = models.resnet18().cuda()", id="torchvision"),
    pytest.param("m = nn.utils.skip_init(nn.Linear, 3, 3, device='cuda')", id="without-initialization"),
    pytest.param(
        "m = Block()\nfor part in m.children():\n    part.cuda()\nm.scale.data = m.scale.data.cuda()\nm.cuda()",
        id="parts-then-all",
    ),
    pytest.param("m = Block().to(torch.device('cuda'), torch.float32)", id="with-dtype"),
    pytest.param("m = Block().cuda().float().requires_grad_(False)", id="frozen"),
    pytest.param("m = Block()\nif torch.cuda.is_available():\n    m.cuda()", id="if-available"),
    pytest.param("with torch.device('cuda'):\n    m = Block()", id="made-in-a-context"),
    pytest.param(
        "torch.set_default_device('cuda')\nm = Block()\nx = x.cuda()\ntorch.set_default_device('cpu')",
        id="default-device",
    ),
    pytest.param("m = nn.Linear(3, 3, device='cuda')", id="made-there"),
    pytest.param("m = nn.Linear(3, 3, True, 'cuda')", id="made-there-by-position"),
    pytest.param("m = Linear(3, 3, device='cuda')", id="made-there-by-a-derived-class"),
    pytest.param("m = Layer(3, device='cuda')", id="made-there-by-its-constructor"),
    pytest.param("m = Named(3, torch.device('cuda'))", id="made-there-by-the-constructor-s-name"),
    pytest.param("m = Layer(3).cuda()", id="derived-from-a-layer"),
    pytest.param("def build():\n    return Block().cuda()\nm = build()", id="by-a-factory"),
    pytest.param("def move(module):\n    return module.cuda()\nm = move(Block())", id="by-a-helper"),
    pytest.param("def move(module):\n    module.cuda()\nm = Block()\nmove(m)", id="by-a-helper-in-place"),
    pytest.param("m = getattr(nn, 'Linear')(3, 3).cuda()", id="by-getattr"),
    pytest.param("m = {'block': Block, 'tower': Tower}['tower']().cuda()", id="from-a-registry"),
    pytest.param("m, n = [net.cuda() for net in (Block(), Tower())]", id="comprehension"),
    pytest.param("m, n = Block(), Block()\nfor net in (m, n):\n    net.cuda()", id="loop"),
    pytest.param("m = Block()\nm.load_state_dict(Block().state_dict())\nm.cuda()", id="loaded-then-moved"),
    pytest.param("m = Block().cuda()\nm.load_state_dict(Block().state_dict())", id="moved-then-loaded"),
]
NOT_MOVED = [
    pytest.param("m = Block()", id="made"),
    pytest.param("m = Layer(3)", id="derived-from-a-layer"),
    pytest.param("m = Named(3)", id="derived-from-a-layer-without-a-device"),
    pytest.param("m = Layer(3, device='cuda').cpu()", id="made-there-and-back"),
    pytest.param("m = Block().cuda().cpu()", id="back"),
    pytest.param("m = Block().cuda()\nm.to('cpu')", id="back-in-place"),
    pytest.param("m = Block()\ncopy.deepcopy(m).cuda()", id="a-copy-moved"),
    pytest.param("m = Block()\nm.half().eval()", id="only-its-mode"),
    pytest.param("m = Block().to(torch.float64)", id="only-its-dtype"),
    pytest.param("m = Block()\nif not torch.cuda.is_available():\n    m.cuda()", id="where-there-is-none"),
]


@pytest.mark.parametrize("program", MOVED)
def test_this_module_takes_tensors_of_the_accelerator_and_no_others(met, program):
    assert met(f"{SETUP}\n{program}\nm(x.cuda())\n") == []
    assert met(f"{SETUP}\n{program}\nm(torch.ones(3, 3, device='cpu'))\n") != []


@pytest.mark.parametrize("program", NOT_MOVED)
def test_this_module_takes_tensors_of_the_cpu_and_no_others(met, program):
    assert met(f"{SETUP}\n{program}\nm(x)\n") == []
    assert met(f"{SETUP}\n{program}\nm(x.cuda())\n") != []


def test_the_failing_line_is_where_the_weights_are_used(met):
    assert met(f"{SETUP}\nBlock().cuda()(x)\n")[0] == "return self.norm(self.fc(x)) * self.scale + self.offset"


def test_buffers_and_parameters_move_with_their_module(place):
    assert place(SETUP, "Block().cuda().offset") == "accelerator"
    assert place(SETUP, "Block().cuda().scale") == "accelerator"
    assert place(SETUP, "Block().scale") == "cpu"


def test_a_plain_tensor_attribute_does_not_move(met):
    program = """
        class Mask(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(3, 3)
                self.mask = torch.ones(3)

            def forward(self, x):
                return self.fc(x) * self.mask

        Mask().cuda()(torch.ones(3, 3, device="cuda"))
        """

    assert met(program) == ["return self.fc(x) * self.mask"]


def test_a_tensor_made_in_forward_on_the_cpu_meets_the_input(met):
    program = """
        class Noise(nn.Module):
            def forward(self, x):
                return x + torch.randn(3)

        Noise().cuda()(torch.ones(3, device="cuda"))
        """

    assert met(program) == ["return x + torch.randn(3)"]


def test_a_module_in_a_plain_list_does_not_move(met):
    program = """
        class Hidden(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = [nn.Linear(3, 3)]

            def forward(self, x):
                return self.layers[0](x)

        Hidden().cuda()(torch.ones(3, 3, device="cuda"))
        """

    assert met(program) == ["return self.layers[0](x)"]


@pytest.mark.parametrize(
    "model",
    [
        pytest.param("torch.hub.load('a/b', 'net').cuda()", id="hub"),
        pytest.param("models.resnet18().cuda()", id="torchvision"),
    ],
)
def test_a_model_of_another_library_is_met_at_its_call_and_marked_as_such(analyse, model):
    (mismatch,) = analyse(f"{SETUP}\nm = {model}\nm(torch.ones(3, 3))\n").mismatches

    assert mismatch.opaque


@pytest.mark.parametrize(
    ("read", "moved"),
    [
        pytest.param("m.layer.cpu()", True, id="a-part"),
        pytest.param("m.parents.cpu().numpy()", False, id="an-array-of-a-buffer"),
        pytest.param("m.parents.cpu().tolist()", False, id="its-numbers"),
    ],
)
def test_what_gets_a_tensor_s_method_is_no_part_of_a_model_of_another_library(met, read, moved):
    text = f"{SETUP}\nm = torch.hub.load('a/b', 'net').cuda()\n{read}\nm.layer(torch.ones(3, 3).cuda())\n"

    assert bool(met(text)) is moved


@pytest.mark.parametrize("where", ["'meta'", "'meta' if path else 'cuda'", "'cuda' if path else 'meta'"])
def test_weights_that_are_made_in_one_of_several_places_and_assigned_are_met_nowhere(met, where):
    text = f"{SETUP}\npath = open('path').read()\nwith torch.device({where}):\n    m = Block()\n"
    text += "if path:\n    m.load_state_dict(read(path), assign=True)\n"

    assert met(f"{text}m(x.cuda())\n") == met(f"{text}m(x)\n") == []
    assert met(f"{SETUP}\nm = Block()\nm.load_state_dict(read(), assign=True)\nm(x.cuda())\n") == []


def test_data_parallel_scatters_its_input(met):
    assert met(f"{SETUP}\nm = nn.DataParallel(Block()).cuda()\nm(x)\n") == []


def test_a_replaced_part_stays_where_it_was_made(met):
    assert met(f"{SETUP}\nm = Block().cuda()\nm.fc = nn.Linear(3, 3)\nm(x.cuda())\n") != []
    assert met(f"{SETUP}\nm = Block().cuda()\nm.fc = nn.Linear(3, 3).cuda()\nm(x.cuda())\n") == []


def test_a_project_class_with_its_own_to_is_read(met):
    program = """
        class Ensemble:
            def __init__(self):
                self.members = [nn.Linear(3, 3) for _ in range(2)]

            def to(self, device):
                self.members = [member.to(device) for member in self.members]
                return self

            def __call__(self, x):
                return sum(member(x) for member in self.members)

        ensemble = Ensemble().to("cuda")
        ensemble(torch.ones(3, 3, device="cuda"))
        """

    assert met(program) == []


def test_buffers_of_computed_names_move_and_their_aliases_do_not(met):
    text = """
class Bank(nn.Module):
    def __init__(self):
        super().__init__()
        for name in ("low", "high"):
            self.register_buffer("filter_" + name, torch.ones(3))
        self.kept = [getattr(self, "filter_" + name) for name in ("low", "high")]

    def forward(self, x, name):
        x = x * getattr(self, f"filter_{name}")
        return x * self.kept[0]


bank = Bank().cuda()
bank(torch.ones(3).cuda(), input())
"""

    assert met(text) == ["return x * self.kept[0]"]


def test_attributes_that_come_through_vars_are_attributes(met):
    text = """
class Options:
    def __init__(self, **given):
        vars(self).update(given)


options = Options(weight=torch.ones(3), rate=0.1)
options.weight * torch.ones(3).cuda()
"""

    assert met(text) == ["options.weight * torch.ones(3).cuda()"]


_BACKENDS = """
class Backend(nn.Module):
    def __init__(self, path, device):
        super().__init__()
        {first}
        net = nn.Linear(3, 3).to(device)
        {store}

    def forward(self, x):
        if self.path:
            return self.net(x)
        return engine.run(x)

model = Backend(args.path, torch.device("cuda"))
"""


@pytest.mark.parametrize("store", ["self.__dict__.update(locals())", "self.__dict__.update(net=net, device=device)"])
def test_attributes_that_come_through_dict_are_attributes(place, store):
    program = _BACKENDS.format(first="self.path = path", store=store)

    assert place(program, "torch.ones(3).to(model.device)") == "accelerator"


def test_a_path_that_cannot_be_read_returns_what_the_others_return(place):
    program = _BACKENDS.format(first="self.path = path", store="self.net = net")

    assert place(program, "model(torch.ones(3).cuda())") == "accelerator"


@pytest.mark.parametrize("other", ["torch.ones(3)", "np.ones(3)", "x.cpu()"])
def test_a_path_that_returns_something_else_is_kept(analyse, other):
    program = f"""
    import numpy as np

    class Net(nn.Module):
        def forward(self, x):
            if args.fast:
                return x
            if args.slow:
                return engine.run(x)
            return {other}

    np.mean([Net()(torch.ones(3).cuda())])
    """
    assert not analyse(program).host_accesses


def test_a_module_without_known_weights_is_nowhere(place):
    program = """
    model = nn.ModuleList()
    for name in names:
        model.append(load_any(name))
    device = next(model.parameters()).device
    """
    assert place(program, "torch.ones(3, device=device)") == "unknown"


def test_what_a_backend_sets_is_not_what_another_one_has(place):
    program = """
    class Remote:
        def __call__(self, x):
            return torch.ones(3)

    class Backend(nn.Module):
        def __init__(self, kind):
            super().__init__()
            if kind:
                net = nn.Linear(3, 3).cuda()
                self.net = net
            else:
                net = Remote()
            self.__dict__.update(locals())

        def forward(self, x):
            return self.net(x)

    y = Backend(args.kind)(torch.ones(3).cuda())
    """
    assert place(program, "y") == "accelerator"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        pytest.param("model.initialize(torch.ones(3))", [], id="initialize"),
        pytest.param("model.set_weights(torch.ones(3))", [], id="set"),
        pytest.param("model.head(torch.ones(3))", ["model.head(torch.ones(3))"], id="submodule"),
    ],
)
def test_methods_that_write_weights_take_values_from_anywhere(met, call, expected):
    assert met(f"from elsewhere import Net\nmodel = Net().cuda()\nmodel.eval()\n{call}") == expected


CELL = """
rnn = nn.GRU(3, 3).cuda()
cell = nn.GRUCell(3, 3)
{weights}
cell(torch.ones(1, 3).cuda())
"""


def test_a_weight_that_is_replaced_brings_its_device(met):
    assert met(CELL.format(weights="cell.weight_hh.data = rnn.weight_hh_l0.data")) == []
    assert met(CELL.format(weights="pass")) == ["cell(torch.ones(1, 3).cuda())"]


def test_parameters_that_were_appended_in_a_loop_move_with_their_list(met):
    program = """
    import settings
    weights = nn.ParameterList()
    for _ in range(settings.count):
        weights.append(nn.Parameter(torch.ones(3)))
    weights.cuda()
    for i in range(settings.count):
        weights[i] + torch.ones(3).cuda()
    """

    assert met(program) == []


OWN_PARALLEL = """
class Net(nn.{base}):
    {body}

net = Net(nn.Linear(3, 3)).cuda()
net(torch.ones(3, 3))
net.module(torch.ones(3))
"""


@pytest.mark.parametrize("base", ["DataParallel", "parallel.DataParallel"])
@pytest.mark.parametrize(
    "body",
    [
        pytest.param("pass", id="stock"),
        pytest.param("def scatter(self, inputs, kwargs, device_ids):\n        return [inputs], [kwargs]", id="scatter"),
        pytest.param("def forward(self, *inputs):\n        return self.module(*spread(inputs))", id="forward"),
    ],
)
def test_a_subclass_of_data_parallel_moves_its_inputs(met, base, body):
    assert met(OWN_PARALLEL.format(base=base, body=body)) == ["net.module(torch.ones(3))"]


def test_a_meter_is_no_part_of_a_module(met):
    program = """
        from torchnet.meter import ConfusionMeter

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.meter = ConfusionMeter(2)
                self.layer = nn.Linear(3, 3)

            def forward(self, x):
                self.meter.add(torch.ones(3), self.layer(x))

        Net().cuda()(torch.ones(3).cuda())
        """

    assert met(program) == []


@pytest.mark.parametrize("call", ["model(x)", "model.forward(x)", "getattr(model, 'forward')(x)"])
def test_data_parallel_moves_the_inputs_of_its_forward(met, call):
    program = f"""
        model = nn.DataParallel(nn.Linear(3, 3)).cuda()
        x = torch.ones(3)
        {call}
        """

    assert met(program) == []


def test_a_layer_that_gets_a_tuple_is_on_a_path_that_is_not_taken(met):
    program = """
        from settings import search

        layer = nn.Linear(3, 3).cuda()
        part = (torch.ones(3).cuda(), torch.ones(3)) if search else torch.ones(3).cuda()
        if search:
            layer(part[0])
        layer(part)
        """

    assert met(program) == []


@pytest.mark.parametrize("method", ["state_dict()", "load_state_dict(saved)"])
def test_an_object_with_a_state_dict_may_be_no_module(met, method):
    program = f"""
        from helpers import Scaler, saved

        scaler = Scaler()
        scaler.{method}
        scaler(torch.ones(3).cuda(), torch.ones(3))
        """

    assert met(program) == []


def test_names_of_calls_that_have_ended_keep_no_module_of_another_path(met):
    program = """
        import sys

        class Predictor:
            def __init__(self, net):
                self.net = net
                self.net.cuda()

            def predict(self, x):
                return self.net(x.cuda())

        class First(nn.Module):
            def __init__(self):
                super().__init__()

                def layer():
                    return nn.Linear(3, 3)

                self.layers = nn.Sequential(layer())

            def forward(self, x):
                return self.layers(x)

        def plain():
            return nn.Sequential(nn.Linear(3, 3))

        def first():
            return nn.Sequential(First().layers)

        kind = sys.argv[1]
        if kind == "plain":
            net = plain()
        elif kind == "first":
            net = first()
        elif kind == "second":
            net = nn.Sequential(First().layers)
        else:
            sys.exit(1)
        if kind == "plain":
            predictor = Predictor(net)
        elif kind == "first":
            predictor = Predictor(net)
        elif kind == "second":
            predictor = Predictor(net)
        else:
            predictor = Predictor(net)
        predictor.predict(torch.ones(3))
        """

    assert met(program) == []


def test_methods_that_search_or_apply_compute_nothing_with_weights(met):
    program = """
        from library import Index

        class Searcher(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Linear(3, 3)
                self.index = Index()

            def forward(self, x):
                x = self.net(x)
                return self.index.search(x.cpu(), 3), self.index.apply_deltas(x)

        Searcher().cuda()(torch.ones(3).cuda())
        """

    assert met(program) == []


SCALAR = """
class Scalar(nn.Module):
    def __init__(self, start):
        super().__init__()
        self.constant = nn.Parameter(torch.tensor(start))
    def forward(self):
        return self.constant

print(torch.clamp(Scalar({start})().exp(), min=0.0) * torch.ones(3, device="cuda"))
"""


@pytest.mark.parametrize(("start", "count"), [("1.0", 0), ("[1.0, 2.0, 3.0]", 1)])
def test_a_parameter_without_dimensions_may_stay_on_the_cpu(met, start, count):
    assert len(met(SCALAR.replace("{start}", start))) == count


@pytest.mark.parametrize("register", ["self.__setattr__", "super().__setattr__", "self.add_module"])
def test_a_module_is_registered_under_a_computed_name(met, register):
    program = f"""
        class Net(nn.Module):
            def __init__(self, sizes):
                super().__init__()
                self.layers = []
                for i, size in enumerate(sizes):
                    layer = nn.Linear(size, size)
                    {register}("layer{{}}".format(i), layer)
                    self.layers.append(layer)

            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x

        from settings import sizes
        for given in (sizes, [3, 3]):
            Net(given).cuda()(torch.ones(2, 3).cuda())
        """

    assert met(program) == []
    assert met(program.replace(f'{register}("layer{{}}".format(i), layer)', "pass")) == ["x = layer(x)"]


@pytest.mark.parametrize(
    ("loss", "failing"),
    [
        ("nn.CTCLoss()", []),
        ("nn.CTCLoss() if choose() else nn.CrossEntropyLoss()", []),
        ("nn.CrossEntropyLoss()", []),
    ],
)
def test_a_loss_refuses_more_arguments_than_it_has(met, loss, failing):
    program = f"""
        loss = {loss}
        scores = nn.Linear(4, 5).cuda()(torch.ones(3, 2, 4).cuda())
        lengths = torch.tensor([3, 3])
        loss(scores, torch.ones(2, 3).long().cuda(), lengths, lengths)
        """

    assert met(program) == failing
    assert met(program.replace(", lengths, lengths)", ")").replace(".long().cuda()", ".long()")) == (
        [] if loss == "nn.CTCLoss()" else ["loss(scores, torch.ones(2, 3).long())"]
    )


@pytest.mark.parametrize(("name", "fails"), [("lengths", False), ("x_lens", False), ("mask", True)])
def test_an_unknown_module_may_want_the_argument_for_its_lengths_on_the_cpu(met, name, fails):
    program = f"""
        from zoo import Encoder

        encoder = Encoder().cuda()
        encoder(torch.ones(2, 3).cuda(), {name}=torch.tensor([3, 3]))
        """

    assert bool(met(program)) is fails


@pytest.mark.parametrize("weight", ["bias_hh_l0", "weight_ih_l0_reverse", "weight_hh_l1"])
def test_a_batch_follows_a_weight_of_a_recurrent_layer(met, weight):
    program = f"""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.rnn = nn.LSTM(3, 4, 2, bidirectional=True)

            def encode(self, x):
                return self.rnn(x.cuda() if self.rnn.{weight}.is_cuda else x)

        for model in (Net(), Net().cuda()):
            model.encode(torch.ones(2, 1, 3))
        """

    assert met(program) == []


PARAMETERS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.made = nn.ParameterList([nn.Parameter(torch.ones(3)) for _ in range(3)])
        self.added = nn.ParameterList()
        for _ in range(3):
            self.added.append(nn.Parameter(torch.ones(3)))
        self.plain = nn.ParameterList([torch.ones(3)])
        self.longer = nn.ParameterList()
        self.longer += [torch.ones(3)]
        self.named = nn.ParameterDict({"a": nn.Parameter(torch.ones(3))})

net = Net()
"""


@pytest.mark.parametrize("item", ["made[0]", "made[number()]", "added[0]", "plain[0]", "longer[0]", "named['a']"])
def test_lists_and_dictionaries_of_parameters_move_with_their_module(place, item):
    assert place(PARAMETERS, f"net.{item}") == "cpu"
    assert place(f"{PARAMETERS}net.cuda()\n", f"net.{item}") == "accelerator"


def test_a_parameter_that_is_made_from_a_moved_one_is_there(met):
    text = f"{PARAMETERS}net.cuda()\nfor i in range(3):\n    net.made[i] = nn.Parameter(net.made[i].data + 1)\n"

    assert met(f"{text}net.made[0] + torch.ones(3, device='cuda')\n") == []


@pytest.mark.parametrize(
    ("call", "lines"),
    [
        ("model(batch)", 1),
        ("model(batch['x'])", 1),
        ("model.loss(batch)", 0),
        ("model.loss(zip(*batch))", 0),
    ],
)
def test_what_gets_a_whole_batch_may_be_a_method_that_moves_it(met, call, lines):
    text = "import zoo\nmodel = zoo.build().cuda()\nfor batch in DataLoader(zoo.data()):\n    "

    assert len(met(text + call)) == lines


@pytest.mark.parametrize(
    ("call", "fails"), [("net.eval()", 1), ("net.train(False)", 1), ("net.train()", 0), ("pass", 0)]
)
def test_modes_reach_the_own_train_of_parts(analyse, call, fails):
    program = f"""
class Part(nn.Module):
    def train(self, mode=True):
        super().train(mode)
        if not mode:
            self.kept = torch.zeros(3)
        return self

    def forward(self, x):
        return x + self.kept

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def train(self, mode=True):
        return super().train(mode)

net = Net()
{call}
net.cuda()
net.part(torch.ones(3).cuda())
"""
    assert len({mismatch.point.span.line for mismatch in analyse(program).mismatches}) == fails


@pytest.mark.parametrize(
    ("call", "made"),
    [
        ("net.eval()", ["ones"]),
        ("net.train(False)", ["ones"]),
        ("net.train()", ["zeros"]),
        ("net.eval()\nnet.train()", ["zeros"]),
        ("net.part.eval()", ["zeros", "ones"]),
        ("if input():\n    net.eval()\nelse:\n    net.train()", ["zeros", "ones"]),
        ("net.eval()\nunknown(net)", ["zeros", "ones"]),
        ("pass", ["zeros", "ones"]),
    ],
)
def test_the_mode_of_a_module_decides_what_it_computes(met, call, made):
    program = f"""
from library import unknown

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = nn.Linear(3, 3)

    def forward(self, x):
        if self.training:
            return self.part(x) + torch.zeros(3)
        return self.part(x) + torch.ones(3)

net = Net().cuda()
{call}
net(torch.ones(3).cuda())
"""
    assert [line.split("torch.")[1][:-3] for line in met(program)] == made


@pytest.mark.parametrize(("value", "met_lines"), [("0.5", []), ("[0.5]", ["return x * self.scale"])])
def test_a_number_that_is_a_buffer_joins_tensors_anywhere(met, value, met_lines):
    program = f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cuda()
        self.register_buffer("scale", torch.tensor({value}))

    def forward(self, x):
        return x * self.scale

Net()(torch.ones(3).cuda())
"""
    assert met(program) == met_lines


def test_what_has_several_indices_is_no_part_of_a_library_model(met):
    program = """
net = models.resnet18().cuda()
best = net.prototypes[0][1, 2, :].cpu()
net(torch.ones(1, 3, 9, 9).cuda())
"""
    assert met("from torchvision import models\n" + program) == []


@pytest.mark.parametrize(("move", "count"), [(".cuda()", 0), ("", 1)])
def test_a_class_of_a_library_may_wrap_a_model_of_an_unknown_class(met, move, count):
    program = f"""
from library import Attributor, load

model = load("net.pt"){move}
attributor = Attributor(model=model)
attributor.forward(torch.ones(3).cuda())
"""
    assert len(met(program)) == count


def test_many_modules_with_computed_names_are_registered(met):
    program = """
import sys

def layer(a, b, kind):
    return nn.Sequential(nn.Conv2d(a, b, 1), nn.ReLU())

class Net(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.first, self.second, self.third = [], [], []
        for i, size in enumerate(sizes):
            self.third.append(layer(size, size, "a"))
            self.add_module(f"third{i}", self.third[-1])
            firsts, seconds, others = [], [], []
            for j, other in enumerate(sizes):
                others.append(layer(size, size, "b"))
                if other == size:
                    firsts.append(layer(size, size, "c"))
                    seconds.append(layer(size, size, "d"))
                else:
                    firsts.append(layer(size, other, "e"))
                    seconds.append(layer(size, other, "f"))
                self.add_module(f"first{i}{j}", firsts[-1])
                self.add_module(f"second{i}{j}", seconds[-1])
                self.add_module(f"other{i}{j}", others[-1])
            self.first.append(firsts)
            self.second.append(seconds)

    def forward(self, x):
        for first, second, third in zip(self.first, self.second, self.third):
            for a, b in zip(first, second):
                x = a(b(third(x)))
        return x

net = Net([int(size) for size in sys.argv[1:]])
net.cuda()
net(torch.ones(3, 3, 3).cuda())
"""
    assert met(program) == []
    assert met(program.replace('self.add_module(f"third', 'print(f"third')) != []


@pytest.mark.parametrize("container", ["nn.ModuleList(found)", "nn.Sequential(*found)", "nn.ModuleList([found[0]])"])
def test_what_a_container_of_modules_gets_moves_with_it(met, container):
    program = f"""
import sys
from blocks import Encoder, Decoder

found = []
for name in sys.argv[1:]:
    found.append(Encoder(name) if name == "encoder" else Decoder(name))
net = {container}
net.cuda()
for part in net:
    part.forward(torch.ones(3).cuda())
"""
    assert met(program) == []
    assert met(program.replace("net.cuda()", "pass")) != []


@pytest.mark.parametrize("method", ["predict", "normalize_targets", "evaluate", "accuracy"])
def test_what_a_model_of_another_library_predicts_may_be_anywhere(analyse, method):
    program = "from zoo import load\nmodel = load().cuda().eval()\nx = torch.ones(3)\n"
    observations = analyse(program + f"y = model.{method}(x)\ny.points[0].numpy()\nmodel(x)\n")

    assert len(observations.mismatches) == 1
    assert not observations.host_accesses


@pytest.mark.parametrize("made", ["net", "copy.deepcopy(net)"])
def test_a_part_of_another_library_moves_with_the_model_that_holds_it(met, made):
    program = f"""
import copy
from zoo import Head, Net

net = Net.from_pretrained("b0")
net.head = Head(width=3)
model = {made}
model.requires_grad_(False)
model.to("cuda")
list(model.head.parameters())
model(torch.ones(3).cuda())
model.head(torch.ones(3))
"""
    assert met(program) == ["model.head(torch.ones(3))"]


def test_a_layer_of_pytorch_is_of_no_class_of_the_project(met):
    program = """
class Other(nn.Linear):
    pass

net = nn.Sequential(nn.Linear(3, 3)).cuda()
for layer in net.modules():
    if isinstance(layer, Other):
        layer(torch.ones(3))
"""
    assert met(program) == []


def test_a_hook_is_no_part_of_the_module(met):
    program = """
from zoo import Net

net = Net.from_pretrained("b0")
net.cuda()
net(torch.ones(3).cuda())
hook = net.register_forward_hook(print)
hook(torch.ones(3))
"""
    assert met(program) == []


def test_a_metric_without_weights_does_not_make_a_module_one_of_the_cpu(met):
    program = """
from monai.metrics import DiceMetric

class Scores(nn.Module):
    def __init__(self):
        super().__init__()
        self.dice = DiceMetric(reduction="mean")

    def forward(self, x, y):
        return self.dice(x, y)

Scores()(torch.ones(3).cuda(), torch.ones(3).cuda())
"""
    assert met(program) == []


COMPUTED = {
    "attribute": ("setattr(self, f'layer{i}', nn.Linear(4, 4))", "getattr(self, f'layer{i}')(x)"),
    "percent": ("setattr(self, 'layer%d' % i, nn.Linear(4, 4))", "getattr(self, 'layer%d' % i)(x)"),
    "added": ("self.add_module('layer' + str(i), nn.Linear(4, 4))", "getattr(self, 'layer' + str(i))(x)"),
    "by-name": ("self.add_module('layer{}'.format(i), nn.Linear(4, 4))", "self.layer0(x)"),
    "by-key": ("self.add_module(f'layer{i}', nn.Linear(4, 4))", "self._modules['layer0'](x)"),
    "named-one-by-one": (
        "self.layer0 = nn.Linear(4, 4); self.other = nn.Linear(3, 3)",
        "getattr(self, f'layer{i}')(x)",
    ),
}


@pytest.mark.parametrize(("register", "call"), COMPUTED.values(), ids=COMPUTED)
def test_submodules_of_computed_names_are_called(met, register, call):
    program = f"""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                for i in range(int(input())):
                    {register}

            def forward(self, x):
                for i in range(int(input())):
                    x = {call}
                return x

        net = Net().cuda()
        net(torch.ones(3, 4).cuda())
        net(torch.ones(3, 4))
        """

    assert met(program) == [f"x = {call}"]
    assert met(program.replace("net(torch.ones(3, 4))\n", "\n")) == []


def test_a_name_that_no_part_begins_with_is_unknown(met):
    program = """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer0 = nn.Linear(4, 4)

            def forward(self, x):
                return getattr(self, f"head{input()}")(x) + getattr(self, input())(x)

        Net().cuda()(torch.ones(3, 4))
        """

    assert met(program) == []


def test_class_weights_of_a_loss_of_the_program_are_a_buffer(met):
    program = """
        class Loss(nn.CrossEntropyLoss):
            def __init__(self, weight):
                super().__init__(weight=weight)

            def forward(self, x, y):
                return nn.functional.cross_entropy(x, y, weight=self.weight)

        x, y = torch.ones(2, 3, device="cuda"), torch.zeros(2, dtype=torch.long, device="cuda")
        Loss({})(x, y)
        """

    assert met(program.format("torch.ones(3)")) == ["return nn.functional.cross_entropy(x, y, weight=self.weight)"]
    assert met(program.format("torch.ones(3)").replace("Loss(torch.ones(3))", "Loss(torch.ones(3)).cuda()")) == []
    assert met(program.format("torch.ones(3, device='cuda')")) == []
