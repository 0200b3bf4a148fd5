"""Loaders, datasets, collation: what a loop over them yields, and where batches come from."""

from __future__ import annotations

import pytest

SETUP = """
from itertools import chain, cycle, islice
from tqdm import tqdm
data = TensorDataset(torch.randn(8, 3), torch.randn(8, 3))
loader = DataLoader(data, batch_size=4)
there = torch.ones(3, device="cuda")

class Pairs(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.randn(3), index % 2, f"name {index}"

class Dicts(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return {"x": torch.randn(3), "y": index % 2, "name": f"name {index}", "nested": {"z": torch.randn(3)}}

class Moved(Dataset):
    def __init__(self):
        self.x = torch.randn(8, 3).cuda()

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.x[index]

def forever(loader):
    while True:
        for batch in loader:
            yield batch

def moved(loader):
    for x, y in loader:
        yield x.cuda(), y.cuda()

class Wrapped:
    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        return iter(self.loader)

def collate(samples):
    return torch.stack([sample[0] for sample in samples])

def collate_there(samples):
    return torch.stack([sample[0] for sample in samples]).cuda()
"""

CPU = [
    pytest.param("for x, y in loader: pass", id="loader"),
    pytest.param("for i, (x, y) in enumerate(loader): pass", id="enumerate"),
    pytest.param("for i, (x, y) in enumerate(tqdm(loader), start=1): pass", id="enumerate-tqdm"),
    pytest.param("for (x, y), other in zip(loader, loader): pass", id="zip"),
    pytest.param("for x, y in tqdm(loader, desc='train'): pass", id="tqdm"),
    pytest.param("for x, y in islice(loader, 3): pass", id="islice"),
    pytest.param("for x, y in cycle(loader): break", id="cycle"),
    pytest.param("for x, y in chain(loader, loader): pass", id="chain"),
    pytest.param("x, y = next(iter(loader))", id="next-iter"),
    pytest.param("iterator = iter(loader)\nx, y = next(iterator)", id="iterator"),
    pytest.param("for x, y in forever(loader): break", id="generator"),
    pytest.param("batches = forever(loader)\nx, y = next(batches)", id="next-of-a-generator"),
    pytest.param("for x, y in Wrapped(loader): pass", id="wrapper-class"),
    pytest.param("for batch in loader:\n    x, y = batch", id="unpacked-later"),
    pytest.param("for batch in loader:\n    x = batch[0]", id="subscript"),
    pytest.param("for x, y, name in DataLoader(Pairs()): pass", id="project-dataset"),
    pytest.param("for _, x, name in DataLoader(Pairs()): pass", id="numbers-become-tensors"),
    pytest.param("for batch in DataLoader(Dicts()): x = batch['x']", id="dictionary"),
    pytest.param("for batch in DataLoader(Dicts()): x = batch['y']", id="number-in-a-dictionary"),
    pytest.param("for batch in DataLoader(Dicts()): x = batch['nested']['z']", id="nested-dictionary"),
    pytest.param("for batch in DataLoader(Dicts()): x = batch.get('x')", id="get"),
    pytest.param("for x in DataLoader(Pairs(), collate_fn=collate): pass", id="collate-function"),
    pytest.param(
        "for x in DataLoader(Pairs(), collate_fn=lambda s: torch.stack([t for t, _, _ in s])): pass",
        id="collate-lambda",
    ),
    pytest.param(
        "train, test = torch.utils.data.random_split(data, [6, 2])\nfor x, y in DataLoader(test): pass", id="split"
    ),
    pytest.param("for x, y in DataLoader(torch.utils.data.Subset(data, [0, 1])): pass", id="subset"),
    pytest.param("loaders = {'train': loader}\nfor x, y in loaders['train']: pass", id="loader-in-a-dictionary"),
    pytest.param("for loader in (loader, DataLoader(data)):\n    for x, y in loader: pass", id="loop-over-loaders"),
    pytest.param("for x in DataLoader(torch.randn(8, 3)): pass", id="tensor"),
    pytest.param("for x in DataLoader([torch.randn(3) for _ in range(8)]): pass", id="list"),
    pytest.param("x = [x for x, _ in loader][0]", id="comprehension"),
    pytest.param("batches = list(loader)\nx, y = batches[0]", id="list-of-batches"),
    pytest.param("x = torch.cat([x for x, _ in loader])", id="concatenated"),
    pytest.param("for x in torch.randn(8, 3).split(2): pass", id="split-tensor"),
]
ACCELERATOR = [
    pytest.param("for x, y in moved(loader): pass", id="generator-moves"),
    pytest.param("for x in DataLoader(Moved()): pass", id="dataset-lives-there"),
    pytest.param("for x in DataLoader(Pairs(), collate_fn=collate_there): pass", id="collate-moves"),
    pytest.param("for x, y in ((a.cuda(), b.cuda()) for a, b in loader): pass", id="generator-expression"),
    pytest.param("for x, y in map(lambda batch: [t.cuda() for t in batch], loader): pass", id="map"),
    pytest.param("for batch in loader:\n    x, y = [t.cuda() for t in batch]", id="moved-in-the-loop"),
    pytest.param("for x, y in DataLoader(TensorDataset(there, there)): pass", id="tensors-there"),
    pytest.param(
        "for batch in DataLoader(Dicts()): x = {k: v.cuda() for k, v in batch.items()}['x']", id="dictionary-moved"
    ),
]


