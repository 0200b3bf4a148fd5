import copy

import torch
import torch.nn.functional as F
from torch import nn


def make_net(width):
    return nn.Sequential(nn.Linear(10, width), nn.ReLU(), nn.Linear(width, 5))


def kd_loss(student_logits, teacher_logits, T=4.0):
    p = F.log_softmax(student_logits / T, dim=1)
    q = F.softmax(teacher_logits / T, dim=1)
    return F.kl_div(p, q, reduction="batchmean") * T * T


def main():
    torch.manual_seed(11)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    pretrained = copy.deepcopy(make_net(64).state_dict())

    student = make_net(8)
    teacher = make_net(64)
    teacher.load_state_dict(pretrained)
    teacher.eval()
    for param in teacher.parameters():
        param.requires_grad_(False)

    student = student.to(device)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9)
    data = torch.randn(60, 10)
    labels = torch.randint(0, 5, (60,))
    for step in range(6):
        x = data[step * 10 : (step + 1) * 10].to(device)
        y = labels[step * 10 : (step + 1) * 10].to(device)
        logits = student(x)
        with torch.no_grad():
            soft = teacher(x)
        loss = F.cross_entropy(logits, y) + 0.5 * kd_loss(logits, soft)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: {loss.item():.5f}")


if __name__ == "__main__":
    main()
