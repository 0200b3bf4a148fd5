import runpy
import sys

import data
import torch


class Patches(torch.utils.data.Dataset):
    def __init__(self, folder, patch_size, upscale_factor, data_augmentation, transform):
        self.size, self.small = patch_size, patch_size // upscale_factor

    def __len__(self):
        return 3

    def __getitem__(self, index):
        draw = torch.Generator().manual_seed(index)
        image = torch.rand(3, self.small, self.small, generator=draw)
        bicubic = torch.nn.functional.interpolate(image[None], size=self.size, mode="bicubic")[0]
        return image, torch.rand(3, self.size, self.size, generator=draw), bicubic


data.DatasetFromFolder = Patches
sys.argv = ["main.py", "--nEpochs", "1", "--threads", "0", "--upscale_factor", "2", "--patch_size", "16", "--model_type", "DBPN-RES-MR64-3"]
runpy.run_path("main.py", run_name="__main__")
