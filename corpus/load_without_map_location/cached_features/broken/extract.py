import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
encoder = nn.Sequential(nn.Linear(20, 16), nn.ReLU()).to(device).eval()
images = torch.randn(50, 20)
with torch.no_grad():
    features = encoder(images.to(device))
torch.save({"features": features, "labels": (images[:, 0] > 0).long().to(device)}, "features.pt")
print("cached", tuple(features.shape))
