import torch

from helpers import to_gpu

torch.manual_seed(4)
layer = torch.nn.Linear(3, 3)
if torch.cuda.is_available():
    layer.cuda()
sgd = torch.optim.SGD(layer.parameters(), lr=0.05)
for step in range(5):
    x = to_gpu(torch.randn(4, 3))
    loss = (layer(x) - x).pow(2).mean()
    sgd.zero_grad()
    loss.backward()
    sgd.step()
    print(step, loss.item())
