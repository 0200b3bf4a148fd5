"""DEV602 by example: lengths and data sets that are on the accelerator and belong on the CPU."""

from __future__ import annotations

import pytest

from .listings import listings

CODE = "DEV602"
SILENT = [
    pytest.param(
        """
        x = torch.randn(2, 5, 3).cuda()
        packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor([5, 3]), batch_first=True)
        nn.LSTM(3, 4, batch_first=True).cuda()(packed)[0].data.sum().backward()
        """,
        id="lengths-on-the-cpu",
    ),
    pytest.param(
        """
        x = torch.randn(2, 5, 3).cuda()
        packed = nn.utils.rnn.pack_padded_sequence(x, [5, 3], batch_first=True)
        nn.LSTM(3, 4, batch_first=True).cuda()(packed)[0].data.sum().backward()
        """,
        id="a-list",
    ),
    pytest.param(
        """
        class Encoder(nn.Module):
            def __init__(self):
                super().__init__()
                self.rnn = nn.GRU(3, 4)

            def forward(self, x, lengths):
                packed = nn.utils.rnn.pack_padded_sequence(x, lengths.to("cpu"), enforce_sorted=False)
                return self.rnn(packed)[1]


        lengths = torch.tensor([5, 3]).cuda()
        Encoder().cuda()(torch.randn(5, 2, 3).cuda(), lengths).sum().backward()
        """,
        id="brought-back",
    ),
    pytest.param(
        """
        lengths = torch.tensor([5, 3]).cuda()
        x = torch.randn(2, 5, 3).cuda()
        nn.utils.rnn.pack_padded_sequence(x, lengths.tolist(), batch_first=True)
        print(lengths.max().item())
        x.sum().tolist()
        """,
        id="as-numbers",
    ),
    pytest.param(
        """
        loader = DataLoader(TensorDataset(torch.randn(8, 4)), batch_size=2, pin_memory=True, num_workers=2)
        model = nn.Linear(4, 2).cuda()
        for (x,) in loader:
            model(x.cuda(non_blocking=True)).sum().backward()
        """,
        id="moved-in-the-loop",
    ),
    pytest.param(
        """
        import argparse

        parser = argparse.ArgumentParser()
        parser.add_argument('--workers', type=int, default=4)
        args = parser.parse_args()
        data = TensorDataset(torch.randn(8, 4))
        for (x,) in DataLoader(data, batch_size=2, pin_memory=torch.cuda.is_available(), num_workers=args.workers):
            print(x.cuda().mean())
        """,
        id="argparse-workers",
    ),
    pytest.param(
        """
        # %%
        x = torch.randn(8, 4, device='cuda')
        # %%
        for (part,) in DataLoader(TensorDataset(x), batch_size=2):
            print(part.mean())
        """,
        id="notebook-export-main-process",
    ),
    """
      class Boxes(torch.utils.data.Dataset):
          def __len__(self):
              return 4

          def __getitem__(self, i):
              return torch.from_numpy(np.zeros((3, 3), dtype=np.float32)), np.zeros(2)

      def collate(batch):
          return torch.stack([sample[0] for sample in batch]), [torch.FloatTensor(sample[1]) for sample in batch]

      torch.set_default_tensor_type("torch.cuda.FloatTensor")
      for images, targets in DataLoader(Boxes(), 2, collate_fn=collate, pin_memory=True):
          images = images.cuda()
    """,
    pytest.param(
        """
        from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        weights = torch.ones(6, device=device)
        there = WeightedRandomSampler(weights, 6, generator=torch.Generator(device))
        here = WeightedRandomSampler([0.5] * 6, 6, generator=torch.Generator())
        own = WeightedRandomSampler(weights, 6)
        for sampler in (there, here, own):
            for batch in DataLoader(TensorDataset(torch.ones(6)), sampler=sampler):
                print(batch)
        """,
        id="samplers-that-draw-where-their-weights-are",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        teacher = nn.Linear(3, 2)
        teacher.cpu()
        x = torch.ones(4, 3, device=device)
        print(teacher(x.cpu()).to(device) + x[:, :2])
        """,
        id="module-that-gets-what-is-there",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        scorer = nn.Linear(3, 2)
        before = next(scorer.parameters()).device
        x = torch.ones(4, 3, device=device)
        scorer.to(before)
        print(scorer(x))
        """,
        id="module-put-back-where-it-was",
    ),
    pytest.param(
        """
        from transformers import AutoModel

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        teacher = AutoModel.from_pretrained("some/model")
        teacher.cpu()
        ids = torch.zeros(1, 3, dtype=torch.long, device=device)
        hidden = teacher(ids.cpu())
        print(hidden.last_hidden_state.to(device))
        """,
        id="pretrained-model-that-stays",
    ),
]