@pytest.mark.parametrize("program", CPU)
def test_a_loader_yields_tensors_of_the_cpu(place, program):
    assert place(f"{SETUP}\n{program}", "x") == "cpu"


@pytest.mark.parametrize("program", ACCELERATOR)
def test_what_moves_on_the_way_is_there(place, program):
    assert place(f"{SETUP}\n{program}", "x") == "accelerator"


def test_strings_are_collated_to_strings_and_meet_nothing(met):
    program = """
        for x, y, name in DataLoader(Pairs()):
            model(x.cuda(), name)
            print(name[0] + "!")
        """

    assert met(SETUP.replace("there =", "model = nn.Linear(3, 3).cuda()\nthere =") + _dedent(program)) == []


def _dedent(text: str) -> str:
    return "\n".join(line[8:] for line in text.splitlines()) + "\n"


def test_each_loop_has_a_batch_of_its_own(analyse):
    observations = analyse(SETUP + "for x, y in loader: x + there\nfor x, y in loader: x + there\n")
    keys = {
        origin.site_id for mismatch in observations.mismatches for operand in mismatch.cpu for origin in operand.origins
    }

    assert len(keys) == 2
    assert {observations.sources[key].kind for key in keys} == {"batch"}


def test_an_item_is_known_by_the_way_into_the_batch(analyse):
    observations = analyse(
        SETUP + "for i, batch in enumerate(DataLoader(Dicts())):\n    batch['nested']['z'] + there\n"
    )
    (mismatch,) = observations.mismatches[:1]

    assert [origin.path for origin in mismatch.cpu[0].origins] == [("nested", "z")]


def test_the_source_of_a_batch_knows_its_loader(analyse):
    observations = analyse(SETUP + "pinned = DataLoader(data, pin_memory=True)\nfor x, y in pinned: x + there\n")
    source = observations.sources[observations.mismatches[0].cpu[0].origins[0].site_id]

    assert source.pinned is True
    assert source.loader_site.tree.line(source.loader_site.span.line) == "pinned = DataLoader(data, pin_memory=True)"


def test_an_iterable_of_unknown_origin_whose_items_are_moved_is_a_loader(met):
    program = """
        from somewhere import batches

        for x, y in batches():
            x = x.to("cuda")
            print(nn.functional.mse_loss(x, y))
        """

    assert met(program) == ["print(nn.functional.mse_loss(x, y))"]


def test_an_iterable_of_unknown_origin_whose_items_are_not_moved_is_nothing(met):
    program = """
        from somewhere import batches

        model = nn.Linear(3, 3).cuda()
        for x, y in batches():
            print(nn.functional.mse_loss(model(x), y))
        """

    assert met(program) == []


def test_what_one_turn_leaves_behind_meets_the_next(met):
    program = """
        hidden = torch.zeros(3)
        for _ in range(3):
            print(hidden + torch.ones(3))
            hidden = hidden.cuda()
        """

    assert "print(hidden + torch.ones(3))" in met(program)


def test_bindings_and_transfers_are_noted_in_their_order(analyse):
    observations = analyse(SETUP + "for x, y in loader:\n    x = x.to('cuda')\n    y + there\n")

    assert [binding.name for binding in observations.bindings if binding.kind == "target"][:2] == ["x", "y"]
    transfer = observations.transfers[0]
    assert (transfer.origin.path, transfer.device) == (("0",), "accelerator")


_MOVERS = {
    "comprehension": "return {k: (v.to(device) if torch.is_tensor(v) else v) for k, v in batch.items()}",
    "in place by key": """
    for key in batch:
        if isinstance(batch[key], torch.Tensor):
            batch[key] = batch[key].to(device)
    return batch""",
    "what can move": """
    for key, value in batch.items():
        if hasattr(value, "to"):
            batch[key] = value.to(device)
    return batch""",
    "by type": """
    for key in list(batch):
        if type(batch[key]) is torch.Tensor:
            batch[key] = batch[key].to(device)
    return batch""",
    "all but the lists": """
    for key in batch:
        if type(batch[key]) == list:
            continue
        batch[key] = batch[key].to(device)
    return batch""",
    "by several types": """
    return {key: value if type(value) in (list, str) else value.to(device) for key, value in batch.items()}""",
    "attempted": """
    for key in batch:
        try:
            batch[key] = batch[key].to(device)
        except AttributeError:
            pass
    return batch""",
    "into another": """
    moved = {}
    for key, value in batch.items():
        moved[key] = value.to(device) if torch.is_tensor(value) else value
    return moved""",
}
_DRAWN = """
def move(batch, device):
    {mover}

def batches(count):
    for _ in range(count):
        tokens = torch.randint(0, 9, (4, 3))
        yield {{"tokens": tokens, "tags": tokens % 2, "ids": list(range(4)), "name": "train"}}

for batch in batches(5):
    batch = move(batch, torch.device("cuda"))
    there + batch["t{end}"]
"""


