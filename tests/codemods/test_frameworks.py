"""Programs in the habits of frameworks: what is certain is repaired, in their words.

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

BROKEN = {
    "accelerate-a-teacher": (
        ACCELERATE
        + """
accelerator = Accelerator()
model = nn.Linear(4, 2)
teacher = nn.Linear(4, 2)
optimizer = torch.optim.AdamW(model.parameters())
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for x, y in loader:
    accelerator.backward(F.cross_entropy(model(x) + teacher(x), y))
    optimizer.step()
""",
        ("teacher = nn.Linear(4, 2)", "teacher = nn.Linear(4, 2).to(accelerator.device)"),
    ),
    "accelerate-a-tensor": (
        ACCELERATE
        + """
accelerator = Accelerator()
model, loader = accelerator.prepare(nn.Linear(4, 2), loader)
for x, y in loader:
    weight = torch.ones(2)
    loss = F.cross_entropy(model(x), y, weight=weight)
    accelerator.backward(loss)
""",
        ("weight = torch.ones(2)", "weight = torch.ones(2).to(accelerator.device)"),
    ),
    "accelerate-an-unprepared-loader": (
        ACCELERATE
        + """
accelerator = Accelerator()
model = accelerator.prepare(nn.Linear(4, 2))
for x, y in loader:
    accelerator.backward(F.cross_entropy(model(x), y))
""",
        (
            "for x, y in loader:\n",
            "for x, y in loader:\n"
            + "".join(f"    {name} = {name}.to(accelerator.device, non_blocking=True)\n" for name in "xy"),
        ),
    ),
    "fabric": (
        LIGHTNING
        + """
fabric = L.Fabric()
model = fabric.setup(nn.Linear(4, 2))
loader = fabric.setup_dataloaders(loader)
target = torch.zeros(4, 2)
for x, y in loader:
    fabric.backward(F.mse_loss(model(x), target))
""",
        ("target = torch.zeros(4, 2)", "target = torch.zeros(4, 2, device=fabric.device)"),
    ),
    "lightning": (
        LIGHTNING
        + """
class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 2)

    def training_step(self, batch, batch_idx):
        x, y = batch
        bias = torch.zeros(2)
        return F.cross_entropy(self.net(x) + bias, y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


L.Trainer(accelerator="gpu", devices=1).fit(Lit(), loader)
""",
        ("bias = torch.zeros(2)", "bias = torch.zeros(2, device=self.device)"),
    ),
    "lightning-a-plain-attribute": (
        LIGHTNING.replace("import lightning as L", "import pytorch_lightning as L")
        + """
class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 2)
        self.scale = torch.ones(2)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self.net(x) * self.scale, y)


L.Trainer().fit(Lit(), train_dataloaders=loader)
""",
        (
            "self.scale = torch.ones(2)",
            'self.register_buffer("scale", torch.ones(2), persistent=False)',
        ),
    ),
    "transformers-trainer": (
        TRANSFORMERS
        + """
