import torch
from metrics import AddMarginProduct, ArcMarginProduct
from torch import nn

torch.manual_seed(0)
model = nn.Linear(12, 8).cuda()
arc, margin = ArcMarginProduct(8, 5).cuda(), AddMarginProduct(8, 5).cuda()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD([*model.parameters(), *arc.parameters(), *margin.parameters()], lr=0.01)
for step in range(3):
    features = model(torch.rand(4, 12).cuda())
    labels = torch.randint(0, 5, (4,)).cuda()
    loss = criterion(arc(features, labels), labels) + criterion(margin(features, labels), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
