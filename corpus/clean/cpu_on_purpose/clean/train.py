import torch
import torch.nn.functional as F
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(9)
model = nn.Linear(5, 3).to(device)
baseline = nn.Linear(5, 3).to("cpu")
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
history, references = [], []
for step in range(4):
    x = torch.randn(6, 5)
    y = torch.randint(0, 3, (6,))
    logits = model(x.to(device))
    loss = F.cross_entropy(logits, y.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(logits.detach().to("cpu"))
    with torch.no_grad():
        references.append(baseline(x))
    predicted = logits.argmax(1).cpu()
    print(step, loss.item(), (predicted == y).float().mean().item())
print((torch.cat(history) - torch.cat(references)).abs().mean().item())
