import sys

import torch
import UGATIT
from torch.utils.data.dataloader import _BaseDataLoaderIter


class Images(torch.utils.data.Dataset):
    def __init__(self, folder, transform):
        self.folder = folder

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.rand(3, 256, 256) * 2 - 1, 0


torch.manual_seed(0)
_BaseDataLoaderIter.next = _BaseDataLoaderIter.__next__  # as in PyTorch 1.12
UGATIT.ImageFolder = Images
import main

sys.argv = [
    "main.py", "--light", "True", "--dataset", "faces", "--iteration", "2", "--batch_size", "1", "--print_freq", "100", "--save_freq", "100",
    "--ch", "4", "--n_res", "2", "--img_size", "256", "--decay_flag", "False", "--result_dir", "results",
]
main.main()
