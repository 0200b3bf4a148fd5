import torch
import torch.nn as nn

torch.manual_seed(2)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

features = torch.randn(50, 6).to(device)
labels = (features.sum(1) > 0).long()
train_mask = torch.zeros(50, dtype=torch.bool)
train_mask[:40] = True

model = nn.Linear(6, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
x_train, y_train = features[train_mask], labels[train_mask]
for epoch in range(2):
    order = torch.randperm(len(x_train))
    for idx in order.split(20):
        loss = nn.functional.cross_entropy(model(x_train[idx]), y_train[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(epoch, loss.item())
with torch.no_grad():
    hits = (model(features[~train_mask]).argmax(1) == labels[~train_mask]).float().mean()
print("accuracy", hits.item())
