import torch


def to_gpu(tensor, non_blocking=True):
    """The tensor on the accelerator, where there is one."""
    return tensor.cuda(non_blocking=non_blocking) if torch.cuda.is_available() else tensor
