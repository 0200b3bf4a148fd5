import torch
from torch import nn
from torch.utils.data import DataLoader

from accel import Accelerator


def main():
    torch.manual_seed(7)
    accelerator = Accelerator()
    rows = [{"x": torch.randn(5), "y": float(i % 2), "name": str(i)} for i in range(24)]
    model = nn.Linear(5, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    loader = DataLoader(rows, batch_size=6, shuffle=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for batch in loader:
        logits = model(batch["x"]).squeeze(1)
        loss = nn.functional.binary_cross_entropy_with_logits(logits, batch["y"].float())
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        print(batch["name"][0], loss.item())


if __name__ == "__main__":
    main()
