"""DEV401 by example: what moves behind the move of the model, and what keeps its place."""

from __future__ import annotations

import pytest

CODE = "DEV401"

REWRITES = [
    pytest.param(
        """
          def build():
              model = nn.Linear(4, 2)
              return model, torch.optim.Adam(model.parameters())

          def restore(model, optimizer, path):
              saved = torch.load(path, map_location="cpu")
              model.load_state_dict(saved["model"])
              optimizer.load_state_dict(saved["optimizer"])
              return saved["epoch"]

          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model, optimizer = build()
        + model.to(device)
          first = restore(model, optimizer, "last.pt")
        - model.to(device)
          model(torch.randn(2, 4, device=device)).sum().backward()
          optimizer.step()
        """,
        id="built-together-restored-by-another-function",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2)
        - optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
          model.to(device)
        + optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
          model(torch.randn(2, 4, device=device)).sum().backward()
          optimizer.step()
        """,
        id="adagrad",
    ),
    pytest.param(
        """
          from torch import optim

          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2)
        - optimizer = optim.AdamW(model.parameters(), lr=0.1, fused=True)
          model = model.to(device)
        + optimizer = optim.AdamW(model.parameters(), lr=0.1, fused=True)
          model(torch.randn(2, 4, device=device)).sum().backward()
          optimizer.step()
        """,
        id="fused",
    ),
    pytest.param(
        """
          model = nn.Linear(4, 2)
        - optimizer = torch.optim.Adam(model.parameters(), capturable=True)
          model.cuda()
        + optimizer = torch.optim.Adam(model.parameters(), capturable=True)
          model(torch.randn(2, 4).cuda()).sum().backward()
          optimizer.step()
        """,
        id="capturable",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2)
        - optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
        - scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
          model.to(device)
        + optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
        + scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
          model(torch.randn(2, 4, device=device)).sum().backward()
          optimizer.step()
          scheduler.step()
        """,
        id="scheduler-comes-along",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2)
        - # the optimizer
        - optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)  # not Adam

          # the accelerator
          model.to(device)
        + # the optimizer
        + optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)  # not Adam

          model(torch.randn(2, 4, device=device)).sum().backward()
          optimizer.step()
        """,
        id="comments-come-along",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
        - optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
          model[1] = nn.Linear(8, 3).to(device)
        + optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
          model(torch.randn(2, 4, device=device)).sum().backward()
          optimizer.step()
        """,
        id="head-replaced-after",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2)
        - optimizer = torch.optim.Adam(model.parameters())
          checkpoint = torch.load("last.pt", map_location=device)
          model.load_state_dict(checkpoint["model"])
        - optimizer.load_state_dict(checkpoint["optimizer"])
          model.to(device)
        + optimizer = torch.optim.Adam(model.parameters())
        + optimizer.load_state_dict(checkpoint["optimizer"])
          model(torch.randn(2, 4, device=device)).sum().backward()
          optimizer.step()
        """,
        id="resumed-before-the-move",
    ),
    pytest.param(
        """
          class Trainer:
              def __init__(self, model, device):
                  self.model = model
        -         self.optimizer = torch.optim.Adagrad(self.model.parameters())
                  self.model.to(device)
        +         self.optimizer = torch.optim.Adagrad(self.model.parameters())
                  self.device = device

              def step(self, x):
                  self.model(x.to(self.device)).sum().backward()
                  self.optimizer.step()


          Trainer(nn.Linear(4, 2), torch.device("cuda")).step(torch.randn(2, 4))
        """,
        id="trainer-class",
    ),
    pytest.param(
        """
          def main():
              device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
              net = nn.Linear(4, 2)
              criterion = nn.MSELoss()
        -     opt = torch.optim.Adagrad(net.parameters())
              net.to(device)
        +     opt = torch.optim.Adagrad(net.parameters())
              for _ in range(3):
                  x = torch.randn(2, 4, device=device)
                  loss = criterion(net(x), x[:, :2])
                  opt.zero_grad()
                  loss.backward()
                  opt.step()


          if __name__ == "__main__":
              main()
        """,
        id="main",
    ),
    pytest.param(
        """
          import argparse

          parser = argparse.ArgumentParser()
          parser.add_argument("--cuda", action="store_true")
          args = parser.parse_args()
          model = nn.Linear(4, 2)
        - optimizer = torch.optim.Adagrad(model.parameters())
          if args.cuda:
              model.cuda()
        + optimizer = torch.optim.Adagrad(model.parameters())
          x = torch.randn(2, 4)
          if args.cuda:
              x = x.cuda()
          model(x).sum().backward()
          optimizer.step()
        """,
        id="cuda-flag",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          generator, critic = nn.Linear(4, 4), nn.Linear(4, 1)
        - g_opt = torch.optim.Adagrad(generator.parameters())
        - c_opt = torch.optim.Adagrad(critic.parameters())
          generator.to(device)
        + g_opt = torch.optim.Adagrad(generator.parameters())
          critic.to(device)
        + c_opt = torch.optim.Adagrad(critic.parameters())
          critic(generator(torch.randn(2, 4, device=device))).sum().backward()
          g_opt.step()
          c_opt.step()
        """,
        id="two-optimizers",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2)
        - optimizer = torch.optim.Adagrad(
        -     [
        -         {"params": [model.weight], "lr": 0.1},
        -         {"params": [model.bias], "lr": 0.2},
        -     ]
        - )
          model.to(device)
        + optimizer = torch.optim.Adagrad(
        +     [
        +         {"params": [model.weight], "lr": 0.1},
        +         {"params": [model.bias], "lr": 0.2},
        +     ]
        + )
          model(torch.randn(2, 4, device=device)).sum().backward()
          optimizer.step()
        """,
        id="parameter-groups",
    ),
    pytest.param(
        """
          def build_optimizer(model, lr=0.1):
              return torch.optim.Adagrad(model.parameters(), lr=lr)


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2)
        - optimizer = build_optimizer(model)
          model.to(device)
        + optimizer = build_optimizer(model)
          model(torch.randn(2, 4, device=device)).sum().backward()
          optimizer.step()
        """,
        id="builder-function",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2)
        - optimizer = torch.optim.Adagrad(filter(lambda p: p.requires_grad, model.parameters()), lr=0.1)
          loader = DataLoader(TensorDataset(torch.randn(8, 4)), batch_size=4)
          model.to(device)
        + optimizer = torch.optim.Adagrad(filter(lambda p: p.requires_grad, model.parameters()), lr=0.1)
          for (x,) in loader:
              model(x.to(device)).sum().backward()
              optimizer.step()
        """,
        id="filtered",
    ),
    pytest.param(
        """
          OPTIMIZERS = {"adagrad": torch.optim.Adagrad, "sgd": torch.optim.SGD}
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2)
        - optimizer = OPTIMIZERS["adagrad"](model.parameters(), lr=0.1)
          model.to(device)
        + optimizer = OPTIMIZERS["adagrad"](model.parameters(), lr=0.1)
          model(torch.randn(2, 4, device=device)).sum().backward()
          optimizer.step()
        """,
        id="dictionary-of-optimizers",
    ),
    pytest.param(
        """
          from functools import partial

          make = partial(torch.optim.Adagrad, lr=0.1)
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2)
        - optimizer = make(model.parameters())
          model.to(device)
        + optimizer = make(model.parameters())
          model(torch.randn(2, 4, device=device)).sum().backward()
          optimizer.step()
        """,
        id="partial",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2)
        - optimizer = torch.optim.Adagrad(model.parameters())
        - print(f"optimizer {optimizer}")
          model.to(device)
        + optimizer = torch.optim.Adagrad(model.parameters())
        + print(f"optimizer {optimizer}")
          model(torch.randn(2, 4, device=device)).sum().backward()
          optimizer.step()
        """,
        id="what-reads-it-comes-along",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
        - optimizer = torch.optim.Adam(model.parameters())
          model[1] = nn.Linear(8, 3)
          model.to(device)
        + optimizer = torch.optim.Adam(model.parameters())
          model(torch.randn(2, 4, device=device)).sum().backward()
          optimizer.step()
        """,
        id="replaced-then-moved",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2)
        - optimizer = torch.optim.Adagrad(model.parameters())
        - lr = optimizer.param_groups[0]["lr"]
          if device.type == "cuda":
              print("cuda")
          model.to(device)
        + optimizer = torch.optim.Adagrad(model.parameters())
        + lr = optimizer.param_groups[0]["lr"]
          model(torch.randn(2, 4, device=device)).sum().backward()
          optimizer.step()
          print(lr)
        """,
        id="derived-values",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2)
        - optimizer = torch.optim.Adagrad(model.parameters())
          scaler = torch.amp.GradScaler("cuda")
        - scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
          model = model.to(device)
        + optimizer = torch.optim.Adagrad(model.parameters())
        + scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
          with torch.autocast("cuda"):
              loss = model(torch.randn(2, 4, device=device)).sum()
          scaler.scale(loss).backward()
          scaler.step(optimizer)
          scaler.update()
          scheduler.step()
        """,
        id="scaler-may-stay",
    ),
    pytest.param(
        """
          def setup(args, device):
              model = nn.Linear(4, 2)
        -     optimizer = torch.optim.Adagrad(model.parameters(), lr=args["lr"])
              if args["resume"]:
                  model.load_state_dict(torch.load(args["resume"], map_location="cpu"))
              model.to(device)
        +     optimizer = torch.optim.Adagrad(model.parameters(), lr=args["lr"])
              return model, optimizer


          model, optimizer = setup({"lr": 0.1, "resume": "model.pt"}, "cuda")
          model(torch.randn(2, 4, device="cuda")).sum().backward()
          optimizer.step()
        """,
        id="returned-from-setup",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2)
        - if device.type == "cuda":
        -     optimizer = torch.optim.AdamW(model.parameters(), fused=True)
        - else:
        -     optimizer = torch.optim.AdamW(model.parameters())
          model.to(device)
        + if device.type == "cuda":
        +     optimizer = torch.optim.AdamW(model.parameters(), fused=True)
        + else:
        +     optimizer = torch.optim.AdamW(model.parameters())
          model(torch.randn(2, 4, device=device)).sum().backward()
          optimizer.step()
        """,
        id="built-under-an-if",
    ),
    pytest.param(
        """
          import itertools

          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          encoder, decoder = nn.Linear(4, 2), nn.Linear(2, 4)
        - optimizer = torch.optim.Adagrad(itertools.chain(encoder.parameters(), decoder.parameters()))
          encoder.to(device)
          decoder.to(device)
        + optimizer = torch.optim.Adagrad(itertools.chain(encoder.parameters(), decoder.parameters()))
          decoder(encoder(torch.randn(2, 4, device=device))).sum().backward()
          optimizer.step()
        """,
        id="chained-parameters",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2)
          params = list(model.parameters())
        - optimizer = torch.optim.Adagrad(params)
          model.to(device)
        + optimizer = torch.optim.Adagrad(params)
          model(torch.randn(2, 4, device=device)).sum().backward()
          optimizer.step()
        """,
        id="list-of-parameters",
    ),
    pytest.param(
        """
          class SlowWeights:
              def __init__(self, optimizer):
                  self.optimizer = optimizer
                  self.slow = [[p.detach().clone() for p in group["params"]] for group in optimizer.param_groups]

              def step(self):
                  self.optimizer.step()
                  for group, slow in zip(self.optimizer.param_groups, self.slow):
                      for p, q in zip(group["params"], slow):
                          q.add_(p.data - q, alpha=0.5)


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2)
        - optimizer = SlowWeights(torch.optim.SGD(model.parameters(), lr=0.1))
          model.to(device)
        + optimizer = SlowWeights(torch.optim.SGD(model.parameters(), lr=0.1))
          model(torch.randn(2, 4, device=device)).sum().backward()
          optimizer.step()
        """,
        id="wrapper-copies-parameters",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2)
        - optimizer, epochs = torch.optim.Adagrad(model.parameters()), 3
          model.to(device)
        + optimizer, epochs = torch.optim.Adagrad(model.parameters()), 3
          for _ in range(epochs):
              model(torch.randn(2, 4, device=device)).sum().backward()
              optimizer.step()
        """,
        id="tuple-assignment",
    ),
    pytest.param(
        """
          try:
              import apex
          except ImportError:
              apex = None

          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2)
        - optimizer = torch.optim.Adagrad(model.parameters())
          model = nn.DataParallel(model).to(device)
        + optimizer = torch.optim.Adagrad(model.parameters())
          model(torch.randn(2, 4, device=device)).sum().backward()
          optimizer.step()
        """,
        id="moved-through-data-parallel",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2)
        - optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1); steps = 3
        + steps = 3
          model.to(device)
        + optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
          for _ in range(steps):
              model(torch.randn(2, 4, device=device)).sum().backward()
              optimizer.step()
        """,
        id="semicolon",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2)
        - averages = {n: p.detach().clone() for n, p in model.named_parameters()}
          model.to(device)
        + averages = {n: p.detach().clone() for n, p in model.named_parameters()}
          model(torch.randn(2, 4, device=device)).sum().backward()
          for n, p in model.named_parameters():
              averages[n].mul_(0.9).add_(p.detach(), alpha=0.1)
        """,
        id="averages",
    ),
    pytest.param(
        """
          class Trainer:
              def __init__(self, model, device):
                  self.model = model
        -         self.start = {k: torch.zeros_like(v) for k, v in model.state_dict().items()}
                  self.model.to(device)
        +         self.start = {k: torch.zeros_like(v) for k, v in model.state_dict().items()}

              def distance(self):
                  return sum((p - self.start[n]).norm() for n, p in self.model.named_parameters())


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          print(Trainer(nn.Linear(4, 2), device).distance())
        """,
        id="anchor-of-a-trainer",
    ),
    pytest.param(
        """
          import copy

          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2)
        - average = copy.deepcopy(model.state_dict())
          model.to(device)
        + average = copy.deepcopy(model.state_dict())
          for k, v in model.state_dict().items():
              average[k] = (average[k] + v) / 2
        """,
        id="deep-copy-of-a-state",
    ),
]

UNTOUCHED = [
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2)
        optimizer = torch.optim.Adam(model.parameters())
        model.to(device)
        model(torch.randn(2, 4, device=device)).sum().backward()
        optimizer.step()
        """,
        id="adam-keeps-its-parameters",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        model.to(device)
        model(torch.randn(2, 4, device=device)).sum().backward()
        optimizer.step()
        """,
        id="sgd-keeps-its-parameters",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2).to(device)
        optimizer = torch.optim.Adagrad(model.parameters())
        model(torch.randn(2, 4, device=device)).sum().backward()
        optimizer.step()
        """,
        id="moved-first",
    ),
    pytest.param(
        """
        model = nn.Linear(4, 2)
        optimizer = torch.optim.Adagrad(model.parameters())
        model(torch.randn(2, 4)).sum().backward()
        optimizer.step()
        """,
        id="all-on-the-cpu",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2).to(device)
        optimizer = torch.optim.Adagrad(model.parameters())
        model.to(device)
        model(torch.randn(2, 4, device=device)).sum().backward()
        optimizer.step()
        """,
        id="moved-twice",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2)
        optimizer = torch.optim.Adam(model.parameters(), fused=False)
        model.to(device)
        model(torch.randn(2, 4, device=device)).sum().backward()
        optimizer.step()
        """,
        id="not-fused",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model[1] = nn.Linear(8, 3).to(device)
        optimizer.add_param_group({"params": model[1].parameters()})
        model(torch.randn(2, 4, device=device)).sum().backward()
        optimizer.step()
        """,
        id="group-added",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model(torch.randn(2, 4, device=device)).sum().backward()
        optimizer.step()
        model[1] = nn.Linear(8, 3).to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model(torch.randn(2, 4, device=device)).sum().backward()
        optimizer.step()
        """,
        id="rebuilt",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
        optimizer = torch.optim.SGD(model[0].parameters(), lr=0.1)
        model[1] = nn.Linear(8, 3).to(device)
        for parameter in model[1].parameters():
            parameter.requires_grad = False
        model(torch.randn(2, 4, device=device)).sum().backward()
        optimizer.step()
        """,
        id="new-head-is-frozen",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1)).to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model[1] = nn.Dropout(0.5)
        model(torch.randn(2, 4, device=device)).sum().backward()
        optimizer.step()
        """,
        id="replaced-part-has-no-weights",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2)
        optimizer = torch.optim.Adagrad(model.parameters())
        model.to(device)
        print(optimizer)
        """,
        id="never-steps",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2).to(device)
        optimizer = torch.optim.Adam(model.parameters())
        checkpoint = torch.load("last.pt", map_location=device)
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        model(torch.randn(2, 4, device=device)).sum().backward()
        optimizer.step()
        """,
        id="resumed-after-the-move",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        optimizer.load_state_dict(torch.load("last.pt", map_location="cpu"))
        model.to(device)
        model(torch.randn(2, 4, device=device)).sum().backward()
        optimizer.step()
        """,
        id="sgd-has-no-state",
    ),
    pytest.param(
        """
        from accelerate import Accelerator

        accelerator = Accelerator()
        model = nn.Linear(4, 2)
        optimizer = torch.optim.Adagrad(model.parameters())
        model, optimizer = accelerator.prepare(model, optimizer)
        accelerator.backward(model(torch.randn(2, 4, device=accelerator.device)).sum())
        optimizer.step()
        """,
        id="accelerate",
    ),
    pytest.param(
        """
        import pytorch_lightning as pl


        class Lit(pl.LightningModule):
            def __init__(self):
                super().__init__()
                self.net = nn.Linear(4, 2)

            def configure_optimizers(self):
                return torch.optim.Adagrad(self.net.parameters())

            def training_step(self, batch, index):
                return self.net(batch[0]).sum()


        pl.Trainer(accelerator="gpu").fit(Lit())
        """,
        id="lightning",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2)
        optimizer = torch.optim.Adagrad(model.parameters())
        model.train()
        model.zero_grad()
        for name, parameter in model.named_parameters():
            print(name, parameter.shape)
        model(torch.randn(2, 4)).sum().backward()
        optimizer.step()
        """,
        id="only-its-mode-changes",
    ),
    pytest.param(
        """
        import copy

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2)
        optimizer = torch.optim.Adagrad(model.parameters())
        best = copy.deepcopy(model).to(device)
        model(torch.randn(2, 4)).sum().backward()
        optimizer.step()
        """,
        id="a-copy-is-moved",
    ),
    pytest.param(
        """
        import argparse

        parser = argparse.ArgumentParser()
        parser.add_argument("--cuda", action="store_true")
        args = parser.parse_args()
        model = nn.Linear(4, 2)
        if args.cuda:
            model.cuda()
        optimizer = torch.optim.Adagrad(model.parameters())
        x = torch.randn(2, 4)
        if args.cuda:
            x = x.cuda()
        model(x).sum().backward()
        optimizer.step()
        """,
        id="flag-first",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2)
        optimizer = torch.optim.Adagrad(model.parameters())
        model.to(device)
        optimizer = torch.optim.Adagrad(model.parameters())
        model(torch.randn(2, 4, device=device)).sum().backward()
        optimizer.step()
        """,
        id="built-again",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
        head = nn.Linear(8, 3).to(device)
        optimizer = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.1)
        model[1] = head
        model(torch.randn(2, 4, device=device)).sum().backward()
        optimizer.step()
        """,
        id="head-was-in-it-already",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
        body = torch.optim.SGD(model[0].parameters(), lr=0.1)
        model[1] = nn.Linear(8, 3).to(device)
        head = torch.optim.SGD(model[1].parameters(), lr=0.1)
        model(torch.randn(2, 4, device=device)).sum().backward()
        body.step()
        head.step()
        """,
        id="another-optimizer-holds-it",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2)
        optimizer = torch.optim.Adam(model.parameters())
        for epoch in range(2):
            model.to(device)
            model(torch.randn(2, 4, device=device)).sum().backward()
            optimizer.step()
            model.cpu()
            torch.save(model.state_dict(), "model.pt")
        """,
        id="saved-from-the-cpu",
    ),
    pytest.param(
        """
        def train(model, device):
            optimizer = torch.optim.Adagrad(model.parameters())
            model.to(device)
            model(torch.randn(2, 4, device=device)).sum().backward()
            optimizer.step()
        """,
        id="nothing-runs",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        student, teacher = nn.Linear(4, 2).to(device), nn.Linear(4, 2)
        optimizer = torch.optim.Adagrad(student.parameters())
        teacher.to(device)
        x = torch.randn(2, 4, device=device)
        (student(x) - teacher(x)).pow(2).mean().backward()
        optimizer.step()
        """,
        id="another-model-moves",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        z = torch.zeros(4, device=device, requires_grad=True)
        model = nn.Linear(4, 2)
        optimizer = torch.optim.Adagrad([z])
        model.to(device)
        model(z).sum().backward()
        optimizer.step()
        """,
        id="optimizes-a-tensor",
    ),
    pytest.param(
        """
        device = torch.device("cpu")
        model = nn.Linear(4, 2)
        optimizer = torch.optim.Adagrad(model.parameters())
        model.to(device)
        model(torch.randn(2, 4, device=device)).sum().backward()
        optimizer.step()
        """,
        id="moved-to-the-cpu",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2)
        optimizer = torch.optim.Adagrad(model.parameters())
        model.half()
        model(torch.randn(2, 4).half()).sum().backward()
        optimizer.step()
        """,
        id="only-its-dtype-changes",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2)
        before = {n: p.detach().clone() for n, p in model.named_parameters()}
        model.to(device)
        print(sum((p.detach().cpu() - before[n]).norm() for n, p in model.named_parameters()))
        """,
        id="copies-for-the-host",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2)
        before = [p.detach().clone() for p in model.parameters()]
        model.to(device)
        print(sum((p - b.to(p.device)).norm() for p, b in zip(model.parameters(), before)))
        """,
        id="copies-brought-at-use",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2)
        before = [p.detach().clone() for p in model.parameters()]
        with torch.no_grad():
            for p, b in zip(model.parameters(), before):
                p.copy_(b)
        model.to(device)
        """,
        id="copies-used-before-the-move",
    ),
]


