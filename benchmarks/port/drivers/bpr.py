import runpy
import sys

import numpy as np
import torch


class Loader(torch.utils.data.DataLoader):
    def __init__(self, data, num_workers=0, **options):
        super().__init__(data, **options)


def load_all(test_num=10):
    draw = np.random.RandomState(0)
    train = [[user, int(item)] for user in range(4) for item in draw.choice(20, 3, replace=False)]
    test = [[user, item] for user in range(4) for item in range(10)]
    return train, test, 4, 20, {(user, item): 1.0 for user, item in train}


import data_utils

data_utils.load_all = load_all
torch.utils.data.DataLoader = Loader
torch.manual_seed(0)
np.random.seed(0)
sys.argv = ["main.py", "--batch_size", "24", "--epochs", "2", "--factor_num", "8", "--test_num_ng", "9"]
runpy.run_path("main.py", run_name="__main__")
