import ast
import os
import random
import runpy
import sys
import types

import numpy as np
import torch
import torchvision


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class Settings(dict):
    """The configuration of yacs."""

    def __getattr__(self, name):
        return self[name]

    def __setattr__(self, name, value):
        self[name] = value

    def merge_from_list(self, options):
        for name, value in zip(options[::2], options[1::2], strict=True):
            *parts, name = name.split(".")
            (self[parts[0]] if parts else self)[name] = decode(value)

    def freeze(self):
        pass


def decode(value):
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value


class Engine:
    """The engine of ignite."""

    def __init__(self, process):
        self.process, self.handlers = process, []
        self.state = types.SimpleNamespace(epoch=0, metrics={}, output=None)

    def add_event_handler(self, event, handler, *options):
        self.handlers.append((event, handler, options))

    def on(self, event):
        return lambda handler: self.add_event_handler(event, handler)

    def fire(self, event):
        for wanted, handler, options in self.handlers:
            if wanted == event:
                handler(self, *options)

    def run(self, batches, max_epochs=1):
        self.state.epoch = 0
        self.fire("started")
        while self.state.epoch < max_epochs:
            self.state.epoch += 1
            self.fire("epoch started")
            for batch in batches:
                self.fire("iteration started")
                self.state.output = self.process(self, batch)
                self.fire("iteration completed")
            self.fire("epoch completed")


class Events:
    STARTED, EPOCH_STARTED, EPOCH_COMPLETED = "started", "epoch started", "epoch completed"
    ITERATION_STARTED, ITERATION_COMPLETED = "iteration started", "iteration completed"


class Metric:
    def attach(self, engine, name):
        engine.add_event_handler(Events.EPOCH_STARTED, lambda engine: self.reset())
        engine.add_event_handler(Events.ITERATION_COMPLETED, lambda engine: self.update(engine.state.output))
        engine.add_event_handler(Events.EPOCH_COMPLETED, lambda engine: engine.state.metrics.update({name: self.compute()}))


class RunningAverage:
    def __init__(self, output_transform):
        self.transform = output_transform

    def attach(self, engine, name):
        engine.add_event_handler(Events.ITERATION_COMPLETED, lambda engine: self.update(engine.state, name))

    def update(self, state, name):
        value = self.transform(state.output)
        state.metrics[name] = 0.98 * state.metrics.get(name, value) + 0.02 * value


class Timer:
    step_count = 1

    def __init__(self, average):
        self.average = average

    def attach(self, engine, **events):
        pass

    def value(self):
        return 1.0

    def reset(self):
        pass


class ModelCheckpoint:
    def __init__(self, folder, name, period, n_saved, require_empty):
        self.path, self.period = os.path.join(folder, name), period

    def __call__(self, engine, parts):
        for name, part in parts.items():
            torch.save(part.state_dict(), f"{self.path}_{name}_{engine.state.epoch}.pth")


def read_image(path):
    values = torch.Generator().manual_seed(int(os.path.basename(path)[:4]))
    return torch.rand(3, 64, 32) + torch.randn(3, 1, 1, generator=values)


module("yacs")
module("yacs.config", CfgNode=Settings)
module("ignite")
module("ignite.engine", Engine=Engine, Events=Events)
module("ignite.handlers", ModelCheckpoint=ModelCheckpoint, Timer=Timer)
module("ignite.metrics", Metric=Metric, RunningAverage=RunningAverage)
torchvision.transforms.Compose = lambda steps: lambda image: image
torch.manual_seed(0)
np.random.seed(0)
random.seed(0)
for part, camera, people in (("train", 1, 4), ("test", 2, 3), ("query", 1, 2)):
    folder = "images/market1501/query" if part == "query" else f"images/market1501/bounding_box_{part}"
    os.makedirs(folder, exist_ok=True)
    for person in range(1, people + 1):
        for number in range(1 if part == "query" else 4):
            open(f"{folder}/{person:04}_c{camera}s1_{number:06}_00.jpg", "w").close()
import data.datasets.dataset_loader
from modeling.backbones.resnet import ResNet

data.datasets.dataset_loader.read_image = read_image
ResNet.load_param = lambda self, path: self.random_init()
options = ["MODEL.NAME", "resnet18", "DATASETS.ROOT_DIR", "images", "DATALOADER.NUM_WORKERS", "0", "OUTPUT_DIR", "logs"]
options += ["SOLVER.IMS_PER_BATCH", "8", "SOLVER.MAX_EPOCHS", "2", "SOLVER.LOG_PERIOD", "1", "SOLVER.EVAL_PERIOD", "2"]
options += ["MODEL.IF_WITH_CENTER", "yes", "MODEL.METRIC_LOSS_TYPE", "triplet_center", "DATALOADER.SAMPLER", "softmax_triplet"]
options += ["DATALOADER.NUM_INSTANCE", "4", "SOLVER.WARMUP_ITERS", "2"]
sys.argv = ["tools/train.py", *options]
runpy.run_path("tools/train.py", run_name="__main__")
