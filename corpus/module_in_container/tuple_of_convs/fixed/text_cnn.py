import torch
import torch.nn as nn
import torch.nn.functional as F


class TextCNN(nn.Module):
    def __init__(self, vocab=15, dim=6, length=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.convs = nn.ModuleList(
            [
                nn.Conv1d(dim, 4, 2),
                nn.Conv1d(dim, 4, 3),
            ]
        )
        self.register_buffer("weights", torch.linspace(1.0, 0.5, length), persistent=False)
        self.fc = nn.Linear(4 * len(self.convs), 2)

    def forward(self, ids):
        x = self.embed(ids) * self.weights[: ids.size(1), None]
        x = x.transpose(1, 2)
        pooled = [F.relu(conv(x)).max(dim=2)[0] for conv in self.convs]
        return self.fc(torch.cat(pooled, dim=1))


def train():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(7)
    model = TextCNN()
    model = model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for epoch in range(3):
        ids = torch.randint(0, 15, (12, 8))
        labels = (ids.sum(1) > 56).long()
        logits = model(ids.to(device))
        loss = F.cross_entropy(logits, labels.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("epoch", epoch, "loss", loss.item())


if __name__ == "__main__":
    train()
