import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from widedeep.metrics import MultipleMetrics


class WideDeepDataset(Dataset):
    def __init__(self, X_wide, X_tab, target):
        self.X_wide, self.X_tab, self.Y = X_wide, X_tab, target

    def __len__(self):
        return len(self.Y)

    def __getitem__(self, idx):
        return {"wide": self.X_wide[idx], "deeptabular": self.X_tab[idx]}, self.Y[idx]


def setup_device():
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Trainer:
    def __init__(self, model, objective="binary", metrics=None, **kwargs):
        self.device = kwargs.get("device") or setup_device()
        self.model = model
        self.model.to(self.device)
        self.loss_fn = torch.nn.BCEWithLogitsLoss()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=kwargs.get("lr", 1e-2))
        self._set_metrics(metrics)

    def _set_metrics(self, metrics):
        self.metric = None
        if metrics is not None:
            self.metric = MultipleMetrics(metrics, prefix="train_")

    def fit(self, X_wide, X_tab, target, n_epochs=1, batch_size=32):
        loader = DataLoader(WideDeepDataset(X_wide, X_tab, target), batch_size=batch_size)
        for epoch in range(n_epochs):
            if self.metric is not None:
                self.metric.reset()
            losses = []
            for data, target_ in loader:
                score, loss = self._train_step(data, target_)
                losses.append(loss)
            print(f"epoch {epoch + 1}: loss={np.mean(losses):.4f}", score)

    def _train_step(self, data, target):
        self.model.train()
        X = {k: v.to(self.device) for k, v in data.items()}
        y = target.view(-1, 1).float()
        y = y.to(self.device)

        self.optimizer.zero_grad()
        y_pred = self.model(X)
        loss = self.loss_fn(y_pred, y)
        loss.backward()
        self.optimizer.step()
        return self._get_score(y_pred, y), loss.item()

    def _get_score(self, y_pred, y):
        if self.metric is None:
            return None
        return self.metric(torch.sigmoid(y_pred.detach()), y)
