"""Frameworks: what they prepare, deliver and call; objects that move as a whole."""

from __future__ import annotations

import pytest

SETUP = """
import accelerate
import deepspeed
import dgl
import lightning as L
import torch_xla.core.xla_model as xm
from accelerate import Accelerator
from ignite.engine import Engine
from ignite.utils import convert_tensor
from torch_geometric.data import Data
from torch_geometric.datasets import Planetoid
from torch_geometric.loader import NeighborLoader
from transformers import AutoModel, AutoTokenizer

accelerator = Accelerator()
fabric = L.Fabric()
model = nn.Linear(3, 3)
x = torch.ones(3, 3)
loader = DataLoader(TensorDataset(x), batch_size=1)
tok = AutoTokenizer.from_pretrained("gpt2")
graphs = Planetoid("data", "Cora")
"""

PLACES = [
    ("accelerator.prepare(model)(x.cuda())", "accelerator"),
    ("next(iter(accelerator.prepare(loader)))[0]", "accelerator"),
    ("next(iter(accelerator.prepare(model, loader)[1]))[0]", "accelerator"),
    ("next(iter(accelerator.prepare_data_loader(loader)))[0]", "accelerator"),
    ("next(iter(Accelerator(device_placement=False).prepare(loader)))[0]", "unknown"),
    ("next(iter(accelerator.prepare(loader, device_placement=[False])))[0]", "unknown"),
    ("next(iter(Accelerator(cpu=True).prepare(loader)))[0]", "cpu"),
    ("accelerator.gather(x)", "cpu"),
    ("next(iter(fabric.setup_dataloaders(loader)))[0]", "accelerator"),
    ("fabric.to_device(x)", "accelerator"),
    ("x.to(L.Fabric(accelerator='cpu').device)", "cpu"),
    ("x.to(accelerator.device)", "accelerator"),
    ("x.to(xm.xla_device())", "accelerator"),
    ("x.to(deepspeed.initialize(model=model)[0].device)", "accelerator"),
    ("deepspeed.initialize(model=model)[0](x.cuda())", "accelerator"),
    ("convert_tensor(x, 'cuda')", "accelerator"),
    ("convert_tensor(x)", "cpu"),
    ("tok('a', return_tensors='pt')['input_ids']", "cpu"),
    ("tok('a', return_tensors='pt').input_ids", "cpu"),
    ("tok('a', return_tensors='pt').to('cuda').input_ids", "accelerator"),
    ("tok.encode('a', return_tensors='pt')", "cpu"),
    ("tok('a', return_tensors='pt', device='cuda')['input_ids']", "unknown"),
    ("tok('a')['input_ids']", "unknown"),
    ("graphs[0].x", "cpu"),
    ("graphs[0].to('cuda').x", "accelerator"),
    ("graphs[0].num_nodes", "unknown"),
    ("graphs.data.edge_index", "cpu"),
    ("Planetoid('data', 'Cora', transform=lambda data: data.to('cuda'))[0].x", "unknown"),
    ("Data(x=x, y=x).x", "cpu"),
    ("Data(x=x.cuda(), y=x.cuda()).x", "accelerator"),
    ("Data(x=x.cuda(), y=x).x", "unknown"),
    ("dgl.data.CoraGraphDataset()[0].ndata['feat']", "cpu"),
    ("dgl.graph((x, x), device='cuda').ndata['feat']", "unknown"),
]


@pytest.mark.parametrize(("expression", "expected"), PLACES)
def test_where_it_lives(place, expression, expected):
    assert place(SETUP, expression) == expected


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        pytest.param("data = graphs[0]\ndata.to('cuda')\nfound = data.x", "accelerator", id="pyg-moves-in-place"),
        pytest.param(
            "enc = tok('a', return_tensors='pt')\nenc.to('cuda')\nfound = enc.input_ids", "accelerator", id="hf"
        ),
        pytest.param(
            "g = dgl.data.CoraGraphDataset()[0]\ng.to('cuda')\nfound = g.ndata['x']", "cpu", id="dgl-does-not"
        ),
        pytest.param(
            "g = dgl.data.CoraGraphDataset()[0].int().to('cuda')\nfound = g.ndata['x']", "accelerator", id="dgl-int"
        ),
        pytest.param("data = graphs[0]\ndata.x = data.x.cuda()\nfound = data.x", "accelerator", id="one-attribute"),
        pytest.param("found = graphs[0].to('cuda', 'x', 'y').x", "accelerator", id="by-names"),
        pytest.param("found = graphs[0].to('cuda', 'x', 'y').edge_index", "cpu", id="not-by-names"),
        pytest.param(
            "data = graphs[0].to('cuda', 'x')\nfound = next(iter(NeighborLoader(data, batch_size=4))).x",
            "accelerator",
            id="sampled",
        ),
        pytest.param(
            "data = graphs[0].to('cuda', 'x')\nfound = next(iter(NeighborLoader(data, batch_size=4))).y",
            "cpu",
            id="sampled-on-the-cpu",
        ),
        pytest.param(
            "data = graphs[0].to('cuda')\nfound = next(iter(NeighborLoader(data, batch_size=4))).x",
            "unknown",
            id="sampled-from-the-device",
        ),
        pytest.param("data = graphs[0].clone().cuda()\nfound = graphs[0].x", "cpu", id="a-copy"),
        pytest.param(
            "found = {k: v.cuda() for k, v in tok('a', return_tensors='pt').items()}['a']", "accelerator", id="items"
        ),
    ],
)
def test_what_moves_as_a_whole(place, statements, expected):
    assert place(f"{SETUP}\n{statements}", "found") == expected


