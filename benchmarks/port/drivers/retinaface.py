import runpy
import sys
import types
from collections import OrderedDict

import numpy as np
import torch


class Layers(torch.nn.ModuleDict):
    def __init__(self, model, return_layers):
        super().__init__(OrderedDict((name, child) for name, child in model.named_children() if "stage" in name))
        self.return_layers = return_layers

    def forward(self, image):
        found = OrderedDict()
        for name, module in self.items():
            image = module(image)
            found[self.return_layers[name]] = image
        return found


class Faces(torch.utils.data.Dataset):
    def __init__(self, path, preproc=None):
        self.size = 64

    def __len__(self):
        return 4

    def __getitem__(self, index):
        draw = np.random.RandomState(index)
        corner = draw.rand(2, 2) * 0.5
        boxes = np.concatenate([corner, corner + 0.3], axis=1)
        marks = np.tile(corner, (1, 5)) + draw.rand(2, 10) * 0.3
        target = np.concatenate([boxes, marks, np.array([[1.0], [-1.0]])], axis=1)
        return torch.from_numpy(draw.rand(3, self.size, self.size).astype("float32")), target


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


module("torchvision.models._utils", IntermediateLayerGetter=Layers)
module("torchvision.models.detection.backbone_utils")
module("torchvision.models.detection", backbone_utils=sys.modules["torchvision.models.detection.backbone_utils"])
module("torchvision.models", detection=sys.modules["torchvision.models.detection"], _utils=sys.modules["torchvision.models._utils"])
module("torchvision", models=sys.modules["torchvision.models"])
import data

data.WiderFaceDetection = Faces
data.cfg_mnet.update(pretrain=False, image_size=64, batch_size=2, epoch=2)
torch.manual_seed(0)
sys.argv = ["train.py", "--num_workers", "0"]
runpy.run_path("train.py", run_name="__main__")
