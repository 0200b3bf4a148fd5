import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Sentences(Dataset):
    def __init__(self, n=24):
        self.items = [torch.arange(2 + i % 4) + 1 for i in range(n)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return {"ids": self.items[index], "label": index % 2}


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(8, 6, padding_idx=0)
        self.head = nn.Linear(6, 2)

    def forward(self, ids):
        return self.head(self.embed(ids).mean(1))


def main():
    torch.manual_seed(4)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def collate(items):
        ids = nn.utils.rnn.pad_sequence([item["ids"] for item in items], batch_first=True)
        return {
            "ids": ids.to(device),
            "label": torch.tensor([item["label"] for item in items]).to(device),
        }

    loader = DataLoader(Sentences(), batch_size=6, collate_fn=collate, pin_memory=torch.cuda.is_available())
    model = Classifier().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for batch in loader:
        loss = nn.functional.cross_entropy(model(batch["ids"]), batch["label"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())


main()
