import runpy
import sys

import numpy as np
import torch
from dataloader import KITTIloader2012, KITTIloader2015, MiddleburyLoader, listfiles, listsceneflow


class Pairs(torch.utils.data.Dataset):
    def __init__(self, left, right, left_disparity, **options):
        self.draw = np.random.RandomState(0)

    def __len__(self):
        return 1

    def __getitem__(self, index):
        left, right = self.draw.randn(2, 3, 128, 128).astype(np.float32)
        return left, right, self.draw.uniform(-10, 120, (128, 128)).astype(np.float32)


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


for listing, number in ((listfiles, 4), (listsceneflow, 4), (KITTIloader2015, 6), (KITTIloader2012, 3)):
    listing.dataloader = lambda path, typ=None, number=number: ([],) * number
MiddleburyLoader.myImageFloder = Pairs
torch.utils.data.DataLoader = Loader
sys.argv = ["train.py", "--maxdisp", "128", "--batchsize", "2", "--database", "data", "--logname", "log", "--savemodel", "out"]
runpy.run_path("train.py", run_name="__main__")
