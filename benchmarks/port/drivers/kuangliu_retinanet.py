import io
import os
import random
import runpy
import sys

import numpy as np
import torch
import torchvision


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **{**options, "batch_size": 2})


class Small(torch.utils.data.Dataset):
    """Four images of 64 x 64 with one box each, encoded as the repository does it."""

    def __init__(self, root, list_file, train, transform, input_size):
        self.input_size, self.encoder = 64, encoder.DataEncoder()
        self.images, self.corners = torch.randn(4, 3, 64, 64), torch.randint(0, 20, (4, 1, 2)).float()
        self.labels = torch.randint(0, 20, (4, 1))

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], torch.cat([self.corners[index], self.corners[index] + 35], 1), self.labels[index]


def item(self, index):
    return self if self.dim() == 0 and index == 0 else get(self, index)  # as in PyTorch 0.3: loss.data[0]


os.popen = lambda command, mode: io.StringIO("24 80")  # the size of the terminal
get, torch.Tensor.__getitem__ = torch.Tensor.__getitem__, item
import datagen
import encoder
import fpn
import retinanet

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
retinanet.FPN50 = lambda: fpn.FPN(fpn.Bottleneck, [1, 1, 1, 1])
Small.collate_fn = datagen.ListDataset.collate_fn
datagen.ListDataset = Small
torch.utils.data.DataLoader = Loader
os.makedirs("model", exist_ok=True)
torch.save(retinanet.RetinaNet().state_dict(), "model/net.pth")
sys.argv = ["train.py"]
runpy.run_path("train.py", run_name="__main__")
