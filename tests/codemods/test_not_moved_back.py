"""DEV701 by example: where a module that went to the CPU comes back, in whose words, and what is left alone."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import Severity, Status
from devfix.sources import SourceFile

CODE = "DEV701"

REWRITES = [
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
          for epoch in range(3):
              model(torch.ones(3, 4, device=device)).sum().backward()
              if epoch % 2 == 0:
                  model.cpu()
                  torch.save(model.state_dict(), "last.pt")
        +         model.to(device)
                  print("saved")
              print(epoch)
        """,
        id="behind-the-last-use-on-the-cpu",
    ),
    pytest.param(
        """
          net = nn.Linear(4, 2)
          net = net.cuda()
          for epoch in range(3):
              net(torch.ones(3, 4).cuda()).sum().backward()
              host = net.cpu()
              torch.save(host.state_dict(), "last.pt")
        +     net = net.cuda()
        """,
        id="saved-by-another-name",
    ),
    pytest.param(
        """
          device = torch.device("cuda")
          net = nn.Linear(4, 2).to(device)
          for epoch in range(3):
              net(torch.ones(3, 4).to(device)).sum().backward()
              torch.save(net.cpu().state_dict(), "last.pt")
        +     net.to(device)
        """,
        id="in-one-line",
    ),
    pytest.param(
        """
          def value(net, x):
              net.to("cpu")
              return net(x).mean().item()

          def fit(net, place):
              net.to(place)
              for epoch in range(3):
                  net(torch.ones(3, 4).to(place)).sum().backward()
                  found = value(net, torch.ones(3, 4))
        +         net.to(place)
                  print(found)

          fit(nn.Linear(4, 2), torch.device("cuda"))
        """,
        id="behind-the-call-of-a-function-that-returns-its-use",
    ),
    pytest.param(
        """
          class Trainer:
              def __init__(self, net):
                  self.device = "cuda"
                  self.net = net.to(self.device)

              def save(self):
                  self.net.cpu()
                  self.write()
        +         self.net.to(self.device)

              def write(self):
                  torch.save(self.net.state_dict(), "last.pt")

              def fit(self):
                  for _ in range(3):
                      self.net(torch.ones(3, 4, device=self.device)).sum().backward()
                      self.save()

          Trainer(nn.Linear(4, 2)).fit()
        """,
        id="behind-a-method-that-reads-it",
    ),
    pytest.param(
        """
          class Parts:
              def __init__(self):
                  self.encoder = nn.Linear(4, 4)
                  self.decoder = nn.Linear(4, 2)

              def to(self, device):
                  self.encoder.to(device)
                  self.decoder.to(device)

              def back(self):
                  self.to("cuda")

          def cache(parts):
              parts.to("cpu")

          def run(parts):
              parts.back()
              x = torch.ones(3, 4, device="cuda")
              for _ in range(2):
                  cache(parts)
                  parts.back()
                  parts.decoder(parts.encoder(x)).sum().backward()
              cache(parts)
        +     parts.back()
              print(parts.decoder(parts.encoder(x)))

          run(Parts())
        """,
        id="as-behind-every-other-call",
    ),
    pytest.param(
        """
          class Parts:
              def __init__(self):
                  self.encoder = nn.Linear(4, 4)
                  self.decoder = nn.Linear(4, 2)

              def to(self, device):
                  self.encoder.to(device)
                  self.decoder.to(device)

          class Trainer:
              def __init__(self):
                  self.train_device = torch.device("cuda")
                  self.parts = Parts()
                  self.parts.to(self.train_device)

              def save(self):
                  self.parts.to("cpu")
                  torch.save(self.parts.decoder.state_dict(), "last.pt")
        +         self.parts.to(self.train_device)

              def fit(self):
                  for _ in range(3):
                      x = torch.ones(3, 4, device=self.train_device)
                      self.parts.decoder(self.parts.encoder(x)).sum().backward()
                      self.save()

          Trainer().fit()
        """,
        id="a-container-that-moves-its-modules",
    ),
    pytest.param(
        """
          device = torch.device("cuda")
          encoder = nn.Linear(4, 4).to(device)
          net = nn.Linear(4, 2).to(device)
          cached = encoder(torch.ones(3, 4, device=device)).detach()
          encoder.to("cpu")
          for _ in range(3):
              net(cached).sum().backward()
        + encoder.to(device)
          for _ in range(3):
              print(net(encoder(torch.ones(3, 4, device=device))))
        """,
        id="ahead-of-the-use-where-nothing-needed-the-cpu",
    ),
]

