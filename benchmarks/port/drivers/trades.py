import runpy
import sys

import torch


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers=0, **options):
        super().__init__(dataset, **options)


torch.utils.data.DataLoader = Loader
sys.argv = ["train_trades_mnist.py", "--batch-size", "8", "--epochs", "2", "--log-interval", "1"]
runpy.run_path("train_trades_mnist.py", run_name="__main__")
