import torch
from torch import nn

from convlstm import ConvLSTM

torch.manual_seed(31)
use_cuda = torch.cuda.is_available()


class NextFrame(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = ConvLSTM(1, [4, 3], [(3, 3), (3, 3)], 2, batch_first=True)
        self.out = nn.Conv2d(3, 1, 1)

    def forward(self, clip):
        _, (h, _) = self.rnn(clip)
        return self.out(h)


net = NextFrame()
if use_cuda:
    net.cuda()
optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3)
mse = nn.MSELoss()

for step in range(4):
    clip = torch.rand(2, 4, 1, 6, 6)
    if use_cuda:
        clip = clip.cuda()
    loss = mse(net(clip[:, :-1]), clip[:, -1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
