import collections
import collections.abc
import os
import runpy
import sys
import types

import numpy as np
import torch

sys.modules["config"] = types.ModuleType("config")
vars(sys.modules["config"]).update(PATH=os.getcwd(), DATA_PATH=os.getcwd(), EPSILON=1e-8)
collections.Iterable, np.Inf = collections.abc.Iterable, np.inf  # as in Python 3.6 and numpy 1
from few_shot import core, datasets


class Images(torch.utils.data.Dataset):
    def __init__(self, subset):
        draw = torch.Generator().manual_seed(len(subset))
        self.images, self.labels = torch.rand(16, 1, 28, 28, generator=draw), torch.arange(16) // 4

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], int(self.labels[index])


class Tasks:
    def __init__(self, dataset, episodes_per_epoch, n, k, q, num_tasks=1):
        self.number, self.n, self.k, self.q, self.tasks = min(episodes_per_epoch, 2), n, k, q, num_tasks

    def __len__(self):
        return self.number

    def __iter__(self):
        for _ in range(self.number):
            batch = []
            for _ in range(self.tasks):
                batch += [4 * kind + shot for kind in range(self.k) for shot in range(self.n)]
                batch += [4 * kind + self.n + query for kind in range(self.k) for query in range(self.q)]
            yield batch


core.NShotTaskSampler, datasets.OmniglotDataset = Tasks, Images
torch.manual_seed(0)
script = os.path.join("experiments", "maml.py")
sys.argv = [script, "--dataset", "omniglot", "--n", "1", "--k", "3", "--q", "1", "--meta-batch-size", "2", "--epochs", "1"]
runpy.run_path(script, run_name="__main__")
script = os.path.join("experiments", "proto_nets.py")
sys.argv = [script, "--dataset", "omniglot", "--k-train", "4", "--n-train", "2", "--q-train", "2", "--k-test", "3"]
runpy.run_path(script, run_name="__main__")
