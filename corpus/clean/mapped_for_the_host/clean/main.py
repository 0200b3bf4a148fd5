import sys

import torch
from torch import nn

torch.manual_seed(13)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(5, 2)
table = torch.randn(30, 5)

if "--save" in sys.argv:
    torch.save({"model": model.state_dict(), "scale": 0.5, "rows": table, "step": 3}, "state.pt")
    sys.exit()

saved = torch.load("state.pt", map_location=lambda storage, loc: storage)
model.load_state_dict(saved["model"])
model.to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
rows = saved["rows"]
for step in range(saved["step"]):
    x = rows[torch.randint(0, 30, (6,))].to(device)
    loss = (model(x) * saved["scale"]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