@pytest.mark.parametrize("mover", list(_MOVERS))
@pytest.mark.parametrize("end", ["okens", "ags"])
def test_what_a_generator_yields_is_moved_by_key(met, mover, end):
    assert met(SETUP + _DRAWN.format(mover=_MOVERS[mover].lstrip(), end=end)) == []


@pytest.mark.parametrize(
    "mover",
    [
        "return {k: v for k, v in batch.items()}",
        "return {k: (v.to(device) if k == 'other' else v) for k, v in batch.items()}",
        "return batch",
    ],
)
def test_what_a_generator_yields_meets_where_nothing_moves_it(met, mover):
    assert met(SETUP + _DRAWN.format(mover=mover, end="okens")) == ['there + batch["tokens"]']


HOLDING_LOADER = """
import elsewhere

class Loader(DataLoader):
    def __init__(self, data):
        self.data = data
        super().__init__(range(10), collate_fn=self.merge)

    def merge(self, items):
        return elsewhere.merged(self.data, items)

for batch in Loader(torch.ones(3){move}):
    batch.x + torch.ones(3, device="cuda")
"""


def test_a_batch_is_where_its_collate_function_holds_tensors(met):
    assert met(HOLDING_LOADER.format(move="")) == ['batch.x + torch.ones(3, device="cuda")']
    assert met(HOLDING_LOADER.format(move=".cuda()")) == []


HOLDING_DATA = """
import elsewhere
from torch.utils.data import Dataset

class Rays(Dataset):
    def __init__(self, rays, device):
        self.device = device
        self.rays = rays

    def __getitem__(self, index):
        return elsewhere.mapped(lambda ray: ray[index].to(self.device), self.rays)

for ray in DataLoader(Rays(elsewhere.rays, torch.device("{device}"))):
    ray + torch.ones(3, device="cuda")
"""


@pytest.mark.parametrize(("device", "fails"), [("cpu", True), ("cuda", False)])
def test_unknown_items_of_a_dataset_that_holds_a_device_may_be_there(met, device, fails):
    assert bool(met(HOLDING_DATA.format(device=device))) is fails


@pytest.mark.parametrize(
    ("iterable", "fails"),
    [
        ("zip(load(), load())", True),
        ("zip(load().values(), load().values())", False),
        ("zip(load().state_dict().values(), net.parameters())", False),
    ],
)
def test_what_a_dictionary_or_a_module_holds_is_no_loader(met, iterable, fails):
    program = f"""
        from elsewhere import load

        net = nn.Linear(3, 3).cuda()
        for old, new in {iterable}:
            new = new.cuda()
            old + new
        """

    assert bool(met(program)) is fails


SAMPLES = """
from elsewhere import Data, build

model = build().cuda()
for samples in DataLoader(Data(), collate_fn=lambda samples: samples):
    model({given})
"""


def test_a_list_of_samples_of_which_nothing_is_known_is_no_tensor(met):
    assert met(SAMPLES.format(given="samples")) == []
    assert met(SAMPLES.format(given="torch.stack(samples).cpu()")) == ["model(torch.stack(samples).cpu())"]


OWN_LOADER = """
from prefetch_generator import BackgroundGenerator
from torch.utils.data import TensorDataset, dataloader

class Loader({base}):
{body}

for (x,) in Loader(TensorDataset(torch.ones(3, 3)), batch_size=2):
    x{move} + there
"""
_CONSTRUCTOR = "    def __init__(self, *args, **kwargs):\n        super().__init__(*args, **kwargs)"
_ITERATOR = "    def __iter__(self):\n        return BackgroundGenerator(super().__iter__())"


@pytest.mark.parametrize(
    ("base", "body"),
    [
        pytest.param("DataLoader", _CONSTRUCTOR, id="constructor"),
        pytest.param("DataLoader", "    pass", id="inherited-constructor"),
        pytest.param("DataLoader", _ITERATOR, id="iterator"),
        pytest.param("dataloader.DataLoader", _CONSTRUCTOR, id="another-name"),
        pytest.param("dataloader.DataLoader", "    pass", id="another-name-inherited-constructor"),
    ],
)
def test_a_subclass_of_a_loader_yields_batches_on_the_cpu(met, base, body):
    assert met(SETUP + OWN_LOADER.format(base=base, body=body, move="")) == ["x + there"]
    assert met(SETUP + OWN_LOADER.format(base=base, body=body, move=".cuda()")) == []


@pytest.mark.parametrize(
    "taken", ["first, second = weights", "first = weights[0]", "for first in weights: pass", "first, *rest = weights"]
)
def test_an_element_of_a_vector_mixes_with_tensors_on_the_accelerator(met, taken):
    assert met(f"weights = torch.zeros(2)\n{taken}\nprint(torch.randn(3).cuda().sum() + first)\n") == []
