import os
from argparse import Namespace

import numpy as np
import torch
from core.exec import Execution

torch.manual_seed(0)


class Questions(torch.utils.data.Dataset):
    data_size, token_size, ans_size = 6, 20, 5
    pretrained_emb = np.zeros((20, 12), dtype=np.float32)

    def __len__(self):
        return self.data_size

    def __getitem__(self, index):
        draw = torch.Generator().manual_seed(index)
        image, answer = torch.rand(7, 16, generator=draw), torch.rand(5, generator=draw)
        return image, torch.randint(1, 20, (4,), generator=draw), answer


options = Namespace(
    HIDDEN_SIZE=16, FF_SIZE=32, MULTI_HEAD=2, HIDDEN_SIZE_HEAD=8, DROPOUT_R=0.0, LAYER=1, FLAT_MLP_SIZE=8, FLAT_GLIMPSES=1,
    FLAT_OUT_SIZE=16, WORD_EMBED_SIZE=12, USE_GLOVE=True, IMG_FEAT_SIZE=16, N_GPU=1, DEVICES=[0], RESUME=False, VERSION="0",
    CKPTS_PATH="ckpts/", LOG_PATH="ckpts/", SHUFFLE_MODE="", BATCH_SIZE=2, NUM_WORKERS=0, PIN_MEM=True, MAX_EPOCH=1,
    LR_DECAY_LIST=[], LR_DECAY_R=0.2, GRAD_ACCU_STEPS=2, SUB_BATCH_SIZE=1, VERBOSE=True, SPLIT={"train": "train", "test": "test"},
    GRAD_NORM_CLIP=1.0, LR_BASE=0.0001, OPT_BETAS=(0.9, 0.98), OPT_EPS=1e-9,
)  # fmt: skip
os.makedirs("ckpts", exist_ok=True)
execution = Execution.__new__(Execution)
execution._Execution__C = options
execution.train(Questions())
