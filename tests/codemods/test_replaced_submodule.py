"""DEV201 by example: where the second move goes, how it is written, and what is left alone."""

from __future__ import annotations

import pytest

CODE = "DEV201"

REWRITES = [
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
          model.to(device)
          model[1] = nn.Linear(8, 3)
        + model.to(device)
          optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
          model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="flat",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
          model = model.to(device)
          model[1] = nn.Linear(8, 3)
        + model = model.to(device)
          model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="assigned",
    ),
    pytest.param(
        """
          DEVICE = "cuda:0" if torch.cuda.is_available() else "cpu"
          net = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(DEVICE)
          net[1] = nn.Linear(8, 3)
        + net.to(DEVICE)
          net(torch.randn(2, 4).to(DEVICE)).sum().backward()
        """,
        id="chained-move",
    ),
    pytest.param(
        """
          model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).cuda()
          model[1] = nn.Linear(8, 3)
        + model.cuda()
          model(torch.randn(2, 4).cuda()).sum().backward()
        """,
        id="cuda",
    ),
    pytest.param(
        """
          import argparse

          parser = argparse.ArgumentParser()
          parser.add_argument("--cuda", action="store_true")
          args = parser.parse_args()
          model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
          if args.cuda:
              model.cuda()
          model[1] = nn.Linear(8, 3)
        + if args.cuda:
        +     model.cuda()
          x = torch.randn(2, 4)
          if args.cuda:
              x = x.cuda()
          model(x).sum().backward()
        """,
        id="cuda-flag",
    ),
    pytest.param(
        """
          class Net(nn.Module):
              def __init__(self):
                  super().__init__()
                  self.body = nn.Linear(4, 8)
                  self.fc = nn.Linear(8, 2)

              def forward(self, x):
                  return self.fc(torch.relu(self.body(x)))


          def main():
              device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
              model = Net().to(device)
              model.fc = nn.Linear(8, 3)
        +     model.to(device)
              optimizer = torch.optim.Adam(model.parameters())
              x = torch.randn(2, 4, device=device)
              model(x).sum().backward()
              optimizer.step()


          if __name__ == "__main__":
              main()
        """,
        id="main",
    ),
    pytest.param(
        """
          class Net(nn.Module):
              def __init__(self):
                  super().__init__()
                  self.body = nn.Linear(4, 8)
                  self.fc = nn.Linear(8, 2)

              def forward(self, x):
                  return self.fc(self.body(x))


          class Trainer:
              def __init__(self, device):
                  self.device = device
                  self.model = Net().to(self.device)
                  self.model.fc = nn.Linear(8, 3)
        +         self.model.to(self.device)
                  self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

              def step(self, x):
                  self.model(x.to(self.device)).sum().backward()
                  self.optimizer.step()


          Trainer(torch.device("cuda" if torch.cuda.is_available() else "cpu")).step(torch.randn(2, 4))
        """,
        id="trainer-class",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.ModuleDict({"body": nn.Linear(4, 8)}).to(device)
          for task in ("a", "b"):
              model[task] = nn.Linear(8, 3)
        + model.to(device)
          x = torch.randn(2, 4, device=device)
          (model["a"](model["body"](x)).sum() + model["b"](model["body"](x)).sum()).backward()
        """,
        id="loop-of-heads",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Sequential(nn.Linear(4, 8))
          model.to(device)
          model.add_module("head", nn.Linear(8, 2))
        + model.to(device)
          model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="add-module",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
          model.to(device)
          setattr(model, "1", nn.Linear(8, 3))
        + model.to(device)
          model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="setattr",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Sequential(nn.Linear(4, 8))
          model.to(device)
          model.append(nn.Linear(8, 2))
          model.append(nn.Linear(2, 1))
        + model.to(device)
          model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="append-twice-one-move",
    ),
    pytest.param(
        """
          class Backbone(nn.Module):
              def __init__(self):
                  super().__init__()
                  self.layers = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
                  self.classifier = nn.Sequential(nn.Dropout(0.1), nn.Linear(8, 10))

              def forward(self, x):
                  return self.classifier(self.layers(x))


          def build(num_classes):
              model = Backbone()
              model.to(device)
              in_features = model.classifier[1].in_features
              model.classifier[1] = nn.Linear(in_features, num_classes)
        +     model.to(device)
              return model


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = build(3)
          model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="function-with-global-device",
    ),
    pytest.param(
        """
          def replace_head(model, classes):
              model[1] = nn.Linear(8, classes)


          def run(device):
              model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
              model.to(device)
              replace_head(model, 3)
        +     model.to(device)
              model(torch.randn(2, 4, device=device)).sum().backward()


          run(torch.device("cuda"))
        """,
        id="device-known-to-the-caller-only",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
          model.to(device)
          del model[1]
          # the new task has three classes
          model.append(nn.Linear(8, 3))  # the head
        + model.to(device)

          # train it
          model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="comments-stay-where-they-are",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
          model.to(device)
          if torch.rand(1).item() > 0.5:
              model[1] = nn.Linear(8, 3)
        +     model.to(device)
          model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="replaced-under-an-if",
    ),
    pytest.param(
        """
          class Net(nn.Module):
              def __init__(self):
                  super().__init__()
                  self.body = nn.Linear(4, 8)
                  self.head = nn.Linear(8, 2)

              def reset_head(self, classes):
                  self.head = nn.Linear(8, classes)

              def forward(self, x):
                  return self.head(self.body(x))


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = Net()
          model.to(device)
          model.reset_head(3)
        + model.to(device)
          model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="method-replaces",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
          model.to(device)
          head = nn.Linear(8, 3)
          nn.init.zeros_(head.bias)
          model[1] = head
        + model.to(device)
          model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="head-has-a-name",
    ),
    pytest.param(
        """
          model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
          model.to(device="cuda", dtype=torch.float32)
          model[1] = nn.Linear(8, 3)
        + model.to(device="cuda")
          model(torch.randn(2, 4, device="cuda")).sum().backward()
        """,
        id="keyword-device-without-dtype",
    ),
    pytest.param(
        """
          from dataclasses import dataclass


          @dataclass
          class Config:
              device: str = "cuda"
              classes: int = 3


          def main(cfg):
              model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(cfg.device)
              model[1] = nn.Linear(8, cfg.classes)
        +     model.to(cfg.device)
              x = torch.randn(2, 4, device=cfg.device)
              model(x).sum().backward()


          main(Config())
        """,
        id="dataclass-config",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          student = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
          teacher = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
          teacher[1] = nn.Linear(8, 3)
        + teacher.to(device)
          student[1] = nn.Linear(8, 3)
        + student.to(device)
          x = torch.randn(2, 4, device=device)
          (student(x) - teacher(x)).sum().backward()
        """,
        id="two-models",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
          model[1].weight = nn.Parameter(torch.zeros(2, 8))
        + model.to(device)
          model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="new-parameter",
    ),
    pytest.param(
        """
          class Scaled(nn.Module):
              def __init__(self):
                  super().__init__()
                  self.body = nn.Linear(4, 8)
                  self.scale = None

              def forward(self, x):
                  x = self.body(x)
                  return x if self.scale is None else x * self.scale


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = Scaled().to(device)
          model.scale = nn.Parameter(torch.ones(8))
        + model.to(device)
          model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="parameter-added",
    ),
    pytest.param(
        """
          class Scaled(nn.Module):
              def __init__(self):
                  super().__init__()
                  self.body = nn.Linear(4, 8)

              def forward(self, x):
                  return self.body(x) * self.scale


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = Scaled().to(device)
          model.register_buffer("scale", torch.ones(8))
        + model.to(device)
          model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="buffer-added",
    ),
    pytest.param(
        """
          class LoRA(nn.Module):
              def __init__(self, base, rank):
                  super().__init__()
                  self.base = base
                  self.down = nn.Linear(base.in_features, rank)
                  self.up = nn.Linear(rank, base.out_features)

              def forward(self, x):
                  return self.base(x) + self.up(self.down(x))


          def inject(model, rank=4):
              for name, child in model.named_children():
                  if isinstance(child, nn.Linear):
                      setattr(model, name, LoRA(child, rank))
                  else:
                      inject(child, rank)


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Sequential(nn.Linear(4, 8), nn.Sequential(nn.Linear(8, 2)))
          model.to(device)
          inject(model)
        + model.to(device)
          model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="recursive-injection",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Sequential(nn.Linear(4, 4)).to(device)
          for epoch in range(10):
              if epoch % 3 == 2:
                  model.append(nn.Linear(4, 4))
        +         model.to(device)
              optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
              loss = model(torch.randn(2, 4, device=device)).sum()
              loss.backward()
              optimizer.step()
        """,
        id="grows-while-training",
    ),
    pytest.param(
        """
          import click


          @click.command()
          @click.option("--device", default="cuda")
          @click.option("--classes", default=3)
          def main(device, classes):
              model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
              model.to(device)
              model[-1] = nn.Linear(8, classes)
        +     model.to(device)
              model(torch.randn(2, 4).to(device)).sum().backward()


          if __name__ == "__main__":
              main()
        """,
        id="click",
    ),
    pytest.param(
        """
          import argparse


          def parse():
              parser = argparse.ArgumentParser()
              parser.add_argument("--device", default="cuda", type=str)
              return parser.parse_args()


          def main(args):
              model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
              model = model.to(args.device)
              model[1] = nn.Linear(8, 3)
        +     model = model.to(args.device)
              model(torch.randn(2, 4, device=args.device)).sum().backward()


          if __name__ == "__main__":
              main(parse())
        """,
        id="argparse-device",
    ),
    pytest.param(
        """
          def get_device():
              return torch.device("cuda" if torch.cuda.is_available() else "cpu")


          model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(get_device())
          model[1] = nn.Linear(8, 3)
        + model.to(get_device())
          model(torch.randn(2, 4, device=get_device())).sum().backward()
        """,
        id="get-device",
    ),
    pytest.param(
        """
          from torchvision import models

          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = models.resnet18(weights="DEFAULT").to(device)
          for param in model.parameters():
              param.requires_grad = False
          num_ftrs = model.fc.in_features
          model.fc = nn.Linear(num_ftrs, 2)
        + model.to(device)

          optimizer = torch.optim.SGD(model.fc.parameters(), lr=0.001, momentum=0.9)
          outputs = model(torch.randn(2, 3, 64, 64, device=device))
          outputs.sum().backward()
          optimizer.step()
        """,
        id="torchvision",
    ),
    pytest.param(
        """
          from transformers import AutoModelForSequenceClassification

          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased")
          model.to(device)
          model.classifier = nn.Linear(model.config.hidden_size, 5)
        + model.to(device)
          ids = torch.randint(0, 100, (2, 8), device=device)
          model(input_ids=ids, labels=torch.zeros(2, dtype=torch.long, device=device)).loss.backward()
        """,
        id="transformers",
    ),
    pytest.param(
        """
          class Encoder(nn.Module):
              def __init__(self):
                  super().__init__()
                  self.net = nn.Sequential(nn.Linear(4, 8), nn.ReLU())

              def forward(self, x):
                  return self.net(x)


          class Trainer:
              def __init__(self, config):
                  self.device = torch.device(config["device"])
                  self.encoder = Encoder().to(self.device)
                  self.setup_head(config["classes"])

              def setup_head(self, classes):
                  self.encoder.net.append(nn.Linear(8, classes))
        +         self.encoder.to(self.device)

              def fit(self):
                  x = torch.randn(2, 4).to(self.device)
                  self.encoder(x).sum().backward()


          Trainer({"device": "cuda", "classes": 3}).fit()
        """,
        id="trainer-setup-method",
    ),
    pytest.param(
        """
          def make_trainer(device):
              model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)

              def change_head(classes):
                  model[1] = nn.Linear(8, classes)
        +         model.to(device)

              def train(x):
                  model(x.to(device)).sum().backward()

              return change_head, train


          change_head, train = make_trainer(torch.device("cuda"))
          change_head(3)
          train(torch.randn(2, 4))
        """,
        id="closure",
    ),
    pytest.param(
        """
          model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
          gpu = 0
          torch.cuda.set_device(gpu)
          model = model.cuda(gpu)
          model[1] = nn.Linear(8, 3)
        + model = model.cuda(gpu)
          model(torch.randn(2, 4).cuda(gpu)).sum().backward()
        """,
        id="gpu-number",
    ),
    pytest.param(
        """
          model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
          if torch.cuda.is_available():
              model = model.cuda()
          model[1] = nn.Linear(8, 3)
        + if torch.cuda.is_available():
        +     model = model.cuda()
          x = torch.randn(2, 4)
          if torch.cuda.is_available():
              x = x.cuda()
          model(x).sum().backward()
        """,
        id="cuda-if-available",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
          model[1] = nn.Sequential(
              nn.Linear(8, 4),
              nn.ReLU(),
              nn.Linear(4, 3),
          )
        + model.to(device)
          model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="several-lines",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
          x = torch.randn(2, 4, device=device)
          print(model(x).mean())
        - model[1] = nn.Linear(8, 3); model.train()
        + model[1] = nn.Linear(8, 3); model.to(device); model.train()
          model(x).sum().backward()
        """,
        id="semicolon",
    ),
    pytest.param(
        """
          device = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else torch.device("cpu")
          model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
          model[1] = nn.Linear(8, 3)
        + model.to(device)
          model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="accelerator-api",
    ),
    pytest.param(
        """
          if torch.cuda.is_available():
              device = torch.device("cuda")
          elif torch.backends.mps.is_available():
              device = torch.device("mps")
          else:
              device = torch.device("cpu")
          model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
          model[1] = nn.Linear(8, 3)
        + model.to(device)
          model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="device-chain",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
          model[1] = nn.Linear(8, 3)
        + model.to(device)
          model = torch.compile(model)
          model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="compiled-after",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
          try:
              model[1] = nn.Linear(8, 3)
        +     model.to(device)
          finally:
              print("head")
          model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="inside-a-try",
    ),
]

#: A model on the device whose layer gets another ``forward``; the line that gives it comes in between.
PATCHED = """
        import types

        def doubled(self, x):
            return nn.functional.linear(x, self.weight, self.bias) * 2

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 2), nn.Linear(2, 2)).to(device)
        layer = model[1]
        {}
        model(torch.randn(3, 4, device=device)).sum().backward()
