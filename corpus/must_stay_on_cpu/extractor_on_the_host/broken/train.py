import torch
from torch import nn

torch.manual_seed(9)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
host = torch.device("cpu")

extractor = nn.Conv2d(3, 4, 3).to(host).eval()
head = nn.Sequential(nn.Flatten(), nn.Linear(4 * 36, 8), nn.ReLU(), nn.Linear(8, 2)).to(device)
optimizer = torch.optim.Adam(head.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()

for step in range(4):
    images = torch.randn(6, 3, 8, 8).to(device)
    labels = torch.arange(6, device=device) % 2
    with torch.no_grad():
        features = extractor(images)
    logits = head(features.to(device))
    loss = criterion(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
