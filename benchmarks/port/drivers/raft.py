import os
import sys
import types

import torch


class Frames(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        draw = torch.Generator().manual_seed(index)
        image1, image2 = torch.randint(0, 256, (2, 3, 128, 128), generator=draw).float()
        return image1, image2, torch.randn(2, 128, 128, generator=draw) * 2, (torch.rand(128, 128, generator=draw) > 0.1).float()


class Board:
    def add_scalar(self, name, value, step):
        print(step, name, float(value))

    def close(self):
        print("closed")


def fetch(options):
    return torch.utils.data.DataLoader(Frames(), batch_size=options.batch_size, pin_memory=False, shuffle=True, num_workers=0, drop_last=True)


sys.modules["torch.utils.tensorboard"] = types.ModuleType("torch.utils.tensorboard")
sys.modules["torch.utils.tensorboard"].SummaryWriter = Board
import train

train.datasets.fetch_dataloader, train.SUM_FREQ = fetch, 2
torch.manual_seed(1234)
train.np.random.seed(1234)
os.makedirs("checkpoints", exist_ok=True)
options = {
    "name": "raft", "restore_ckpt": None, "small": False, "validation": None, "lr": 0.00002, "num_steps": 1, "batch_size": 1,
    "image_size": [128, 128], "gpus": [0], "iters": 2, "wdecay": 0.00005, "epsilon": 1e-8, "clip": 1.0, "dropout": 0.0, "gamma": 0.8,
    "add_noise": True, "alternate_corr": False,
}
for stage, mixed_precision in (("chairs", False), ("things", True)):
    train.train(train.argparse.Namespace(stage=stage, mixed_precision=mixed_precision, **options))
