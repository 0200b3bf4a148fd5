import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

WORDS = ["red", "green", "blue"]


class Captions(Dataset):
    def __len__(self):
        return 18

    def __getitem__(self, i):
        image = torch.zeros(3, 4, 4)
        image[i % 3] = 1.0
        return image, "a %s square" % WORDS[i % 3], "img_%02d.jpg" % i


class Captioner(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = nn.Linear(48, 8)
        self.words = nn.Embedding(len(WORDS), 8)

    def tokenize(self, captions):
        return torch.tensor([WORDS.index(c.split()[1]) for c in captions])

    def forward(self, image, captions):
        ids = self.tokenize(captions).to(image.device)
        scores = self.image(image.flatten(1)) @ self.words.weight.t()
        return nn.functional.cross_entropy(scores, ids)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Captioner().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for image, caption, name in DataLoader(Captions(), batch_size=6, shuffle=True):
    image = image.to(device)
    loss = model(image, caption)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(name[0], caption[0], loss.item())
