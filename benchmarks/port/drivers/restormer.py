import json
import re
import runpy
import sys
import types

import cv2
import torch
import torchvision


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


def rearrange(values, pattern, **sizes):
    """Rearrange the axes of a tensor as einops does."""
    before, after = ([group.strip("()").split() for group in re.findall(r"\([^)]*\)|\w+", side)] for side in pattern.split("->"))
    for group, size in zip(before, values.shape, strict=True):
        known = 1
        for name in group:
            known *= sizes.get(name, 1)
        sizes.update({name: size // known for name in group if name not in sizes})
    names = [name for group in before for name in group]
    values = values.reshape([sizes[name] for name in names]).permute([names.index(name) for group in after for name in group])
    return values.flatten() if not after else values.reshape([torch.Size([sizes[name] for name in group]).numel() for group in after])


class Pairs(torch.utils.data.Dataset):
    def __init__(self, options):
        self.opt = options

    def __len__(self):
        return 6 if self.opt["phase"] == "train" else 2

    def __getitem__(self, index):
        clean = torch.rand(3, 16, 16)
        return {"gt": clean, "lq": clean + torch.randn(3, 16, 16) * 0.06, "lq_path": f"{index}.png", "gt_path": f"{index}.png"}


module("einops", rearrange=rearrange)
torchvision.__version__, cv2.cvtColor = "0.20", lambda image, code: image
from basicsr.data import paired_image_dataset

paired_image_dataset.Dataset_GaussianDenoising = Pairs
data = {"type": "Dataset_GaussianDenoising", "dataroot_gt": "clean", "dataroot_lq": "none"}
settings = {
    "name": "GaussianColorDenoising", "model_type": "ImageCleanModel", "scale": 1, "num_gpu": 1, "manual_seed": 100,
    "datasets": {
        "train": {
            **data, "name": "TrainSet", "use_shuffle": True, "num_worker_per_gpu": 0, "batch_size_per_gpu": 2, "mini_batch_sizes": [2, 1],
            "iters": [2, 4], "gt_size": 16, "gt_sizes": [8, 16], "dataset_enlarge_ratio": 1, "prefetch_mode": None,
        },
        "val": {**data, "name": "ValSet"},
    },
    "network_g": {
        "type": "Restormer", "inp_channels": 3, "out_channels": 3, "dim": 8, "num_blocks": [1, 1, 1, 1], "num_refinement_blocks": 1,
        "heads": [1, 2, 4, 8], "ffn_expansion_factor": 2.66, "bias": False, "LayerNorm_type": "BiasFree", "dual_pixel_task": False,
    },
    "path": {"pretrain_network_g": None, "strict_load_g": True, "resume_state": None},
    "train": {
        "total_iter": 4, "warmup_iter": -1, "use_grad_clip": True,
        "scheduler": {"type": "CosineAnnealingRestartCyclicLR", "periods": [2, 4], "restart_weights": [1, 1], "eta_mins": [0.0003, 0.0001]},
        "mixing_augs": {"mixup": True, "mixup_beta": 1.2, "use_identity": True},
        "optim_g": {"type": "AdamW", "lr": 0.0003, "weight_decay": 0.0001, "betas": [0.9, 0.999]},
        "pixel_opt": {"type": "L1Loss", "loss_weight": 1, "reduction": "mean"},
    },
    "val": {
        "window_size": 8, "val_freq": 2, "save_img": False, "rgb2bgr": True, "use_image": False, "max_minibatch": 8,
        "metrics": {"psnr": {"type": "calculate_psnr", "crop_border": 0, "test_y_channel": False}},
    },
    "logger": {"print_freq": 1, "save_checkpoint_freq": 4, "use_tb_logger": False},
    "dist_params": {"backend": "nccl", "port": 29500},
}
with open("small.yml", "w", encoding="utf-8") as file:
    json.dump(settings, file)
sys.argv = ["basicsr/train.py", "-opt", "small.yml"]
runpy.run_path("basicsr/train.py", run_name="__main__")
