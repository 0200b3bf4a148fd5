import torch


def make_batches(cfg, batch=8, points=10):
    g = torch.Generator().manual_seed(cfg.SEED)
    for _ in range(cfg.MAX_ITER):
        label = torch.randint(0, cfg.NUM_CLASSES, (batch,), generator=g)
        yield torch.randn(batch, points, 3, generator=g) * (1 + label[:, None, None]), label
