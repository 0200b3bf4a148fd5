import torch


class ConfusionMatrix:
    def __init__(self, classes):
        self.classes = classes
        self.matrix = torch.zeros(classes, classes)

    def update(self, predicted, target):
        flat = target * self.classes + predicted
        self.matrix += torch.bincount(flat, minlength=self.classes**2).reshape(self.classes, self.classes)

    def compute(self):
        hits = self.matrix.diagonal()
        return {
            "accuracy": (hits.sum() / self.matrix.sum()).item(),
            "recall": (hits / self.matrix.sum(1).clamp(min=1)).mean().item(),
        }


class Mean:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value, n=1):
        self.total += value * n
        self.count += n

    def compute(self):
        return self.total / max(self.count, 1)
