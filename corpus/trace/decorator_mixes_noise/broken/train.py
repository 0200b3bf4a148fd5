import torch

from task import Task


def loader(n):
    for _ in range(n):
        x = torch.randn(8, 5)
        yield x, torch.stack([x.amin(1), x.amax(1)], 1)


def main():
    torch.manual_seed(15)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    task = Task(device)
    for i, batch in enumerate(loader(5)):
        print(i, task.step(*(part.to(device) for part in batch), scale=0.5))


main()
