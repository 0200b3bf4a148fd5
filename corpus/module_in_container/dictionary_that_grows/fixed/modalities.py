import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

MODALITIES = ["audio", "video"]


class Fusion(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.encoders = nn.ModuleDict()
        for name in MODALITIES:
            self.encoders[name] = nn.Sequential(nn.Linear(3, width), nn.ReLU())
        self.classify = nn.Linear(width, 2)

    def forward(self, audio, video):
        hidden = self.encoders["audio"](audio) + self.encoders["video"](video)
        return self.classify(hidden)


torch.manual_seed(23)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Fusion(6).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
data = TensorDataset(torch.randn(16, 3), torch.randn(16, 3), torch.randint(0, 2, (16,)))
for epoch in range(2):
    for audio, video, label in DataLoader(data, batch_size=8):
        audio, video = audio.to(device), video.to(device)
        label = label.to(device)
        loss = nn.functional.cross_entropy(model(audio, video), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(epoch, loss.item())
