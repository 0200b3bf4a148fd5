import runpy
import sys
import types

import numpy as np
import torch
import torch.utils.model_zoo


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class Faces(torch.utils.data.Dataset):
    def __init__(self, rootpth, cropsize, mode):
        self.images = torch.randn(32, 3, 128, 128)
        self.labels = torch.randint(0, 19, (32, 1, 128, 128))

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


torch.manual_seed(0)
np.random.seed(0)
module("face_dataset", FaceMask=Faces)
torch.utils.data.DataLoader = Loader
torch.utils.model_zoo.load_url = lambda address: {}  # no pretrained weights
sys.argv = ["train.py", "--local_rank", "0"]
runpy.run_path("train.py", run_name="__main__")
