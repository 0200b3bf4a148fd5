import os
import random
import runpy
import sys
import types

import networkx
import numpy as np
import torch


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class Writer:
    def __init__(self, folder):
        self.folder = folder

    def add_scalar(self, name, value, step):
        print(step, name, float(value))

    def close(self):
        pass


def accuracy(truth, found, average=None):
    return float(np.mean(truth == found))


module("sklearn")
module("sklearn.metrics", accuracy_score=accuracy, precision_score=accuracy, recall_score=accuracy)
sys.modules["sklearn"].metrics = sys.modules["sklearn.metrics"]
module("tensorboardX", SummaryWriter=Writer)
networkx.__version__, networkx.to_numpy_matrix = "2.2", networkx.to_numpy_array  # as in networkx 2.2
torch.nn.utils.clip_grad_norm = torch.nn.utils.clip_grad_norm_  # removed from PyTorch

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
os.makedirs("data/rings", exist_ok=True)
graphs, nodes, labels, edges, first = [], [], [], [], 1
for number in range(12):
    size = random.randint(5, 10)
    graphs += [number + 1] * size
    nodes += [random.randint(0, 3) for _ in range(size)]
    labels.append(number % 2)
    pairs = [(place, (place + 1) % size) for place in range(size)] + [(0, place) for place in range(2, size - 1)] * (number % 2)
    edges += [f"{first + one}, {first + other}" for one, other in pairs]
    first += size
for name, lines in (("graph_indicator", graphs), ("node_labels", nodes), ("graph_labels", labels), ("A", edges)):
    with open(f"data/rings/rings_{name}.txt", "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
sizes = ["--max_nodes", "12", "--batch_size", "5", "--hidden_dim", "8", "--output_dim", "8", "--num_workers", "0"]
sys.argv = ["train.py", "--bmname", "rings", "--epochs", "2", *sizes]
runpy.run_path("train.py", run_name="__main__")
