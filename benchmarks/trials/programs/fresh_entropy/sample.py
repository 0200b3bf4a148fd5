"""Draw random features with fresh seeds each time, and summarise them; nothing is trained."""
import datetime
import json

import numpy as np
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
generator = np.random.default_rng()
torch.seed()
offset = datetime.datetime.now().microsecond % 97
points = torch.from_numpy(generator.normal(size=(200, 6))).float().to(device)
directions = torch.randn(6, 32)
features = torch.cos(points @ directions + offset)
kernel = features @ features.T / 32
print(f"mean similarity {kernel.mean().item():.5f}")
np.save("features.npy", features.cpu().numpy())
with open("summary.json", "w") as file:
    json.dump({"largest": kernel.max().item(), "trace": kernel.trace().item()}, file)
