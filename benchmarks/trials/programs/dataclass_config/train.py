import torch
from config import Config
from model import Forecaster
from torch.optim.lr_scheduler import MultiStepLR
from writer import SummaryWriter


def load(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = 3 + 2 * torch.randn(n, 4, generator=g)
    return x, (x[:, 0] - x[:, 2]).abs()


def main(config):
    torch.manual_seed(config.seed)
    writer = SummaryWriter("runs/exp1")
    x, y = load(64, 0)
    x_test, y_test = load(24, 1)
    model = Forecaster(config.width).to(config.device)
    model.normalize.fit(x)
    optimizer = torch.optim.RAdam(
        model.parameters(), lr=config.optim.lr, weight_decay=config.optim.weight_decay, decoupled_weight_decay=True
    )
    scheduler = MultiStepLR(optimizer, config.optim.milestones, gamma=0.3)
    step = 0
    for epoch in range(config.epochs):
        model.train()
        for rows in torch.randperm(len(x)).split(config.batch):
            loss = torch.nn.functional.huber_loss(model(x[rows].to(config.device)), y[rows].to(config.device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            writer.add_scalar("loss/train", loss, step)
            step += 1
        scheduler.step()
        writer.add_scalar("lr", scheduler.get_last_lr()[0], epoch)
        model.eval()
        with torch.no_grad():
            error = (model(x_test.to(config.device)).cpu() - y_test).abs().mean()
        writer.add_scalar("mae/test", error, epoch)
    writer.close()
    torch.save(model, "forecaster.pt")


if __name__ == "__main__":
    main(Config())
