import logging

import _init_paths
import torch
from core.function import train
from core.loss import JointsMSELoss
from models import pose_hrnet


class Options(dict):
    def __getattr__(self, name):
        return self[name]


class Writer:
    def add_scalar(self, name, value, step):
        print(step, name, float(value))


def stage(branches, block):
    return Options(
        NUM_MODULES=1, NUM_BRANCHES=branches, BLOCK=block, NUM_BLOCKS=[1] * branches, NUM_CHANNELS=[8 * 2**i for i in range(branches)],
        FUSE_METHOD="SUM",
    )


class People(torch.utils.data.Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        return torch.rand(3, 64, 64), torch.rand(5, 16, 16), torch.ones(5, 1), {"image": index}


torch.manual_seed(0)
logging.basicConfig(level=logging.INFO, format="%(name)s")
extra = Options(
    FINAL_CONV_KERNEL=1, PRETRAINED_LAYERS=["*"], STAGE2=stage(2, "BASIC"), STAGE3=stage(3, "BASIC"), STAGE4=stage(4, "BASIC"),
)
cfg = Options(
    MODEL=Options(NUM_JOINTS=5, INIT_WEIGHTS=False, PRETRAINED="", EXTRA=extra), GPUS=(0,), PRINT_FREQ=1, DEBUG=Options(DEBUG=False),
    LOSS=Options(USE_TARGET_WEIGHT=True),
)
model = pose_hrnet.get_pose_net(cfg, is_train=True)
model = torch.nn.DataParallel(model, device_ids=cfg.GPUS).cuda()
criterion = JointsMSELoss(use_target_weight=cfg.LOSS.USE_TARGET_WEIGHT).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
loader = torch.utils.data.DataLoader(People(), batch_size=2, shuffle=True, pin_memory=True)
writers = {"writer": Writer(), "train_global_steps": 0, "valid_global_steps": 0}
train(cfg, loader, model, criterion, optimizer, 0, ".", ".", writers)