"""

UNTOUCHED = [
    *(
        pytest.param(PATCHED.format(line), id=name)
        for name, line in {
            "a-method-set-on-the-object": "layer.forward = types.MethodType(doubled, layer)",
            "a-function-bound-to-the-object": "layer.forward = doubled.__get__(layer)",
            "a-lambda-for-forward": "layer.forward = lambda x: doubled(layer, x)",
            "its-own-forward-compiled": "layer.forward = torch.compile(layer.forward)",
            "its-own-forward-wrapped": "import functools; layer.forward = functools.partial(layer.forward)",
            "by-setattr": "setattr(layer, 'forward', types.MethodType(doubled, layer))",
        }.items()
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
        model[1] = nn.Linear(8, 3)
        model.to(device)
        model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="replaced-then-moved",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
        model[1] = nn.Linear(8, 3).to(device)
        model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="head-moved-inline",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
        model[1] = nn.Linear(8, 3, device=device)
        model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="head-made-there",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
        model[1] = nn.Linear(8, 3)
        model[1].to(device)
        model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="head-moved-afterwards",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
        model[1] = nn.Identity()
        model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="no-weights",
    ),
    pytest.param(
        """
        device = torch.device("cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
        model[1] = nn.Linear(8, 3)
        model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="all-on-the-cpu",
    ),
    pytest.param(
        """
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
        model[1] = nn.Linear(8, 3)
        model(torch.randn(2, 4)).sum().backward()
        """,
        id="never-moved",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
        model[1] = nn.Linear(8, 3)
        model.cpu()
        model(torch.randn(2, 4)).sum().backward()
        """,
        id="back-to-the-cpu",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
        model[1] = nn.Linear(8, 3)
        model = nn.DataParallel(model)
        model.to(device)
        model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="moved-through-a-wrapper",
    ),
    pytest.param(
        """
        torch.set_default_device("cuda")
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to("cuda")
        model[1] = nn.Linear(8, 3)
        model(torch.randn(2, 4)).sum().backward()
        """,
        id="default-device",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
        with torch.device(device):
            model[1] = nn.Linear(8, 3)
        model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="device-context",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
        old = model[1]
        model[1] = nn.Linear(8, 3).to(old.weight.device)
        model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="placed-like-the-old-layer",
    ),
    pytest.param(
        """
        def to_device(module):
            return module.cuda() if torch.cuda.is_available() else module


        model = to_device(nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)))
        model[1] = nn.Linear(8, 3)
        model = to_device(model)
        x = torch.randn(2, 4)
        if torch.cuda.is_available():
            x = x.cuda()
        model(x).sum().backward()
        """,
        id="helper-moves-again",
    ),
    pytest.param(
        """
        import argparse

        parser = argparse.ArgumentParser()
        parser.add_argument("--gpu", action="store_true")
        args = parser.parse_args()
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
        if args.gpu:
            model.cuda()
        head = nn.Linear(8, 3)
        model[1] = head.cuda() if args.gpu else head
        x = torch.randn(2, 4)
        model(x.cuda() if args.gpu else x).sum().backward()
        """,
        id="flag-decides-both",
    ),
    pytest.param(
        """
        from torchvision import models

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = models.resnet18(weights=None)
        for parameter in model.parameters():
            parameter.requires_grad = False
        model.fc = nn.Linear(model.fc.in_features, 2)
        model = model.to(device)
        model(torch.randn(2, 3, 64, 64, device=device)).sum().backward()
        """,
        id="transfer-learning-in-order",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
        model[1] = nn.Linear(8, 3)
        """,
        id="never-used",
    ),
    pytest.param(
        """
        from accelerate import Accelerator

        accelerator = Accelerator()
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(accelerator.device)
        model[1] = nn.Linear(8, 3)
        model = accelerator.prepare(model)
        model(torch.randn(2, 4, device=accelerator.device)).sum().backward()
        """,
        id="a-framework-places-it",
    ),
    pytest.param(
        """
        class Net(nn.Module):
            def __init__(self, device):
                super().__init__()
                self.body = nn.Linear(4, 8)
                self.to(device)
                self.head = nn.Linear(8, 2)
                self.to(device)

            def forward(self, x):
                return self.head(self.body(x))


        Net("cuda")(torch.randn(2, 4, device="cuda")).sum().backward()
        """,
        id="module-moves-itself",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
        spare = nn.Linear(8, 3)
        model(torch.randn(2, 4, device=device)).sum().backward()
        model[1] = spare
        torch.save(model.state_dict(), "model.pt")
        """,
        id="replaced-after-the-last-use",
    ),
    pytest.param(
        """
        import copy

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
        model[1] = copy.deepcopy(model[1])
        model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="copy-of-a-moved-part",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8)).to(device)
        model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
        model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="sync-batchnorm",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
        model[1] = nn.utils.parametrizations.weight_norm(model[1])
        model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="weight-norm",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        embed = nn.Embedding(10, 8).to(device)
        head = nn.Linear(8, 10).to(device)
        head.weight = embed.weight
        head(embed(torch.zeros(2, dtype=torch.long, device=device))).sum().backward()
        """,
        id="tied-weights",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
        model[1] = nn.Linear(8, 3).to(next(model.parameters()).device)
        model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="device-of-its-parameters",
    ),
    pytest.param(
        """
        from external_models import build_model, swap_head

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = build_model().to(device)
        swap_head(model, 3)
        model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="foreign-code",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
        model[1] = nn.Linear(8, 3)
        for module in model.modules():
            module.to(device)
        model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="every-part-is-moved",
    ),
    pytest.param(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = nn.Linear(4, 8)
                self.head = None

            def forward(self, x):
                x = self.body(x)
                if self.head is None:
                    self.head = nn.Linear(x.shape[1], 2).to(x.device)
                return self.head(x)


        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = Net().to(device)
        model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="lazy-part-follows-its-input",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
        model.to(device)
        heads = [nn.Linear(8, 3) for _ in range(2)]
        for head in heads:
            head.to(device)
        model[1] = heads[0]
        model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="heads-moved-in-a-loop",
    ),
    pytest.param(
        """
        def new_head(width, classes, device):
            head = nn.Linear(width, classes)
            return head.to(device)


        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
        model[1] = new_head(8, 3, device)
        model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="function-moves-the-head",
    ),
    pytest.param(
        """
        import pytorch_lightning as pl


        class Lit(pl.LightningModule):
            def __init__(self):
                super().__init__()
                self.net = nn.Linear(4, 8)

            def setup(self, stage):
                self.net = nn.Linear(4, 2)

            def training_step(self, batch, index):
                x, y = batch
                return nn.functional.cross_entropy(self.net(x), y)


        pl.Trainer(accelerator="gpu").fit(Lit())
        """,
        id="lightning",
    ),
    pytest.param(
        """
        import sys

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
        if len(sys.argv) > 1:
            model[1] = nn.Linear(8, 3)
            model.to(device)
        model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="moved-under-the-same-if",
    ),
    pytest.param(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = nn.Linear(4, 8)
                self.head = nn.Linear(8, 2)

            def forward(self, x):
                return self.head(self.body(x).cpu())


        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = Net().to(device)
        model.head = nn.Linear(8, 3)
        model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="head-on-the-cpu-on-purpose",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)
        model[1] = nn.Linear(8, 3)
        state = {key: value.to(device) for key, value in model.state_dict().items()}
        model = model.to(device=device, dtype=torch.float32)
        model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="moved-with-keywords",
    ),
]


