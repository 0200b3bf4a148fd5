"""Programs in the habits of frameworks: what places things itself is left alone.

All rules look at them.
"""

from __future__ import annotations

import pytest
from framework_programs import (
    ACCELERATE,
    DATA,
    DGL,
    GRAPHS,
    HEADER,
    LIGHTNING,
    TRANSFORMERS,
    repaired,
)

CORRECT = {
    "accelerate": ACCELERATE
    + """
accelerator = Accelerator(mixed_precision="fp16")
model = nn.Linear(4, 2)
optimizer = torch.optim.AdamW(model.parameters())
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
teacher = nn.Linear(4, 2).to(accelerator.device)
for x, y in loader:
    with accelerator.accumulate(model):
        loss = F.cross_entropy(model(x) + teacher(x), y)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    print(accelerator.gather(loss).mean().item())
""",
    "accelerate-beside-a-choice": ACCELERATE
    + """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
statistics = torch.ones(2).to(device)
if torch.cuda.is_available():
    torch.ones(2).cuda()
accelerator = Accelerator()
teacher = nn.Linear(4, 2).to(accelerator.device)
for x, y in loader:
    print(teacher(x.to(accelerator.device)).mean())
""",
    "accelerate-one-by-one": ACCELERATE
    + """
accelerator = Accelerator()
model = accelerator.prepare_model(nn.Linear(4, 2))
optimizer = accelerator.prepare_optimizer(torch.optim.Adagrad(model.parameters()))
loader = accelerator.prepare_data_loader(loader)
noise = torch.randn(4, 4, device=accelerator.device)
for x, y in loader:
    accelerator.backward(F.cross_entropy(accelerator.unwrap_model(model)(x + noise), y))
    optimizer.step()
""",
    "accelerate-in-a-trainer": ACCELERATE
    + """
class Trainer:
    def __init__(self, model, loader):
        self.accelerator = Accelerator()
        self.optimizer = torch.optim.Adagrad(model.parameters())
        self.model, self.optimizer, self.loader = self.accelerator.prepare(model, self.optimizer, loader)
        self.ema = nn.Linear(4, 2).to(self.accelerator.device)

    def train(self):
        device = self.accelerator.device
        for step, batch in enumerate(self.loader):
            x, y = batch
            weight = torch.ones(2).to(device)
            loss = F.cross_entropy(self.model(x), y, weight=weight) + self.ema(x).mean()
            self.accelerator.backward(loss)
            self.optimizer.step()


Trainer(nn.Linear(4, 2), loader).train()
""",
    "accelerate-places-nothing": ACCELERATE
    + """
accelerator = Accelerator(device_placement=False)
model = nn.Linear(4, 2).to(accelerator.device)
model, loader = accelerator.prepare(model, loader)
for x, y in loader:
    x, y = x.to(accelerator.device), y.to(accelerator.device)
    accelerator.backward(F.cross_entropy(model(x), y))
""",
    "fabric": LIGHTNING
    + """
fabric = L.Fabric(accelerator="cuda", devices=1)
fabric.launch()
model = nn.Linear(4, 2)
model, optimizer = fabric.setup(model, torch.optim.Adagrad(model.parameters()))
loader = fabric.setup_dataloaders(loader)
for x, y in loader:
    loss = F.cross_entropy(model(x), y) + model(torch.ones(1, 4, device=fabric.device)).mean()
    fabric.backward(loss)
    optimizer.step()
    print(fabric.to_device(torch.ones(2)) + model(x))
""",
    "lightning": LIGHTNING
    + """
class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 2)
        self.teacher = nn.Linear(4, 2)
        self.register_buffer("w", torch.ones(2))

    def training_step(self, batch, batch_idx):
        x, y = batch
        noise = torch.randn(x.shape, device=self.device)
        return F.cross_entropy(self.net(x + noise) * self.w + self.teacher(x), y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("acc", (self.net(x).argmax(1) == y).float().mean())

    def configure_optimizers(self):
        return torch.optim.Adagrad(self.parameters())


model = Lit()
L.Trainer(accelerator="gpu", devices=1).fit(model, loader, loader)
torch.save(model.state_dict(), "lit.pt")
print(model.net(torch.randn(1, 4)))
""",
    "lightning-with-a-datamodule": LIGHTNING.replace("lightning as L", "pytorch_lightning as L")
    + """
class Data(L.LightningDataModule):
    def train_dataloader(self):
        return DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4)


class Lit(L.LightningModule):
    def __init__(self, lr=0.1):
        super().__init__()
        self.save_hyperparameters()
        self.layer = nn.Linear(4, 2)
        self.loss = nn.CrossEntropyLoss(weight=torch.ones(2))

    def forward(self, x):
        return self.layer(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return self.loss(self(x), y)


L.Trainer(max_epochs=1).fit(Lit(), datamodule=Data())
""",
    "lightning-on-the-cpu": LIGHTNING
    + """
class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 2)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self.net(x + torch.ones(4)), y)


L.Trainer(accelerator="cpu").fit(Lit(), loader)
""",
    "ignite": DATA
    + """
from ignite.engine import Engine, create_supervised_trainer
import ignite.distributed as idist
from ignite.utils import convert_tensor

device = idist.device()
model = idist.auto_model(nn.Linear(4, 2))
optimizer = idist.auto_optim(torch.optim.SGD(model.parameters(), lr=0.1))
loader = idist.auto_dataloader(data, batch_size=4)


def step(engine, batch):
    x, y = batch
    x, y = convert_tensor(x, device), convert_tensor(y, device=device)
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()


Engine(step).run(loader, max_epochs=2)
create_supervised_trainer(model, optimizer, nn.CrossEntropyLoss(), device=device).run(loader)
""",
    "deepspeed-inference": DATA
    + """
import deepspeed

net = deepspeed.init_inference(model=nn.Linear(4, 2), dtype=torch.half).module
for x, y in loader:
    print(net(x.cuda()).mean())
""",
    "diffusers-configuration": DATA
    + """
from diffusers.configuration_utils import FrozenDict

net = nn.Linear(4, 2).cuda()
optimizer = torch.optim.Adam(net.parameters())
net._internal_dict = FrozenDict({"sample_size": 64})
for x, y in loader:
    F.cross_entropy(net(x.cuda()), y.cuda()).backward()
    optimizer.step()
""",
    "input-of-a-wrapped-layer": DATA
    + """
class Catcher(nn.Module):
    def __init__(self, module, kept):
        super().__init__()
        self.module, self.kept = module, kept

    def forward(self, x):
        self.kept.append(x)
        raise ValueError

net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4))
kept = []
first = net[0].cuda()
net[0] = Catcher(first, kept)
for x, y in loader:
    try:
        net(x.cuda())
    except ValueError:
        pass
""",
    "deepspeed": DATA
    + """
import deepspeed

model = nn.Linear(4, 2)
engine, optimizer, loader, _ = deepspeed.initialize(
    model=model, model_parameters=model.parameters(), training_data=data
)
for x, y in loader:
    x = x.to(engine.device)
    y = y.to(engine.local_rank)
    loss = F.cross_entropy(engine(x), y)
    engine.backward(loss)
    engine.step()
    print(engine.module.weight.sum() + loss)
""",
    "fsdp-and-ddp": """
import os
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.parallel import DistributedDataParallel as DDP

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
model = FSDP(nn.Linear(4, 2), device_id=torch.cuda.current_device())
ddp = DDP(nn.Linear(2, 2).cuda(), device_ids=[rank])
optimizer = torch.optim.Adam(model.parameters())
for _ in range(3):
    loss = ddp(model(torch.randn(8, 4).cuda())).sum()
    loss.backward()
    optimizer.step()
""",
    "transformers-trainer": TRANSFORMERS
    + """
class MyTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        w = torch.tensor([1.0, 2.0], device=outputs.logits.device)
        loss = F.cross_entropy(outputs.logits, labels, weight=w)
        return (loss, outputs) if return_outputs else loss


model = AutoModel.from_pretrained("bert-base-uncased")
MyTrainer(model=model, args=TrainingArguments("out"), train_dataset=[]).train()
""",
    "transformers-device-map": TRANSFORMERS
    + """
tok = AutoTokenizer.from_pretrained("gpt2")
model = AutoModel.from_pretrained("gpt2", device_map="auto")
inputs = tok("hello", return_tensors="pt").to(model.device)
out = model(**inputs, labels=inputs["input_ids"])
out.loss.backward()
small = AutoModel.from_pretrained("gpt2", device_map="auto", load_in_8bit=True)
plain = tok("hello", return_tensors="pt")
print(small(**plain).logits)
""",
    "transformers-own-class": TRANSFORMERS
    + """
from transformers import LlamaForCausalLM

class Net(LlamaForCausalLM):
    def __init__(self, config, **kwargs):
        super().__init__(config)
        self.head = nn.Linear(4, 2)

    def score(self, x):
        return self.head(x)

options = {}
four_bit = bool(torch.rand(1) > 0.5)
if four_bit:
    options.update({"load_in_4bit": True})
net = Net.from_pretrained("net", **options)
if not four_bit:
    net = net.cuda()
print(net.score(torch.ones(3, 4).cuda()))
""",
    "transformers-in-place": TRANSFORMERS
    + """
device = "cuda"
tok = AutoTokenizer.from_pretrained("gpt2")
model = AutoModel.from_pretrained("gpt2").to(device)
inputs = tok(["a", "b"], padding=True, return_tensors="pt")
inputs.to(device)
out = model(**inputs)
out.loss.backward()
ids = tok.encode("hello", return_tensors="pt").to(device)
print(tok.decode(model.generate(ids)[0]))
batch = {k: v.to(device) for k, v in tok("x", return_tensors="pt").items()}
print(model(**batch).logits)
one = tok("x", return_tensors="pt")
print(model(one["input_ids"].to(device), attention_mask=one.attention_mask.to(device)).logits)
print(tok("no tensors")["input_ids"], tok("x", return_tensors="np")["input_ids"])
""",
    "transformers-by-items": TRANSFORMERS
    + """
device = "cuda"
tok = AutoTokenizer.from_pretrained("gpt2")
model = AutoModel.from_pretrained("gpt2").to(device)
inputs = tok("a", return_tensors="pt")
for key in inputs:
    inputs[key] = inputs[key].to(device)
print(model(**inputs).logits)
""",
    "pyg-in-place": GRAPHS
    + """
model = GCN().to(device)
data = dataset[0]
data.to(device)
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(3):
    out = model(data.x, data.edge_index)
    loss = F.cross_entropy(out[data.train_mask], data.y[data.train_mask])
    loss.backward()
    optimizer.step()
    print(int(data.train_mask.sum()) / data.num_nodes)
""",
    "pyg-loader": GRAPHS
    + """
dataset = TUDataset("data", "MUTAG").shuffle()
loader = DataLoader(dataset[:100], batch_size=32)
model = GCN().to(device)
for data in loader:
    data = data.to(device)
    out = model(data.x, data.edge_index, data.batch)
    loss = F.cross_entropy(out, data.y)
    loss.backward()
    print(loss.item() * data.num_graphs)
""",
    "pyg-to-device": GRAPHS
    + """
import torch_geometric.transforms as T

dataset = Planetoid("data", "Cora", transform=T.Compose([T.NormalizeFeatures(), T.ToDevice(device)]))
model = GCN().to(device)
data = dataset[0]
print(F.cross_entropy(model(data.x, data.edge_index), data.y))
""",
    "pyg-by-parts": GRAPHS
    + """
from torch_geometric.data import Data

model = GCN().to(device)
data = dataset[0]
x, edge_index, y = data.x.to(device), data.edge_index.to(device), data.y.to(device)
print(F.cross_entropy(model(x, edge_index), y))
own = Data(x=torch.randn(3, 4).to(device), edge_index=torch.tensor([[0], [1]], device=device))
print(model(own.x, own.edge_index))
mine = dataset[0]
mine.x = mine.x.to(device)
mine.edge_index = mine.edge_index.to(device)
print(model(mine.x, mine.edge_index))
""",
    "dgl": DGL
    + """
device = torch.device("cuda")
g = dgl.data.CoraGraphDataset()[0].to(device)
g = dgl.add_self_loop(g)
feats, labels = g.ndata["feat"], g.ndata["label"]
model = Net().to(device)
loss = F.cross_entropy(model(g, feats), labels) / g.num_nodes()
loss.backward()
small = dgl.graph(([0, 1], [1, 2]), device=device)
print(model(small, torch.ones(3, 1433, device=device)))
""",
    "skorch": """
from skorch import NeuralNetClassifier
import numpy as np

net = NeuralNetClassifier(nn.Sequential(nn.Linear(4, 2), nn.Softmax(-1)), max_epochs=2, device="cuda")
net.fit(np.zeros((8, 4), dtype="float32"), np.zeros(8, dtype="int64"))
""",
    "torchmetrics": DATA
    + """
import torchmetrics

device = "cuda"
model = nn.Linear(4, 2).to(device)
accuracy = torchmetrics.Accuracy(task="binary").to(device)
on_cpu = torchmetrics.Accuracy(task="binary")
for x, y in loader:
    x, y = x.to(device), y.to(device)
    accuracy.update(model(x).argmax(1), y)
    on_cpu(model(x).argmax(1).cpu(), y.cpu())
    print(torchmetrics.functional.accuracy(model(x), y, task="binary"))
print(accuracy.compute(), on_cpu.compute())
""",
    "distributions": """
from torch.distributions import Categorical, Normal
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

device = torch.device("cuda")
policy = nn.Linear(4, 2).to(device)
gru = nn.GRU(4, 2).to(device)
state = torch.ones(1, 4, device=device)
action = Categorical(logits=policy(state)).sample()
print(policy(state).gather(1, action.unsqueeze(1)))
packed = pack_padded_sequence(torch.ones(3, 2, 4), torch.tensor([3, 2])).to(device)
out, _ = gru(packed)
print(pad_packed_sequence(out)[0].sum())
""",
    "timm-and-hydra": DATA
    + """
import hydra
import timm


@hydra.main(config_path=".", config_name="config", version_base=None)
def main(cfg):
    model = timm.create_model(cfg.model, num_classes=2).to(cfg.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    for x, y in loader:
        x, y = x.to(cfg.device), y.to(cfg.device)
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()


main()
""",
    "xla": DATA
    + """
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl

device = xm.xla_device()
model = nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in pl.MpDeviceLoader(loader, device):
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    xm.optimizer_step(optimizer)
""",
    "fastai": """
from fastai.vision.all import *

learn = vision_learner(dls, resnet18, metrics=accuracy)
learn.fine_tune(1)
x, y = dls.one_batch()
print(learn.model(x) + y)
""",
}


@pytest.mark.parametrize("name", CORRECT)
def test_a_correct_program_stays_as_it_is(tmp_path, name):
    text = HEADER + CORRECT[name]

    after, outcome = repaired(tmp_path, text)

    assert [resolution.finding.message for resolution in outcome.resolutions] == []
    assert after == text
