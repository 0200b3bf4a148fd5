import runpy
import sys
import types

import numpy as np
import torch
import yaml


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class Writer:
    def __init__(self, folder):
        self.folder = folder

    def add_scalar(self, name, value, step):
        print(step, name, value)

    add_scalars = add_scalar

    def flush(self):
        pass


class Images(torch.utils.data.Dataset):
    def __init__(self, root_path, split="train", **options):
        self.label = [index // 4 for index in range(16)]
        self.n_classes = 4
        generator = torch.Generator().manual_seed(len(split))
        self.data = torch.randn(16, 3, 80, 80, generator=generator) + 0.05 * torch.tensor(self.label).view(-1, 1, 1, 1)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        return self.data[index], self.label[index]


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, *arguments, num_workers, **options):
        super().__init__(dataset, *arguments, **options)


module("tensorboardX", SummaryWriter=Writer)
torch.manual_seed(0)
np.random.seed(0)
import datasets
import datasets.samplers


class Sampler(datasets.samplers.CategoriesSampler):
    def __init__(self, label, n_batch, *arguments, **options):
        super().__init__(label, min(n_batch, 2), *arguments, **options)


torch.utils.data.DataLoader = Loader
datasets.datasets.datasets["mini-imagenet"] = Images
datasets.samplers.CategoriesSampler = Sampler
config = {
    "train_dataset": "mini-imagenet", "train_dataset_args": {"split": "train", "augment": "resize"},
    "val_dataset": "mini-imagenet", "val_dataset_args": {"split": "train_phase_val"},
    "model": "classifier",
    "model_args": {"encoder": "convnet4", "encoder_args": {}, "classifier": "linear-classifier", "classifier_args": {"n_classes": 4}},
    "batch_size": 8, "max_epoch": 1, "optimizer": "sgd", "optimizer_args": {"lr": 0.01, "weight_decay": 5.0e-4, "milestones": [90]},
    "save_epoch": 5,
}
with open("classifier.yaml", "w", encoding="utf-8") as file:
    yaml.dump(config, file)
sys.argv = ["train_classifier.py", "--config", "classifier.yaml", "--name", "_classifier"]
runpy.run_path("train_classifier.py", run_name="__main__")
config = {
    "train_dataset": "mini-imagenet", "train_dataset_args": {"split": "train"},
    "tval_dataset": "mini-imagenet", "tval_dataset_args": {"split": "test"},
    "val_dataset": "mini-imagenet", "val_dataset_args": {"split": "val"},
    "model": "meta-baseline", "model_args": {"encoder": "convnet4", "encoder_args": {}},
    "load_encoder": "./save/_classifier/epoch-last.pth",
    "n_way": 2, "n_shot": 1, "n_query": 2, "train_batches": 2, "ep_per_batch": 4, "max_epoch": 2,
    "optimizer": "sgd", "optimizer_args": {"lr": 0.001, "weight_decay": 5.0e-4},
}
with open("meta.yaml", "w", encoding="utf-8") as file:
    yaml.dump(config, file)
sys.argv = ["train_meta.py", "--config", "meta.yaml", "--name", "_meta"]
runpy.run_path("train_meta.py", run_name="__main__")
