"""DEV301 by example: which device a checkpoint is loaded to, in all forms of the call."""

from __future__ import annotations

import pytest

CODE = "DEV301"

REWRITES = [
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
        - model.load_state_dict(torch.load("model.pt"))
        + model.load_state_dict(torch.load("model.pt", map_location=device))
        """,
        id="into-a-moved-module",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2)
        - model.load_state_dict(torch.load("model.pt"))
        + model.load_state_dict(torch.load("model.pt", map_location="cpu"))
          model.to(device)
        """,
        id="into-a-module-that-moves-later",
    ),
    pytest.param(
        """
          model = nn.Linear(4, 2)
        - model.load_state_dict(torch.load("model.pt"))
        + model.load_state_dict(torch.load("model.pt", map_location="cpu"))
        """,
        id="no-device-at-all",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
          optimizer = torch.optim.Adam(model.parameters())
        - checkpoint = torch.load("last.pt")
        + checkpoint = torch.load("last.pt", map_location=device)
          model.load_state_dict(checkpoint["model"])
          optimizer.load_state_dict(checkpoint["optimizer"])
          start = checkpoint["epoch"] + 1
        """,
        id="resume",
    ),
    pytest.param(
        """
          import argparse

          parser = argparse.ArgumentParser()
          parser.add_argument("--device", default="cuda")
          parser.add_argument("--resume", default=None)
          args = parser.parse_args()
          model = nn.Linear(4, 2).to(args.device)
          if args.resume:
        -     state = torch.load(args.resume)
        +     state = torch.load(args.resume, map_location=args.device)
              model.load_state_dict(state)
        """,
        id="resume-flag",
    ),
    pytest.param(
        """
          class Trainer:
              def __init__(self, model, device):
                  self.device = device
                  self.model = model.to(device)

              def restore(self, path):
        -         state = torch.load(path)
        +         state = torch.load(path, map_location=self.device)
                  self.model.load_state_dict(state["model"])


          Trainer(nn.Linear(4, 2), torch.device("cuda")).restore("last.pt")
        """,
        id="trainer-class",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
        - model.load_state_dict(torch.load("model.pt", weights_only=True))
        + model.load_state_dict(torch.load("model.pt", weights_only=True, map_location=device))
        """,
        id="weights-only-stays",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
          with open("model.pt", "rb") as file:
        -     model.load_state_dict(torch.load(file))
        +     model.load_state_dict(torch.load(file, map_location=device))
        """,
        id="open-file",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        - model = torch.load("whole.pt", weights_only=False)
        + model = torch.load("whole.pt", weights_only=False, map_location=device)
          model.to(device)
          model.eval()
        """,
        id="whole-model",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
        - model.load_state_dict(torch.load("model.pt", None))
        + model.load_state_dict(torch.load("model.pt", device))
        """,
        id="positional-none",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
          model.load_state_dict(
              torch.load(
                  "model.pt",
        +         map_location=device,
              )
          )
        """,
        id="several-lines",
    ),
    pytest.param(
        """
          from torch import load

          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
        - model.load_state_dict(load("model.pt"))
        + model.load_state_dict(load("model.pt", map_location=device))
        """,
        id="imported-by-name",
    ),
    pytest.param(
        """
          import torch as th

          device = th.device("cuda" if th.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
        - model.load_state_dict(th.load("model.pt"))
        + model.load_state_dict(th.load("model.pt", map_location=device))
        """,
        id="torch-by-another-name",
    ),
    pytest.param(
        """
          def load_checkpoint(path, device):
        -     return torch.load(path)
        +     return torch.load(path, map_location=device)


          def main():
              device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
              model = nn.Linear(4, 2).to(device)
              model.load_state_dict(load_checkpoint("model.pt", device))


          if __name__ == "__main__":
              main()
        """,
        id="helper-with-device",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          generator, critic = nn.Linear(4, 2).to(device), nn.Linear(2, 1).to(device)
        - generator.load_state_dict(torch.load("generator.pt"))
        - critic.load_state_dict(torch.load("critic.pt"))
        + generator.load_state_dict(torch.load("generator.pt", map_location=device))
        + critic.load_state_dict(torch.load("critic.pt", map_location=device))
        """,
        id="two-files",
    ),
    pytest.param(
        """
          model = nn.Linear(4, 2).cuda()
        - features = torch.load("features.pt")
        + features = torch.load("features.pt", map_location="cpu")
          loader = DataLoader(TensorDataset(features, torch.zeros(8)), batch_size=4)
          for x, y in loader:
              model(x.cuda()).sum().backward()
        """,
        id="feeds-a-dataset",
    ),
    pytest.param(
        """
        - state = torch.load("rng.pt")
        + state = torch.load("rng.pt", map_location="cpu")
          torch.set_rng_state(state)
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          print(torch.randn(2, device=device))
        """,
        id="random-state",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        - weights = torch.load("class_weights.pt")
        + weights = torch.load("class_weights.pt", map_location=device)
          criterion = nn.CrossEntropyLoss(weight=weights)
          x = torch.randn(4, 2, device=device)
          print(criterion(x, torch.zeros(4, dtype=torch.long, device=device)))
        """,
        id="class-weights",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2)
        - state = torch.load("model.pt")
        + state = torch.load("model.pt", map_location="cpu")
          state = {key.replace("module.", ""): value for key, value in state["state_dict"].items()}
          model.load_state_dict(state, strict=False)
          model = model.to(device)
        """,
        id="renamed-keys",
    ),
    pytest.param(
        """
          import glob

          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
          for path in sorted(glob.glob("runs/*.pt")):
        -     model.load_state_dict(torch.load(path)["model"])
        +     model.load_state_dict(torch.load(path, map_location=device)["model"])
        """,
        id="in-a-loop",
    ),
    pytest.param(
        """
          model = nn.Linear(4, 2).cuda()
        - model.load_state_dict(torch.load("model.pt"))
        + model.load_state_dict(torch.load("model.pt", map_location="cpu"))
        """,
        id="cuda-without-a-name",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
          options = {"weights_only": True}
        - model.load_state_dict(torch.load("model.pt", **options))
        + model.load_state_dict(torch.load("model.pt", map_location=device, **options))
        """,
        id="keywords-without-it",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
        - model.load_state_dict(torch.load(f="model.pt"))
        + model.load_state_dict(torch.load(f="model.pt", map_location=device))
        """,
        id="file-as-a-keyword",
    ),
    pytest.param(
        """
          import pickle

          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
        - model.load_state_dict(torch.load("model.pt", None, pickle))
        + model.load_state_dict(torch.load("model.pt", device, pickle))
        """,
        id="positional-pickle-module",
    ),
    pytest.param(
        """
          import sys

          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
        - state = torch.load(sys.argv[1]) if len(sys.argv) > 1 else None
        + state = torch.load(sys.argv[1], map_location=device) if len(sys.argv) > 1 else None
          if state is not None:
              model.load_state_dict(state)
        """,
        id="conditional-expression",
    ),
    pytest.param(
        """
          import os

          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
        - if os.path.exists("model.pt") and (state := torch.load("model.pt")):
        + if os.path.exists("model.pt") and (state := torch.load("model.pt", map_location=device)):
              model.load_state_dict(state)
        """,
        id="walrus",
    ),
    pytest.param(
        """
          def main(device="cuda"):
              model = nn.Linear(4, 2)
              model.to(device)

              def restore(path):
        -         model.load_state_dict(torch.load(path)["model"])
        +         model.load_state_dict(torch.load(path, map_location=device)["model"])

              restore("last.pt")
              model(torch.randn(2, 4, device=device))


          main()
        """,
        id="closure",
    ),
    pytest.param(
        """
          import torch.distributed as dist


          def worker(rank):
              torch.cuda.set_device(rank)
              model = nn.Linear(4, 2).to(rank)
              model = nn.parallel.DistributedDataParallel(model, device_ids=[rank])
        -     model.load_state_dict(torch.load("model.pt"))
        +     model.load_state_dict(torch.load("model.pt", map_location=f"cuda:{rank}"))
              model(torch.randn(2, 4).to(rank)).sum().backward()


          torch.multiprocessing.spawn(worker, nprocs=2)
        """,
        id="rank",
    ),
    pytest.param(
        """
          class Net(nn.Module):
              def __init__(self):
                  super().__init__()
                  self.fc = nn.Linear(4, 2)

              def load(self, path):
        -         self.load_state_dict(torch.load(path))
        +         self.load_state_dict(torch.load(path, map_location="cpu"))

              def forward(self, x):
                  return self.fc(x)


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          net = Net()
          net.load("net.pt")
          net.to(device)
          net(torch.randn(2, 4, device=device))
        """,
        id="module-loads-itself-then-moves",
    ),
    pytest.param(
        """
          class Predictor:
              def __init__(self, path):
                  self.device = "cuda" if torch.cuda.is_available() else "cpu"
                  self.model = nn.Linear(4, 2)
        -         self.model.load_state_dict(torch.load(path))
        +         self.model.load_state_dict(torch.load(path, map_location="cpu"))
                  self.model.to(self.device).eval()

              def __call__(self, x):
                  return self.model(x.to(self.device))


          Predictor("model.pt")(torch.randn(2, 4))
        """,
        id="predictor",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        - bank = torch.load("bank.pt")["features"]
        + bank = torch.load("bank.pt", map_location=device)["features"]
          model = nn.Linear(4, 2).to(device)
          query = model(torch.randn(2, 4, device=device))
          print((query @ bank.t()).argmax(1))
        """,
        id="memory-bank",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
          try:
        -     model.load_state_dict(torch.load("model.pt"))
        +     model.load_state_dict(torch.load("model.pt", map_location=device))
          except FileNotFoundError:
              print("from scratch")
        """,
        id="try",
    ),
    pytest.param(
        """
          model = nn.Linear(4, 2)
          if torch.cuda.is_available():
              model = model.cuda()
        - model.load_state_dict(torch.load("model.pt"))
        + model.load_state_dict(torch.load("model.pt", map_location="cpu"))
          model.eval()
        """,
        id="cuda-if-available",
    ),
    pytest.param(
        """
          import click


          @click.command()
          @click.argument("checkpoint")
          @click.option("--device", default="cuda")
          def main(checkpoint, device):
              model = nn.Linear(4, 2).to(device)
        -     model.load_state_dict(torch.load(checkpoint))
        +     model.load_state_dict(torch.load(checkpoint, map_location=device))
              print(model(torch.randn(1, 4, device=device)))


          if __name__ == "__main__":
              main()
        """,
        id="click",
    ),
    pytest.param(
        """
          from pathlib import Path

          CONFIG = {"device": "cuda:0", "out": Path("runs")}
          model = nn.Linear(4, 2).to(CONFIG["device"])
        - model.load_state_dict(torch.load(CONFIG["out"] / "model.pt"))
        + model.load_state_dict(torch.load(CONFIG["out"] / "model.pt", map_location=CONFIG["device"]))
        """,
        id="device-in-a-dictionary",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
          torch.save(model.state_dict(), "student.pt")
        - model.load_state_dict(torch.load("teacher.pt"))
        + model.load_state_dict(torch.load("teacher.pt", map_location=device))
        """,
        id="another-file-than-the-one-of-this-run",
    ),
    pytest.param(
        """
          import os

          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
          if os.path.exists("last.pt"):
        -     model.load_state_dict(torch.load("last.pt"))
        +     model.load_state_dict(torch.load("last.pt", map_location=device))
          torch.save(model.state_dict(), "last.pt")
        """,
        id="resumed-before-this-run-saves",
    ),
    pytest.param(
        """
          torch.distributed.init_process_group("nccl")
          rank = torch.distributed.get_rank()
          device = torch.device("cuda", rank)
          model = nn.Linear(4, 2).to(device)
          if rank == 0:
              torch.save(model.state_dict(), "first.pt")
          torch.distributed.barrier()
        - model.load_state_dict(torch.load("first.pt"))
        + model.load_state_dict(torch.load("first.pt", map_location=device))
        """,
        id="of-another-process",
    ),
    pytest.param(
        """
          from functools import partial

          load = partial(torch.load, weights_only=True)
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
        - model.load_state_dict(load("model.pt"))
        + model.load_state_dict(load("model.pt", map_location=device))
        """,
        id="partial-without-it",
    ),
]

