import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class MeanTeacher:
    def __init__(self, student, device, decay=0.9):
        self.device = device
        self.student = student
        self.teacher = copy.deepcopy(student).to(device)
        self.decay = decay

    @torch.no_grad()
    def update(self):
        self.teacher.cpu()
        for ours, theirs in zip(self.teacher.parameters(), self.student.parameters()):
            ours.data.mul_(self.decay).add_(theirs.data.cpu(), alpha=1 - self.decay)

    @torch.no_grad()
    def targets(self, x):
        return self.teacher(x).softmax(dim=1)


def main():
    torch.manual_seed(2)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x = torch.randn(24, 5)
    loader = DataLoader(TensorDataset(x, (x[:, 0] > 0).long()), batch_size=8)
    student = nn.Linear(5, 2).to(device)
    mean_teacher = MeanTeacher(student, device)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    for images, labels in loader:
        images = images.to(device)
        logits = student(images)
        loss = F.cross_entropy(logits, labels) + F.mse_loss(logits.softmax(dim=1), mean_teacher.targets(images))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean_teacher.update()
        print(f"loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