LIT = """
class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 3)

    def training_step(self, batch, index):
        (x,) = batch
        self.net(x) + torch.ones(3)
"""


def test_lightning_calls_its_steps_with_everything_on_the_device(met):
    assert met(f"{SETUP}\n{LIT}\nL.Trainer().fit(Lit(), loader)") == ["self.net(x) + torch.ones(3)"]


def test_a_command_line_of_lightning_trains(met):
    cli = "from lightning.pytorch.cli import LightningCLI\nLightningCLI(Lit)"
    assert met(f"{SETUP}\n{LIT}\n{cli}") == ["self.net(x) + torch.ones(3)"]


@pytest.mark.parametrize(
    "launch",
    [
        pytest.param("from accelerate import notebook_launcher\nnotebook_launcher(train, (model, x))", id="notebook"),
        pytest.param("import ignite.distributed as idist\nidist.Parallel().run(ranked, model, x)", id="ignite"),
        pytest.param(
            "import ignite.distributed as idist\nwith idist.Parallel('nccl') as p:\n    p.run(ranked, model, x)",
            id="with",
        ),
        pytest.param("import torch_xla\ntorch_xla.launch(ranked, args=(model, x))", id="xla"),
        pytest.param("fabric.launch(ranked, model, x)", id="fabric"),
    ],
)
def test_what_is_launched_runs(met, launch):
    train = "def train(model, x):\n    model.cuda()(x)\ndef ranked(rank, model, x):\n    train(model, x)"
    assert met(f"{SETUP}\n{train}\n{launch}") == ["model.cuda()(x)"]


def test_lightning_on_the_cpu_stays_there(met):
    assert met(f"{SETUP}\n{LIT}\nL.Trainer(accelerator='cpu').fit(Lit(), loader)") == []


def test_where_a_module_is_behind_the_training_is_not_known(met):
    after = "lit = Lit()\nL.Trainer(accelerator='gpu').fit(lit, loader)\nlit.net(x)\nlit.net(x.cuda())"
    assert met(f"{SETUP}\n{LIT.replace(' + torch.ones(3)', '')}\n{after}") == []


def test_ignite_gives_its_function_what_the_loader_has(met):
    step = "model.cuda()\ndef step(engine, batch):\n    model(batch[0])\nEngine(step).run(loader)"
    assert met(f"{SETUP}\n{step}") == ["model(batch[0])"]


EMA = """
class Average:
    def __init__(self, parameters):
        self.shadow = [each.clone().detach() for each in parameters]

    def to(self, device):
        self.shadow = [each.to(device) for each in self.shadow]

    def step(self, parameters):
        for kept, parameter in zip(self.shadow, list(parameters)):
            kept.sub_(0.1 * (kept - parameter))

average = Average(model.parameters())

def hook(models, folder):
    average.shadow = Average(nn.Linear(3, 3).parameters()).shadow
    {then}

accelerator.register_load_state_pre_hook(hook)
model = accelerator.prepare(model)
average.to(accelerator.device)
if resume():
    accelerator.{resumes}
average.step(model.parameters())
"""


@pytest.mark.parametrize(
    ("then", "resumes", "expected"),
    [
        pytest.param("", "load_state('out')", ["kept.sub_(0.1 * (kept - parameter))"], id="on-the-cpu"),
        pytest.param("average.to(accelerator.device)", "load_state('out')", [], id="moved"),
        pytest.param("models.pop()(torch.ones(3))", "load_state('out')", ["models.pop()(torch.ones(3))"], id="models"),
        pytest.param("", "save_state('out')", [], id="another-hook"),
    ],
)
def test_accelerate_calls_the_hooks_of_a_resumed_state(met, then, resumes, expected):
    found = met(f"{SETUP}\n{EMA.format(then=then, resumes=resumes)}")
    assert found[: len(expected) or None] == expected


