import torch
import torch.nn as nn


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU())
        self.drop = nn.Dropout(0.5)
        self.fc = nn.Linear(16, 1000)

    def forward(self, x):
        return self.fc(self.drop(self.layers(x)))


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
backbone = Backbone().to(device)
backbone.fc = nn.Identity()          # features, not logits
backbone.drop = nn.Dropout(p=0.0)
backbone.layers[2] = nn.LeakyReLU(0.1)

probe = nn.Linear(16, 2).to(device)
optimizer = torch.optim.SGD(probe.parameters(), lr=0.1)
for step in range(5):
    x = torch.randn(20, 8)
    y = (x[:, 0] > 0).long()
    with torch.no_grad():
        feats = backbone(x.to(device))
    loss = nn.functional.cross_entropy(probe(feats), y.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
