"""DEV101 by example: what is moved, where, in whose style, and what is left on the CPU."""

from __future__ import annotations

import pytest

CODE = "DEV101"

REWRITES = [
    pytest.param(
        """
          import json
          settings = json.loads('{"device": "cuda"}')

          def main():
              if not torch.cuda.is_available():
                  settings["device"] = "cpu"
              model = nn.Linear(4, 4).to(settings["device"])
              for batch in DataLoader([{"x": torch.ones(4)}] * 4, batch_size=2):
        -         x = batch["x"]
        +         x = batch["x"].to(settings["device"])
                  out = model(x.to(settings["device"]))
                  (out - x).mean().backward()

          main()
        """,
        id="entry-of-settings",
    ),
    pytest.param(
        """
          class Sample:
              def __init__(self, rows):
                  self.x = torch.stack(rows)
                  self.names = ["a", "b"]

              def to(self, device):
                  for key, value in self.__dict__.items():
                      if isinstance(value, torch.Tensor):
                          setattr(self, key, value)
                  return self

          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
          for sample in DataLoader([torch.ones(4), torch.ones(4)], batch_size=2, collate_fn=Sample):
        -     model(sample.to(device).x)
        +     model(sample.to(device).x.to(device, non_blocking=True))
        """,
        id="an-item-that-may-be-no-tensor",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
          model = nn.Linear(4, 2).to(device)
          criterion = nn.CrossEntropyLoss()
          for x, y in loader:
              x = x.to(device)
        +     y = y.to(device)
              criterion(model(x), y).backward()
        """,
        id="beside-its-sibling",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), pin_memory=True)
          model = nn.Linear(4, 2).to(device)
          for x, y in loader:
              x = x.to(device, non_blocking=True)
        +     y = y.to(device, non_blocking=True)
              nn.functional.cross_entropy(model(x), y).backward()
        """,
        id="in-its-style",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
          model = nn.Linear(4, 2).to(device)
          criterion = nn.CrossEntropyLoss()
          for step, (x, y) in enumerate(loader):
        +     x = x.to(device, non_blocking=True)
        +     y = y.to(device, non_blocking=True)
              loss = criterion(model(x), y)
              loss.backward()
        """,
        id="nothing-is-moved",
    ),
    pytest.param(
        """
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
          model = nn.Linear(4, 2).cuda()
          criterion = nn.CrossEntropyLoss().cuda()
          for x, y in loader:
              x = x.cuda()
        +     y = y.cuda()
              criterion(model(x), y).backward()
        """,
        id="cuda",
    ),
    pytest.param(
        """
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
          model = nn.Linear(4, 2).cuda()
          criterion = nn.CrossEntropyLoss()
          for x, y in loader:
              x = x.cuda(non_blocking=True)
        +     y = y.cuda(non_blocking=True)
              criterion(model(x), y).backward()
        """,
        id="cuda-non-blocking",
    ),
    pytest.param(
        """
          import argparse

          parser = argparse.ArgumentParser()
          parser.add_argument("--no-cuda", action="store_true")
          args = parser.parse_args()
          args.cuda = not args.no_cuda and torch.cuda.is_available()
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
          model = nn.Linear(4, 2)
          if args.cuda:
              model.cuda()


          def train(epoch):
              model.train()
              for batch_idx, (data, target) in enumerate(loader):
                  if args.cuda:
                      data = data.cuda()
        +             target = target.cuda()
                  output = model(data)
                  nn.functional.cross_entropy(output, target).backward()


          for epoch in range(2):
              train(epoch)
        """,
        id="flag-one-of-two",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          data = TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,)))
          train_loader, test_loader = DataLoader(data, batch_size=4), DataLoader(data, batch_size=4)
          model = nn.Linear(4, 2).to(device)
          criterion = nn.CrossEntropyLoss()


          def train():
              for x, y in train_loader:
                  x, y = x.to(device), y.to(device)
                  criterion(model(x), y).backward()


          @torch.no_grad()
          def evaluate():
              total = 0.0
              for x, y in test_loader:
        +         x = x.to(device)
        +         y = y.to(device)
                  total += criterion(model(x), y).item()
              return total


          train()
          evaluate()
        """,
        id="validation-loop",
    ),
    pytest.param(
        """
          class Pairs(Dataset):
              def __len__(self):
                  return 8

              def __getitem__(self, index):
                  return {"x": torch.randn(4), "y": torch.tensor(index % 2), "name": f"item {index}"}


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
          for batch in DataLoader(Pairs(), batch_size=4):
              x = batch["x"].to(device)
        -     y = batch["y"]
        +     y = batch["y"].to(device)
              print(batch["name"])
              nn.functional.cross_entropy(model(x), y).backward()
        """,
        id="dictionary",
    ),
    pytest.param(
        """
          class Pairs(Dataset):
              def __len__(self):
                  return 8

              def __getitem__(self, index):
                  return {"x": torch.randn(4), "y": torch.tensor(index % 2)}


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
          for batch in DataLoader(Pairs(), batch_size=4):
        +     batch = {k: v.to(device, non_blocking=True) for k, v in batch.items()}
              nn.functional.cross_entropy(model(batch["x"]), batch["y"]).backward()
        """,
        id="whole-dictionary",
    ),
    pytest.param(
        """
          class Trainer:
              def __init__(self, model, loader, device):
                  self.model = model.to(device)
                  self.loader = loader
                  self.device = device
                  self.criterion = nn.CrossEntropyLoss()

              def step(self, batch):
                  x, y = batch
        +         x = x.to(self.device, non_blocking=True)
        +         y = y.to(self.device, non_blocking=True)
                  return self.criterion(self.model(x), y)

              def fit(self):
                  for batch in self.loader:
                      self.step(batch).backward()


          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
          Trainer(nn.Linear(4, 2), loader, torch.device("cuda")).fit()
        """,
        id="trainer-step",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          data = TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,)))
          labeled, unlabeled = DataLoader(data, batch_size=4), DataLoader(data, batch_size=4)
          model = nn.Linear(4, 2).to(device)
          for (x, y), (u, _) in zip(labeled, unlabeled):
              x = x.to(device)
              y = y.to(device)
        +     u = u.to(device)
              loss = nn.functional.cross_entropy(model(x), y) + model(u).pow(2).mean()
              loss.backward()
        """,
        id="zip",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)


          def forever(loader):
              while True:
                  yield from loader


          model = nn.Linear(4, 2).to(device)
          batches = forever(loader)
          for step in range(10):
              x, y = next(batches)
              x = x.to(device)
        +     y = y.to(device)
              nn.functional.cross_entropy(model(x), y).backward()
        """,
        id="generator",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
          model = nn.Linear(4, 2).to(device)
          x, y = next(iter(loader))
        + x = x.to(device, non_blocking=True)
        + y = y.to(device, non_blocking=True)
          for step in range(100):
              nn.functional.cross_entropy(model(x), y).backward()
        """,
        id="overfits-one-batch",
    ),
    pytest.param(
        """
          import argparse


          def train(args, model, loader, optimizer):
              model.train()
              for x, y in loader:
        +         x = x.to(args.device, non_blocking=True)
        +         y = y.to(args.device, non_blocking=True)
                  optimizer.zero_grad()
                  nn.functional.mse_loss(model(x), y).backward()
                  optimizer.step()


          def main():
              parser = argparse.ArgumentParser()
              parser.add_argument("--device", default="cuda")
              args = parser.parse_args()
              model = nn.Linear(4, 1).to(args.device)
              loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randn(8, 1)), batch_size=4)
              train(args, model, loader, torch.optim.SGD(model.parameters(), lr=0.1))


          if __name__ == "__main__":
              main()
        """,
        id="argparse-device",
    ),
    pytest.param(
        """
          from tqdm import tqdm

          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
          model = nn.Linear(4, 2).to(device)
          for x, y in tqdm(loader, desc="train"):
              x = x.to(device)
        +     y = y.to(device)
              nn.functional.cross_entropy(model(x), y).backward()
        """,
        id="tqdm",
    ),
    pytest.param(
        """
          def run(model, loader):
              model.eval()
              for x, _ in loader:
        +         x = x.to(next(model.parameters()).device, non_blocking=True)
                  model(x)


          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
          run(nn.Linear(4, 2).to("cuda"), loader)
        """,
        id="device-has-no-name",
    ),
    pytest.param(
        """
          class Segments(Dataset):
              def __len__(self):
                  return 8

              def __getitem__(self, index):
                  return torch.randn(4), torch.ones(4), index % 2


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
          for x, mask, y in DataLoader(Segments(), batch_size=4):
              x, y = x.to(device), y.to(device)
        +     mask = mask.to(device)
              nn.functional.cross_entropy(model(x * mask), y).backward()
        """,
        id="mask-beside-a-tuple",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
          model = nn.Linear(4, 2).to(device)
          correct = 0
          for x, y in loader:
              x = x.to(device)
        +     y = y.to(device)
              correct += (model(x).argmax(1) == y).sum().item()
        """,
        id="accuracy",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
          model = nn.Linear(4, 2).to(device)
          for i, data in enumerate(loader, 0):
              inputs, labels = data
        +     inputs = inputs.to(device, non_blocking=True)
        +     labels = labels.to(device, non_blocking=True)
              nn.functional.cross_entropy(model(inputs), labels).backward()
        """,
        id="unpacked-later",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
          model = nn.Linear(4, 2).to(device)
          for batch in loader:
              inputs = batch[0].to(device)
        -     labels = batch[1]
        +     labels = batch[1].to(device)
              nn.functional.cross_entropy(model(inputs), labels).backward()
        """,
        id="subscripts",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
          model = nn.Linear(4, 2).to(device)
          for batch in loader:
        -     loss = nn.functional.cross_entropy(model(batch[0].to(device)), batch[1])
        +     loss = nn.functional.cross_entropy(model(batch[0].to(device)), batch[1].to(device))
              loss.backward()
        """,
        id="inline",
    ),
    pytest.param(
        """
          class Lengths(Dataset):
              def __len__(self):
                  return 8

              def __getitem__(self, index):
                  return torch.randn(5, 4), 5, index % 2


          class Tagger(nn.Module):
              def __init__(self):
                  super().__init__()
                  self.rnn = nn.GRU(4, 8, batch_first=True)
                  self.head = nn.Linear(8, 2)

              def forward(self, x, lengths):
                  packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
                  _, hidden = self.rnn(packed)
                  return self.head(hidden[-1])


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = Tagger().to(device)
          for x, lengths, y in DataLoader(Lengths(), batch_size=4):
        +     x = x.to(device, non_blocking=True)
        +     y = y.to(device, non_blocking=True)
              nn.functional.cross_entropy(model(x, lengths), y).backward()
        """,
        id="lengths-stay",
    ),
    pytest.param(
        """
          def to_device(batch, device):
              return [item.to(device) for item in batch]


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          data = TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,)))
          model = nn.Linear(4, 2).to(device)
          for batch in DataLoader(data, batch_size=4):
              batch = to_device(batch, device)
              nn.functional.cross_entropy(model(batch[0]), batch[1]).backward()
          for batch in DataLoader(data, batch_size=8):
        +     batch = to_device(batch, device)
              print(nn.functional.cross_entropy(model(batch[0]), batch[1]))
        """,
        id="own-helper",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
          model = nn.Linear(4, 2).to(device)
          optimizer = torch.optim.LBFGS(model.parameters())
          for x, y in loader:
              x = x.to(device)
        +     y = y.to(device)

              def closure():
                  optimizer.zero_grad()
                  loss = nn.functional.cross_entropy(model(x), y)
                  loss.backward()
                  return loss

              optimizer.step(closure)
        """,
        id="closure",
    ),
    pytest.param(
        """
          class Trainer:
              def __init__(self, model, loaders, device):
                  self.device = device
                  self.model = model.to(device)
                  self.loaders = loaders
                  self.loss = nn.CrossEntropyLoss()

              def run_epoch(self, phase):
                  for x, y in self.loaders[phase]:
                      x = x.to(self.device)
        +             y = y.to(self.device)
                      loss = self.loss(self.model(x), y)
                      if phase == "train":
                          loss.backward()

              def run(self):
                  for phase in ("train", "val"):
                      self.run_epoch(phase)


          data = TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,)))
          loaders = {phase: DataLoader(data, batch_size=4) for phase in ("train", "val")}
          Trainer(nn.Linear(4, 2), loaders, torch.device("cuda")).run()
        """,
        id="loaders-in-a-dictionary",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
          model = nn.Linear(4, 2).to(device)
          for x, y in loader:
              x = x.to(device=device)
        +     y = y.to(device=device)
              nn.functional.cross_entropy(model(x), y).backward()
        """,
        id="device-as-a-keyword",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
          model = nn.Linear(4, 2).to(device)
          for x, y in loader:
              x = x.to(device, dtype=torch.float32)
        +     y = y.to(device)
              nn.functional.cross_entropy(model(x), y).backward()
        """,
        id="a-dtype-is-not-copied",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randn(8, 4)), batch_size=4)
          encoder, decoder = nn.Linear(4, 2).to(device), nn.Linear(2, 4).to(device)
          for x, target in loader:
        +     x = x.to(device, non_blocking=True)
        +     target = target.to(device, non_blocking=True)
              with torch.autocast("cuda"):
                  out = decoder(encoder(x))
                  loss = (out - target).pow(2).mean()
              loss.backward()
        """,
        id="arithmetic-loss",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
          model = nn.Linear(4, 2).to(device)
          iterator = iter(loader)
          for step in range(10):
              try:
                  x, y = next(iterator)
              except StopIteration:
                  iterator = iter(loader)
                  x, y = next(iterator)
              x = x.to(device)
        +     y = y.to(device)
              nn.functional.cross_entropy(model(x), y).backward()
        """,
        id="restarted-iterator",
    ),
    pytest.param(
        """
          def collate(samples):
              images = torch.stack([image for image, _ in samples])
              targets = [target for _, target in samples]
              return images, targets


          class Boxes(Dataset):
              def __len__(self):
                  return 8

              def __getitem__(self, index):
                  return torch.randn(4), {"boxes": torch.rand(3, 4), "labels": torch.ones(3)}


          class Detector(nn.Module):
              def __init__(self):
                  super().__init__()
                  self.net = nn.Linear(4, 4)

              def forward(self, images, targets):
                  out = self.net(images)
                  return sum((out[i] - target["boxes"]).abs().mean() for i, target in enumerate(targets))


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = Detector().to(device)
          for images, targets in DataLoader(Boxes(), batch_size=4, collate_fn=collate):
              images = images.to(device)
        +     targets = [{k: v.to(device) for k, v in target.items()} for target in targets]
              model(images, targets).backward()
        """,
        id="detection-targets",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
          model = nn.Linear(4, 2).to(device)
          for x, y in loader:
              inputs = x.to(device)
        +     y = y.to(device)
              targets = y
              nn.functional.cross_entropy(model(inputs), targets).backward()
        """,
        id="renamed",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          data = TensorDataset(torch.randn(8, 4), torch.randn(8, 4), torch.randint(0, 2, (8,)))
          model = nn.Linear(4, 2).to(device)
          for left, right, y in DataLoader(data, batch_size=4):
              left, right = left.to(device), right.to(device)
        +     y = y.to(device)
              distance = (model(left) - model(right)).norm(dim=1)
              (distance * y).mean().backward()
        """,
        id="siamese",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
          model = nn.Linear(4, 2).to(device)
          with torch.no_grad():
              predictions = torch.cat([model(x.to(device)) for x, _ in loader])
              labels = torch.cat([y for _, y in loader])
        +     labels = labels.to(device)
          accuracy = (predictions.argmax(1) == labels).float().mean()
        """,
        id="collected-in-lists",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
          model = nn.Linear(4, 2).to(device)


          def evaluate(model, loader):
              model.eval()
              correct = 0
              with torch.inference_mode():
                  for x, y in loader:
        +             x = x.to(device)
        +             y = y.to(device)
                      correct += (model(x).argmax(dim=1) == y).sum().item()
              return correct


          for x, y in loader:
              x = x.to(device)
              y = y.to(device)
              nn.functional.cross_entropy(model(x), y).backward()
          print(evaluate(model, loader))
        """,
        id="validation-in-a-function",
    ),
    pytest.param(
        """
          import argparse

          parser = argparse.ArgumentParser()
          parser.add_argument("--use-cuda", action="store_true")
          args = parser.parse_args()
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
          model = nn.Linear(4, 2)
          criterion = nn.CrossEntropyLoss()
          if args.use_cuda:
              model = model.cuda()
              criterion = criterion.cuda()
          for x, y in loader:
        +     if args.use_cuda:
        +         x = x.cuda()
        +         y = y.cuda()
              criterion(model(x), y).backward()
        """,
        id="flag-nothing-moved",
    ),
    pytest.param(
        """
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
          model = nn.Linear(4, 2)
          if torch.cuda.is_available():
              model.cuda()
          for x, y in loader:
              if torch.cuda.is_available():
                  x = x.cuda()
        +         y = y.cuda()
              nn.functional.cross_entropy(model(x), y).backward()
        """,
        id="is-available-one-of-two",
    ),
    pytest.param(
        """
          class VAE(nn.Module):
              def __init__(self):
                  super().__init__()
                  self.net = nn.Linear(4, 4)

              def forward(self, x):
                  return self.net(x)


          def main():
              device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
              model = VAE().to(device)
              loader = DataLoader(torch.randn(8, 4), batch_size=4)
              for x in loader:
        +         x = x.to(device, non_blocking=True)
                  nn.functional.mse_loss(model(x), x).backward()


          main()
        """,
        id="dataset-is-a-tensor",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
          model = nn.Linear(4, 2).to(device)
          for x, y in loader:
              # to the accelerator
              x = x.to(device)  # images
        +     y = y.to(device)

              loss = nn.functional.cross_entropy(model(x), y)
              loss.backward()
        """,
        id="comments-stay",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
          model = nn.Linear(4, 2).to(device)
          hidden = torch.zeros(4, 2, device=device)
          for x, y in loader:
              x = x.to(hidden.device)
        +     y = y.to(hidden.device)
              nn.functional.cross_entropy(model(x) + hidden, y).backward()
        """,
        id="device-of-another-tensor",
    ),
    pytest.param(
        """
          from dataclasses import dataclass


          @dataclass
          class Batch:
              x: torch.Tensor
              y: torch.Tensor


          def collate(samples):
              xs, ys = zip(*samples)
              return Batch(torch.stack(xs), torch.stack(ys))


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          data = TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,)))
          model = nn.Linear(4, 2).to(device)
          for batch in DataLoader(data, batch_size=4, collate_fn=collate):
              x = batch.x.to(device)
        -     y = batch.y
        +     y = batch.y.to(device)
              nn.functional.cross_entropy(model(x), y).backward()
        """,
        id="dataclass-batch",
    ),
    pytest.param(
        """
          from torchvision import datasets, models, transforms

          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          data = datasets.CIFAR10("data", transform=transforms.ToTensor())
          model = models.resnet18(num_classes=10).to(device)
          for images, labels in DataLoader(data, batch_size=4):
              images = images.to(device)
        +     labels = labels.to(device)
              nn.functional.cross_entropy(model(images), labels).backward()
        """,
        id="torchvision",
    ),
]

