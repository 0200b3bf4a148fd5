import torch
import torch.nn.functional as F


def batches(cfg, n=4, batch_size=8):
    gen = torch.Generator().manual_seed(1)
    for _ in range(n):
        x = torch.randn(batch_size, 3, 8, 8, generator=gen)
        y = torch.randint(0, cfg.num_classes, (batch_size,), generator=gen)
        yield x.to(cfg.device), y.to(cfg.device)


def fit(model, optimizer, cfg):
    model.train()
    for epoch in range(cfg.epochs):
        for step, (x, y) in enumerate(batches(cfg)):
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            print(epoch, step, round(loss.item(), 5))
