import collections
import collections.abc
import os
import runpy
import sys
import types

import torch
import yaml


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class Writer:
    def __init__(self, folder):
        os.makedirs(folder, exist_ok=True)

    def add_scalar(self, name, value, step):
        print(step, name, float(value))


class Scenes(torch.utils.data.Dataset):
    def __init__(self, split, data_root, data_list, transform):
        draw = torch.Generator().manual_seed(len(split))
        self.labels = torch.randint(0, 5, (6 if split == "train" else 2, 33, 33), generator=draw)
        self.images = torch.randn(len(self.labels), 3, 33, 33, generator=draw) + self.labels.unsqueeze(1)
        self.labels[:, :2] = 255

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]


def histc(values, **options):
    return count(values.float(), **options)  # of whole numbers too, as on a GPU


def resnet50(pretrained):
    return model.resnet.ResNet(model.resnet.Bottleneck, [1, 1, 1, 1])


nothing = types.SimpleNamespace(setUseOpenCL=print)
module("cv2", ocl=nothing, setNumThreads=print, INTER_LINEAR=1, INTER_NEAREST=0)
module("tensorboardX", SummaryWriter=Writer)
collections.Iterable = collections.abc.Iterable  # as in Python 3.9
count, torch.histc = torch.histc, histc
import model.resnet
import util.dataset

model.resnet.resnet50 = resnet50
util.dataset.SemData = Scenes
with open("config/cityscapes/cityscapes_pspnet50.yaml", encoding="utf-8") as file:
    config = yaml.safe_load(file)
config["DATA"].update(classes=5)
config["TRAIN"].update(train_h=33, train_w=33, train_gpu=[0], workers=0, batch_size=2, batch_size_val=2, epochs=1, manual_seed=0)
config["TRAIN"].update(print_freq=1, save_path="exp", evaluate=True)
with open("config/small.yaml", "w", encoding="utf-8") as file:
    yaml.safe_dump(config, file)
sys.argv = ["train.py", "--config", "config/small.yaml"]
runpy.run_path("tool/train.py", run_name="__main__")
