import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from trainer import Trainer


def main():
    torch.manual_seed(11)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = nn.Sequential(nn.Linear(6, 10), nn.GELU(), nn.Linear(10, 4)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    dataset = TensorDataset(torch.randn(32, 6), torch.randint(0, 4, (32,)))
    trainer = Trainer(model, optimizer)
    for epoch in range(2):
        print(epoch, trainer.run_epoch(DataLoader(dataset, batch_size=16)))


if __name__ == "__main__":
    main()
