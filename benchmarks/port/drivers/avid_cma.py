import queue
import runpy
import types

import numpy as np
import torch
from criterions import avid_cma
from utils import main_utils
from utils.logger import Logger


class Clips(torch.utils.data.Dataset):
    def __init__(self):
        self.frames = torch.randn(24, 3, 4, 32, 32)
        self.audio = torch.randn(24, 1, 20, 33)

    def __len__(self):
        return len(self.frames)

    def __getitem__(self, index):
        return {"frames": self.frames[index], "audio": self.audio[index], "index": index}


def sample(self):
    """Find the correspondences in this process."""
    jobs, found = queue.Queue(), queue.Queue()
    self.sample_dispatcher(jobs, 1)
    self.sample_instance(0, jobs, found)
    return self.sample_gather(found, 1)


torch.manual_seed(0)
np.random.seed(0)
avid_cma.CMASampler.sample = sample
program = runpy.run_path("main-avid.py", run_name="main-avid")
args = types.SimpleNamespace(gpu=None, distributed=False)
loader = torch.utils.data.DataLoader(Clips(), batch_size=8, shuffle=True, drop_last=True)
model_args = {
    "proj_dim": [32, 32, 16], "video_backbone": "R2Plus1D", "video_backbone_args": {"depth": 10}, "audio_backbone": "Conv2D",
    "audio_backbone_args": {"depth": 10},
}
cma_args = {
    "num_data": 24, "momentum": 0.5, "num_negatives": 16, "num_negatives_within": 4, "xModalInstCoeff": 1.0, "wModalInstCoeff": 0.0,
    "xModalPosCoeff": 0.0, "wModalPosCoeff": 1.0, "resample_freq": 5, "sampling_args": {"type": "consensus", "pos_k": 4},
}
losses = [
    {"name": "AVID", "args": {"num_data": 24, "num_negatives": 16, "momentum": 0.5, "xModal_coeff": 1.0, "wModal_coeff": 0.0}},
    {"name": "AVID_CMA", "args": cma_args},
]
learning = {"name": "adam", "weight_decay": 0.00001, "lr": {"name": "multistep", "base_lr": 0.0002, "gamma": 1.0, "milestones": [5, 10]}}
for loss in losses:
    model = main_utils.build_model({"arch": "av_wrapper", "args": dict(model_args)})
    model = torch.nn.DataParallel(model).cuda()
    loss["args"].update(embedding_dim=model.module.out_dim, device=0)
    criterion = main_utils.build_criterion(loss)
    optimizer, scheduler = main_utils.build_optimizer(list(model.parameters()) + list(criterion.parameters()), learning)
    criterion.set_epoch(0)
    program["run_phase"]("train", loader, model, optimizer, criterion, 0, args, {"print_freq": 1}, Logger(), None)
    program["run_phase"]("test", loader, model, optimizer, criterion, 0, args, {"print_freq": 1}, Logger(), None)
