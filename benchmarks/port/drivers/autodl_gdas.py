import json
import os
import runpy
import shutil
import sys
import types

import numpy as np
import torch


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class Pictures(torch.utils.data.Dataset):
    """CIFAR-10 of random images."""

    def __init__(self, root, train, transform, download):
        self.number, self.transform = 50000 if train else 10000, transform

    def __len__(self):
        return self.number

    def __getitem__(self, index):
        draw = torch.Generator().manual_seed(index)
        return torch.randn(3, 32, 32, generator=draw) + index % 10 / 5, index % 10


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


module("PIL", __version__="9.0.1", Image=None)
module("nas_201_api", NASBench201API=None)
module("torchvision.datasets", CIFAR10=Pictures)
view = torch.Tensor.view
torch.Tensor.view = lambda self, *shape: view(self.contiguous(), *shape)  # as in PyTorch 1.6
torch.utils.data.DataLoader = Loader
np.random.seed(0)
settings = {"scheduler": ["str", "cos"], "LR": ["float", "0.025"], "eta_min": ["float", "0.001"], "epochs": ["int", "2"], "warmup": ["int", "0"]}
settings |= {"optim": ["str", "SGD"], "decay": ["float", "0.0005"], "momentum": ["float", "0.9"], "nesterov": ["bool", "1"]}
settings |= {"criterion": ["str", "Softmax"], "batch_size": ["int", "8"]}
split = {"train": ["int", [str(index) for index in range(24)]], "valid": ["int", [str(index) for index in range(24, 48)]]}
os.makedirs("configs/nas-benchmark/algos", exist_ok=True)
for name, content in (("algos/GDAS.config", settings), ("cifar-split.txt", split)):
    with open(f"configs/nas-benchmark/{name}", "w", encoding="utf-8") as file:
        json.dump(content, file)
shutil.rmtree("output", ignore_errors=True)
sys.argv = ["GDAS.py", "--save_dir", "output/search-cell-nas-bench-201/GDAS-cifar10-BN1", "--max_nodes", "4", "--channel", "4", "--num_cells", "1"]
sys.argv += ["--dataset", "cifar10", "--data_path", "cifar.python", "--search_space_name", "nas-bench-201", "--track_running_stats", "1"]
sys.argv += ["--config_path", "configs/nas-benchmark/algos/GDAS.config", "--tau_max", "10", "--tau_min", "0.1", "--workers", "1"]
sys.argv += ["--arch_learning_rate", "0.0003", "--arch_weight_decay", "0.001", "--print_freq", "200", "--rand_seed", "7"]
runpy.run_path("exps/NAS-Bench-201-algos/GDAS.py", run_name="__main__")
