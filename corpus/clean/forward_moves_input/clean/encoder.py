import torch
from torch import nn
from torch.utils.data import DataLoader


class SentenceEncoder(nn.Module):
    def __init__(self, vocab=26, dim=12):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.proj = nn.Linear(dim, dim)

    @property
    def device(self):
        return next(self.parameters()).device

    def forward(self, ids):
        return self.proj(self.emb(ids.to(self.device)).mean(dim=1))

    def similarity_loss(self, left, right, score):
        sim = torch.cosine_similarity(self(left), self(right))
        return (sim - score.to(sim.device)).pow(2).mean()


def main():
    torch.manual_seed(3)
    pairs = [(torch.randint(0, 26, (5,)), torch.randint(0, 26, (5,)), float(i % 2)) for i in range(20)]
    loader = DataLoader(pairs, batch_size=5, shuffle=True)
    model = SentenceEncoder()
    if torch.cuda.is_available():
        model = model.to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for left, right, score in loader:
        loss = model.similarity_loss(left, right, score)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())


main()
