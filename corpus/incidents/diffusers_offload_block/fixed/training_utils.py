from contextlib import contextmanager

import torch


@contextmanager
def offload_models(*modules, device, offload=True):
    """Context manager that, if offload=True, moves each module to `device` on enter, then moves it back on exit."""
    if offload:
        original_devices = [next(m.parameters()).device for m in modules]
        for m in modules:
            m.to(device)
    try:
        yield
    finally:
        if offload:
            for m, orig_dev in zip(modules, original_devices):
                m.to(orig_dev)


def get_device():
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("cpu")
