import collections.abc
import copy
import math
import sys
import time
import types

import numpy as np
import torch


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class CfgNode(dict):
    """The settings of fvcore, in short."""

    def __getattr__(self, name):
        if name not in self:
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name, value):
        self[name] = value

    def clone(self):
        return copy.deepcopy(self)


class Registry(dict):
    def __init__(self, name):
        super().__init__()
        self.name = name

    def register(self):
        return lambda kind: self.setdefault(kind.__name__, kind)


class Timer:
    def __init__(self):
        self.reset()

    def reset(self):
        self.start, self.end = time.time(), None

    def pause(self):
        self.end = time.time()

    def seconds(self):
        return (self.end or time.time()) - self.start


def rearrange(x, pattern, **sizes):
    """The function of einops for names and simple groups."""
    before, after = ([group.split() for group in split_groups(side)] for side in pattern.split("->"))
    for group, size in zip(before, x.shape, strict=True):
        known = math.prod(sizes[name] for name in group if name in sizes)
        for name in group:
            if name not in sizes:
                sizes[name] = size // known
    names = [name for group in before for name in group]
    x = x.reshape([sizes[name] for name in names])
    x = x.permute([names.index(name) for group in after for name in group])
    return x.reshape([math.prod(sizes[name] for name in group) for group in after])


def split_groups(side):
    groups = []
    for part in side.replace("(", "|(").replace(")", "|").split("|"):
        groups += [part[1:]] if part.startswith("(") else part.split()
    return groups


module("fvcore")
module("fvcore.common")
module("fvcore.common.config", CfgNode=CfgNode)
module("fvcore.common.registry", Registry=Registry)
module("fvcore.common.timer", Timer=Timer)
module("fvcore.common.file_io", PathManager=None)
module("fvcore.nn")
module("fvcore.nn.activation_count", activation_count=None)
module("fvcore.nn.flop_count", flop_count=None)
module("fvcore.nn.precise_bn", get_bn_modules=None, update_bn_stats=None)
module("fvcore.nn.weight_init", c2_msra_fill=None)
module("einops", rearrange=rearrange, reduce=None, repeat=None)
module("simplejson", dumps=lambda stats, **options: str(stats))
module("psutil", virtual_memory=lambda: types.SimpleNamespace(total=2.0**33, available=2.0**32))
module("torch._six", container_abcs=collections.abc, int_classes=int)  # as in PyTorch 1.8
module("torch.utils.tensorboard", SummaryWriter=None)
torch.nn.modules.linear._LinearWithBias = torch.nn.Linear
from timesformer.config.defaults import get_cfg
from timesformer.datasets.build import DATASET_REGISTRY
from timesformer.models.build import MODEL_REGISTRY
from timesformer.models.vit import VisionTransformer
from timesformer.utils import checkpoint
from tools.train_net import train


@MODEL_REGISTRY.register()
class SmallTimeSformer(torch.nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.model = VisionTransformer(
            img_size=cfg.DATA.TRAIN_CROP_SIZE, num_classes=cfg.MODEL.NUM_CLASSES, embed_dim=48, depth=2, num_heads=4, qkv_bias=True,
            num_frames=cfg.DATA.NUM_FRAMES, attention_type=cfg.TIMESFORMER.ATTENTION_TYPE,
        )

    def forward(self, x):
        return self.model(x)


@DATASET_REGISTRY.register()
class Clips(torch.utils.data.Dataset):
    def __init__(self, cfg, split):
        draw = np.random.RandomState(len(split))
        self.clips = torch.from_numpy(draw.randn(4, 3, 4, 32, 32).astype(np.float32))
        self.num_videos = 4

    def __len__(self):
        return self.num_videos

    def __getitem__(self, index):
        return self.clips[index], index % 6, index, {}


checkpoint.load_train_checkpoint = lambda cfg, model, optimizer: 0
checkpoint.is_checkpoint_epoch = lambda cfg, epoch, schedule: False
cfg = get_cfg()
cfg.MODEL.MODEL_NAME, cfg.MODEL.NUM_CLASSES, cfg.LOG_MODEL_INFO = "SmallTimeSformer", 6, False
cfg.DATA.TRAIN_CROP_SIZE, cfg.DATA.NUM_FRAMES, cfg.DATA_LOADER.NUM_WORKERS = 32, 4, 0
cfg.TRAIN.DATASET, cfg.TRAIN.BATCH_SIZE, cfg.GLOBAL_BATCH_SIZE = "Clips", 2, 2
cfg.SOLVER.MAX_EPOCH, cfg.SOLVER.BASE_LR, cfg.OUTPUT_DIR, cfg.LOG_PERIOD = 2, 0.005, None, 1
train(cfg)
