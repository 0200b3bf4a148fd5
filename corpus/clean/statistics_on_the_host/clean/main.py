import torch
from torch import nn


class Meter:
    def __init__(self, classes):
        self.matrix = torch.zeros(classes, classes)
        self.history = []

    def update(self, logits, target):
        predicted = logits.argmax(1).cpu()
        for p, t in zip(predicted, target.cpu()):
            self.matrix[t, p] += 1
        self.history.append(logits.detach().cpu().mean())


class Replay:
    def __init__(self, size, width):
        self.x = torch.zeros(size, width)
        self.y = torch.zeros(size, dtype=torch.long)
        self.next = 0

    def push(self, x, y):
        n = len(x)
        self.x[self.next : self.next + n] = x
        self.y[self.next : self.next + n] = y
        self.next += n

    def sample(self, n, device):
        picked = torch.randint(0, self.next, (n,))
        return self.x[picked].to(device), self.y[picked].to(device)


torch.manual_seed(6)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(5, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
meter, replay = Meter(3), Replay(40, 5)
for step in range(4):
    replay.push(torch.randn(10, 5), torch.randint(0, 3, (10,)))
    x, y = replay.sample(8, device)
    logits = model(x)
    loss = nn.functional.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    meter.update(logits, y)
    print(step, loss.item(), meter.matrix.trace().item(), sum(meter.history).item())
