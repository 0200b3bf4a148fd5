"""Batches of loaders whose data is not known."""

from __future__ import annotations

import pytest

PROGRAM = """
from files import folder, read

class Images(Dataset):
    def __init__(self):
        self.names = folder()

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return {item}

def collate(samples):
    return {batch}

net = nn.Linear(4, 2).cuda()
loader = DataLoader({dataset}, batch_size=2, collate_fn={collate})
for x in loader:
    net(x)
"""


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        pytest.param({}, True, id="stacked"),
        pytest.param(
            {"collate": "None", "item": "torch.stack(read(self.names[index]))"}, True, id="made-by-the-dataset"
        ),
        pytest.param({"dataset": "torch.utils.data.Subset(Images(), [0, 1])"}, True, id="part-of-a-dataset"),
        pytest.param({"dataset": "Images() if input() else Images()"}, True, id="one-of-two"),
        pytest.param({"batch": "torch.stack([each.to(samples[0]) for each in samples])"}, False, id="moved"),
        pytest.param({"item": "read(self.names[index], device='cuda')"}, False, id="made-elsewhere"),
        pytest.param({"dataset": "folder()"}, False, id="unknown-dataset"),
    ],
)
def test_tensors_made_of_unknown_data_are_on_the_cpu_if_no_device_is_named(met, parts, found):
    default = {
        "item": "read(self.names[index])",
        "batch": "torch.stack(samples)",
        "dataset": "Images()",
        "collate": "collate",
    }

    assert met(PROGRAM.format(**default | parts)) == ["net(x)"] * found


@pytest.mark.parametrize(("method", "meets"), [("get_embedding()", False), ("reshape(3)", True)])
def test_an_item_with_a_method_that_no_tensor_has_is_no_tensor(met, method, meets):
    program = f"""
    from data import Corpus
    net = nn.Linear(3, 3).cuda()
    for batch in DataLoader(Corpus(), collate_fn=list):
        for item in batch:
            net(item.{method})
    """

    assert bool(met(program)) is meets


@pytest.mark.parametrize("source", ["super().__iter__()", "DataLoader.__iter__(self)"])
def test_a_loader_of_the_program_yields_what_its_own_method_yields(met, source):
    program = f"""
        class Placed(DataLoader):
            def __iter__(self):
                for x, y in {source}:
                    yield x.cuda(), y

        net = nn.Linear(4, 2).cuda()
        for x, y in Placed(TensorDataset(torch.ones(8, 4), torch.ones(8, 2)), batch_size=2):
            (net(x) - {{}}).sum()
        """

    assert met(program.format("y.cuda()")) == []
    assert met(program.format("y")) == ["(net(x) - y).sum()"]
