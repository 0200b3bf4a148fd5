import os
import runpy
import sys

import numpy as np
import torch


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


class Birds(torch.utils.data.Dataset):
    def __init__(self, root, label_txt, transform):
        self.labels = [bird for bird in range(6) for _ in range(4)]
        self.Index = {bird: [4 * bird + number for number in range(4)] for bird in range(6)}

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        colour = torch.randn(3, 1, 1, generator=torch.Generator().manual_seed(int(self.labels[index])))
        return torch.randn(3, 64, 64, generator=torch.Generator().manual_seed(100 + int(index))) + colour, self.labels[index]


def inception(dim, pretrained):
    return models.BN_Inception(dim, pretrained=False)


torch.manual_seed(0)
np.random.seed(0)
torch.utils.data.DataLoader = Loader
import DataSet.CUB200
import models

DataSet.CUB200.Generate_transform_Dict = lambda **sizes: {"rand-crop": None, "center-crop": None}
DataSet.CUB200.MyData = Birds
vars(models)["__factory"]["BN-Inception"] = inception
for loss in ("Binomial", "LiftedStructure"):
    folder = os.path.join("ckps", loss)
    sys.argv = ["train.py", "--net", "BN-Inception", "--data", "cub", "--data_root", "data", "--lr", "1e-4", "--dim", "512", "--alpha", "40"]
    sys.argv += ["--num_instances", "4", "--batch_size", "12", "--epoch", "2", "--loss", loss, "--save_dir", folder, "--freeze_BN", "", "--print_freq", "1"]
    runpy.run_path("train.py", run_name="__main__")
