import torch
from torch import nn


class MultiTask(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.heads = nn.ModuleDict({name: nn.Linear(8, classes) for name, classes in tasks.items()})

    def forward(self, x):
        hidden = self.trunk(x)
        return {name: head(hidden) for name, head in self.heads.items()}


class Trainer:
    def __init__(self, model):
        self.use_cuda = torch.cuda.is_available()
        self.model = model
        if self.use_cuda:
            self.model.cuda()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01)

    def step(self, x, targets):
        if self.use_cuda:
            x = x.cuda()
            targets = {name: target.cuda() for name, target in targets.items()}
        logits = self.model(x)
        loss = sum(nn.functional.cross_entropy(logits[name], targets[name]) for name in targets)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


torch.manual_seed(3)
trainer = Trainer(MultiTask({"shape": 3, "colour": 2}))
for step in range(4):
    x = torch.randn(10, 4)
    print(trainer.step(x, {"shape": torch.randint(0, 3, (10,)), "colour": torch.randint(0, 2, (10,))}))
