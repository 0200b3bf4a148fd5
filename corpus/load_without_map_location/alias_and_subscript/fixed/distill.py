import sys

import torch as th
from torch import nn

CKPT = "teacher.ckpt"


def dev():
    """Get the device to use."""
    if th.cuda.is_available():
        return th.device("cuda")
    return th.device("cpu")


def net(width):
    return nn.Sequential(nn.Linear(3, width), nn.Mish(), nn.Linear(width, 3))


def train_teacher(steps=4):
    model = net(24).to(dev())
    ema = {k: v.clone() for k, v in model.state_dict().items()}
    opt = th.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(steps):
        x = th.randn(16, 3).to(dev())
        loss = (model(x) - x.roll(1, dims=1)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        for k, v in model.state_dict().items():
            ema[k].lerp_(v, 0.5)
        print("teacher", step, loss.item())
    th.save({"raw": model.state_dict(), "ema": ema}, CKPT)


def distill(steps=4):
    teacher = net(24).to(dev())
    teacher.load_state_dict(th.load(CKPT, map_location=dev())["ema"])
    teacher.requires_grad_(False).eval()
    student = net(4).to(dev())
    opt = th.optim.Adam(student.parameters(), lr=1e-2)
    for step in range(steps):
        x = th.randn(16, 3).to(dev())
        loss = (student(x) - teacher(x)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        print("student", step, loss.item())


if __name__ == "__main__":
    th.manual_seed(0)
    {"teacher": train_teacher, "distill": distill}[sys.argv[1]]()
