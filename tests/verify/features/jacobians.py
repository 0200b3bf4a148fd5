import torch
from torch import nn
from torch.func import hessian, jacfwd, jacrev

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).to(device)
x = torch.randn(3, device=device)
print("jacobian", round(jacrev(model)(x).norm().item(), 5), round(jacfwd(model)(x).norm().item(), 5))
print("hessian", round(hessian(lambda x: model(x).pow(2).sum())(x).norm().item(), 5))
