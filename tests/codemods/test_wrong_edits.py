"""Programs that an edit would break: values of several kinds, old versions of PyTorch, conditions on options.

All rules look at them, and unsafe fixes are on.
"""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import Outcome
from devfix.sources import SourceFile

HEADER = """\
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
"""

LEFT_ALONE = {
    "moved-whichever-of-three-objects-it-is": """
import argparse
import os

from torchmetrics import F1Score
from torchmetrics.detection.mean_ap import MeanAveragePrecision


class Logged:
    def __init__(self, task):
        self.score = F1Score(task=task)

    def to(self, device):
        self.score = self.score.to(device)
        return self

    def __call__(self, found, wanted):
        return self.score(found, wanted)


class Trainer:
    def __init__(self, metric):
        self.gpu = int(os.environ["LOCAL_RANK"])
        self.metric = metric.to(f"cuda:{self.gpu}")

    def test(self, batches):
        for found, wanted in batches:
            print(self.metric(found.to(self.gpu), wanted.to(self.gpu)))


def main(args):
    if args.kind == "detector":
        metric = MeanAveragePrecision()
    elif args.binary:
        metric = Logged("binary")
    else:
        metric = Logged("multiclass")
    Trainer(metric).test([(torch.ones(3), torch.ones(3))])


parser = argparse.ArgumentParser()
parser.add_argument("--kind")
parser.add_argument("--binary", action="store_true")
main(parser.parse_args())
""",
    "a-part-of-a-module-that-cannot-be-read-is-moved": """
import vocoders


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(x)


def load(name):
    if name == "hub":
        vocoder = torch.hub.load("vocoders", name)
        vocoder.decoder.eval()
        vocoder.decoder.to(device)
    else:
        vocoder = Generator().to(device)
    return vocoder


def infer(frames, vocoder, name):
    if name == "hub":
        waves = vocoder.inverse(frames)
    else:
        waves = vocoder(frames)
    return waves.cpu().numpy()


vocoder = load(vocoders.NAME)
for _ in range(3):
    print(infer(torch.ones(3, 4, device=device), vocoder, vocoders.NAME))
""",
    "a-check-of-the-value-decides": """
import pictures


def is_map(x):
    return isinstance(x, torch.Tensor) and len(x.shape) == 4 and x.shape[1] > 3


def captions(texts):
    return torch.tensor(np.stack([pictures.draw(text) for text in texts]))


model = pictures.load()
model.eval()
model.to(device)
for batch in pictures.batches():
    labels = torch.tensor(batch["labels"]).to(device)
    if pictures.KIND == "text":
        labels = captions(batch["captions"])
    if is_map(labels):
        pictures.save(model.to_rgb(labels))
""",
    "parts-of-objects-that-wrap-tensors": """
import geometry


class Points:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __getitem__(self, index):
        return Points(self.x[index], self.y[index])

    def scaled(self, size):
        return Points(self.x * size.x, self.y * size.y)


points = Points(*geometry.load("points.npz"))
size = Points(torch.ones(3, device=device), torch.ones(3, device=device))
print(points[..., None].scaled(size[..., None]).x)
""",
    "moved-under-sizes-that-cover-all-paths": """
class Clusters:
    def __init__(self, size, device):
        self.size, self.device = size, device

    def fit(self, rows):
        count = rows.shape[0]
        centers = rows[: self.size].to(self.device)
        if count // 2 <= self.size < count:
            rows = rows[torch.randint(0, count, [self.size])].to(self.device)
        elif self.size >= count:
            rows = rows.to(self.device)
        for _ in range(9):
            if self.size < count // 2:
                some = rows[torch.randint(0, count, [self.size])].to(self.device)
            else:
                some = rows
            centers = centers + (some @ centers.t()).mean()
        return centers


features = np.load("features.npy")
clusters = Clusters(int(np.sqrt(features.shape[1])), device)
features = torch.from_numpy(features)
clusters.fit(features)
""",
    "data-and-options-of-an-object-that-is-no-module": """
import registry


class Hub(nn.Module):
    def __init__(self, options, task, model):
        super().__init__()
        self.task, self.model = task, model
        self.options = options

    def batches(self, sentences):
        counts = torch.LongTensor([len(each) for each in sentences])
        return self.task.make_batches(self.task.build_dataset(sentences, counts), limits=self.options["limits"])

    def generate(self, sentences):
        generator = self.task.assemble(self.model, self.options["generation"])
        for batch in self.batches(sentences):
            generator(batch)


state = torch.load("hub.pt", map_location="cpu")
hub = Hub(state["options"], registry.setup(state["task"]), nn.Linear(4, 4))
hub.to(device)
hub.generate([[1, 2], [3]])
""",
    "lengths-for-code-that-cannot-be-read": """
import registry


class Hub(nn.Module):
    def __init__(self, task):
        super().__init__()
        self.task = task

    def batches(self, sentences):
        lengths = torch.LongTensor([len(each) for each in sentences])
        return self.task.ordered(sentences, lengths)


hub = Hub(registry.setup("summary"))
hub.to(device)
hub.batches([[1, 2], [3]])
""",
    "part-of-what-one-loader-moves": """
from torch.utils.data import DataLoader
import shop


class Halves(nn.BatchNorm1d):
    def forward(self, x):
        parts = x.split(2)
        return torch.cat([super().forward(parts[0]), super().forward(parts[1])])


class Mover:
    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        for x, y in self.loader:
            yield x.cuda(), y.cuda()


def batches(options):
    loader = DataLoader(shop.find_dataset(options), batch_size=4)
    if options.fast:
        loader = Mover(loader)
    return loader


def train(net, loader, fast):
    for x, y in loader:
        if not fast:
            x, y = x.cuda(), y.cuda()
        net(x).mean().backward()


options = shop.options()
train(Halves(4).cuda(), batches(options), shop.is_fast(options))
""",
    "scalar-by-index": """
import matplotlib.pyplot as plt

model = nn.Linear(4, 1).to(device)
losses = []
for _ in range(3):
    loss = (model(torch.ones(2, 4).to(device)) - 1).pow(2).mean()
    losses.append(loss.data[0])
    plt.plot(losses)
""",
    "sum-of-scalars-by-index": """
model = nn.Linear(4, 1).to(device)
total = 0
for _ in range(3):
    raw = F.mse_loss(model(torch.ones(2, 4).to(device)), torch.ones(2, 1).to(device))
    total += raw.data * 2 / 3
    if np.isnan(total[0]):
        raise ValueError
""",
    "width-out-of-a-checkpoint": """
class Positions(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("table", self.make(width))
        self.out = nn.Linear(4, 4)

    def make(self, width):
        rows = [[p / np.power(10000, 2 * (i // 2) / width) for i in range(width)] for p in range(9)]
        return torch.FloatTensor(np.array(rows))

    def forward(self, x):
        return self.out(x) + self.table


checkpoint = torch.load("model.pt", map_location=device)
model = Positions(checkpoint["settings"].width)
model.load_state_dict(checkpoint["model"])
model.to(device)(torch.ones(2, 4).to(device))
""",
    "width-of-a-factory-out-of-a-checkpoint": """
import math


class Positions(nn.Module):
    def __init__(self, width):
        super().__init__()
        scale = torch.exp(torch.arange(0, width, 2) * -(math.log(10000.0) / width))
        self.register_buffer("table", torch.arange(0, 9).unsqueeze(1) * scale)


checkpoint = torch.load("model.pt", map_location=device)
model = Positions(checkpoint["config"]["width"]).to(device)
""",
    "result-of-data-parallel": """
import sys


def sample(net, z, parallel):
    out = nn.parallel.data_parallel(net, (z,)) if parallel else net(z)
    return out, z


net = nn.Linear(4, 2).cuda()
for _ in range(3):
    images, labels = sample(net, torch.randn(2, 4, device="cuda"), len(sys.argv) > 2)
    pixels = np.uint8(255 * (images.detach().cpu().numpy() + 1))
net(torch.randn(2, 4, device="cuda"))
""",
    "keywords-that-hold-the-device": """
def load(net, path, cpu=False):
    kwargs = {}
    if cpu:
        kwargs = {"map_location": "cpu"}
    net.load_state_dict(torch.load(path, **kwargs))


net = nn.Linear(4, 2).to(device)
load(net, "model.pt")
""",
    "out-on-the-accelerator": """
lengths = torch.tensor([2, 3]).cuda()
ids = torch.arange(0, 3, out=torch.cuda.LongTensor(3))
mask = ids < lengths.unsqueeze(1)
""",
    "matrices-of-a-graph-of-which-nothing-is-known": """
import scipy.sparse as sp
from graphs import loader

model = nn.Linear(4, 2).to(device)
for graph in loader("cora"):
    graph = graph.to(device)
    degrees = graph.adjacency.getnnz(axis=1)
    order = np.argsort(degrees[graph.first] + degrees[graph.second], axis=0)
    if sp.issparse(graph.adjacency):
        matrix = sp.coo_matrix(graph.adjacency)
    print(model(graph.x), order)
""",
    "as-tensor-of-what-was-moved": """
from videos import loader

model = nn.Linear(4, 2).to(device)
for batch in loader():
    batch = tuple(part.to(device) for part in batch)
    video, mask = batch
    model(torch.as_tensor(video).float())
""",
    "an-attribute-that-moves-itself": """
from layers import pretrained


class Renorm(nn.Module):
    def __init__(self, size, momentum, largest):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.momentum = momentum
        self.largest = largest

    def forward(self, x):
        self.largest = self.largest if isinstance(self.largest, float) else self.largest.to(x.device)
        self.momentum = self.momentum.to(x.device)
        return x * self.weight * self.momentum


model = nn.Sequential(nn.Linear(4, 2), Renorm(2, pretrained().momentum, pretrained().largest)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    model(torch.randn(3, 4, device=device)).sum().backward()
    optimizer.step()
""",
    "a-wrapper-around-trained-layers-is-replaced": """
class Dual(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return self.layer(x)


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return x * self.scale


class Bound(nn.Module):
    def __init__(self, net):
        super().__init__()
        for layer in net:
            self.last = Dual(layer) if isinstance(layer, nn.Linear) else Scale()

    def forward(self, x):
        return self.last(x)


net = nn.Sequential(nn.Linear(4, 4), nn.ReLU()).to(device)
optimizer = torch.optim.Adam(net.parameters())
for _ in range(2):
    Bound(net).to(device)(torch.randn(3, 4, device=device)).sum().backward()
    optimizer.step()
""",
    "a-layer-that-cannot-take-the-arguments-is-not-called": """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(4, 4)

    def forward(self, x, lengths):
        return self.cell(x), lengths


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(4, 4)

    def forward(self, x, state, memory):
        return self.cell(x, (state, memory))


class Decoder(nn.Module):
    def __init__(self, recurrent):
        super().__init__()
        self.layers = nn.ModuleList()
        for _ in range(2):
            self.layers.append(Cell() if recurrent else Layer())

    def forward(self, x, lengths):
        for layer in self.layers:
            x, lengths = layer(x, lengths)
        return x, lengths


from options import options

decoder = Decoder(options.recurrent).to(device)
print(decoder(torch.randn(3, 4, device=device), torch.tensor([4, 2, 1])))
""",
    "a-graph-that-moves-attributes-by-computed-names": """
class Edges:
    def __init__(self, row):
        self.row = row


class Graph:
    def __init__(self, x, row):
        self.x = x
        self.edges = Edges(row)

    def keys(self):
        return [key for key in self.__dict__ if getattr(self, key) is not None]

    def put(self, key, value):
        if key.startswith("row"):
            setattr(self.edges, key, value)
        else:
            setattr(self, key, value)

    def to(self, device):
        for key in self.keys():
            value = getattr(self, key)
            if isinstance(value, torch.Tensor):
                self.put(key, value.to(device))
        return self


model = nn.Linear(4, 2).to(device)
graph = Graph(torch.randn(3, 4), torch.zeros(3)).to(device)
print(model(graph.x))
""",
    "a-loss-without-state-works-without-an-accelerator": """
criterion = nn.CrossEntropyLoss().cuda()
model = nn.Linear(4, 2).to(device)
print(criterion(model(torch.randn(3, 4, device=device)), torch.zeros(3, dtype=torch.long, device=device)))
""",
}


