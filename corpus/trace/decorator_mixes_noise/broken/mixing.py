import functools

import numpy as np
import torch


def mixup(alpha, seed):
    rng = np.random.default_rng(seed)

    def decorate(step):
        @functools.wraps(step)
        def wrapped(self, *batch, **kwargs):
            lam = rng.beta(alpha, alpha, size=(len(batch[0]), 1)).astype("float32")
            lam = torch.as_tensor(lam)
            mixed = [lam * part + (1 - lam) * part.flip(0) for part in batch]
            return step(self, *mixed, **kwargs)

        return wrapped

    return decorate
