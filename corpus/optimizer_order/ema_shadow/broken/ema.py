class EMA:
    """Exponential moving average of the trained parameters."""

    def __init__(self, model, decay):
        self.model = model
        self.decay = decay
        self.shadow = {}

    def register(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad:
                self.shadow[name] = param.data.clone()

    def update(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad:
                assert name in self.shadow
                average = (1.0 - self.decay) * param.data + self.decay * self.shadow[name]
                self.shadow[name] = average.clone()
