import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Reviews(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        return {"tokens": torch.randint(0, 9, (5,), generator=generator), "label": index % 2, "text": f"review {index}"}


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(9, 2)

    def forward(self, tokens):
        return self.bag(tokens)


def main():
    torch.manual_seed(3)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Bag().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for batch in DataLoader(Reviews(), batch_size=4):
        for key, value in batch.items():
            if isinstance(value, torch.Tensor):
                value = value.to(device)
        loss = nn.functional.cross_entropy(model(batch["tokens"]), batch["label"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("loss", loss.item(), batch["text"][0])


if __name__ == "__main__":
    main()
