import torch


class Experiment:
    """Owns model, device and the loop. Subclasses say what the model is and what its task is."""

    def __init__(self, seed=0, lr=1e-2):
        torch.manual_seed(seed)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.lr = lr
        self.model = self.build_model()
        self.model.to(self.device)

    def build_model(self):
        raise NotImplementedError

    def batches(self):
        raise NotImplementedError

    def loss(self, batch):
        raise NotImplementedError

    def fit(self):
        optimizer = torch.optim.Adam(self.model.parameters(), lr=self.lr)
        for i, batch in enumerate(self.batches()):
            batch = [t.to(self.device) for t in batch]
            optimizer.zero_grad()
            loss = self.loss(batch)
            loss.backward()
            optimizer.step()
            print(f"{type(self).__name__} {i}: {loss.item():.5f}")
