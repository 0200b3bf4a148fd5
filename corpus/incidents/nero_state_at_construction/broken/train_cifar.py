import torch
import torch.nn as nn
import torch.nn.functional as F

from nero import NeuronNorm


class SimpleNet(nn.Module):
    def __init__(self, depth, width):
        super(SimpleNet, self).__init__()
        self.initial = nn.Linear(48, width, bias=False)
        self.layers = nn.ModuleList([nn.Linear(width, width, bias=False) for _ in range(depth - 2)])
        self.final = nn.Linear(width, 10, bias=False)

    def forward(self, x):
        x = x.flatten(1)
        x = F.relu(self.initial(x))
        for layer in self.layers:
            x = F.relu(layer(x))
        return self.final(x)


def main():
    torch.manual_seed(1)
    net = SimpleNet(4, 24)
    optim = NeuronNorm(net.parameters(), lr=0.01)
    lr_lambda = lambda x: 0.9 ** x
    lr_scheduler = torch.optim.lr_scheduler.LambdaLR(optim, lr_lambda)
    use_cuda = torch.cuda.is_available()
    if use_cuda:
        net = net.cuda()
    net.train()
    for epoch in range(2):
        for _ in range(2):
            data, target = torch.randn(8, 3, 4, 4), torch.randint(10, (8,))
            if use_cuda:
                data, target = data.cuda(), target.cuda()
            loss = F.cross_entropy(net(data), target)
            net.zero_grad()
            loss.backward()
            optim.step()
            print(epoch, loss.item())
        lr_scheduler.step()


if __name__ == '__main__':
    main()
