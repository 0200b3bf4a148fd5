import torch
from torch import nn, optim


class StackedRNN(nn.Module):
    def __init__(self, inputs, hidden, layers):
        super().__init__()
        self.hidden = hidden
        self._build(inputs, layers)
        self.readout = nn.Linear(hidden, 1)

    def _build(self, inputs, layers):
        cells = []
        size = inputs
        for index in range(layers):
            cells.append(nn.Linear(size + self.hidden, self.hidden))
            size = self.hidden
        self.cells = nn.ModuleList(cells)

    def forward(self, sequence):
        states = [sequence.new_zeros(sequence.size(0), self.hidden) for _ in range(len(self.cells))]
        for step in sequence.unbind(1):
            for i in range(len(self.cells)):
                states[i] = torch.tanh(self.cells[i](torch.cat([step, states[i]], dim=1)))
                step = states[i]
        return self.readout(states[-1])


torch.manual_seed(12)
dev = "cuda:0" if torch.cuda.is_available() else "cpu"
net = StackedRNN(2, 5, 2).to(dev)
opt = optim.RMSprop(net.parameters(), lr=0.01)
for it in range(4):
    batch = torch.randn(6, 4, 2)
    target = batch.sum(dim=(1, 2)).unsqueeze(1).to(dev)
    out = net(batch.to(dev))
    loss = (out - target).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"{it}: {loss.item():.5f}")
