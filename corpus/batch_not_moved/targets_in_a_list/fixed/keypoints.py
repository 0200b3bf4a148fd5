"""Find key points: the pictures of a batch are moved, their annotations are not."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Hands(Dataset):
    def __init__(self, count):
        drawn = torch.Generator().manual_seed(3)
        self.hands = []
        for number in range(count):
            annotation = {
                "points": torch.rand(5, 2, generator=drawn),
                "visible": torch.randint(0, 2, (5,), generator=drawn).float(),
                "file": f"hand_{number:03d}.png",
            }
            self.hands.append((torch.rand(1, 12, 12, generator=drawn), annotation))

    def __len__(self):
        return len(self.hands)

    def __getitem__(self, index):
        return self.hands[index]


def as_lists(samples):
    pictures, annotations = zip(*samples)
    return list(pictures), list(annotations)


class Finder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 6, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.LazyLinear(15))

    def forward(self, pictures, annotations):
        out = self.body(torch.stack(pictures)).view(len(pictures), 5, 3)
        losses = {"where": 0.0, "seen": 0.0}
        for one, annotation in zip(out, annotations):
            losses["where"] = losses["where"] + (one[:, :2] - annotation["points"]).abs().mean()
            losses["seen"] = losses["seen"] + nn.functional.binary_cross_entropy_with_logits(
                one[:, 2], annotation["visible"]
            )
        return losses


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loader = DataLoader(Hands(16), batch_size=4, collate_fn=as_lists)
    finder = Finder()
    finder.body(torch.zeros(1, 1, 12, 12))
    finder.to(device)
    optimizer = torch.optim.Adam(finder.parameters(), lr=1e-3)
    for epoch in range(2):
        for pictures, annotations in loader:
            pictures = [picture.to(device) for picture in pictures]
            annotations = [{k: v.to(device) if isinstance(v, torch.Tensor) else v for k, v in annotation.items()} for annotation in annotations]
            losses = finder(pictures, annotations)
            loss = losses["where"] + 0.5 * losses["seen"]
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(epoch, loss.item())


if __name__ == "__main__":
    main()
