import os
import runpy
import shutil
import sys
import types

import numpy as np
import torch
from torch import nn


class Index:
    """The flat index of faiss."""

    def __init__(self, size):
        self.items = np.zeros((0, size), np.float32)

    def add(self, items):
        self.items = np.concatenate([self.items, items])

    def search(self, queries, number):
        distances = ((queries[:, None] - self.items[None]) ** 2).sum(-1)
        order = np.argsort(distances, 1, kind="stable")[:, :number]
        return np.take_along_axis(distances, order, 1), order


class File(dict):
    """A file of HDF5 with arrays, as one of NumPy."""

    def __init__(self, path, mode):
        super().__init__(np.load(path) if mode == "r" else {})
        self.path, self.mode = path, mode

    def create_dataset(self, name, shape, dtype):
        self[name] = np.zeros(shape, dtype)
        return self[name]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.mode == "w":
            with open(self.path, "wb") as file:
                np.savez(file, **self)


class Writer:
    def __init__(self, log_dir):
        self.file_writer = types.SimpleNamespace(get_logdir=lambda: log_dir)

    def add_scalar(self, name, value, step):
        print(step, name, float(value))

    def close(self):
        pass


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


class Whole(torch.utils.data.Dataset):
    """Images of places, and as many queries."""

    dataset, whichSet = "pitts30k", "train"
    dbStruct = types.SimpleNamespace(numDb=24, numQ=6)

    def __len__(self):
        return 30

    def __getitem__(self, index):
        place = index % 6
        colour = torch.randn(3, 1, 1, generator=torch.Generator().manual_seed(int(place)))
        return colour + torch.randn(3, 32, 40, generator=torch.Generator().manual_seed(100 + int(index))), index

    def getPositives(self):
        return [np.arange(place, 24, 6) for place in range(6)]


class Queries(Whole):
    """A query with the nearest place, and with four other places."""

    cache = None

    def __init__(self, margin):
        self.margin = margin

    def __len__(self):
        return 6

    def __getitem__(self, index):
        with h5py.File(self.cache, mode="r") as file:
            features = file.get("features")
        distances = ((features[:24] - features[24 + index]) ** 2).sum(1)
        order = np.argsort(distances, kind="stable")
        positive, negatives = order[order % 6 == index][0], order[order % 6 != index][:4]
        image = super().__getitem__
        return image(24 + index)[0], image(positive)[0], torch.stack([image(each)[0] for each in negatives]), [index, *negatives]


def collate(batch):
    queries, positives, negatives, indices = zip(*batch, strict=True)
    counts = torch.tensor([len(each) for each in negatives])
    return torch.stack(queries), torch.stack(positives), torch.cat(negatives), counts, sum(indices, [])


def vgg16(pretrained):
    """The layers of the network with less channels, but for the last."""
    layers, inputs = [], 3
    for outputs, convolutions in ((4, 2), (8, 2), (8, 3), (16, 3), (16, 3)):
        for number in range(convolutions):
            outputs = 512 if layers and len(layers) == 28 else outputs
            layers += [nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU(inplace=True)]
            nn.init.kaiming_normal_(layers[-2].weight)
            inputs = outputs
        layers.append(nn.MaxPool2d(2, 2))
    return types.SimpleNamespace(features=nn.Sequential(*layers))


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


h5py = module("h5py", File=File)
module("faiss", IndexFlatL2=Index)
module("sklearn", neighbors=module("sklearn.neighbors", NearestNeighbors=None))
module("tensorboardX", SummaryWriter=Writer)
module("PIL", Image=None)
sets = {"get_whole_training_set": Whole, "get_whole_val_set": Whole, "get_training_query_set": Queries}
module("pittsburgh", collate_fn=collate, **sets)
parts = {name: module(f"torchvision.{name}") for name in ("transforms", "datasets")}
module("torchvision", models=module("torchvision.models", vgg16=vgg16), **parts)
np.in1d = np.isin  # as in NumPy 2.3
torch.utils.data.DataLoader = Loader
torch.manual_seed(0)
os.environ["TMPDIR"] = "cache"
shutil.rmtree("runs", ignore_errors=True)
for folder in ("cache", "data/centroids"):
    os.makedirs(folder, exist_ok=True)
draw = np.random.RandomState(0)
arrays = {"centroids": draw.randn(4, 512).astype(np.float32), "descriptors": draw.randn(50, 512).astype(np.float32)}
with open("data/centroids/vgg16_pitts30k_4_desc_cen.hdf5", "wb") as file:
    np.savez(file, **arrays)
sys.argv = ["main.py", "--mode=train", "--arch=vgg16", "--pooling=netvlad", "--num_clusters=4", "--dataPath=data", "--runsPath=runs"]
sys.argv += ["--batchSize=2", "--cacheBatchSize=8", "--nEpochs=2", "--lr=0.001"]
runpy.run_path("main.py", run_name="__main__")
