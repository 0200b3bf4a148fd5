# A physics-informed network for u'' = -u, from a notebook
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(123)
np.random.seed(123)
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
print("Using", device.type[:0] + "one device")


class PINN(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )

    def forward(self, t):
        return self.net(t)


pinn = PINN().to(device)
optimiser = torch.optim.Adam(pinn.parameters(), lr=1e-2)

# measurements
t_data = np.linspace(0, 1, 10)[:, None]
u_data = torch.from_numpy(np.cos(t_data)).float().to(device)
t_data = torch.from_numpy(t_data).float().to(device)

# boundary and collocation points
t_boundary = torch.tensor(0.0, device=device).view(-1, 1).requires_grad_(True)
t_physics = torch.rand(12, 1).to(device).requires_grad_()

for i in range(4):
    optimiser.zero_grad()
    loss_data = torch.mean((pinn(t_data) - u_data) ** 2)

    u0 = pinn(t_boundary)
    du0 = torch.autograd.grad(u0, t_boundary, torch.ones_like(u0), create_graph=True)[0]
    loss_boundary = (torch.squeeze(u0) - 1) ** 2 + torch.squeeze(du0) ** 2

    u = pinn(t_physics)
    du = torch.autograd.grad(u, t_physics, torch.ones_like(u), create_graph=True)[0]
    ddu = torch.autograd.grad(du, t_physics, torch.ones_like(du), create_graph=True)[0]
    loss_physics = torch.mean((ddu + u) ** 2)

    loss = loss_data + 1e-1 * loss_boundary + 1e-2 * loss_physics
    loss.backward()
    optimiser.step()
    print(i, loss.item())