UNCHANGED = [
    pytest.param(
        """
        net = nn.Linear(4, 2).cuda()
        for epoch in range(3):
            net(torch.ones(3, 4).cuda()).sum().backward()
            if epoch == 2:
                net.cpu()
        """,
        id="in-the-last-round",
    ),
    pytest.param(
        """
        net = nn.Linear(4, 2).cuda()
        for epoch in range(3):
            net(torch.ones(3, 4).cuda()).sum().backward()
            is_last = epoch + 1 == 3
            if is_last:
                net.cpu()
        """,
        id="in-the-last-round-by-a-flag",
    ),
    pytest.param(
        """
        net = nn.Linear(4, 2).cuda()
        for epoch in range(3):
            net(torch.ones(3, 4).cuda()).sum().backward()
            if epoch > 1:
                net.cpu()
                break
        """,
        id="nothing-follows",
    ),
    pytest.param(
        """
        net = nn.Linear(4, 2).cuda()
        for epoch in range(3):
            where = next(net.parameters()).device
            net(torch.ones(3, 4).to(where)).sum().backward()
            net.cpu()
        """,
        id="inputs-follow-it",
    ),
    pytest.param(
        """
        import copy
        net = nn.Linear(4, 2).cuda()
        for epoch in range(3):
            net(torch.ones(3, 4).cuda()).sum().backward()
            best = copy.deepcopy(net).cpu()
            torch.save({k: v.cpu() for k, v in net.state_dict().items()}, "best.pt")
        """,
        id="copies",
    ),
    pytest.param(
        """
        def run(device):
            net = nn.Linear(4, 2).to(device)
            net(torch.ones(3, 4).to(device)).sum().backward()
            return net.cpu()

        nets = [run("cuda") for _ in range(3)]
        """,
        id="a-new-one-each-time",
    ),
    pytest.param(
        """
        def run(net, device):
            net.to(device)
            return net(torch.ones(3, 4).to(device))

        net = nn.Linear(4, 2)
        for device in ("cuda", "cpu", "cuda"):
            run(net, device)
        """,
        id="moved-by-every-run",
    ),
    pytest.param(
        """
        net = nn.Linear(4, 2)
        net.cpu()
        print(net(torch.ones(3, 4)))
        """,
        id="never-away",
    ),
    pytest.param(
        """
        net = nn.Sequential(nn.LayerNorm(4).cuda(), nn.Linear(4, 2))
        net = net.eval().cpu()
        image = torch.ones(3, 4).cuda()
        print(net(image.cpu()))
        print(net(image))
        """,
        id="one-part-was-away",
    ),
    pytest.param(
        """
        import sys
        from somewhere import batches
        encoder, net = nn.Linear(4, 4), nn.Linear(4, 2).cuda()
        cached = len(sys.argv) > 1
        if cached:
            encoder.cuda()
            for batch in batches():
                batch["kept"] = encoder(batch["x"].cuda())
            encoder.cpu()
        if not cached:
            encoder.cuda()
        for batch in batches():
            if "kept" in batch:
                kept = batch["kept"]
            else:
                kept = encoder(batch["x"].cuda())
            net(kept).sum().backward()
        """,
        id="what-was-cached-is-not-asked-again",
    ),
]


@pytest.mark.parametrize("listing", REWRITES)
def test_it_is_brought_back(repair, before_and_after, listing):
    before, after = before_and_after(listing)

    assert repair(CODE, before) == after
    assert repair(CODE, after) == after


@pytest.mark.parametrize("listing", UNCHANGED)
def test_it_is_left_alone(repair, unchanged, listing):
    text = unchanged(listing)

    assert repair(CODE, text) == text


def test_without_a_word_for_the_device_it_is_reported(tmp_path, unchanged):
    text = unchanged(
        """
        def run(net, x):
            net(x).sum().backward()
            net.cpu()

        def make():
            return nn.Linear(4, 2).to(torch.empty(1).cuda().device), torch.ones(3, 4).to(torch.empty(1).cuda().device)

        pair = make()
        for _ in range(2):
            run(*pair)
        """
    )
    path = str(tmp_path / "train.py")
    outcome = fixpoint.apply([SourceFile(path, text.encode(), text)], Settings(select=(CODE,), root=str(tmp_path)))

    assert [(r.finding.code, r.status) for r in outcome.resolutions] == [(CODE, Status.NOT_FIXED)]
    assert outcome.patch.files == ()


def test_the_moved_module_is_named_as_it_is_written(tmp_path, unchanged):
    text = unchanged(
        """
        net = nn.Linear(4, 2).cuda()
        x = torch.ones(3, 4).cuda()
        net(x)
        torch.nn.Sequential(net).eval().to("cpu")
        net(x)
        """
    )
    path = str(tmp_path / "train.py")
    outcome = fixpoint.check([SourceFile(path, text.encode(), text)], Settings(select=(CODE,), root=str(tmp_path)))

    assert [each.finding.message.split("`")[1] for each in outcome.resolutions] == ["torch.nn.Sequential(net)"]


