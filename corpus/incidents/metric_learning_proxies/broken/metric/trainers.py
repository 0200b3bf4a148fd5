class MetricLossOnly:
    def __init__(self, models, optimizers, batches, loss_funcs, data_device):
        self.models = models
        self.optimizers = optimizers
        self.batches = batches
        self.loss_funcs = loss_funcs
        self.data_device = data_device

    def train(self, num_epochs=1):
        for self.epoch in range(num_epochs):
            for data, labels in self.batches:
                self.forward_and_backward(data, labels)

    def forward_and_backward(self, data, labels):
        for v in self.optimizers.values():
            v.zero_grad()
        embeddings = self.models["embedder"](self.models["trunk"](data.to(self.data_device)))
        loss = self.loss_funcs["metric_loss"](embeddings, labels.to(self.data_device))
        loss.backward()
        for v in self.optimizers.values():
            v.step()
        print("total_loss=%.5f" % loss.item())
