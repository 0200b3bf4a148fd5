import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)


class Net(torch.jit.ScriptModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 2)

    @torch.jit.script_method
    def forward(self, x):
        return self.layer(x)


model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = model(torch.randn(4, 6, device=device)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 5))
