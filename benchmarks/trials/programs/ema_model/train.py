import logging
import sys

import torch
import torch.nn as nn

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s", stream=sys.stdout)
log = logging.getLogger("ema")


class EMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}
        self.backup = {}

    @torch.no_grad()
    def update(self, model):
        for name, p in model.named_parameters():
            self.shadow[name].mul_(self.decay).add_(p.detach(), alpha=1 - self.decay)

    def apply_to(self, model):
        for name, p in model.named_parameters():
            self.backup[name] = p.data
            p.data = self.shadow[name].clone()

    def restore(self, model):
        for name, p in model.named_parameters():
            p.data = self.backup[name]


def main():
    torch.manual_seed(5)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 2))
    ema = EMA(model, decay=0.9)
    model.to(device)
    x = torch.randn(60, 4, device=device)
    y = (x.prod(1) > 0).long()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9, nesterov=True)
    for step in range(10):
        rows = torch.arange(step * 6, step * 6 + 6, device=device)
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        ema.update(model)
        if step % 5 == 4:
            log.info("step %d loss %.5f", step + 1, loss.item())
    ema.apply_to(model)
    model.eval()
    with torch.inference_mode():
        accuracy = (model(x).argmax(1) == y).float().mean().item()
    log.info("ema accuracy %.4f", accuracy)
    torch.save({"ema": ema.shadow, "decay": ema.decay}, "ema.pt")
    ema.restore(model)
    torch.save(model.state_dict(), "model.pt")


main()