UNTOUCHED = [
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
        model = nn.Linear(4, 2).to(device)
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            nn.functional.cross_entropy(model(x), y).backward()
        """,
        id="moved-as-a-tuple",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
        model = nn.Linear(4, 2).to(device)
        for x, y in loader:
            x, y = (t.to(device) for t in (x, y))
            nn.functional.cross_entropy(model(x), y).backward()
        """,
        id="moved-by-a-generator",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
        model = nn.Linear(4, 2).to(device)
        for batch in loader:
            x, y = map(lambda t: t.to(device), batch)
            nn.functional.cross_entropy(model(x), y).backward()
        """,
        id="moved-by-map",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
        model = nn.Linear(4, 2).to(device)
        correct = 0
        for x, y in loader:
            prediction = model(x.to(device)).argmax(1).cpu()
            correct += (prediction == y).sum().item()
        """,
        id="compared-on-the-cpu",
    ),
    pytest.param(
        """
        import numpy as np

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
        model = nn.Linear(4, 2).to(device)
        truth = []
        for x, y in loader:
            model(x.to(device))
            truth.append(y.numpy())
        print(np.concatenate(truth))
        """,
        id="labels-for-numpy",
    ),
    pytest.param(
        """
        loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
        model = nn.Linear(4, 2)
        for x, y in loader:
            nn.functional.cross_entropy(model(x), y).backward()
        """,
        id="all-on-the-cpu",
    ),
    pytest.param(
        """
        def collate(samples):
            xs, ys = zip(*samples)
            return torch.stack(xs).cuda(), torch.stack(ys).cuda()


        data = TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,)))
        model = nn.Linear(4, 2).cuda()
        for x, y in DataLoader(data, batch_size=4, collate_fn=collate):
            nn.functional.cross_entropy(model(x), y).backward()
        """,
        id="collate-moves",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        data = TensorDataset(torch.randn(8, 4).to(device), torch.randint(0, 2, (8,)).to(device))
        model = nn.Linear(4, 2).to(device)
        for x, y in DataLoader(data, batch_size=4):
            nn.functional.cross_entropy(model(x), y).backward()
        """,
        id="data-lives-there",
    ),
    pytest.param(
        """
        class Pairs(Dataset):
            def __init__(self, device):
                self.x = torch.randn(8, 4, device=device)
                self.y = torch.randint(0, 2, (8,), device=device)

            def __len__(self):
                return 8

            def __getitem__(self, index):
                return self.x[index], self.y[index]


        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2).to(device)
        for x, y in DataLoader(Pairs(device), batch_size=4):
            nn.functional.cross_entropy(model(x), y).backward()
        """,
        id="dataset-lives-there",
    ),
    pytest.param(
        """
        class Captions(Dataset):
            def __len__(self):
                return 8

            def __getitem__(self, index):
                return torch.randn(4), f"caption {index}"


        class Scorer(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Linear(4, 2)

            def forward(self, x, captions):
                return self.net(x) * len(captions)


        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = Scorer().to(device)
        for x, caption in DataLoader(Captions(), batch_size=4):
            x = x.to(device)
            model(x, caption).sum().backward()
        """,
        id="strings",
    ),
    pytest.param(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(4, 2)

            def forward(self, x):
                return self.fc(x.to(self.fc.weight.device))


        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = Net().to(device)
        for (x,) in DataLoader(TensorDataset(torch.randn(8, 4)), batch_size=4):
            model(x).sum().backward()
        """,
        id="model-moves-its-input",
    ),
    pytest.param(
        """
        import accelerate

        accelerator = accelerate.Accelerator()
        loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
        model = nn.Linear(4, 2)
        model, loader = accelerator.prepare(model, loader)
        for x, y in loader:
            accelerator.backward(nn.functional.cross_entropy(model(x), y))
        """,
        id="accelerate",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
        model = nn.DataParallel(nn.Linear(4, 2)).to(device)
        for x, y in loader:
            out = model(x)
            nn.functional.cross_entropy(out, y.to(out.device)).backward()
        """,
        id="data-parallel-scatters",
    ),
    pytest.param(
        """
        import argparse

        parser = argparse.ArgumentParser()
        parser.add_argument("--cuda", action="store_true")
        opt = parser.parse_args()
        loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
        model = nn.Linear(4, 2)
        if opt.cuda:
            model = model.cuda()
        for x, y in loader:
            if opt.cuda:
                x, y = x.cuda(), y.cuda()
            nn.functional.cross_entropy(model(x), y).backward()
        """,
        id="flag-decides-both",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


        class DeviceLoader:
            def __init__(self, loader, device):
                self.loader = loader
                self.device = device

            def __len__(self):
                return len(self.loader)

            def __iter__(self):
                for batch in self.loader:
                    yield [item.to(self.device) for item in batch]


        loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
        model = nn.Linear(4, 2).to(device)
        for x, y in DeviceLoader(loader, device):
            nn.functional.cross_entropy(model(x), y).backward()
        """,
        id="loader-moves",
    ),
    pytest.param(
        """
        class Batch:
            def __init__(self, x, y):
                self.x, self.y = x, y

            def to(self, device):
                self.x = self.x.to(device)
                self.y = self.y.to(device)
                return self


        def collate(samples):
            xs, ys = zip(*samples)
            return Batch(torch.stack(xs), torch.stack(ys))


        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        data = TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,)))
        model = nn.Linear(4, 2).to(device)
        for batch in DataLoader(data, batch_size=4, collate_fn=collate):
            batch = batch.to(device)
            nn.functional.cross_entropy(model(batch.x), batch.y).backward()
        """,
        id="batch-moves-itself",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
        model = nn.Linear(4, 2).to(device)
        seen = torch.zeros(2)
        for x, y in loader:
            model(x.to(device)).sum().backward()
            seen += torch.bincount(y, minlength=2)
        """,
        id="counted-on-the-cpu",
    ),
    pytest.param(
        """
        from somewhere import load_batches

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2).to(device)
        for x, y in load_batches(device):
            nn.functional.cross_entropy(model(x), y).backward()
        """,
        id="unknown-loader",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
        model = nn.Linear(4, 2).to(device)
        for x, y in loader:
            logits = model(x.to(device))
            weight = y.float().mean().item()
            (logits.sum() * weight).backward()
        """,
        id="only-its-item",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
        model = nn.Linear(4, 2).to(device)
        for x, y in loader:
            batch = {"x": x, "y": y}
            batch = {key: value.to(device) for key, value in batch.items()}
            nn.functional.cross_entropy(model(batch["x"]), batch["y"]).backward()
        """,
        id="moved-by-a-comprehension",
    ),
    pytest.param(
        """
        class Trainer:
            def __init__(self, device):
                self.device = device

            def to_device(self, batch):
                return {key: value.to(self.device) if torch.is_tensor(value) else value for key, value in batch.items()}


        class Pairs(Dataset):
            def __len__(self):
                return 8

            def __getitem__(self, index):
                return {"x": torch.randn(4), "y": torch.tensor(index % 2), "name": f"item {index}"}


        trainer = Trainer("cuda")
        model = nn.Linear(4, 2).to("cuda")
        for batch in DataLoader(Pairs(), batch_size=4):
            batch = trainer.to_device(batch)
            nn.functional.cross_entropy(model(batch["x"]), batch["y"]).backward()
        """,
        id="tensors-of-a-mixed-dictionary",
    ),
    pytest.param(
        """
        def move(value, device):
            if isinstance(value, (list, tuple)):
                return type(value)(move(item, device) for item in value)
            if isinstance(value, dict):
                return {key: move(item, device) for key, item in value.items()}
            if hasattr(value, "to"):
                return value.to(device)
            return value


        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
        model = nn.Linear(4, 2).to(device)
        for batch in loader:
            x, y = move(batch, device)
            nn.functional.cross_entropy(model(x), y).backward()
        """,
        id="recursive-helper",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
        model = nn.Linear(4, 2).to(device)
        for i, (x, y) in enumerate(loader):
            if i == 3:
                break
            x = x.to(device)
            y = y.to(device)
            nn.functional.cross_entropy(model(x), y).backward()
        else:
            print("all")
        """,
        id="loop-with-break",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
        model = nn.Linear(4, 2).to(device)
        for x, y in loader:
            onehot = nn.functional.one_hot(y, 2).float()
            out = model(x.to(device))
            nn.functional.mse_loss(out, onehot.to(out)).backward()
        """,
        id="made-from-it-and-moved",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
        model = nn.Linear(4, 2).to(device)
        for x, y in loader:
            rows = torch.arange(len(y))
            model(x.to(device))[rows, y].sum().backward()
        """,
        id="index-on-the-cpu",
    ),
    pytest.param(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(4, 2)

            @property
            def device(self):
                return next(self.parameters()).device

            def forward(self, x):
                return self.fc(x)


        model = Net().to("cuda")
        for x, y in DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4):
            nn.functional.cross_entropy(model(x.to(model.device)), y.to(model.device)).backward()
        """,
        id="device-property",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
        model = nn.Linear(4, 2).to(device)
        model.to("cpu")
        for x, y in loader:
            nn.functional.cross_entropy(model(x), y)
        """,
        id="evaluated-on-the-cpu",
    ),
    pytest.param(
        """
        torch.set_default_tensor_type("torch.cuda.FloatTensor")
        model = nn.Linear(4, 2)
        x, y = torch.randn(8, 4), torch.randn(8, 2)
        nn.functional.mse_loss(model(x), y).backward()
        """,
        id="default-tensor-type",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2).to(device)
        teacher = nn.Linear(4, 2)
        for (x,) in DataLoader(TensorDataset(torch.randn(8, 4)), batch_size=4):
            with torch.no_grad():
                target = teacher(x).to(device)
            nn.functional.mse_loss(model(x.to(device)), target).backward()
        """,
        id="teacher-on-the-cpu",
    ),
    pytest.param(
        """
        class Prefetcher:
            def __init__(self, loader):
                self.loader = iter(loader)
                self.stream = torch.cuda.Stream()
                self.preload()

            def preload(self):
                try:
                    self.x, self.y = next(self.loader)
                except StopIteration:
                    self.x = None
                    return
                with torch.cuda.stream(self.stream):
                    self.x = self.x.cuda(non_blocking=True)
                    self.y = self.y.cuda(non_blocking=True)

            def next(self):
                torch.cuda.current_stream().wait_stream(self.stream)
                x, y = self.x, self.y
                self.preload()
                return x, y


        loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
        model = nn.Linear(4, 2).cuda()
        prefetcher = Prefetcher(loader)
        x, y = prefetcher.next()
        while x is not None:
            nn.functional.cross_entropy(model(x), y).backward()
            x, y = prefetcher.next()
        """,
        id="prefetcher",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
        model = nn.Linear(4, 2).to(device)
        weights = torch.tensor(0.5)
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            (nn.functional.cross_entropy(model(x), y) * weights).backward()
        """,
        id="scalar-on-the-cpu",
    ),
    pytest.param(
        """
        def train(model, loader):
            for x, y in loader:
                x = x.to("cuda")
                nn.functional.cross_entropy(model(x), y).backward()
        """,
        id="nothing-runs",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
        model = nn.Linear(4, 2).to(device)
        move = lambda t: t.to(device)
        for x, y in loader:
            x, y = move(x), move(y)
            nn.functional.cross_entropy(model(x), y).backward()
        """,
        id="moved-by-a-lambda",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
        model = nn.Linear(4, 2).to(device)
        for batch in loader:
            for i in range(len(batch)):
                batch[i] = batch[i].to(device)
            nn.functional.cross_entropy(model(batch[0]), batch[1]).backward()
        """,
        id="moved-by-index",
    ),
    pytest.param(
        """
        class Pairs(Dataset):
            def __len__(self):
                return 8

            def __getitem__(self, index):
                return {"x": torch.randn(4), "y": torch.tensor(index % 2)}


        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2).to(device)
        for batch in DataLoader(Pairs(), batch_size=4):
            for key in batch:
                batch[key] = batch[key].to(device)
            nn.functional.cross_entropy(model(batch["x"]), batch["y"]).backward()
        """,
        id="moved-by-key",
    ),
]


