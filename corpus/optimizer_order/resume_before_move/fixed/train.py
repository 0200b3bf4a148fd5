import argparse
import logging

import torch
import torch.nn as nn

logging.basicConfig(level=logging.INFO, format="%(message)s")
logger = logging.getLogger("bit")


def recycle(batches):
    while True:
        yield from batches


def main(args):
    torch.manual_seed(1)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    logger.info("Going to train on %s", device)

    model = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 4))
    step = 0

    model = model.to(device)
    optim = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9)
    if args.resume:
        checkpoint = torch.load(args.resume, map_location="cpu")
        logger.info("Found saved model to resume from at '%s'", args.resume)
        step = checkpoint["step"]
        model.load_state_dict(checkpoint["model"])
        optim.load_state_dict(checkpoint["optim"])

    optim.zero_grad()

    model.train()
    cri = nn.CrossEntropyLoss().to(device)
    data = [(torch.randn(8, 5), torch.randint(0, 4, (8,))) for _ in range(3)]
    last = step + args.steps
    for x, y in recycle(data):
        if step == last:
            break
        x = x.to(device, non_blocking=True)
        y = y.to(device, non_blocking=True)
        c = cri(model(x), y)
        c.backward()
        optim.step()
        optim.zero_grad()
        step += 1
        logger.info("[step %d]: loss=%.5f", step, c.item())

    if args.save:
        torch.save({"step": step, "model": model.state_dict(), "optim": optim.state_dict()}, args.save)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume")
    parser.add_argument("--save")
    parser.add_argument("--steps", type=int, default=4)
    main(parser.parse_args())
