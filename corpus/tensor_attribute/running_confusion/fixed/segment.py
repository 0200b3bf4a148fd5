import torch
from torch import nn

from metrics import Confusion

torch.manual_seed(8)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Conv2d(1, 3, 3, padding=1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
images = torch.randn(8, 1, 5, 5)
masks = torch.randint(0, 3, (8, 5, 5))

for epoch in range(2):
    confusion = Confusion(3)
    for image, mask in zip(images.split(4), masks.split(4)):
        image, mask = image.to(device), mask.to(device)
        logits = model(image)
        loss = nn.functional.cross_entropy(logits, mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        confusion.update(logits.argmax(1), mask)
    print(f"epoch {epoch} loss {loss.item():.5f} accuracy {confusion.accuracy():.3f}")
