import random

import numpy as np
import torch


def set_random_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def set_gpu(gpu):
    """Device of the given number, the CPU where there is none."""
    if gpu is not None and torch.cuda.is_available():
        return torch.device("cuda:{}".format(gpu)), False
    return torch.device("cpu"), False
