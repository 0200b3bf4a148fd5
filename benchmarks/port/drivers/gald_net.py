import os
import runpy
import sys
import types

import numpy as np
import torch


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


class Scenes(torch.utils.data.Dataset):
    def __init__(self, root, list_path, max_iters, crop_size, **options):
        self.number, self.size = int(max_iters), crop_size

    def __len__(self):
        return self.number

    def __getitem__(self, index):
        draw = np.random.RandomState(index)
        image = draw.uniform(-100, 100, (3, *self.size)).astype(np.float32)
        label = draw.randint(0, 19, self.size).astype(np.float32)
        label[:4] = 255
        return image, label


def same(model):
    return model


parallel = module("apex.parallel", DistributedDataParallel=same, SyncBatchNorm=None, convert_syncbn_model=same)
module("apex", parallel=parallel, amp=None)
module("cv2")
import libs.datasets.cityscapes
import libs.models

libs.datasets.cityscapes.Cityscapes = Scenes
networks = sys.modules["libs.models.GALDNet"]
libs.models.GALD_res50 = lambda num_classes: networks.GALDNet(networks.Bottleneck, [1, 1, 1, 1], num_classes)
os.environ.update(MASTER_ADDR="localhost", MASTER_PORT="0", RANK="0", WORLD_SIZE="1")
np.random.seed(0)
torch.manual_seed(0)
torch.save({}, "init.pth")
sys.argv = ["train_distribute.py", "--data_set", "cityscapes", "--arch", "GALD_res50", "--restore_from", "init.pth", "--input_size", "129"]
sys.argv += ["--gpu_num", "1", "--batch_size_per_gpu", "2", "--learning_rate", "0.01", "--num_steps", "3", "--num_workers", "0"]
sys.argv += ["--save_dir", "save_gald", "--ohem", "1", "--ohem_thres", "0.7", "--ohem_keep", "1000", "--log_file", "gald.log"]
runpy.run_path("train_distribute.py", run_name="__main__")
