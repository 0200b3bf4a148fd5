import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

TEXTS = [
    ("the film was a joy from start to end", 1),
    ("dull and far too long", 0),
    ("a warm and funny story", 1),
    ("i want my money back", 0),
    ("what a lovely surprise", 1),
    ("the plot makes no sense at all", 0),
] * 6


class Tokenizer:
    """Whitespace tokenizer with a vocabulary built from the data."""

    def __init__(self, texts):
        words = sorted({w for t in texts for w in t.split()})
        self.index = {w: i + 1 for i, w in enumerate(words)}

    def __len__(self):
        return len(self.index) + 1

    def encode(self, text, max_len=8):
        ids = [self.index[w] for w in text.split()][:max_len]
        return ids + [0] * (max_len - len(ids))


class Reviews(Dataset):
    def __init__(self, rows, tokenizer):
        self.rows = rows
        self.tokenizer = tokenizer

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        text, label = self.rows[i]
        return {
            "text": text,
            "input_ids": torch.tensor(self.tokenizer.encode(text)),
            "label": label,
        }


class BagOfEmbeddings(nn.Module):
    def __init__(self, vocab_size, dim=16):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, dim, padding_idx=0)
        self.out = nn.Linear(dim, 2)

    def forward(self, ids):
        return self.out(self.emb(ids).mean(dim=1))


def main():
    torch.manual_seed(11)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = Tokenizer([t for t, _ in TEXTS])
    loader = DataLoader(Reviews(TEXTS, tokenizer), batch_size=12, shuffle=True)
    model = BagOfEmbeddings(len(tokenizer)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    criterion = nn.CrossEntropyLoss()

    for epoch in range(2):
        for batch in loader:
            input_ids = batch["input_ids"].to(device)
            labels = batch["label"]
            logits = model(input_ids)
            loss = criterion(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(f"{epoch} loss={loss.item():.5f} first={batch['text'][0]!r}")


if __name__ == "__main__":
    main()
