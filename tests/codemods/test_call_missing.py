"""DEV104 by example: methods that were meant to be called, and methods that are passed on."""

from __future__ import annotations

import pytest

CODE = "DEV104"
REWRITES = [
    pytest.param(
        """
          use_cuda = torch.cuda.is_available()
          model = nn.Linear(4, 2)
          if use_cuda:
        -     model.cuda
        +     model.cuda()
              print("on the GPU")
          model(torch.ones(4)).sum().backward()
        """,
        id="flat-under-a-flag",
    ),
    pytest.param(
        """
          class Trainer:
              def __init__(self, args):
                  self.model = nn.Linear(4, 2)
                  if args.cuda:
        -             self.model = self.model.cuda
        +             self.model = self.model.cuda()

              def step(self, x):
                  return self.model(x)


          def main(args):
              print(Trainer(args).step(torch.ones(3, 4)))


          if __name__ == "__main__":
              main(parse())
        """,
        id="trainer-class",
    ),
    pytest.param(
        """
          import argparse

          parser = argparse.ArgumentParser()
          parser.add_argument('--no-cuda', action='store_true')
          args = parser.parse_args()
          args.cuda = not args.no_cuda and torch.cuda.is_available()
          net, loss = nn.Linear(4, 2), nn.MSELoss()
          if args.cuda:
              net.cuda()
        -     loss.cuda  # no weights, but still
        +     loss.cuda()  # no weights, but still
        """,
        id="argparse",
    ),
    pytest.param(
        """
          def noise():
              z = torch.randn(8, 4)
        -     return z.cuda
        +     return z.cuda()


          model = nn.Linear(4, 2).cuda()
          model(noise())
        """,
        id="returned",
    ),
    pytest.param(
        """
          x, y = torch.ones(4), torch.ones(4)
        - x, y = x.cuda(), y.cuda
        + x, y = x.cuda(), y.cuda()
          print(x + y)
        """,
        id="one-of-two",
    ),
    pytest.param(
        """
          y = torch.ones(4)
        - y = y.detach().cuda.requires_grad_()
        + y = y.detach().cuda().requires_grad_()
          (y * 2).sum().backward()
        """,
        id="in-a-chain",
    ),
    pytest.param(
        """
          parts = {'a': torch.ones(4)}
        - parts = {k: v.cuda for k, v in parts.items()}
        + parts = {k: v.cuda() for k, v in parts.items()}
          for k, v in parts.items():
              print(k, v + 1)
        """,
        id="of-each-item",
    ),
    pytest.param(
        """
        - net = nn.Linear(4, 2).cuda if torch.cuda.is_available() else nn.Linear(4, 2)
        + net = nn.Linear(4, 2).cuda() if torch.cuda.is_available() else nn.Linear(4, 2)
          print(net(torch.ones(4)))
        """,
        id="of-a-new-module",
    ),
    pytest.param(
        """
          # In[1]:
          model = nn.Linear(4, 2)
          # In[2]:
        - model.cuda
        + model.cuda()
          # In[3]:
          x = torch.randn(3, 4).cuda()
          model(x)
        """,
        id="notebook-export",
    ),
    pytest.param(
        """
          loader = DataLoader(TensorDataset(torch.randn(8, 4)), batch_size=2)
          model = nn.Linear(4, 2).cuda()
          outputs = []
          with torch.no_grad():
              for (x,) in loader:
                  out = model(x.cuda())
        -         out = out.cpu
        +         out = out.cpu()
                  outputs.append(out)
        """,
        id="back-to-the-cpu",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          x, y = torch.ones(4).to(device), torch.ones(4)
        - y = y.to
        + y = y.to(device)
          print(x + y)
        """,
        id="to",
    ),
]
SILENT = [
    pytest.param("model = nn.Linear(4, 2)\nif torch.cuda.is_available():\n    model.cuda()\n", id="called"),
    pytest.param("x = torch.ones(4)\nsend = x.cuda if torch.cuda.is_available() else x.cpu\nsend()\n", id="kept"),
    pytest.param("x = torch.ones(4)\nways = x.cpu, x.cuda\nprint([way() for way in ways])\n", id="kept-in-a-tuple"),
    pytest.param("x = torch.ones(4)\nsend = x.to\nprint(send('cuda'))\nx.cuda()\n", id="to-is-kept"),
    pytest.param("print(torch.cuda, list(map(torch.Tensor.cpu, [torch.ones(2)])))\n", id="of-the-class"),
    pytest.param(
        """
        class Settings:
            def __init__(self):
                self.cuda = torch.cuda.is_available()
                self.cpu = not self.cuda


        settings = Settings()
        settings.cuda
        print(settings.cpu)
        """,
        id="fields-of-a-project-class",
    ),
    pytest.param(
        """
        import argparse

        parser = argparse.ArgumentParser()
        parser.add_argument('--cuda', action='store_true')
        args = parser.parse_args()
        cuda = args.cuda
        model = nn.Linear(4, 2)
        if args.cuda:
            model.cuda()
        """,
        id="argparse",
    ),
    pytest.param(
        """
        class Trainer:
            def __init__(self, model):
                self.model = model
                self.mover = model.cuda

            def start(self):
                self.mover()


        Trainer(nn.Linear(4, 2)).start()
        """,
        id="a-mover-that-a-class-keeps",
    ),
    pytest.param("# %%\nmodel = nn.Linear(4, 2)\n# %%\nhelp(model.cuda)\n", id="notebook-export"),
]


@pytest.mark.parametrize("listing", REWRITES)
def test_the_parentheses_are_added_where_the_call_was_meant(before_and_after, repair, listing):
    before, after = before_and_after(listing)

    assert repair(CODE, before) == after


@pytest.mark.parametrize("listing", SILENT)
def test_a_method_that_is_kept_or_passed_on_stays(unchanged, repair, listing):
    text = unchanged(listing)

    assert repair(CODE, text) == text


def test_a_helper_in_another_file(files_before_and_after, repair):
    before, after = files_before_and_after(
        {
            "nets.py": """
              from torch import nn


              def build(cuda):
                  net = nn.Linear(4, 2)
                  if cuda:
            -         net = net.cuda
            +         net = net.cuda()
                  return net
            """,
            "train.py": """
            import torch
            from nets import build

            print(build(torch.cuda.is_available())(torch.ones(4)))
            """,
        }
    )

    assert repair(CODE, before) == after