class Weighted(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        weight = torch.tensor([1.0, 2.0])
        loss = F.cross_entropy(outputs.logits, labels, weight=weight)
        return (loss, outputs) if return_outputs else loss


model = AutoModel.from_pretrained("bert-base-uncased")
trainer = Weighted(model=model, args=TrainingArguments("out"), train_dataset=[])
trainer.train()
""",
        ("weight = torch.tensor([1.0, 2.0])", "weight = torch.tensor([1.0, 2.0]).to(self.args.device)"),
    ),
    "transformers-by-hand": (
        TRANSFORMERS
        + """
device = "cuda" if torch.cuda.is_available() else "cpu"
tok = AutoTokenizer.from_pretrained("gpt2")
model = AutoModel.from_pretrained("gpt2").to(device)
inputs = tok("hello", return_tensors="pt")
print(tok.decode(model.generate(**inputs, max_new_tokens=5)[0]))
model(**inputs, labels=inputs["input_ids"]).loss.backward()
""",
        ('tok("hello", return_tensors="pt")', 'tok("hello", return_tensors="pt").to(device)'),
    ),
    "transformers-model-device": (
        TRANSFORMERS
        + """
tok = AutoTokenizer.from_pretrained("gpt2")
model = AutoModel.from_pretrained("gpt2").cuda()


def ask(model, tok, text):
    enc = tok(text, return_tensors="pt", truncation=True)
    return model(enc.input_ids, attention_mask=enc.attention_mask).logits


print(ask(model, tok, "hello"))
""",
        ("truncation=True)", "truncation=True).to(model.device)"),
    ),
    "transformers-encode": (
        TRANSFORMERS
        + """
device = torch.device("cuda")
tok = AutoTokenizer.from_pretrained("gpt2")
model = AutoModel.from_pretrained("gpt2")
model.to(device)
ids = tok.encode("hello", return_tensors="pt")
print(tok.decode(model.generate(ids)[0]))
""",
        ('tok.encode("hello", return_tensors="pt")', 'tok.encode("hello", return_tensors="pt").to(device)'),
    ),
    "pyg": (
        GRAPHS
        + """
model = GCN().to(device)
data = dataset[0]
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(3):
    out = model(data.x, data.edge_index)
    loss = F.cross_entropy(out[data.train_mask], data.y[data.train_mask])
    loss.backward()
    optimizer.step()
""",
        ("data = dataset[0]", "data = dataset[0].to(device)"),
    ),
    "pyg-loader": (
        GRAPHS
        + """
loader = DataLoader(TUDataset("data", "MUTAG")[:100], batch_size=32, shuffle=True)
model = GCN().to(device)
for data in loader:
    out = model(data.x, data.edge_index, data.batch)
    F.cross_entropy(out, data.y).backward()
""",
        ("for data in loader:\n", "for data in loader:\n    data = data.to(device)\n"),
    ),
    "pyg-before-the-device": (
        GRAPHS.replace('device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n', "")
        + """
data = dataset[0]
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = GCN().to(device)
print(F.cross_entropy(model(data.x, data.edge_index), data.y))
""",
        ("model = GCN().to(device)\n", "model = GCN().to(device)\ndata = data.to(device)\n"),
    ),
    "pyg-with-features-of-its-own": (
        GRAPHS.replace('device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n', "")
        + """
data = dataset[0]
data.x = torch.randn(data.num_nodes, 16)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = GCN().to(device)
print(F.cross_entropy(model(data.x, data.edge_index), data.y))
""",
        ("model = GCN().to(device)\n", "model = GCN().to(device)\ndata = data.to(device)\n"),
    ),
    "pyg-a-part": (
        GRAPHS
        + """
model = GCN().to(device)
data = dataset[0]
x, edge_index = data.x.to(device), data.edge_index.to(device)
y = data.y
print(F.cross_entropy(model(x, edge_index), y))
""",
        ("y = data.y\n", "y = data.y.to(device)\n"),
    ),
    "dgl": (
        DGL
        + """
device = torch.device("cuda")
g = dgl.data.CoraGraphDataset()[0]
feats, labels = g.ndata["feat"], g.ndata["label"]
model = Net().to(device)
F.cross_entropy(model(g, feats), labels).backward()
""",
        ("CoraGraphDataset()[0]", "CoraGraphDataset()[0].to(device)"),
    ),
    "torchmetrics": (
        DATA
        + """
import torchmetrics

device = "cuda"
model = nn.Linear(4, 2).to(device)
accuracy = torchmetrics.Accuracy(task="binary")
for x, y in loader:
    x, y = x.to(device), y.to(device)
    accuracy.update(model(x).argmax(1), y)
""",
        (
            'accuracy = torchmetrics.Accuracy(task="binary")',
            'accuracy = torchmetrics.Accuracy(task="binary").to(device)',
        ),
    ),
    "ignite": (
        DATA
        + """
import ignite.distributed as idist
from ignite.engine import Engine

device = idist.device()
model = idist.auto_model(nn.Linear(4, 2))


def step(engine, batch):
    x, y = batch
    x = x.to(device)
    return F.cross_entropy(model(x), y)


Engine(step).run(loader, max_epochs=2)
""",
        ("    x = x.to(device)\n", "    x = x.to(device)\n    y = y.to(device)\n"),
    ),
    "deepspeed": (
        DATA
        + """
import deepspeed

model = nn.Linear(4, 2)
engine, optimizer, _, _ = deepspeed.initialize(model=model, model_parameters=model.parameters())
for x, y in loader:
    x = x.to(engine.device)
    engine.backward(F.cross_entropy(engine(x), y))
    engine.step()
""",
        ("    x = x.to(engine.device)\n", "    x = x.to(engine.device)\n    y = y.to(engine.device)\n"),
    ),
    "xla": (
        DATA
        + """
import torch_xla.core.xla_model as xm

device = xm.xla_device()
model = nn.Linear(4, 2).to(device)
for x, y in loader:
    x = x.to(device)
    F.cross_entropy(model(x), y).backward()
""",
        ("    x = x.to(device)\n", "    x = x.to(device)\n    y = y.to(device)\n"),
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_program_is_repaired_in_the_words_of_its_framework(tmp_path, name):
    program, (old, new) = BROKEN[name]
    text = HEADER + program
    assert text.count(old) == 1

    after, _ = repaired(tmp_path, text)

    assert after == text.replace(old, new)
    assert repaired(tmp_path, after)[0] == after
