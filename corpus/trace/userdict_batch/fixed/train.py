import torch
from torch import nn

from batch import Batch
from metric import Running


def main():
    torch.manual_seed(50)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 4)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    running = Running(total=(2,))
    for step in range(5):
        batch = Batch.sample(10).to(device)
        centres, sizes = (part.to(device) for part in batch["boxes"])
        where, size = model(batch["image"]).chunk(2, dim=1)
        loss = nn.functional.l1_loss(size, sizes)
        loss = loss + nn.functional.l1_loss(where, centres)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running.update((where - batch["image"][:, :2]).abs().mean(dim=0))
        print(step, loss.item(), batch["source"])
    print(running.compute(5))


if __name__ == "__main__":
    main()
