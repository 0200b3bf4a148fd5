import numpy as np
import torch
from torch import nn, optim

USE_CUDA = torch.cuda.is_available()
torch.manual_seed(2)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 16)
        self.policy = nn.Linear(16, 2)
        self.value = nn.Linear(16, 1)

    def forward(self, state):
        hidden = torch.relu(self.body(state))
        return self.policy(hidden), self.value(hidden)


net = ActorCritic()
if USE_CUDA:
    net.cuda()
optimizer = optim.RMSprop(net.parameters(), lr=1e-3)

for episode in range(4):
    states = torch.randn(12, 4)
    if USE_CUDA:
        states = states.cuda()
    logits, values = net(states)
    rewards = np.linspace(0.0, 1.0, 12)
    advantage = rewards - values.detach().squeeze(1).cpu().numpy()
    advantage = torch.from_numpy(advantage).float()
    if USE_CUDA:
        advantage = advantage.cuda()
    log_probability = torch.log_softmax(logits, dim=1)[:, 0]
    loss = -(log_probability * advantage).mean() + values.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("episode", episode, "loss", loss.item())
