import os
from types import SimpleNamespace as Options

import torch
from advent.domain_adaptation import train_UDA
from advent.model import deeplabv2


class Scenes(torch.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.randn(3, 64, 64), torch.randint(0, 6, (64, 64)).float(), 64, str(index)


class Writer:
    def __init__(self, log_dir):
        self.folder = log_dir

    def add_scalar(self, name, value, step):
        print(step, name, float(value))


torch.manual_seed(0)
os.makedirs("logs", exist_ok=True)
train_UDA.SummaryWriter, train_UDA.tqdm.write = Writer, staticmethod(print)
train = Options(
    INPUT_SIZE_SOURCE=(64, 64), INPUT_SIZE_TARGET=(64, 64), TENSORBOARD_LOGDIR="logs", LEARNING_RATE=2.5e-4, MOMENTUM=0.9, WEIGHT_DECAY=5e-4,
    LEARNING_RATE_D=1e-4, EARLY_STOP=1, MAX_ITERS=10, POWER=0.9, MULTI_LEVEL=True, LAMBDA_SEG_MAIN=1.0, LAMBDA_SEG_AUX=0.1,
    LAMBDA_ADV_MAIN=0.001, LAMBDA_ADV_AUX=0.0002, LAMBDA_ENT_MAIN=0.001, LAMBDA_ENT_AUX=0.0002, SAVE_PRED_EVERY=100, SNAPSHOT_DIR=".",
    TENSORBOARD_VIZRATE=100,
)
for method in ("AdvEnt", "MinEnt"):
    train.DA_METHOD = method
    model = deeplabv2.ResNetMulti(deeplabv2.Bottleneck, [1, 1, 1, 1], 6, multi_level=True)
    loaders = [torch.utils.data.DataLoader(Scenes(), batch_size=2, shuffle=True, pin_memory=True) for _ in range(2)]
    train_UDA.train_domain_adaptation(model, *loaders, Options(TRAIN=train, GPU_ID=0, NUM_CLASSES=6))
