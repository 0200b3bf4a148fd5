import torch

from modules.model.DiffusionModel import load_model
from modules.trainer.BaseTrainer import BaseTrainer


class GenericTrainer(BaseTrainer):
    def start(self):
        self.model = load_model()
        self.model_setup = self.create_model_setup()
        self.model_setup.setup_train_device(self.model, self.config)
        self.parameters = self.model_setup.create_parameters(self.model, self.config)
        self.optimizer = torch.optim.AdamW(self.parameters, lr=self.config.learning_rate)
        self.data_loader = self.create_data_loader(self.model)
        self.validation_data_loader = self.create_data_loader(self.model, is_validation=True)
        self.generator = torch.Generator().manual_seed(17)

    def __validate(self, epoch):
        self.validation_data_loader.get_data_set().start_next_epoch()
        self.model_setup.setup_train_device(self.model, self.config)

        total, count = 0.0, 0
        for batch in self.validation_data_loader.get_data_set():
            with torch.no_grad():
                output = self.model_setup.predict(self.model, batch, self.config, self.generator)
                total += self.model_setup.calculate_loss(output).item()
            count += 1
        print(f"epoch {epoch}: validation loss {total / count:.5f}")

    def __sample(self, epoch):
        self.model.to(self.temp_device)
        with torch.no_grad():
            sample = self.model.unet(torch.zeros(1, 13))
        print(f"epoch {epoch}: sample norm {sample.norm().item():.4f}")
        self.model_setup.setup_train_device(self.model, self.config)

    def train(self):
        for epoch in range(self.config.epochs):
            self.data_loader.get_data_set().start_next_epoch()
            self.model_setup.setup_train_device(self.model, self.config)

            for batch in self.data_loader.get_data_set():
                output = self.model_setup.predict(self.model, batch, self.config, self.generator)
                loss = self.model_setup.calculate_loss(output)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
                self.optimizer.step()
                self.optimizer.zero_grad(set_to_none=True)
                print(f"epoch {epoch}: loss {loss.item():.5f}")

            self.__sample(epoch)
            self.__validate(epoch)

    def end(self):
        self.model.to(self.temp_device)
