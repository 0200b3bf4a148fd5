import torch
import torch.nn as nn
import torch.nn.functional as F

from optim import WarmupOpt


class CopyModel(nn.Module):
    def __init__(self, vocab=12, dim=16):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.enc = nn.TransformerEncoderLayer(dim, nhead=2, dim_feedforward=32, dropout=0.0, batch_first=True)
        self.gen = nn.Linear(dim, vocab)

    def forward(self, x):
        return F.log_softmax(self.gen(self.enc(self.emb(x))), dim=-1)


def data_gen(vocab, batch, nbatches):
    for _ in range(nbatches):
        data = torch.randint(1, vocab, (batch, 6))
        yield data, data.flip(1)


def run_epoch(data_iter, model, opt, device):
    total = 0.0
    for i, (src, tgt) in enumerate(data_iter):
        src, tgt = src.to(device), tgt.to(device)
        out = model(src)
        loss = F.nll_loss(out.reshape(-1, out.size(-1)), tgt.reshape(-1))
        loss.backward()
        opt.step()
        opt.zero_grad()
        total += loss.item()
        print("batch %d loss %.5f rate %.5f" % (i, loss.item(), opt.rate))
    return total


def main():
    torch.manual_seed(0)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    model = CopyModel()
    model.to(device)
    opt = WarmupOpt(model.parameters(), factor=0.5, warmup=3)
    for epoch in range(2):
        print("epoch", epoch, "total", round(run_epoch(data_gen(12, 8, 3), model, opt, device), 5))


if __name__ == "__main__":
    main()