@pytest.mark.parametrize("listing", REWRITES)
def test_the_model_moves_again_after_its_last_change(listing, before_and_after, repair):
    before, after = before_and_after(listing)

    assert repair(CODE, before) == after
    assert repair(CODE, after) == after


@pytest.mark.parametrize("listing", UNTOUCHED)
def test_a_model_that_is_in_place_stays_as_it_is(listing, unchanged, repair):
    text = unchanged(listing)

    assert repair(CODE, text) == text


PROJECTS = [
    pytest.param(
        {
            "models.py": """
                from torch import nn


                def build(device):
                    model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
                    return model.to(device)


                def new_head(model, classes):
                    model[1] = nn.Linear(8, classes)
            """,
            "train.py": """
                  import torch

                  from models import build, new_head

                  device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
                  model = build(device)
                  new_head(model, 3)
                + model.to(device)
                  model(torch.randn(2, 4, device=device)).sum().backward()
            """,
        },
        id="helpers-in-another-file",
    ),
    pytest.param(
        {
            "tool/__init__.py": "",
            "tool/net.py": """
                from torch import nn


                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.body = nn.Linear(4, 8)
                        self.head = nn.Linear(8, 2)

                    def forward(self, x):
                        return self.head(self.body(x))
            """,
            "tool/trainer.py": """
                  from torch import nn

                  from .net import Net


                  class Trainer:
                      def __init__(self, device):
                          self.device = device
                          self.model = Net().to(device)

                      def start_task(self, classes):
                          self.model.head = nn.Linear(8, classes)
                +         self.model.to(self.device)

                      def step(self, x):
                          self.model(x.to(self.device)).sum().backward()
            """,
            "main.py": """
                import torch

                from tool.trainer import Trainer

                trainer = Trainer(torch.device("cuda"))
                trainer.start_task(3)
                trainer.step(torch.randn(2, 4))
            """,
        },
        id="trainer-in-a-package",
    ),
    pytest.param(
        {
            "config.py": """
                import torch

                DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            """,
            "train.py": """
                  import torch
                  from torch import nn

                  import config

                  model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(config.DEVICE)
                  model[1] = nn.Linear(8, 3)
                + model.to(config.DEVICE)
                  model(torch.randn(2, 4, device=config.DEVICE)).sum().backward()
            """,
        },
        id="device-of-another-file",
    ),
]


@pytest.mark.parametrize("listings", PROJECTS)
def test_only_the_file_where_the_move_belongs_changes(listings, files_before_and_after, repair):
    before, after = files_before_and_after(listings)

    assert repair(CODE, before) == after
