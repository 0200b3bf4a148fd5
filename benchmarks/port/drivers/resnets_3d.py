import os
import random
import runpy
import sys
import types

import numpy as np
import torch


class Transform:
    """A transform that is built and not used: the clips are tensors."""

    def __init__(self, *arguments):
        self.arguments = arguments


class Clips(torch.utils.data.Dataset):
    def __init__(self, count):
        draw = torch.Generator().manual_seed(count)
        self.labels = [index % 3 for index in range(count)]
        self.clips = torch.randn(count, 3, 8, 32, 32, generator=draw) + torch.tensor(self.labels).view(-1, 1, 1, 1, 1)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.clips[index], self.labels[index]


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
names = ["Compose", "ToTensor", "Normalize", "Resize", "Scale", "CenterCrop", "RandomHorizontalFlip", "RandomResizedCrop", "ColorJitter"]
transforms = types.SimpleNamespace(**dict.fromkeys(names, Transform))
module("torchvision", get_image_backend=str)
module("torchvision.transforms", transforms=transforms, functional=None)
module("sklearn")
module("sklearn.metrics", precision_recall_fscore_support=None)
module("h5py")
module("PIL", Image=types.SimpleNamespace(BILINEAR=2))
import dataset

dataset.get_training_data = lambda *options: Clips(9)
dataset.get_validation_data = lambda *options: (Clips(4), None)
os.makedirs("results", exist_ok=True)
options = ["--dataset", "ucf101", "--n_classes", "3", "--result_path", "results", "--checkpoint", "1", "--n_threads", "0"]
options += ["--batch_size", "3", "--n_val_samples", "1", "--sample_size", "32", "--sample_duration", "8", "--learning_rate", "0.01"]
options += ["--model_depth", "10", "--resnet_widen_factor", "0.25", "--n_epochs", "1"]
for model, shortcut in (("resnet", "A"), ("resnet2p1d", "B")):
    sys.argv = ["main.py", "--model", model, "--resnet_shortcut", shortcut, *options]
    runpy.run_path("main.py", run_name="__main__")
