import argparse

import torch

from world import create_model


class Trainer:
    """Pipeline to train a model on views of one scene"""

    def __init__(self, cfg):
        torch.manual_seed(cfg["training"]["seed"])
        if torch.cuda.is_available():
            self.device = torch.device("cuda:0")
        else:
            self.device = torch.device("cpu")
        self.views = torch.rand(8, 3, 8, 10)
        self.model = create_model(cfg, img_size=(8, 10)).to(self.device)
        self.optimizer = torch.optim.Adam([dict(params=self.model.parameters(), lr=cfg["training"]["lr"])])
        self.n_epoches = cfg["training"]["n_epoches"]

    def run(self):
        for epoch in range(1, self.n_epoches + 1):
            for imgs in self.views.split(4):
                self.single_train_run(imgs.to(self.device))
            self.model.step()

    def single_train_run(self, imgs):
        self.model.train()
        self.optimizer.zero_grad()
        loss = self.model(imgs)
        loss.backward()
        self.optimizer.step()
        print(f"loss={loss.item():.5f} txt={self.model.get_background().mean().item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", "--n_epoches", type=int, default=2)
    args = parser.parse_args()
    Trainer({"training": {"seed": 18, "lr": 5e-2, "n_epoches": args.n_epoches}, "model": {"txt_size": 6}}).run()
