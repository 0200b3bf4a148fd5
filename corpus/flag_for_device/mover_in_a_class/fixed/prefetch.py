import torch


class Prefetcher:
    def __init__(self, loader):
        self.loader = iter(loader)
        self.preload()

    def preload(self):
        try:
            self.images, self.labels = next(self.loader)
        except StopIteration:
            self.images = self.labels = None
            return
        if torch.cuda.is_available():
            self.images = self.images.cuda(non_blocking=True)
            self.labels = self.labels.cuda(non_blocking=True)

    def next(self):
        images, labels = self.images, self.labels
        self.preload()
        return images, labels
