import resource
import runpy
import sys
import types

import numpy as np
import torch
from torch import nn


class Photos:
    """The images of VOC with their boxes."""

    label_names = ("aeroplane", "bicycle", "bird")

    def __init__(self, data_dir, split="trainval", use_difficult=False):
        self.seed, self.number = (10, 1) if split == "test" else (0, 3)

    def __len__(self):
        return self.number

    def get_example(self, index):
        draw = np.random.RandomState(self.seed + index)
        image = draw.uniform(0, 255, (3, 96, 128)).astype(np.float32)
        corners = draw.randint(2, 30, (2, 2))
        boxes = np.hstack((corners, corners + draw.randint(40, 60, (2, 2)))).astype(np.float32)
        return image, boxes, draw.randint(0, 20, 2).astype(np.int32), np.zeros(2, np.uint8)


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


class RoIPool(nn.Module):
    """The pooling of torchvision."""

    def __init__(self, output_size, spatial_scale):
        super().__init__()
        self.output_size, self.scale = output_size, spatial_scale

    def forward(self, features, rois):
        pooled = []
        for index, *corners in rois.tolist():
            left, top, right, bottom = (int(round(corner * self.scale)) for corner in corners)
            part = features[int(index), :, top:max(bottom, top) + 1, left:max(right, left) + 1]
            pooled.append(nn.functional.adaptive_max_pool2d(part, self.output_size))
        return torch.stack(pooled)


class Confusion:
    """The meter of torchnet."""

    def __init__(self, k):
        self.k = k
        self.reset()

    def reset(self):
        self.conf = np.zeros((self.k, self.k), np.int64)

    def add(self, predicted, target):
        np.add.at(self.conf, (target.cpu().numpy(), predicted.cpu().numpy().argmax(1)), 1)

    def value(self):
        return self.conf


class Average:
    """The meter of torchnet."""

    def reset(self):
        self.values = []

    def add(self, value):
        print(value)
        self.values.append(value)

    def value(self):
        return np.mean(self.values), np.std(self.values)


def vgg16(pretrained):
    """A VGG of few channels with torchvision's structure."""
    layers, channels = [], 3
    for width in (8, 8, "M", 16, 16, "M", 32, 32, 32, "M", 32, 32, 32, "M", 32, 32, 512, "M"):
        if width == "M":
            layers.append(nn.MaxPool2d(2))
        else:
            layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU(inplace=True)]
            channels = width
    first = nn.Sequential(nn.Linear(512 * 7 * 7, 16), nn.Linear(16, 32))
    classifier = nn.Sequential(first, nn.ReLU(), nn.Dropout(), nn.Linear(32, 4096), nn.ReLU(), nn.Dropout(), nn.Linear(4096, 10))
    return types.SimpleNamespace(features=nn.Sequential(*layers), classifier=classifier)


def non_maximum_suppression(boxes, scores, threshold):
    """The suppression of torchvision."""
    order = scores.argsort(descending=True, stable=True)[:200]
    areas = (boxes[:, 2:] - boxes[:, :2]).clamp(min=0).prod(1)
    kept = []
    while len(order):
        best, order = order[0], order[1:]
        kept.append(best)
        corners = torch.max(boxes[best, :2], boxes[order, :2]), torch.min(boxes[best, 2:], boxes[order, 2:])
        common = (corners[1] - corners[0]).clamp(min=0).prod(1)
        order = order[common / (areas[best] + areas[order] - common) <= threshold]
    return torch.stack(kept) if kept else scores.argsort()


def resize(image, shape, mode, anti_aliasing):
    sizes = [int(size) for size in shape]
    rows, columns = (np.arange(sizes[axis]) * image.shape[axis] // sizes[axis] for axis in (1, 2))
    return image[:, rows][:, :, columns]


def normalize(mean, std):
    return lambda image: (image - torch.tensor(mean).view(3, 1, 1)) / torch.tensor(std).view(3, 1, 1)


def fire():
    options = dict(env="fasterrcnn", plot_every=100, min_size=240, max_size=320, num_workers=0, test_num_workers=0, epoch=2)
    sys._getframe(1).f_globals["train"](**options)


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


module("fire", Fire=fire)
module("six", moves=types.SimpleNamespace(range=range, zip=zip))
module("tqdm", tqdm=lambda items: items)
module("torchnet", meter=module("torchnet.meter", ConfusionMeter=Confusion, AverageValueMeter=Average))
module("skimage", transform=module("skimage.transform", resize=resize))
module("torchvision", transforms=module("torchvision.transforms", Normalize=normalize))
module("torchvision.models", vgg16=vgg16)
module("torchvision.ops", nms=non_maximum_suppression, RoIPool=RoIPool)
torch.utils.data.DataLoader = Loader
resource.setrlimit = lambda *limits: None
import data.voc_dataset

data.voc_dataset.VOCBboxDataset = Photos
np.random.seed(0)
torch.manual_seed(0)
sys.argv = ["train.py", "train", "--env=fasterrcnn", "--plot-every=100"]
runpy.run_path("train.py", run_name="__main__")
