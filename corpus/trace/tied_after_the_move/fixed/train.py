import operator

import torch
from torch import nn

import pretrained


class AutoEncoder(nn.Module):
    def __init__(self, words, dim):
        super().__init__()
        self.embed = nn.Embedding(words, dim)
        self.mix = nn.Linear(dim, dim)
        self.decode = nn.Linear(dim, words, bias=False)

    def forward(self, ids):
        return self.decode(self.mix(self.embed(ids)))


class Ties:
    """Pairs of dotted names that share one parameter, and where it comes from."""

    def __init__(self, **pairs):
        self.pairs = pairs

    def apply(self, module, source):
        shared = nn.Parameter(torch.from_numpy(source))
        for owner, name in self.pairs.items():
            operator.attrgetter(owner)(module).register_parameter(name, shared)


def main():
    torch.manual_seed(14)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = AutoEncoder(12, 6).to(device)
    Ties(decode="weight").apply(net, pretrained.table(12, 6))
    net.to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    for step in range(4):
        ids = torch.randint(12, (16,)).to(device)
        loss = nn.functional.cross_entropy(net(ids), ids)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, f"{loss.item():.6f}")


main()
