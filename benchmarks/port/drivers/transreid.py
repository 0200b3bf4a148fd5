import collections.abc
import sys
import types
from types import SimpleNamespace as Options

import torch

sys.modules["torch._six"] = types.ModuleType("torch._six")  # as in PyTorch 1.8
sys.modules["torch._six"].container_abcs = collections.abc
from loss import make_loss
from model import make_model
from processor import processor
from solver import make_optimizer
from solver.scheduler_factory import create_scheduler

torch.manual_seed(0)
cfg = Options(
    MODEL=Options(
        LAST_STRIDE=1, PRETRAIN_PATH="", NAME="transformer", PRETRAIN_CHOICE="none", COS_LAYER=False, NECK="bnneck", SIE_CAMERA=True,
        SIE_VIEW=False, TRANSFORMER_TYPE="deit_small_patch16_224_TransReID", SIE_COE=3.0, STRIDE_SIZE=[16, 16], DROP_PATH=0.1, DROP_OUT=0.0,
        ATT_DROP_RATE=0.0, ID_LOSS_TYPE="softmax", ID_LOSS_WEIGHT=1.0, TRIPLET_LOSS_WEIGHT=1.0, METRIC_LOSS_TYPE="triplet", NO_MARGIN=True,
        IF_LABELSMOOTH="on", JPM=False, DIST_TRAIN=False,
    ),
    INPUT=Options(SIZE_TRAIN=[64, 32]), TEST=Options(NECK_FEAT="before", FEAT_NORM="yes"), DATALOADER=Options(SAMPLER="softmax_triplet"),
    SOLVER=Options(
        OPTIMIZER_NAME="SGD", BASE_LR=0.008, BIAS_LR_FACTOR=2, WEIGHT_DECAY=1e-4, WEIGHT_DECAY_BIAS=1e-4, LARGE_FC_LR=False, MOMENTUM=0.9,
        CENTER_LR=0.5, CENTER_LOSS_WEIGHT=0.0005, LOG_PERIOD=1, CHECKPOINT_PERIOD=10, EVAL_PERIOD=1, MAX_EPOCHS=1, MARGIN=0.3, WARMUP_EPOCHS=1,
    ),
    OUTPUT_DIR=".",
)
people, cameras = torch.arange(24) // 2 % 4, torch.arange(24) % 2
training = torch.utils.data.TensorDataset(torch.rand(24, 3, 64, 32), people, cameras, torch.zeros(24, dtype=torch.long))
train_loader = torch.utils.data.DataLoader(training, batch_size=4)
found = (torch.rand(24, 3, 64, 32), people.tolist(), cameras.tolist(), cameras, torch.zeros(24, dtype=torch.long), [""] * 24)
model = make_model(cfg, num_class=4, camera_num=2, view_num=1)
loss_func, center_criterion = make_loss(cfg, num_classes=4)
optimizer, optimizer_center = make_optimizer(cfg, model, center_criterion)
scheduler = create_scheduler(cfg, optimizer)
processor.do_train(
    cfg, model, center_criterion, train_loader, [found], optimizer, optimizer_center, scheduler, loss_func, 2, 0,
)
