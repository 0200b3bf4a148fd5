import runpy
import sys

import torch
from dataset import cityscapes_dataset, gta5_dataset
from model import deeplab_multi


class Scenes(torch.utils.data.Dataset):
    def __init__(self, root, list_path, **options):
        self.root = root

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.randn(3, 64, 64), torch.randint(0, 19, (64, 64)).float(), 64, str(index)


class TargetScenes(Scenes):
    def __getitem__(self, index):
        return torch.randn(3, 64, 64), 64, str(index)


def small(num_classes):
    return deeplab_multi.ResNetMulti(deeplab_multi.Bottleneck, [1, 1, 1, 1], num_classes)


def pretrained(url):
    return {"Scale." + name: value for name, value in small(19).state_dict().items()}


torch.manual_seed(0)
deeplab_multi.DeeplabMulti = small
gta5_dataset.GTA5DataSet, cityscapes_dataset.cityscapesDataSet = Scenes, TargetScenes
torch.utils.model_zoo.load_url = pretrained
script = "pytorch_0.4/train_gta2cityscapes_multi.py"
sys.argv = [script, "--input-size", "64,64", "--input-size-target", "64,64", "--num-workers", "0", "--num-steps-stop", "2"]
runpy.run_path(script, run_name="__main__")
