import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(10)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class LM(nn.Module):
    def __init__(self, vocab=15):
        super().__init__()
        self.emb = nn.Embedding(vocab, 8)
        self.gru = nn.GRU(8, 12, batch_first=True)
        self.out = nn.Linear(12, vocab)

    def forward(self, tokens, lengths):
        packed = pack_padded_sequence(self.emb(tokens), lengths, batch_first=True, enforce_sorted=False)
        hidden, _ = pad_packed_sequence(self.gru(packed)[0], batch_first=True, total_length=tokens.size(1))
        return self.out(hidden)


tokens = torch.randint(1, 15, (30, 9))
lengths = torch.randint(2, 9, (30,))
tokens[torch.arange(9)[None] > lengths[:, None]] = 0
loader = DataLoader(TensorDataset(tokens, lengths), batch_size=10, shuffle=True)

model = LM().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss(ignore_index=0)
for epoch in range(2):
    for batch, n in loader:
        batch = batch.to(device)
        logits = model(batch[:, :-1], n)
        loss = criterion(logits.reshape(-1, 15), batch[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("loss %.5f over %d tokens" % (loss.item(), int(n.sum())))
