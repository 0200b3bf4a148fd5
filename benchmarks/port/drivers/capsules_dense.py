import torch
from capsulenet import CapsuleNet, caps_loss

torch.manual_seed(0)
model = CapsuleNet([1, 28, 28], 10, 2).cuda()
optimizer = torch.optim.Adam(model.parameters())
for step in range(3):
    images = torch.rand(2, 1, 28, 28).cuda()
    targets = torch.eye(10)[[step, step + 1]].cuda()
    predicted, reconstructed = model(images, targets)
    loss = caps_loss(targets, predicted, images, reconstructed, 0.4)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
with torch.no_grad():
    predicted, reconstructed = model(images)
print(predicted.sum().item())
