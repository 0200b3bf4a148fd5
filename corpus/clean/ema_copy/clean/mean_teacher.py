from copy import deepcopy

import torch
import torch.nn as nn
import torch.nn.functional as F


class MeanTeacher:
    def __init__(self, student, decay=0.95):
        self.module = deepcopy(student).eval()
        self.decay = decay
        for p in self.module.parameters():
            p.requires_grad_(False)

    def __call__(self, x):
        return self.module(x)

    @torch.no_grad()
    def update(self, student):
        for t, s in zip(self.module.state_dict().values(), student.state_dict().values()):
            t.copy_(t * self.decay + s * (1 - self.decay))


torch.manual_seed(17)
device = "cuda" if torch.cuda.is_available() else "cpu"
student = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 3)).to(device)
teacher = MeanTeacher(student)
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
for it in range(5):
    x = torch.randn(15, 4)
    noisy = (x + 0.1 * torch.randn(15, 4)).to(device)
    y = x[:, :3].argmax(1).to(device)
    out = student(noisy)
    loss = F.cross_entropy(out, y) + F.mse_loss(out.softmax(1), teacher(x.to(device)).softmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    teacher.update(student)
    print(it, loss.item())
