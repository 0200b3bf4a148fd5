import torch
import torch.nn.functional as F
from torch import nn

from bank import Bank


class Filtered(nn.Module):
    def __init__(self, bank, keys):
        super().__init__()
        self.mix = nn.Linear(len(keys), 1)
        self.ask = lambda: [bank[key] for key in keys]

    def forward(self, x):
        parts = []
        for fir in self.ask():
            parts.append(F.conv1d(x, fir.to(x.device)[None, None], padding=2))
        return self.mix(torch.cat(parts, dim=1).transpose(1, 2)).squeeze(-1)


def main(seed=19):
    torch.manual_seed(seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    keys = ["@".join((name, str(band))) for name in ("low", "smooth", "flat") for band in range(2)]
    model = Filtered(Bank(), keys).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for step in range(5):
        x = torch.randn(4, 1, 20).to(device)
        loss = F.mse_loss(model(x), x.squeeze(1).roll(1, -1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


main()
