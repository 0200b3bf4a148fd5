import os
import random
import runpy
import sys
import types

import numpy as np
import torch
import yaml


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class Writer:
    def __init__(self, logdir):
        self.logdir = logdir

    def add_scalar(self, name, value, step):
        print(step, name, value)

    def add_audio(self, name, sound, step, rate):
        print(step, name, sound.shape)

    def add_image(self, name, image, step):
        print(step, name, image.shape)

    def add_histogram(self, name, values, step):
        pass


class Enough(BaseException):
    """Two epochs are done; the training function would never end."""


def count(start):
    yield from range(start, start + 2)
    raise Enough


def fail():
    raise  # the exception that the training function would swallow


module("tensorboardX", SummaryWriter=Writer)
module("matplotlib", use=print)
module("matplotlib.pylab")
module("scipy")
module("scipy.io")
module("scipy.io.wavfile", read=lambda path: (22050, np.load(path.replace(".wav", ".npy"))))
import utils.train
import utils.writer

torch.manual_seed(0)
random.seed(0)
utils.train.get_commit_hash = lambda: "0000000"
utils.train.itertools = types.SimpleNamespace(count=count)
utils.train.traceback = types.SimpleNamespace(print_exc=fail)
utils.writer.plot_waveform_to_numpy = lambda sound: sound
draw = np.random.RandomState(0)
for part, sounds in (("train", 2), ("valid", 1)):
    os.makedirs(os.path.join("sounds", part), exist_ok=True)
    for number in range(sounds):
        path = os.path.join("sounds", part, str(number))
        open(path + ".wav", "w").close()
        np.save(path + ".npy", draw.uniform(-0.5, 0.5, 6144).astype(np.float32))
        torch.save(torch.from_numpy(draw.uniform(-8, 1, (1, 80, 24)).astype(np.float32)), path + ".mel")
with open("config/default.yaml", encoding="utf-8") as file:
    parts = list(yaml.safe_load_all(file))
parts[0]["data"] = {"train": "sounds/train", "validation": "sounds/valid"}
parts[1]["train"].update(num_workers=0, batch_size=2)
parts[2]["audio"].update(segment_length=4096, pad_short=500)
parts[4]["log"].update(validation_interval=1, save_interval=1)
with open("config/small.yaml", "w", encoding="utf-8") as file:
    yaml.safe_dump_all(parts, file)
sys.argv = ["trainer.py", "-c", "config/small.yaml", "-n", "small"]
try:
    runpy.run_path("trainer.py", run_name="__main__")
except Enough:
    print("two epochs")
