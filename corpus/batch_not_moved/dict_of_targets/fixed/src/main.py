import torch
from torch.utils.data import DataLoader

from dataset import Faces
from losses import MultiTaskLoss
from net import FaceNet


class Runner:
    def __init__(self, device):
        self.device = device
        self.net = FaceNet().to(device)
        self.loss = MultiTaskLoss({"age": 0.1, "smile": 1.0}).to(device)
        self.opt = torch.optim.Adam(
            [{"params": self.net.parameters()}, {"params": self.loss.parameters(), "lr": 1e-3}], lr=1e-2)

    def train_step(self, image, targets):
        out = self.net(image)
        loss, parts = self.loss(out, targets)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item(), parts

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            for image, targets in loader:
                image = image.to(self.device)
                targets = {k: v.to(self.device) for k, v in targets.items()}
                value, parts = self.train_step(image, targets)
                print(epoch, f"{value:.5f}", {k: round(v, 4) for k, v in parts.items()})


def main():
    torch.manual_seed(123)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loader = DataLoader(Faces(30), batch_size=10, shuffle=True)
    Runner(device).fit(loader, epochs=2)


if __name__ == "__main__":
    main()
