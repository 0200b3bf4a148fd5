import itertools

import torch


class Ensemble(torch.nn.Module):
    def __init__(self, members):
        super().__init__()
        self.shared = torch.nn.Linear(4, 4)
        self.members: list = torch.nn.ModuleList()
        for _ in range(members):
            self.members.append(torch.nn.Linear(4, 1))

    def forward(self, x):
        x = torch.relu(self.shared(x))
        return torch.stack([member(x) for member in self.members]).mean(0)


def run(device):
    model = Ensemble(3)
    model.to(device)
    parameters = itertools.chain(model.shared.parameters(), *(m.parameters() for m in model.members))
    optimizer = torch.optim.SGD(parameters, lr=0.05)
    for step in range(3):
        x = torch.randn(8, 4).to(device)
        loss = (model(x) - x.mean(1, keepdim=True)).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


torch.manual_seed(21)
run(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