UNTOUCHED = [
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2).to(device)
        model.load_state_dict(torch.load("model.pt", map_location=None))
        """,
        id="none-on-purpose",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2).to(device)
        model.load_state_dict(torch.load("model.pt", map_location=device))
        """,
        id="given",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2).to(device)
        model.load_state_dict(torch.load("model.pt", device))
        """,
        id="given-by-position",
    ),
    pytest.param(
        """
        model = nn.Linear(4, 2)
        model.load_state_dict(torch.load("model.pt", map_location="cpu"))
        """,
        id="given-as-text",
    ),
    pytest.param(
        """
        model = nn.Linear(4, 2)
        model.load_state_dict(torch.load("model.pt", map_location=lambda storage, location: storage))
        """,
        id="given-as-a-function",
    ),
    pytest.param(
        """
        model = nn.Linear(4, 2)
        model.load_state_dict(torch.load("model.pt", map_location={"cuda:1": "cuda:0"}))
        """,
        id="given-as-a-dictionary",
    ),
    pytest.param(
        """
        options = {"map_location": "cpu"}
        model = nn.Linear(4, 2)
        model.load_state_dict(torch.load("model.pt", **options))
        """,
        id="given-in-keywords",
    ),
    pytest.param(
        """
        def load(path, map_location=None):
            return torch.load(path, map_location=map_location)


        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2).to(device)
        model.load_state_dict(load("model.pt"))
        """,
        id="given-by-the-caller",
    ),
    pytest.param(
        """
        import io

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2).to(device)
        buffer = io.BytesIO()
        torch.save(model.state_dict(), buffer)
        buffer.seek(0)
        model.load_state_dict(torch.load(buffer))
        """,
        id="buffer-of-this-run",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2).to(device)
        torch.save(model.state_dict(), "model.pt")
        model.load_state_dict(torch.load("model.pt"))
        """,
        id="file-of-this-run",
    ),
    pytest.param(
        """
        import os


        class Stopper:
            def __init__(self, folder):
                self.path = os.path.join(folder, "best.pt")
                self.best = None

            def step(self, loss, model):
                if self.best is None or loss < self.best:
                    self.best = loss
                    torch.save(model.state_dict(), self.path)


        def main(folder):
            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            model = nn.Linear(4, 2).to(device)
            stopper = Stopper(folder)
            for epoch in range(5):
                loss = model(torch.ones(3, 4, device=device)).sum()
                stopper.step(loss.item(), model)
            model.load_state_dict(torch.load(stopper.path))


        main("runs")
        """,
        id="best-of-this-run",
    ),
    pytest.param(
        """
        import pickle

        with open("data.pkl", "rb") as file:
            data = pickle.load(file)
        model = nn.Linear(4, 2).to("cuda")
        """,
        id="another-load",
    ),
    pytest.param(
        """
        import numpy as np

        data = torch.from_numpy(np.load("data.npy"))
        """,
        id="numpy-load",
    ),
    pytest.param(
        """
        import json

        with open("config.json") as file:
            config = json.load(file)
        model = nn.Linear(4, 2).to(config["device"])
        """,
        id="json-load",
    ),
    pytest.param(
        """
        from safetensors.torch import load_file

        model = nn.Linear(4, 2).to("cuda")
        model.load_state_dict(load_file("model.safetensors"))
        """,
        id="safetensors",
    ),
    pytest.param(
        """
        model = torch.hub.load("pytorch/vision", "resnet18")
        model.to("cuda")
        """,
        id="hub-load",
    ),
    pytest.param(
        """
        model = torch.jit.load("model.ts")
        model.to("cuda")
        """,
        id="jit-load",
    ),
    pytest.param(
        """
        from torch.hub import load_state_dict_from_url

        model = nn.Linear(4, 2).to("cuda")
        model.load_state_dict(load_state_dict_from_url("https://example.org/model.pt"))
        """,
        id="load-from-url",
    ),
    pytest.param(
        """
        class Checkpoint:
            def load(self, path):
                return {"model": nn.Linear(4, 2).state_dict()}


        torch_checkpoint = Checkpoint()
        nn.Linear(4, 2).load_state_dict(torch_checkpoint.load("model.pt")["model"])
        """,
        id="own-load",
    ),
    pytest.param(
        """
        import functools

        load = functools.partial(torch.load, map_location="cpu")
        model = nn.Linear(4, 2)
        model.load_state_dict(load("model.pt"))
        """,
        id="partial-with-it",
    ),
    pytest.param(
        """
        # state = torch.load("model.pt")
        text = 'model.load_state_dict(torch.load("model.pt"))'
        print(text)
        """,
        id="comments-and-strings",
    ),
    pytest.param(
        """
        def restore(model, path):
            model.load_state_dict(torch.load(path))
        """,
        id="nothing-runs",
    ),
    pytest.param(
        """
        def load(path, **kwargs):
            return torch.load(path, **kwargs)


        model = nn.Linear(4, 2)
        model.load_state_dict(load("model.pt", map_location="cpu"))
        """,
        id="passed-through",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        where = {"map_location": device}
        arguments = ("model.pt", device)
        model = nn.Linear(4, 2).to(device)
        model.load_state_dict(torch.load(*arguments))
        """,
        id="given-in-a-starred-argument",
    ),
    pytest.param(
        """
        from io import BytesIO
        import copy

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


        def clone(module):
            buffer = BytesIO()
            torch.save(module, buffer)
            buffer.seek(0)
            return torch.load(buffer, weights_only=False)


        model = clone(nn.Linear(4, 2).to(device))
        model(torch.randn(2, 4, device=device))
        """,
        id="cloned-through-a-buffer",
    ),
    pytest.param(
        """
        import pytorch_lightning as pl


        class Lit(pl.LightningModule):
            pass


        model = Lit.load_from_checkpoint("last.ckpt")
        model.to("cuda")
        """,
        id="lightning-checkpoint",
    ),
    pytest.param(
        """
        from unittest import mock

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2).to(device)
        kwargs = dict(map_location=device)
        kwargs["weights_only"] = True
        model.load_state_dict(torch.load("model.pt", **kwargs))
        """,
        id="keywords-made-by-dict",
    ),
]


@pytest.mark.parametrize("listing", REWRITES)
def test_a_checkpoint_is_loaded_to_where_it_is_used(listing, before_and_after, repair):
    before, after = before_and_after(listing)

    assert repair(CODE, before) == after
    assert repair(CODE, after) == after


@pytest.mark.parametrize("listing", UNTOUCHED)
def test_a_load_that_says_where_stays_as_it_is(listing, unchanged, repair):
    text = unchanged(listing)

    assert repair(CODE, text) == text


PROJECTS = [
    pytest.param(
        {
            "checkpoint.py": """
                  import torch


                  def restore(model, optimizer, path, device):
                -     state = torch.load(path)
                +     state = torch.load(path, map_location=device)
                      model.load_state_dict(state["model"])
                      optimizer.load_state_dict(state["optimizer"])
                      return state["epoch"]
            """,
            "train.py": """
                import torch
                from torch import nn

                from checkpoint import restore

                device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
                model = nn.Linear(4, 2).to(device)
                optimizer = torch.optim.Adam(model.parameters())
                start = restore(model, optimizer, "last.pt", device)
            """,
        },
        id="restored-in-another-file",
    ),
    pytest.param(
        {
            "arguments.py": """
                import argparse


                def parse():
                    parser = argparse.ArgumentParser()
                    parser.add_argument("--device", default="cuda")
                    parser.add_argument("--checkpoint")
                    return parser.parse_args()
            """,
            "serve.py": """
                  import torch
                  from torch import nn

                  from arguments import parse

                  args = parse()
                  model = nn.Linear(4, 2).to(args.device)
                - model.load_state_dict(torch.load(args.checkpoint))
                + model.load_state_dict(torch.load(args.checkpoint, map_location=args.device))
                  model.eval()
            """,
        },
        id="arguments-of-another-file",
    ),
    pytest.param(
        {
            "storage/__init__.py": "",
            "storage/files.py": """
                  import torch


                  def read(path):
                -     return torch.load(path)
                +     return torch.load(path, map_location="cpu")
            """,
            "train.py": """
                import torch
                from torch import nn

                from storage.files import read

                device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
                model = nn.Linear(4, 2)
                model.load_state_dict(read("model.pt"))
                model.to(device)
            """,
        },
        id="no-device-in-reach",
    ),
]


@pytest.mark.parametrize("listings", PROJECTS)
def test_only_the_file_with_the_call_changes(listings, files_before_and_after, repair):
    before, after = files_before_and_after(listings)

    assert repair(CODE, before) == after
