import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(5, 9)
        self.head = nn.Identity()

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


torch.manual_seed(31)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = Net().to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
net.head = nn.Linear(9, 4)
net.head.to(device)
optimizer.add_param_group({"params": net.head.parameters(), "lr": 0.5})
for step in range(5):
    x = torch.randn(12, 5)
    loss = nn.functional.cross_entropy(net(x.to(device)), x[:, :4].argmax(1).to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
