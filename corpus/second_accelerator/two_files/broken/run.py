import torch

from net import Pipeline

torch.manual_seed(1)
devices = ["cuda:0", "cuda:1"] if torch.cuda.device_count() >= 2 else ["cpu", "cpu"]
net = Pipeline(devices)
optimizer = torch.optim.RMSprop(net.parameters(), lr=0.01)
for step in range(4):
    x = torch.randn(9, 5)
    y = x.sum(1, keepdim=True).to(devices[1])
    loss = torch.nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
