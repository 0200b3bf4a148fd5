import torch

torch.manual_seed(1)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
leaf = torch.randn(4, requires_grad=True)
optimizer = torch.optim.SGD([leaf], lr=0.1)
for step in range(4):
    moved = leaf.to(device)
    loss = (torch.randn(3, 4).to(device) * moved).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), leaf.grad.norm().item())
