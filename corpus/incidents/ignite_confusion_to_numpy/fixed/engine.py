import torch


class Events:
    ITERATION_COMPLETED = "iteration_completed"
    EPOCH_COMPLETED = "epoch_completed"


class Engine:
    def __init__(self, process_function):
        self._process_function = process_function
        self._handlers = {}
        self.epoch = self.iteration = 0
        self.output = None

    def on(self, event):
        def decorator(handler):
            self._handlers.setdefault(event, []).append(handler)
            return handler

        return decorator

    def _fire(self, event):
        for handler in self._handlers.get(event, []):
            handler(self)

    def run(self, data, max_epochs=1):
        for self.epoch in range(1, max_epochs + 1):
            for batch in data:
                self.iteration += 1
                self.output = self._process_function(self, batch)
                self._fire(Events.ITERATION_COMPLETED)
            self._fire(Events.EPOCH_COMPLETED)


class ConfusionMatrix:
    """Confusion matrix over an epoch; rows are targets."""

    def __init__(self, num_classes, device=None):
        self.num_classes = num_classes
        self._device = device
        self.reset()

    def reset(self):
        self.confusion_matrix = torch.zeros(self.num_classes, self.num_classes, dtype=torch.int64, device=self._device)

    def update(self, output):
        y_pred, y = output
        indices = self.num_classes * y + torch.argmax(y_pred, dim=1)
        m = torch.bincount(indices, minlength=self.num_classes ** 2).reshape(self.num_classes, self.num_classes)
        self.confusion_matrix += m

    def compute(self):
        return self.confusion_matrix / self.confusion_matrix.sum().clamp_min(1)
