import io

import numpy as np
import torch


def archive(model, scale=0.01):
    """Stands for the file of an earlier run."""
    file = io.BytesIO()
    np.savez(file, **{name: np.full(tuple(p.shape), scale, "f4") for name, p in model.named_parameters()})
    file.seek(0)
    return np.load(file)


def restore(optimizer, names, saved, key):
    flat = (p for group in optimizer.param_groups for p in group["params"])
    for name, p in zip(names, flat):
        slot = optimizer.state[p]
        slot[key] = torch.from_numpy(saved[name]).to(p.device)
