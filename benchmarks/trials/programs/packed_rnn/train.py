import csv

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Tagger(nn.Module):
    def __init__(self, vocab=15, tags=4, dim=8, hidden=10):
        super().__init__()
        self.hidden = hidden
        self.embed = nn.Embedding(vocab, dim, padding_idx=0)
        self.lstm = nn.LSTM(dim, hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden, tags)

    def init_hidden(self, batch):
        return torch.zeros(2, batch, self.hidden), torch.zeros(2, batch, self.hidden)

    def forward(self, tokens, lengths):
        packed = pack_padded_sequence(self.embed(tokens), lengths, batch_first=True, enforce_sorted=False)
        hidden, _ = self.lstm(packed, self.init_hidden(tokens.size(0)))
        padded, _ = pad_packed_sequence(hidden, batch_first=True)
        return self.out(padded)


def collate(items):
    lengths = torch.tensor([len(item) for item in items])
    tokens = pad_sequence(items, batch_first=True)
    tags = torch.where(tokens > 0, tokens % 4, -100)
    return tokens, lengths, tags


def make_sentences(n, seed):
    g = torch.Generator().manual_seed(seed)
    sizes = torch.randint(2, 7, (n,), generator=g).tolist()
    return [torch.randint(1, 15, (size,), generator=g) for size in sizes]


def evaluate(model, loader, criterion):
    model.eval()
    loss, right, count = 0.0, 0, 0
    with torch.no_grad():
        for tokens, lengths, tags in loader:
            tokens, tags = tokens.to(DEVICE), tags.to(DEVICE)
            logits = model(tokens, lengths)
            loss += criterion(logits.transpose(1, 2), tags).item()
            mask = tags != -100
            right += (logits.argmax(-1)[mask] == tags[mask]).sum().item()
            count += mask.sum().item()
    return loss / len(loader), right / count


def main():
    torch.manual_seed(21)
    train = torch.utils.data.DataLoader(make_sentences(32, 0), 8, shuffle=True, collate_fn=collate)
    valid = torch.utils.data.DataLoader(make_sentences(16, 1), 8, collate_fn=collate)
    model = Tagger().to(DEVICE)
    criterion = nn.CrossEntropyLoss(ignore_index=-100)
    optimizer = torch.optim.Adam(model.parameters(), 0.02)
    with open("log.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["epoch", "train", "valid", "accuracy"])
        for epoch in range(2):
            model.train()
            total = 0.0
            for tokens, lengths, tags in train:
                tokens, tags = tokens.to(DEVICE), tags.to(DEVICE)
                loss = criterion(model(tokens, lengths.to(DEVICE)).transpose(1, 2), tags)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += loss.item()
            valid_loss, accuracy = evaluate(model, valid, criterion)
            writer.writerow([epoch, total / len(train), valid_loss, accuracy])


if __name__ == "__main__":
    main()
