import torch


class Trainer(object):
    def __init__(self, gpus=None, max_epochs=2):
        self.gpus = gpus
        self.max_epochs = max_epochs
        self.on_gpu = gpus is not None and torch.cuda.is_available()
        self.root_gpu = 0
        self.optimizers = []
        self.model = None

    def fit(self, model):
        model.trainer = self
        self.init_train_dataloader(model)
        if self.on_gpu:
            self.single_gpu_train(model)
        else:
            self.optimizers = self.init_optimizers(model.configure_optimizers())
            self.run_pretrain_routine(model)
        return 1

    def init_optimizers(self, optimizers):
        if isinstance(optimizers, torch.optim.Optimizer):
            return [optimizers]
        return list(optimizers)

    def init_train_dataloader(self, model):
        self.get_train_dataloader = model.train_dataloader

    def single_gpu_train(self, model):
        # allow for lr schedulers as well
        self.optimizers = self.init_optimizers(model.configure_optimizers())

        model.cuda(self.root_gpu)
        self.run_pretrain_routine(model)

    def run_pretrain_routine(self, model):
        model.on_gpu = self.on_gpu
        self.model = model
        self.train()

    def transfer_batch_to_gpu(self, batch, gpu_id):
        if isinstance(batch, (list, tuple)):
            return [self.transfer_batch_to_gpu(x, gpu_id) for x in batch]
        return batch.cuda(gpu_id)

    def train(self):
        self.model.train()
        for epoch in range(self.max_epochs):
            for batch_nb, batch in enumerate(self.get_train_dataloader()):
                self.run_training_batch(batch, batch_nb)

    def run_training_batch(self, batch, batch_nb):
        if self.on_gpu:
            batch = self.transfer_batch_to_gpu(batch, self.root_gpu)
        for optimizer in self.optimizers:
            output = self.model.training_step(batch, batch_nb)
            loss = output['loss']
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(batch_nb, loss.item())
