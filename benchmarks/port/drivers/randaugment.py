import argparse
import runpy
import sys
import types

import torch
import tqdm
import yaml


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class Config(dict):
    conf = {}

    @classmethod
    def get(cls):
        config = cls(cls.conf)
        config.get = cls.conf.get
        return config


class Parser(argparse.ArgumentParser):
    def parse_args(self):
        self.add_argument("-c", "--config")
        args = super().parse_args()
        with open(args.config, encoding="utf-8") as file:
            Config.conf.update(yaml.safe_load(file))
        return args


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


class Warmup:
    def __init__(self, optimizer, multiplier, total_epoch, after_scheduler):
        self.optimizer, self.after = optimizer, after_scheduler
        self.rates = [group["lr"] for group in optimizer.param_groups]
        self.multiplier, self.epochs = multiplier, total_epoch

    def step(self, epoch):
        for group, rate in zip(self.optimizer.param_groups, self.rates):
            group["lr"] = rate * ((self.multiplier - 1) * epoch / self.epochs + 1)


module("theconf", Config=Config, ConfigArgumentParser=Parser)
module("warmup_scheduler", GradualWarmupScheduler=Warmup)
tqdm.tqdm.__len__ = lambda self: len(self.iterable)
tqdm.tqdm.set_postfix = lambda self, values: print(values)
torch.utils.data.DataLoader = Loader
view = torch.Tensor.view
torch.Tensor.view = lambda self, *shape: view(self.contiguous(), *shape)  # as in PyTorch 1.2
torch.manual_seed(0)
with open("confs/shake26_2x96d_cifar10_b512.yaml", encoding="utf-8") as file:
    config = yaml.safe_load(file)
config.update(batch=8, epoch=2)
config["model"]["type"] = "shakeshake26_2x32d"
with open("small.yaml", "w", encoding="utf-8") as file:
    yaml.dump(config, file)
sys.argv = ["RandAugment/train.py", "-c", "small.yaml"]
runpy.run_path("RandAugment/train.py", run_name="__main__")
