import functools
import runpy
import sys
import types

import numpy as np
import torch
import torch.multiprocessing


class Batches:
    """The data set that the repository compiles with Cython."""

    def __init__(self, idx, objects, weights, nnegs, batch_size, num_workers, burnin=False, sample_dampening=0.75):
        self.idx, self.objects, self.nnegs, self.batch_size = idx, objects, nnegs, batch_size
        self.burnin, self.neg_multiplier = burnin, 1
        self.pairs = {tuple(pair) for pair in idx.tolist()}

    def __len__(self):
        return -(-len(self.idx) // self.batch_size)

    def __iter__(self):
        order = np.random.permutation(len(self.idx))
        for start in range(0, len(order), self.batch_size):
            rows = []
            for child, parent in self.idx[order[start:start + self.batch_size]].tolist():
                others = [number for number in range(len(self.objects)) if number != child and (child, number) not in self.pairs]
                rows.append([child, parent, *np.random.choice(others, self.nnegatives()).tolist()])
            yield torch.LongTensor(rows), torch.zeros(len(rows)).long()

    def nnegatives(self):
        return int(self.neg_multiplier * self.nnegs) if self.burnin else self.nnegs


def load(path, symmetrize):
    """Return the closure of a binary tree."""
    pairs = []
    for child in range(1, 31):
        parent = child
        while parent:
            parent = (parent - 1) // 2
            pairs.append((child, parent))
    return np.array(pairs), [f"mammal{number}" for number in range(31)], np.ones(len(pairs))


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


module("hype.graph_dataset", BatchedDataset=Batches)
module("hype.adjacency_matrix_dataset", AdjacencyDataset=None)
module("hypernymysuite.base", HypernymySuiteModel=object)
import hype.graph

hype.graph.load_edge_list = load
torch.multiprocessing.Process = functools.partial(torch.multiprocessing.Process, daemon=True)  # an error ends the evaluation, too
sys.argv = ["embed.py", "-dim", "5", "-lr", "0.3", "-epochs", "3", "-negs", "10", "-burnin", "1", "-ndproc", "4", "-model", "distance"]
sys.argv += ["-manifold", "poincare", "-dset", "wordnet/mammal_closure.csv", "-checkpoint", "mammals.pth", "-batchsize", "30"]
sys.argv += ["-eval_each", "10", "-fresh", "-sparse"]
runpy.run_path("embed.py", run_name="__main__")
