import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
model = nn.Linear(6, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    parts = [torch.randn(2, 6, device=device), torch.randn(5, 6, device=device)]
    sequences = torch.nested.nested_tensor(parts, layout=torch.jagged, requires_grad=True)
    loss = model(sequences).values().pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 5))