def _repaired(text: str) -> tuple[str, Outcome]:
    file = SourceFile("train.py", text.encode(), text)
    outcome = fixpoint.apply([file], Settings(unsafe_fixes=True))
    return next((change.new.decode() for change in outcome.patch.files), text), outcome


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_a_correct_program_has_no_finding(name):
    text = HEADER + LEFT_ALONE[name]

    after, outcome = _repaired(text)

    assert [resolution.finding.message for resolution in outcome.resolutions] == []
    assert after == text


def test_an_attribute_that_may_be_a_number_gets_no_tensor_method():
    text = (
        HEADER
        + """
class Agent:
    def __init__(self, options):
        self.net = nn.Linear(4, 2).to(device)
        if options["tune"]:
            self.alpha = torch.zeros(1).exp().repeat(2)
        else:
            self.alpha = options["alpha"]

    def loss(self, x):
        return (self.alpha * self.net(x)).mean()


Agent({"tune": True, "alpha": 0.2}).loss(torch.ones(3, 4).to(device)).backward()
"""
    )

    after, _ = _repaired(text)

    assert "self.alpha.to(" not in after


def test_a_device_that_may_be_none_is_used_under_its_test_only():
    text = """\
import torch
from torch import nn
from settings import configurations


class Head(nn.Module):
    def __init__(self, gpus):
        super().__init__()
        self.gpus = gpus
        self.weight = nn.Parameter(torch.ones(3, 4))

    def forward(self, x, label):
        if self.gpus == None:
            cosine = x @ self.weight.t()
        else:
            cosine = x.cuda(self.gpus[0]) @ self.weight.t().cuda(self.gpus[0])
        one_hot = torch.zeros(cosine.size())
        if self.gpus != None:
            one_hot = one_hot.cuda(self.gpus[0])
        return one_hot.scatter_(1, label.view(-1, 1).long(), 1) * cosine


def main(config):
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    head = Head(config["gpus"]).to(device)
    head(torch.ones(2, 4).to(device), torch.zeros(2).to(device))


main(configurations[1])
"""

    after, _ = _repaired(text)

    assert "device=self.gpus[0]" not in after


def test_only_a_move_is_put_under_a_condition():
    text = """\
from collections import deque

import torch
from torch import nn

frames = deque([], maxlen=4)
model = nn.Linear(4, 2)
if torch.cuda.is_available():
    model = model.cuda()
for _ in range(4):
    frames.append(torch.zeros(8, 4, device="cuda"))
model(torch.stack(list(frames)))
"""

    after, _ = _repaired(text)

    assert "    frames.append(" in after
    assert "        frames.append(" not in after
