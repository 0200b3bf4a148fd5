import torch
import torch.nn.functional as F

from common import WEIGHTS, build, data

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = build().to(device)
x, y = (t.to(device) for t in data(seed=1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for step in range(8):
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
torch.save(model.state_dict(), WEIGHTS)
