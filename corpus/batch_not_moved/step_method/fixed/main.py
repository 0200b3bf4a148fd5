import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Seq2Seq(nn.Module):
    """Reverses a sequence of digits."""

    def __init__(self, vocab=10, dim=16):
        super().__init__()
        self.src_emb = nn.Embedding(vocab, dim)
        self.tgt_emb = nn.Embedding(vocab + 1, dim)
        self.encoder = nn.GRU(dim, dim, batch_first=True)
        self.decoder = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, src, tgt_in):
        _, state = self.encoder(self.src_emb(src))
        hidden, _ = self.decoder(self.tgt_emb(tgt_in), state)
        return self.out(hidden)


class Learner:
    def __init__(self, model, lr, device):
        self.device = device
        self.model = model.to(self.device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.global_step = 0

    def training_step(self, batch):
        src, tgt_in, tgt_out = batch
        src = src.to(self.device)
        tgt_in = tgt_in.to(self.device)
        tgt_out = tgt_out.to(self.device)
        logits = self.model(src, tgt_in)
        return F.cross_entropy(logits.flatten(0, 1), tgt_out.flatten())

    def run(self, loader, epochs):
        for epoch in range(epochs):
            for batch in loader:
                loss = self.training_step(batch)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.global_step += 1
                print("step %d: %.5f" % (self.global_step, loss.item()))


def reversal_data(n=32, length=5, start=10):
    g = torch.Generator().manual_seed(0)
    src = torch.randint(0, 10, (n, length), generator=g)
    tgt = src.flip(1)
    tgt_in = torch.cat([torch.full((n, 1), start), tgt[:, :-1]], dim=1)
    return TensorDataset(src, tgt_in, tgt)


def main():
    torch.manual_seed(0)
    accel = torch.accelerator.is_available()
    device = torch.accelerator.current_accelerator() if accel else torch.device("cpu")
    Learner(Seq2Seq(), 5e-3, device).run(DataLoader(reversal_data(), batch_size=8, shuffle=True), epochs=2)


main()
