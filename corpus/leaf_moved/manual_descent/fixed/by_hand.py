import torch

torch.manual_seed(2)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.randn(30, 2).to(device)
y = x @ torch.tensor([[2.0], [-1.0]]).to(device) + 0.5
w = torch.zeros(2, 1, requires_grad=True, device=device)
b = torch.zeros(1, requires_grad=True, device=device)
optimizer = torch.optim.SGD([w, b], lr=0.1)
for epoch in range(5):
    loss = (x @ w + b - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
