import json
import os
import runpy
import sys
import types

import numpy as np
import torch
import torchvision


class Writer:
    def __init__(self, log_dir):
        self.log_dir = log_dir

    def add_scalar(self, name, value, step):
        print(step, name, float(value))

    def close(self):
        pass


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


def decode(content, flag):
    side = int((len(content) // 3) ** 0.5)
    return content.reshape(side, side, 3)


def flip(image, axis, out):
    out[:] = np.flip(image, axis).copy()


def write(path, image, options):
    np.save(path + ".npy", image)


def photo(path, side, draw):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(draw.randint(0, 256, (side, side, 3)).astype(np.uint8).tobytes())


def reverse(image, code):
    return image[..., ::-1].copy()


draw = np.random.RandomState(0)
for name in ("a", "b", "c", "d"):
    photo(f"images/train/high/{name}.png", 136, draw)
    photo(f"images/train/low/{name}.png", 34, draw)
photo("images/test/high/e.png", 64, draw)
photo("images/test/low/e.png", 16, draw)
with open("images/train.txt", "w", encoding="utf-8") as file:
    file.writelines(f"{name}.png (136,136,3)\n" for name in "abcd")
adam = {"type": "Adam", "lr": 0.0001, "weight_decay": 0, "betas": [0.9, 0.99]}
options = {
    "name": "MSRGAN_x4_small", "model_type": "SRGANModel", "scale": 4, "num_gpu": 1, "manual_seed": 0,
    "datasets": {
        "train": {
            "name": "small", "type": "PairedImageDataset", "dataroot_gt": "images/train/high", "dataroot_lq": "images/train/low",
            "meta_info_file": "images/train.txt", "filename_tmpl": "{}", "io_backend": {"type": "disk"}, "gt_size": 128,
            "use_flip": True, "use_rot": True, "use_shuffle": True, "num_worker_per_gpu": 0, "batch_size_per_gpu": 2,
            "dataset_enlarge_ratio": 1, "prefetch_mode": None,
        },
        "val": {
            "name": "test", "type": "PairedImageDataset", "dataroot_gt": "images/test/high", "dataroot_lq": "images/test/low",
            "io_backend": {"type": "disk"},
        },
    },
    "network_g": {"type": "MSRResNet", "num_in_ch": 3, "num_out_ch": 3, "num_feat": 4, "num_block": 2, "upscale": 4},
    "network_d": {"type": "VGGStyleDiscriminator128", "num_in_ch": 3, "num_feat": 4},
    "path": {"pretrain_network_g": None, "strict_load_g": True, "resume_state": None},
    "train": {
        "optim_g": adam, "optim_d": adam, "scheduler": {"type": "MultiStepLR", "milestones": [2], "gamma": 0.5},
        "total_iter": 3, "warmup_iter": -1, "pixel_opt": {"type": "L1Loss", "loss_weight": 0.01, "reduction": "mean"},
        "gan_opt": {"type": "GANLoss", "gan_type": "vanilla", "real_label_val": 1.0, "fake_label_val": 0.0, "loss_weight": 0.005},
        "net_d_iters": 1, "net_d_init_iters": 0,
    },
    "val": {"val_freq": 2, "save_img": True, "metrics": {"psnr": {"type": "calculate_psnr", "crop_border": 4, "test_y_channel": False}}},
    "logger": {"print_freq": 1, "save_checkpoint_freq": 2, "use_tb_logger": True, "wandb": {"project": None, "resume_id": None}},
}
with open("small.yml", "w", encoding="utf-8") as file:
    json.dump(options, file)
module("cv2", IMREAD_COLOR=1, IMREAD_GRAYSCALE=0, IMREAD_UNCHANGED=-1, COLOR_BGR2RGB=4, COLOR_RGB2BGR=4)
vars(sys.modules["cv2"]).update(imdecode=decode, cvtColor=reverse, flip=flip, imwrite=write)
module("torch.utils.tensorboard", SummaryWriter=Writer)
for extension in ("dcn.deform_conv_ext", "fused_act.fused_act_ext", "upfirdn2d.upfirdn2d_ext"):
    module(f"basicsr.models.ops.{extension}")
module("basicsr.version", __version__="1.0.0")
torchvision.__version__ = "0.7.0"
torch.manual_seed(0)
sys.argv = ["basicsr/train.py", "-opt", "small.yml"]
runpy.run_path("basicsr/train.py", run_name="__main__")
