"""How programs in the habits of frameworks begin, and what the engine makes of them; no framework is installed."""

from __future__ import annotations

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.sources import SourceFile

HEADER = """\
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
"""
DATA = """\
data = TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,)))
loader = DataLoader(data, batch_size=4)
"""
ACCELERATE = "from accelerate import Accelerator\n" + DATA
LIGHTNING = "import lightning as L\n" + DATA
TRANSFORMERS = (
    "from transformers import *\nfrom transformers import AutoModel, AutoTokenizer, Trainer, TrainingArguments\n"
)
GRAPHS = """\
from torch_geometric.datasets import Planetoid, TUDataset
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv, global_mean_pool

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
dataset = Planetoid("data", "Cora")


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = GCNConv(dataset.num_features, dataset.num_classes)

    def forward(self, x, edge_index, batch=None):
        x = self.conv(x, edge_index)
        return x if batch is None else global_mean_pool(x, batch)


"""
DGL = """\
import dgl
from dgl.nn import GraphConv


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = GraphConv(1433, 7)

    def forward(self, g, x):
        return self.conv(g, x)


"""


def repaired(tmp_path, text):
    path = str(tmp_path / "train.py")
    file = SourceFile(path, text.encode(), text)
    outcome = fixpoint.apply([file], Settings(root=str(tmp_path)))
    assert outcome.problems == ()
    return next((change.new.decode() for change in outcome.patch.files), text), outcome
