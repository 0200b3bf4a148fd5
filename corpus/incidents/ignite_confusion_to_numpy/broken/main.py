import numpy as np
import torch
import torch.nn as nn

from engine import ConfusionMatrix, Engine, Events


def report(matrix):
    recall = np.diag(matrix) / np.maximum(matrix.sum(axis=1), 1e-9)
    return " ".join("%.3f" % value for value in recall)


def run(batch_size=8, num_epochs=2, log_interval=2):
    torch.manual_seed(1198)
    device = "cpu"
    if torch.cuda.is_available():
        device = "cuda"

    model = nn.Sequential(nn.Linear(9, 16), nn.ReLU(), nn.Linear(16, 3))
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
    criterion = nn.CrossEntropyLoss()
    cm_metric = ConfusionMatrix(num_classes=3, device=device)

    def train_step(engine, batch):
        model.train()
        x, y = (t.to(device, non_blocking=True) for t in batch)
        optimizer.zero_grad()
        y_pred = model(x)
        loss = criterion(y_pred, y)
        loss.backward()
        optimizer.step()
        cm_metric.update((y_pred.detach(), y))
        return loss.item()

    trainer = Engine(train_step)

    @trainer.on(Events.ITERATION_COMPLETED)
    def log_training_loss(engine):
        if engine.iteration % log_interval == 0:
            print(f"Epoch[{engine.epoch}] Iteration[{engine.iteration}] Loss: {engine.output:.2f}")

    @trainer.on(Events.EPOCH_COMPLETED)
    def log_confusion(engine):
        cm = cm_metric.compute().numpy()
        print(f"Epoch[{engine.epoch}] recall {report(cm)}")
        cm_metric.reset()

    loader = [(torch.randn(batch_size, 9), torch.randint(3, (batch_size,))) for _ in range(3)]
    trainer.run(loader, max_epochs=num_epochs)


if __name__ == "__main__":
    run()
