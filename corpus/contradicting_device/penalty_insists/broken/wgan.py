import torch
from torch import autograd, nn


def gradient_penalty(critic, real, fake):
    alpha = torch.rand(real.size(0), 1)
    alpha = alpha.expand_as(real)
    alpha = alpha.cuda()
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    score = critic(mixed)
    gradients = autograd.grad(
        outputs=score,
        inputs=mixed,
        grad_outputs=torch.ones(score.size()).cuda(),
        create_graph=True,
    )[0]
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


torch.manual_seed(4)
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
generator = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2)).to(device)
critic = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)).to(device)
optimizer_g = torch.optim.Adam(generator.parameters(), lr=1e-3)
optimizer_d = torch.optim.Adam(critic.parameters(), lr=1e-3)

for step in range(3):
    real = torch.randn(6, 2).to(device)
    fake = generator(torch.randn(6, 3).to(device))
    loss_d = critic(fake.detach()).mean() - critic(real).mean() + gradient_penalty(critic, real, fake.detach())
    optimizer_d.zero_grad()
    loss_d.backward()
    optimizer_d.step()
    loss_g = -critic(generator(torch.randn(6, 3).to(device))).mean()
    optimizer_g.zero_grad()
    loss_g.backward()
    optimizer_g.step()
    print(step, loss_d.item(), loss_g.item())
