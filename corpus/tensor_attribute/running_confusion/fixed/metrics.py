import torch


class Confusion:
    def __init__(self, classes):
        self.classes = classes
        self.matrix = torch.zeros(classes, classes)

    @torch.no_grad()
    def update(self, predicted, target):
        cells = target.flatten() * self.classes + predicted.flatten()
        counts = torch.bincount(cells, minlength=self.classes**2)
        self.matrix = self.matrix.to(counts.device)
        self.matrix += counts.reshape(self.classes, self.classes)

    def accuracy(self):
        return (self.matrix.diag().sum() / self.matrix.sum()).item()
