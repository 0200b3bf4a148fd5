import runpy
import sys

import torch
from data import CIFAR_FS


class Images:
    def __init__(self, phase):
        self.phase = phase


class Episodes:
    def __init__(self, dataset, nKnovel, nExemplars, nTestNovel, batch_size, **options):
        self.ways, self.shots, self.queries, self.size = nKnovel, nExemplars, nTestNovel, batch_size

    def __call__(self, epoch):
        for _ in range(2):
            support, query = torch.arange(self.ways * self.shots) % self.ways, torch.arange(self.queries) % self.ways
            yield (
                torch.rand(self.size, len(support), 3, 32, 32), support.repeat(self.size, 1),
                torch.rand(self.size, len(query), 3, 32, 32), query.repeat(self.size, 1),
                torch.zeros(self.size, self.ways), torch.zeros(self.size),
            )


torch.manual_seed(0)
CIFAR_FS.CIFAR_FS, CIFAR_FS.FewShotDataloader = Images, Episodes
for network in ("ProtoNet", "ResNet"):
    sys.argv = [
        "train.py", "--num-epoch", "1", "--train-shot", "2", "--val-shot", "2", "--train-query", "2", "--val-query", "2", "--train-way", "3",
        "--test-way", "3", "--network", network, "--head", "ProtoNet", "--dataset", "CIFAR_FS", "--episodes-per-batch", "2",
        "--save-path", "./experiments/small", "--eps", "0.1",
    ]
    runpy.run_path("train.py", run_name="__main__")
