import torch

from jobs.process import SDTrainer


class TrainJob:
    def __init__(self, raw_config):
        self.raw_config = raw_config
        self.name = raw_config["name"]
        device = raw_config.get("device", "auto")
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        self.device = device

    def run(self):
        torch.manual_seed(7)
        process = SDTrainer(0, self, self.raw_config)
        process.run()