def test_a_hook_of_saving_gets_models_weights_and_folder(met):
    hook = "def hook(models, weights, folder):\n    models[0](torch.ones(3))"
    calls = "accelerator.register_save_state_pre_hook(hook)\naccelerator.prepare(model)\naccelerator.save_state('out')"
    assert met(f"{SETUP}\n{hook}\n{calls}") == ["models[0](torch.ones(3))"]


PRETRAINED = """
from transformers import BertModel, BertPreTrainedModel

class Scorer(BertPreTrainedModel):
    def __init__(self, config, size=3):
        super().__init__(config)
        self.encoder = BertModel(config)
        self.scale = torch.ones(size)

    def forward(self, ids):
        return self.encoder(ids)[0] * self.scale
"""


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        pytest.param(
            "Scorer.from_pretrained('a').cuda()(x.cuda())", ["return self.encoder(ids)[0] * self.scale"], id="attribute"
        ),
        pytest.param("Scorer.from_pretrained('a', size=4)(x)", [], id="all-on-the-cpu"),
        pytest.param("Scorer.from_pretrained('a', device_map='auto')(x.cuda())", [], id="dispatched"),
    ],
)
def test_a_pretrained_project_class_is_constructed(met, program, expected):
    assert met(f"{SETUP}\n{PRETRAINED}\n{program}") == expected


def test_tensors_are_created_on_the_device_of_a_fabric(met):
    program = "import lightning as L\nfabric = L.Fabric()\nwith fabric.init_tensor():\n    mask = torch.ones(3)\n"

    assert met(f"{program}mask + torch.ones(3).cuda()\n") == []
    assert met(f"{program}torch.ones(3) + mask\n") == ["torch.ones(3) + mask"]


OWN_DEVICES = """
import torchvision.transforms as T
from diffusers import DDIMScheduler

class Guide(nn.Module):
    def __init__(self):
        super().__init__()
        self.scheduler = DDIMScheduler(1000)
        self.transform = T.Compose([T.Resize(3)])

    def step(self, x):
        return self.scheduler.step(self.transform(x), 1, x)

Guide().step(torch.ones(3).cuda())
"""


def test_objects_of_libraries_that_are_no_modules_have_no_weights(met):
    assert met(OWN_DEVICES) == []


def test_data_of_an_opaque_module_is_no_module(met):
    program = "import models\nm = models.load()\nm.eval()\nm.cuda()\nm.dataset.vocab.forward(torch.ones(3))\n"

    assert met(program) == []


def test_a_wrapped_optimizer_is_no_module(met):
    program = """
    from apex.optimizers import FP16_Optimizer, FusedAdam
    net = nn.Linear(3, 3).cuda()
    optimizer = FP16_Optimizer(FusedAdam(net.parameters()), dynamic_loss_scale=True)
    optimizer.zero_grad()
    optimizer.backward(net(torch.ones(3).cuda()).sum())
    """

    assert met(program) == []


@pytest.mark.parametrize("test", ["type(batch) is list", "isinstance(batch, list)", "type(batch) == tuple"])
@pytest.mark.parametrize("change", ["pass", "graph['edges'] = list(graph['edges'])"])
def test_graphs_that_a_dataset_loads_are_collated_to_one_that_moves_in_place(met, change, test):
    program = f"""
    from torch_geometric.data import Dataset
    from torch_geometric.loader import DataLoader

    class Graphs(Dataset):
        def get(self, i):
            graph = torch.load(f"{{i}}.pt")
            {change}
            return graph

    model = nn.Linear(3, 3).cuda()
    for batch in DataLoader(Graphs("data"), batch_size=2):
        if {test}:
            batch = batch[0]
        batch.to("cuda")
        model(batch.x)
    """
    assert met(program) == []
    assert met(program.replace('batch.to("cuda")', "pass")) == ["model(batch.x)"]


@pytest.mark.parametrize("kept", ["nn.ParameterList([torch.ones(3) for _ in range(n)])", "[self.weight]"])
def test_a_framework_moves_parameters_in_lists(met, kept):
    program = f"""
    import lightning as L

    class Net(nn.Module):
        def __init__(self, n):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(3))
            self.kept = {kept}

        def forward(self, x):
            return [x * each for each in self.kept]

    fabric = L.Fabric()
    net = fabric.setup(Net(int(input())))
    net(fabric.to_device(torch.ones(3)))
    """
    assert met(program) == []
    assert met(program.replace("fabric.setup(Net(int(input())))", "Net(int(input()))")) != []


def test_a_trainer_may_choose_the_mode(met):
    program = """
    import lightning as L

    class Net(L.LightningModule):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 3)

        def training_step(self, batch, index):
            y = self.fc(batch[0])
            return (y + torch.zeros(3) if self.training else y).sum()

    net = Net()
    net.eval()
    L.Trainer().fit(net, DataLoader(TensorDataset(torch.ones(4, 3))))
    """
    assert met(program) == ["return (y + torch.zeros(3) if self.training else y).sum()"]
