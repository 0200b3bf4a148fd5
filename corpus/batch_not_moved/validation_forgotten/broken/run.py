import torch
from torch.utils.data import DataLoader, random_split

from data import HousePrices
from trainer import Trainer


def main():
    torch.manual_seed(2024)
    dataset = HousePrices(n=96)
    train_set, val_set = random_split(dataset, [64, 32], generator=torch.Generator().manual_seed(5))
    trainer = Trainer(
        train_loader=DataLoader(train_set, batch_size=16, shuffle=True),
        val_loader=DataLoader(val_set, batch_size=16),
        n_features=dataset.n_features,
    )
    trainer.fit(max_epochs=2)


if __name__ == "__main__":
    main()
