import runpy
import sys

import torch
from torchvision import datasets


class Outliers(datasets.CIFAR10):
    def __init__(self, transform):
        super().__init__()


def main():
    names = {"TinyImages": Outliers, "validation_split": None}
    sys.argv = [
        "oe_scratch.py", "cifar10", "--epochs", "1", "--batch_size", "4", "--oe_batch_size", "4", "--prefetch", "0", "--model", "wrn",
        "--layers", "10", "--widen-factor", "1",
    ]  # fmt: skip
    torch.manual_seed(0)
    runpy.run_path("oe_scratch.py", names, run_name="__main__")


main()
