import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

PAD = 0


class Bracketed(Dataset):
    """Sequences of symbols; the label of a symbol is whether an even one came before it."""

    def __init__(self, n):
        g = torch.Generator().manual_seed(100)
        self.rows = []
        for _ in range(n):
            length = int(torch.randint(3, 9, (1,), generator=g))
            self.rows.append(torch.randint(1, 12, (length,), generator=g))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        seq = self.rows[i]
        label = torch.cat([torch.zeros(1, dtype=torch.long), (seq[:-1] % 2 == 0).long()])
        return seq, label


def pad_collate(batch):
    batch = sorted(batch, key=lambda item: len(item[0]), reverse=True)
    lengths = torch.tensor([len(seq) for seq, _ in batch])
    seqs = pad_sequence([seq for seq, _ in batch], batch_first=True, padding_value=PAD)
    labels = pad_sequence([label for _, label in batch], batch_first=True, padding_value=-100)
    return seqs, lengths, labels


class LSTMTagger(nn.Module):
    def __init__(self, vocab=12, emb=8, hidden=10):
        super().__init__()
        self.emb = nn.Embedding(vocab, emb, padding_idx=PAD)
        self.lstm = nn.LSTM(emb, hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden, 2)

    def forward(self, seqs, lengths):
        packed = pack_padded_sequence(self.emb(seqs), lengths, batch_first=True)
        hidden, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.out(hidden)


def main():
    torch.manual_seed(8)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loader = DataLoader(Bracketed(24), batch_size=8, shuffle=True, collate_fn=pad_collate)
    model = LSTMTagger().to(device)
    criterion = nn.CrossEntropyLoss(ignore_index=-100)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    for epoch in range(2):
        n_tokens = 0
        for seqs, lengths, labels in loader:
            seqs = seqs.to(device)
            logits = model(seqs, lengths)
            loss = criterion(logits.reshape(-1, 2), labels.reshape(-1))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5)
            optimizer.step()
            n_tokens += lengths.sum().item()
            print("epoch %d, %d tokens, loss %.5f" % (epoch, n_tokens, loss.item()))


if __name__ == "__main__":
    main()
