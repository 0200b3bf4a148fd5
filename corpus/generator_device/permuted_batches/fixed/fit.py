# Mini-batches by hand: a permutation for each epoch, with a generator of its own
import torch
from torch import nn

SEED = 9
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
torch.manual_seed(SEED)
X = torch.rand(24, 3)
Y = X.sum(dim=1, keepdim=True)
rng = torch.Generator()
rng.manual_seed(SEED)


def epochs(n, batch_size):
    for _ in range(n):
        order = torch.randperm(len(X), generator=rng)
        for start in range(0, len(X), batch_size):
            rows = order[start:start + batch_size]
            yield X[rows], Y[rows]


net = nn.Linear(3, 1).to(device)
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
for i, (x, y) in enumerate(epochs(2, 8)):
    loss = (net(x.to(device)) - y.to(device)).pow(2).mean()
    sgd.zero_grad()
    loss.backward()
    sgd.step()
    print(i, float(loss))
