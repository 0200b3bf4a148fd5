import runpy
import sys

import torch


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


torch.utils.data.DataLoader = Loader
torch.manual_seed(0)
sys.argv = ["train.py", "cifar", "cifar10", "-e", "1", "-b", "32", "--depth", "11", "--cardinality", "2", "--base_width", "8", "-s", "snapshots"]
sys.argv += ["--log", "logs", "-lr", "0.02", "--ngpu", "1"]
runpy.run_path("train.py", run_name="__main__")