@pytest.mark.parametrize("listing", REWRITES)
def test_the_forgotten_part_of_a_batch_is_moved_as_its_author_would(listing, before_and_after, repair):
    before, after = before_and_after(listing)

    assert repair(CODE, before) == after
    assert repair(CODE, after) == after


@pytest.mark.parametrize("listing", UNTOUCHED)
def test_a_batch_that_is_right_stays_as_it_is(listing, unchanged, repair):
    text = unchanged(listing)

    assert repair(CODE, text) == text


PROJECTS = [
    pytest.param(
        {
            "data.py": """
                import torch
                from torch.utils.data import DataLoader, TensorDataset


                def loaders():
                    data = TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,)))
                    return DataLoader(data, batch_size=4), DataLoader(data, batch_size=8)
            """,
            "engine.py": """
                  import torch
                  from torch import nn


                  def train_one_epoch(model, loader, optimizer, device):
                      for x, y in loader:
                          x = x.to(device, non_blocking=True)
                          y = y.to(device, non_blocking=True)
                          optimizer.zero_grad()
                          nn.functional.cross_entropy(model(x), y).backward()
                          optimizer.step()


                  @torch.no_grad()
                  def evaluate(model, loader, device):
                      total = 0
                      for x, y in loader:
                          x = x.to(device, non_blocking=True)
                +         y = y.to(device, non_blocking=True)
                          total += (model(x).argmax(1) == y).sum().item()
                      return total
            """,
            "main.py": """
                import torch
                from torch import nn

                from data import loaders
                from engine import evaluate, train_one_epoch


                def main():
                    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
                    train, test = loaders()
                    model = nn.Linear(4, 2).to(device)
                    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                    train_one_epoch(model, train, optimizer, device)
                    print(evaluate(model, test, device))


                if __name__ == "__main__":
                    main()
            """,
        },
        id="engine-file",
    ),
    pytest.param(
        {
            "pkg/__init__.py": "",
            "pkg/base.py": """
                class BaseTrainer:
                    def __init__(self, model, device):
                        self.device = device
                        self.model = model.to(device)

                    def fit(self, loader):
                        for batch in loader:
                            self.step(batch).backward()
            """,
            "pkg/classify.py": """
                  from torch import nn

                  from .base import BaseTrainer


                  class Classifier(BaseTrainer):
                      def __init__(self, model, device):
                          super().__init__(model, device)
                          self.criterion = nn.CrossEntropyLoss()

                      def step(self, batch):
                          x, y = batch
                +         x = x.to(self.device, non_blocking=True)
                +         y = y.to(self.device, non_blocking=True)
                          return self.criterion(self.model(x), y)
            """,
            "run.py": """
                import torch
                from torch import nn
                from torch.utils.data import DataLoader, TensorDataset

                from pkg.classify import Classifier

                data = TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,)))
                Classifier(nn.Linear(4, 2), torch.device("cuda")).fit(DataLoader(data, batch_size=4))
            """,
        },
        id="base-class-knows-the-device",
    ),
    pytest.param(
        {
            "helpers.py": """
                def to_device(batch, device):
                    return {key: value.to(device) for key, value in batch.items()}
            """,
            "train.py": """
                  import torch
                  from torch import nn
                  from torch.utils.data import DataLoader, Dataset

                  from helpers import to_device


                  class Pairs(Dataset):
                      def __len__(self):
                          return 8

                      def __getitem__(self, index):
                          return {"x": torch.randn(4), "y": torch.tensor(index % 2)}


                  device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
                  model = nn.Linear(4, 2).to(device)
                  loader = DataLoader(Pairs(), batch_size=4)
                  for batch in loader:
                      batch = to_device(batch, device)
                      nn.functional.cross_entropy(model(batch["x"]), batch["y"]).backward()
                  for batch in loader:
                +     batch = to_device(batch, device)
                      print(nn.functional.cross_entropy(model(batch["x"]), batch["y"]))
            """,
        },
        id="helper-of-another-file",
    ),
]


@pytest.mark.parametrize("listings", PROJECTS)
def test_only_the_file_with_the_loop_changes(listings, files_before_and_after, repair):
    before, after = files_before_and_after(listings)

    assert repair(CODE, before) == after