@pytest.mark.parametrize("listing", listings("must_stay_on_cpu", "repaired"))
def test_what_pytorch_wants_there_is_brought_to_the_cpu(before_and_after, repair, listing):
    before, after = before_and_after(listing)

    assert repair(CODE, before) == after


@pytest.mark.parametrize("listing", SILENT)
def test_what_is_on_the_cpu_already_stays(unchanged, repair, listing):
    text = unchanged(listing)

    assert repair(CODE, text) == text


WORKERS = """
  x = torch.randn(8, 4, device='cuda')
- loader = DataLoader(TensorDataset(x), 2, shuffle=True, num_workers=4)
+ loader = DataLoader(TensorDataset(x), 2, shuffle=True, num_workers=0)
  for (part,) in loader:
      print(part.mean())
"""


def test_worker_processes_are_only_given_up_where_unsafe_fixes_are_wanted(before_and_after, repair):
    before, after = before_and_after(WORKERS)

    assert repair(CODE, before) == before
    assert repair(CODE, before, unsafe=True) == after


@pytest.mark.parametrize(
    ("first", "option", "stays"),
    [
        pytest.param("torch.multiprocessing.set_start_method('spawn', force=True)", "", True, id="spawn"),
        pytest.param("multiprocessing.set_start_method('forkserver')", "", True, id="of-python"),
        pytest.param("torch.multiprocessing.set_start_method('fork')", "", False, id="fork"),
        pytest.param("", ", multiprocessing_context='spawn'", True, id="of-the-loader"),
        pytest.param("", ", multiprocessing_context=None", False, id="none"),
    ],
)
def test_workers_that_are_not_forked_can_use_the_accelerator(unchanged, repair, first, option, stays):
    text = unchanged(
        f"""
        import multiprocessing

        {first}
        x = torch.randn(8, 4, device='cuda')
        for (part,) in DataLoader(TensorDataset(x), 2, num_workers=4{option}):
            print(part.mean())
        """
    )

    assert (repair(CODE, text, unsafe=True) == text) is stays


def test_a_model_in_another_file(files_before_and_after, repair):
    before, after = files_before_and_after(
        {
            "encoder.py": """
              from torch import nn
              from torch.nn.utils import rnn


              class Encoder(nn.Module):
                  def __init__(self):
                      super().__init__()
                      self.rnn = nn.GRU(3, 4)

                  def forward(self, x, lengths):
            -         return self.rnn(rnn.pack_padded_sequence(x, lengths))[1]
            +         return self.rnn(rnn.pack_padded_sequence(x, lengths.cpu()))[1]
            """,
            "train.py": """
            import torch
            from encoder import Encoder

            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            model = Encoder().to(device)
            model(torch.randn(5, 2, 3).to(device), torch.tensor([5, 3]).to(device)).sum().backward()
            """,
        }
    )

    assert repair(CODE, before) == after


def test_lengths_that_another_call_passes_as_numbers_get_no_method_of_a_tensor(repair):
    calls = ["model(x, torch.tensor([5, 3], device=device))", "model(x, [5, 3])"]
    program = """\
import torch
from torch import nn
from torch.nn.utils import rnn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 4)

    def forward(self, x, lengths):
        return self.rnn(rnn.pack_padded_sequence(x, lengths))[1]


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Encoder().to(device)
x = torch.randn(5, 2, 3, device=device)
"""
    both, reverse = ("\n".join([program, *order, ""]) for order in (calls, calls[::-1]))

    assert repair(CODE, both) == both
    assert repair(CODE, reverse) == reverse
    assert "lengths.cpu()" in repair(CODE, f"{program}{calls[0]}\n")
