import torch
from torch.nn.functional import mse_loss

from .device import to_device


def run_train(model, loader, opt, device):
    model.train()
    for batch in loader:
        batch = to_device(batch, device)
        loss = mse_loss(model(batch), batch["rating"])
        opt.zero_grad()
        loss.backward()
        opt.step()
        print("  loss", round(loss.item(), 5))


@torch.no_grad()
def run_valid(model, loader, device):
    model.eval()
    losses = []
    for batch in loader:
        batch = to_device(batch, device)
        losses.append(mse_loss(model(batch), batch["rating"]).item())
    return sum(losses) / len(losses)


def fit(model, train_dl, valid_dl, device, epochs):
    model = model.to(device)
    opt = torch.optim.Adam(model.parameters(), lr=0.05)
    for epoch in range(epochs):
        run_train(model, train_dl, opt, device)
        print("epoch", epoch, "valid", round(run_valid(model, valid_dl, device), 5))