ANY_CALLER = [
    pytest.param(
        """
          class Captioner:
              def __init__(self, encoder: nn.Module, decoder: nn.Module, device):
                  self.device = device
                  self.encoder = encoder.to(device)
                  self.decoder = decoder.to(device)

              def generate(self, images: torch.Tensor):
        +         self.encoder.to(self.device)
                  features = self.encoder(images.to(self.device))
                  self.encoder.to("cpu")
                  return self.decoder(features)
        """,
        id="before-the-use-in-the-next-call",
    ),
    pytest.param(
        """
          class Captioner:
              def __init__(self, encoder: nn.Module, decoder: nn.Module):
                  self.encoder = encoder
                  self.decoder = decoder

              def generate(self, images: torch.Tensor, device: torch.device):
                  decoder_device = self.decoder.device
                  self.decoder.to("cpu")
        +         self.encoder.to(device)
                  features = self.encoder(images.to(device))
                  self.encoder.to("cpu")
                  self.decoder.to(decoder_device)
                  return self.decoder(features)
        """,
        id="not-to-where-another-module-was",
    ),
    pytest.param(
        """
          class Trainer:
              def __init__(self, net, device):
                  self.device = device
                  self.net = net

              def save(self):
                  self.net.to("cpu")
                  torch.save(self.net.state_dict(), "last.pt")
        +         self.net.to(self.device)

              def train(self, loader):
                  for epoch in range(3):
                      for images in loader:
                          self.net(images.to(self.device)).mean().backward()
                      self.save()
        """,
        id="behind-the-step-of-a-trainer",
    ),
    pytest.param(
        """
          class Trainer:
              def __init__(self, net, config):
                  self.net = net
                  self.train_data = make_loader(self.net, config)
                  self.test_data = make_loader(self.net, config)

              def sample(self):
                  self.net.to("cpu")

              def validate(self):
                  self.test_data.start_epoch()
                  if self.test_data.is_empty():
                      return
        +         self.setup_device(self.net)
                  for batch in self.test_data:
                      self.tasks.loss(self.net, batch)

              def train(self):
                  self.train_data.start_epoch()
                  self.setup_device(self.net)
                  self.train_data.start_epoch()
                  self.setup_device(self.net)
                  for batch in self.train_data:
                      self.tasks.loss(self.net, batch)
        """,
        id="as-behind-the-same-stage-elsewhere",
    ),
]


UNCHANGED_FOR_ANY_CALLER = [
    pytest.param(
        """
        class Captioner:
            def __init__(self, encoder: nn.Module, device, config):
                self.device = device
                self.encoder = encoder.to(device)
                self.hook = config.hook

            def generate(self, images: torch.Tensor):
                features = self.encoder(images.to(self.device))
                if self.hook is not None:
                    self.encoder.to("cpu")
                return features
        """,
        id="hooks-bring-it-back",
    ),
    pytest.param(
        """
        class Captioner:
            def __init__(self, net: nn.Module, device):
                self.device = device
                self.net = net.to(device)

            def generate(self, images: torch.Tensor):
                images = images.to(self.device)
                self.net.encoder.to(self.device)
                features = self.net.encoder(images)
                self.net.encoder.to("cpu")
                return self.net(features)
        """,
        id="a-part-that-the-whole-need-not-run",
    ),
]


@pytest.mark.parametrize("listing", UNCHANGED_FOR_ANY_CALLER)
def test_an_object_of_any_caller_is_left_alone(tmp_path, unchanged, listing):
    text = unchanged(listing)
    path = tmp_path / "lib.py"
    path.write_text(text)
    settings = Settings(select=(CODE,), severity=Severity.LATENT, root=str(tmp_path))

    assert fixpoint.check([SourceFile(str(path), text.encode(), text)], settings).resolutions == ()


@pytest.mark.parametrize("listing", ANY_CALLER)
def test_an_object_of_any_caller_brings_its_modules_back(tmp_path, before_and_after, listing):
    before, after = before_and_after(listing)
    path = tmp_path / "lib.py"
    path.write_text(before)
    settings = Settings(select=(CODE,), severity=Severity.LATENT, root=str(tmp_path))
    outcome = fixpoint.apply([SourceFile(str(path), before.encode(), before)], settings)

    (found,) = outcome.resolutions
    is_stage = "may be left on the CPU by" in found.finding.message
    assert found.finding.severity is (Severity.ERROR if is_stage else Severity.LATENT)
    assert [change.new.decode() for change in outcome.patch.files] == [after]


def test_a_use_gets_the_guard_of_other_methods(tmp_path, files_before_and_after):
    before, after = files_before_and_after(
        {
            "base.py": """
                import torch

                class Base:
                    def encode(self, x):
                        if self.vae.device == torch.device("cpu"):
                            self.vae.to(self.device)
                        return self.vae.encode(x)

                    def decode(self, x, device):
                        if self.vae.device == torch.device("cpu"):
                            self.vae.to(device)
                        return self.vae.decode(x)
            """,
            "model.py": """
                  import torch
                  from base import Base

                  class Model(Base):
                      def unload(self):
                          self.vae.to("cpu")

                      def references(self, images):
                +         if self.vae.device == torch.device("cpu"):
                +             self.vae.to(self.device)
                          return encode_all(self.vae, images)
            """,
        }
    )
    files = []
    for name, text in before.items():
        (tmp_path / name).write_text(text)
        files.append(SourceFile(str(tmp_path / name), text.encode(), text))
    settings = Settings(select=(CODE,), severity=Severity.LATENT, root=str(tmp_path))
    outcome = fixpoint.apply(files, settings)

    assert [change.new.decode() for change in outcome.patch.files] == [after["model.py"]]
