import runpy
import sys

import torch


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


def unbuffered(path, mode, buffering):
    return open(path, mode, buffering=1)  # as in Python 2, where a text file may have no buffer


sys.path.append("..")
torch.utils.data.DataLoader = Loader
sys.argv = ["main.py", "--batch_size", "8", "--epochs", "2"]
runpy.run_path("main.py", init_globals={"open": unbuffered}, run_name="__main__")
