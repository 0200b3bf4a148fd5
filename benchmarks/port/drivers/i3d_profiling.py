import builtins
import os
import runpy
import sys

import torch
import torchvision


class Images(torch.utils.data.Dataset):
    def __init__(self, root, transform):
        self.images = torch.randn(4, 3, 224, 224, generator=torch.Generator().manual_seed(0))

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], 0


builtins.profile = lambda function: function  # as kernprof gives it
torchvision.datasets.ImageFolder = Images
torch.manual_seed(0)
from src.i3dpt import I3D

os.makedirs("model", exist_ok=True)
torch.save(I3D(num_classes=400).state_dict(), "model/model_rgb.pth")
sys.argv = ["i3d_pt_profiling.py", "--frame_nb", "16"]
runpy.run_path("i3d_pt_profiling.py", run_name="__main__")
