import os
import runpy
import sys

import numpy as np
import torch
import tqdm


class Loader(torch.utils.data.DataLoader):
    def __init__(self, num_workers, **options):
        super().__init__(**options)


np.random.seed(0)
tqdm.tqdm.write = staticmethod(print)
tqdm.tqdm.set_postfix = lambda self, **values: print(values)
torch.utils.data.DataLoader = Loader
os.makedirs("logs", exist_ok=True)
os.makedirs("checkpoints", exist_ok=True)
sys.argv = ["train.py", "--dataset", "cifar10", "--model", "resnet18", "--data_augmentation", "--cutout", "--learning_rate", "0.01", "--batch_size", "8", "--epochs", "2"]
runpy.run_path("train.py", run_name="__main__")