@pytest.mark.parametrize("listing", REWRITES)
def test_the_optimizer_is_built_where_its_parameters_are_in_place(listing, before_and_after, repair):
    before, after = before_and_after(listing)

    assert repair(CODE, before) == after
    assert repair(CODE, after) == after


@pytest.mark.parametrize("listing", UNTOUCHED)
def test_an_optimizer_that_is_right_stays_as_it_is(listing, unchanged, repair):
    text = unchanged(listing)

    assert repair(CODE, text) == text


PROJECTS = [
    pytest.param(
        {
            "optimizers.py": """
                import torch


                def build(name, model, lr):
                    if name == "adagrad":
                        return torch.optim.Adagrad(model.parameters(), lr=lr)
                    return torch.optim.SGD(model.parameters(), lr=lr)
            """,
            "train.py": """
                  import torch
                  from torch import nn

                  from optimizers import build

                  device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
                  model = nn.Linear(4, 2)
                - optimizer = build("adagrad", model, 0.1)
                  model.to(device)
                + optimizer = build("adagrad", model, 0.1)
                  model(torch.randn(2, 4, device=device)).sum().backward()
                  optimizer.step()
            """,
        },
        id="builder-in-another-file",
    ),
    pytest.param(
        {
            "setup.py": """
                  import torch
                  from torch import nn


                  def prepare(device):
                      model = nn.Linear(4, 2)
                -     optimizer = torch.optim.AdamW(model.parameters(), fused=True)
                      model.to(device)
                +     optimizer = torch.optim.AdamW(model.parameters(), fused=True)
                      return model, optimizer
            """,
            "train.py": """
                import torch

                from setup import prepare

                device = torch.device("cuda")
                model, optimizer = prepare(device)
                model(torch.randn(2, 4, device=device)).sum().backward()
                optimizer.step()
            """,
        },
        id="prepared-in-another-file",
    ),
]


@pytest.mark.parametrize("listings", PROJECTS)
def test_only_the_file_that_builds_it_changes(listings, files_before_and_after, repair):
    before, after = files_before_and_after(listings)

    assert repair(CODE, before) == after
