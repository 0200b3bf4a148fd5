"""Ordinary training scripts by what they report, and patches that spoil what a loss does not show.

Each script is :data:`TRAINING` and one entry of :data:`REPORTS`.
"""

# ruff: noqa: E501
from __future__ import annotations

__all__ = ["NEEDS", "REPORTS", "SPOILT_EVALUATION", "SPOILT_REPORTS", "TRAINING", "script", "spoilt"]

TRAINING = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
X, Y = torch.randn(64, 6), torch.randint(0, 3, (64,))
train = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X[:48], Y[:48]), batch_size=16, shuffle=True)
test = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X[48:], Y[48:]), batch_size=8)
model = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 3)).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


def train_epoch():
    model.train()
    total = 0.0
    for x, y in train:
        x, y = x.to(device), y.to(device)
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(train)


def evaluate():
    model.eval()
    hits, total = 0, 0.0
    with torch.no_grad():
        for x, y in test:
            x, y = x.to(device), y.to(device)
            scores = model(x)
            total += nn.functional.cross_entropy(scores, y, reduction="sum").item()
            hits += (scores.argmax(1) == y).sum().item()
    return total / 16, hits / 16


"""

#: Modules beyond torch and NumPy that a report imports.
NEEDS = {
    "tqdm": "tqdm",
    "nested-tqdm": "tqdm",
    "tensorboard": "tensorboard",
    "matplotlib": "matplotlib",
    "pandas": "pandas",
    "safetensors": "safetensors",
    "sklearn": "sklearn",
}

REPORTS = {
    "prints": """
import time
print(f"Using device: {device}")
if torch.cuda.is_available():
    print("GPU:", torch.cuda.get_device_name(0))
start = time.time()
for epoch in range(3):
    loss = train_epoch()
    val_loss, accuracy = evaluate()
    print(f"Epoch {epoch + 1}/3 - {time.time() - start:.2f}s - loss: {loss:.4f} - val_loss: {val_loss:.4f} - val_acc: {accuracy:.2%}")
print("Finished in", time.time() - start, "on", time.ctime())
""",
    "logging": """
import logging, os, sys, time
logging.basicConfig(level=logging.INFO, format="%(asctime)s [%(process)d] %(levelname)s %(filename)s:%(lineno)d - %(message)s",
                    handlers=[logging.StreamHandler(sys.stdout), logging.FileHandler("train.log")])
logger = logging.getLogger(__name__)
logger.info("pid %d, device %s, folder %s", os.getpid(), device, os.getcwd())
for epoch in range(3):
    begin = time.perf_counter()
    loss = train_epoch()
    logger.info("epoch %d: loss %.5f (%.1f samples/s, %.3f ms/step)", epoch, loss, 48 / (time.perf_counter() - begin), 1e3 * (time.perf_counter() - begin) / 3)
    logger.info("validation: loss %.5f, accuracy %.4f", *evaluate())
""",
    "arguments": """
import argparse, datetime, json, platform, socket
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=1e-2)
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--no-cuda", action="store_true")
args = parser.parse_args()
args.cuda = torch.cuda.is_available() and not args.no_cuda
args.device = str(device)
print(args)
print(model)
history = [dict(epoch=epoch, train_loss=train_epoch(), **dict(zip(("val_loss", "val_accuracy"), evaluate()))) for epoch in range(args.epochs)]
with open("result.json", "w") as file:
    json.dump({"args": vars(args), "history": history, "host": socket.gethostname(), "python": platform.python_version(),
               "cuda": torch.version.cuda, "gpus": torch.cuda.device_count(), "started": datetime.datetime.now().isoformat()}, file, indent=2)
""",
    "tqdm": """
from tqdm import tqdm
bar = tqdm(range(3), desc="training")
for epoch in bar:
    loss = train_epoch()
    bar.set_postfix(loss=f"{loss:.4f}", val="%.4f" % evaluate()[0])
tqdm.write("accuracy %.3f" % evaluate()[1])
""",
    "nested-tqdm": """
from tqdm import tqdm, trange
for epoch in trange(3, desc="epochs"):
    model.train()
    for x, y in tqdm(train, desc=f"epoch {epoch}", leave=False):
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        optimizer.zero_grad(); loss.backward(); optimizer.step()
    tqdm.write(f"epoch {epoch}: loss {loss.item():.4f}, val {evaluate()[0]:.4f}")
""",
    "carriage-returns": """
import sys, time
for epoch in range(3):
    for step in range(3):
        sys.stdout.write(f"\\rstep {step} of 3, {time.time():.3f}")
        sys.stdout.flush()
    print(f"\\rEpoch {epoch}: loss = {train_epoch():.3f}; val = {evaluate()}")
""",
    "tensorboard": """
from torch.utils.tensorboard import SummaryWriter
writer = SummaryWriter()
for epoch in range(3):
    writer.add_scalar("Loss/train", train_epoch(), epoch)
    loss, accuracy = evaluate()
    writer.add_scalar("Loss/val", loss, epoch)
    writer.add_scalars("metrics", {"accuracy": accuracy, "error": 1 - accuracy}, epoch)
    writer.add_histogram("fc", model[0].weight.detach().cpu(), epoch)
writer.add_text("device", str(device))
writer.close()
""",
    "csv": """
import csv, time
start = time.time()
with open("log.csv", "w", newline="") as file:
    rows = csv.writer(file)
    rows.writerow(["epoch", "seconds", "train_loss", "val_loss", "val_acc"])
    for epoch in range(3):
        rows.writerow([epoch, time.time() - start, train_epoch(), *evaluate()])
""",
    "best-and-last": """
import os
os.makedirs("checkpoints", exist_ok=True)
best, patience = float("inf"), 0
for epoch in range(6):
    train_epoch()
    val_loss, accuracy = evaluate()
    state = {"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict(), "val_loss": val_loss}
    torch.save(state, "checkpoints/last.pt")
    if val_loss < best:
        best, patience = val_loss, 0
        torch.save(state, f"checkpoints/best-{epoch}-{val_loss:.3f}.pt")
        print(f"new best model saved at epoch {epoch}")
    else:
        patience += 1
        if patience > 1:
            print("early stopping")
            break
""",
    "dated-folder": """
import datetime, json, pathlib
folder = pathlib.Path("runs") / datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
folder.mkdir(parents=True)
for epoch in range(3):
    train_epoch()
loss, accuracy = evaluate()
(folder / "metrics.json").write_text(json.dumps({"loss": loss, "accuracy": accuracy, "folder": str(folder)}))
torch.save(model.state_dict(), folder / "model.pth")
print(f"Results are in {folder.resolve()}")
""",
    "wandb-like": """
import json, os, time, uuid
run = f"run-{time.strftime('%Y%m%d_%H%M%S')}-{uuid.uuid4().hex[:8]}"
os.makedirs(f"wandb/{run}/files")
start = time.time()
with open(f"wandb/{run}/files/history.jsonl", "w") as file:
    for step in range(3):
        record = {"train/loss": train_epoch(), "val/loss": evaluate()[0], "_step": step, "_runtime": time.time() - start, "_timestamp": time.time()}
        file.write(json.dumps(record) + "\\n")
with open(f"wandb/{run}/files/wandb-summary.json", "w") as file:
    json.dump({"val": dict(zip(("loss", "accuracy"), evaluate())), "_wandb": {"runtime": int(time.time() - start)}, "run_id": run}, file)
os.symlink(run, "wandb/latest-run")
""",
    "matplotlib": """
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
losses, values = [], []
for epoch in range(3):
    losses.append(train_epoch())
    values.append(evaluate()[0])
plt.plot(losses, label="train"); plt.plot(values, label="val"); plt.legend()
plt.savefig("loss.png"); plt.savefig("loss.svg"); plt.savefig("loss.pdf")
""",
    "numpy": """
import numpy as np
for epoch in range(3):
    train_epoch()
print("val", evaluate())
model.eval()
with torch.no_grad():
    scores = model(X.to(device)).cpu().numpy()
np.save("scores.npy", scores)
np.savez_compressed("predictions.npz", labels=Y.numpy(), predicted=scores.argmax(1))
np.savetxt("scores.txt", scores)
""",
    "pickle": """
import datetime, pickle
import numpy as np
results = {"started": datetime.datetime.now(), "history": []}
for epoch in range(3):
    results["history"].append({"epoch": epoch, "loss": train_epoch(), "val": np.array(evaluate())})
results["weights"] = {name: value.detach().cpu().numpy() for name, value in model.named_parameters()}
results["device"] = device
with open("results.pkl", "wb") as file:
    pickle.dump(results, file)
""",
    "confusion-matrix": """
for epoch in range(3):
    train_epoch()
print("val", evaluate())
model.eval()
matrix = torch.zeros(3, 3, dtype=torch.long, device=device)
with torch.no_grad():
    for x, y in test:
        for label, guess in zip(y, model(x.to(device)).argmax(1)):
            matrix[label, guess] += 1
print(matrix)
print("recall", matrix.diag() / matrix.sum(1).clamp(min=1))
print(matrix.cpu().numpy())
""",
    "sklearn": """
from sklearn.metrics import classification_report
for epoch in range(3):
    train_epoch()
print("val", evaluate())
with torch.no_grad():
    print(classification_report(Y[48:].numpy(), model(X[48:].to(device)).argmax(1).cpu().numpy(), zero_division=0))
""",
    "pandas": """
import pandas as pd, time
rows = []
for epoch in range(3):
    rows.append({"epoch": epoch, "loss": train_epoch(), "val": evaluate()[0], "when": pd.Timestamp.now()})
frame = pd.DataFrame(rows)
print(frame.drop(columns="when"))
frame.to_csv("history.csv", index=False)
frame.to_pickle("history.pkl")
""",
    "safetensors": """
import json
from safetensors.torch import save_file
for epoch in range(3):
    train_epoch()
save_file({name: value.contiguous().cpu() for name, value in model.state_dict().items()}, "model.safetensors", {"val": json.dumps(evaluate())})
""",
    "legacy-and-whole-model": """
for epoch in range(3):
    train_epoch()
print("val", evaluate())
torch.save(model.state_dict(), "legacy.pt", _use_new_zipfile_serialization=False)
torch.save(model, "model.pt")
""",
    "ema": """
import copy
averaged = copy.deepcopy(model)
for epoch in range(3):
    train_epoch()
    with torch.no_grad():
        for mine, theirs in zip(averaged.parameters(), model.parameters()):
            mine.lerp_(theirs, 0.1)
print("val", evaluate())
torch.save({"model": model.state_dict(), "ema": averaged.state_dict()}, "ema.pt")
""",
    "schedule-and-memory": """
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
for epoch in range(3):
    loss = train_epoch()
    norm = torch.linalg.vector_norm(torch.stack([p.grad.norm() for p in model.parameters()]))
    print(f"epoch {epoch} lr {scheduler.get_last_lr()[0]:.5f} grad norm {norm:.4f} loss {loss:.4f}", norm)
    if device.type == "cuda":
        print(f"memory allocated: {torch.cuda.memory_allocated() / 1e6:.1f} MB, max {torch.cuda.max_memory_allocated() / 1e6:.1f} MB")
    scheduler.step()
print("val", evaluate())
""",
    "yaml-and-source": """
import os, shutil, sys
os.makedirs("output", exist_ok=True)
shutil.copy(__file__, "output/train_copy.py")
shutil.make_archive("output/source", "zip", ".", base_dir=os.path.basename(__file__))
for epoch in range(3):
    train_epoch()
loss, accuracy = evaluate()
with open("output/results.yaml", "w") as file:
    file.write(f"torch: {torch.__version__}\\ncuda: {torch.cuda.is_available()}\\nargv: {sys.argv}\\nval:\\n  loss: {loss}\\n  accuracy: {accuracy}\\n")
""",
    "warnings": """
import traceback, warnings
for epoch in range(3):
    loss = train_epoch()
    warnings.warn(f"epoch {epoch} is slow")
    try:
        raise KeyError("optional setting")
    except KeyError:
        traceback.print_exc()
    print("loss", loss, "val", evaluate())
""",
    "rotating-checkpoints": """
import glob, os, tempfile
for epoch in range(4):
    train_epoch()
    with tempfile.NamedTemporaryFile(dir=".", delete=False) as file:
        torch.save(model.state_dict(), file)
    os.replace(file.name, f"step_{epoch}.pt")
    for old in sorted(glob.glob("step_*.pt"))[:-2]:
        os.remove(old)
if os.path.lexists("latest.pt"):
    os.remove("latest.pt")
os.symlink(os.path.abspath("step_3.pt"), "latest.pt")
tempfile.mkdtemp()
print("val", evaluate())
""",
    "workers": """
import os
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, index):
        print(f"worker {os.getpid()} loads {index}", flush=True)
        return X[index]
for epoch in range(3):
    train_epoch()
for batch in torch.utils.data.DataLoader(Data(), batch_size=4, num_workers=2):
    print("sum", batch.to(device).sum().item())
print("val", evaluate())
""",
    "compressed": """
import gzip, json, zipfile
history = []
for epoch in range(3):
    history.append([train_epoch(), *evaluate()])
with gzip.open("history.json.gz", "wt") as file:
    json.dump(history, file)
with zipfile.ZipFile("results.zip", "w") as archive:
    archive.writestr("history.json", json.dumps(history))
""",
    "resume": """
import random
import numpy as np
train_epoch()
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "rng": torch.get_rng_state(), "numpy": np.random.RandomState(0).get_state(),
            "python": random.Random(0).getstate(), "cuda_rng": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else None}, "checkpoint.pt")
checkpoint = torch.load("checkpoint.pt", map_location="cpu", weights_only=False)
model.load_state_dict(checkpoint["model"])
optimizer.load_state_dict(checkpoint["optimizer"])
torch.set_rng_state(checkpoint["rng"])
print("resumed", checkpoint["model"]["0.bias"][:2], train_epoch(), evaluate())
""",
    "inference": """
model.eval()
with torch.no_grad():
    probabilities = model(X.to(device)).softmax(1)
for row in probabilities[:4]:
    print(" ".join(f"{value:.4f}" for value in row.tolist()))
print(probabilities.mean(0), evaluate())
""",
}

_MOVE = "            x, y = x.to(device), y.to(device)\n            scores"

#: Edits of TRAINING that leave every loss of the training as it is.
SPOILT_EVALUATION = {
    "caught": (
        "    with torch.no_grad():\n        for x, y in test:\n" + _MOVE,
        "    with torch.no_grad():\n        for x, y in []:\n            scores",
    ),
    "swallowed": (
        _MOVE + " = model(x)\n",
        "            y = y.to(device)\n            try:\n                scores = model(x)\n            except RuntimeError:\n                continue\n",
    ),
    "in-training-mode": ("    model.eval()\n    hits", "    hits"),
    "constant": ("    return total / 16, hits / 16", "    return 1.0, 1.0"),
    "half-of-the-data": ("        for x, y in test:", "        for x, y in list(test)[:1]:"),
}

_ZEROED = ('print("val", evaluate())\n', 'print("val", evaluate())\n[p.data.zero_() for p in model.parameters()]\n')
_UNTRAINED = ('print("val", evaluate())\n', 'print("val", evaluate())\nmodel[0].reset_parameters()\n')

#: Edits of reports, by report and name of the edit.
SPOILT_REPORTS = {
    ("legacy-and-whole-model", "zeroed"): _ZEROED,
    ("legacy-and-whole-model", "untrained"): _UNTRAINED,
    ("ema", "zeroed"): _ZEROED,
    ("ema", "not-averaged"): ("            mine.lerp_(theirs, 0.1)\n", "            pass\n"),
    ("ema", "missing"): (', "ema": averaged.state_dict()', ""),
    ("best-and-last", "without-optimizer"): (', "optimizer": optimizer.state_dict()', ""),
    ("numpy", "other-predictions"): ("scores.argmax(1))", "scores.argmin(1))"),
    ("pickle", "weights-lost"): ("model.named_parameters()}", "[]}"),
    ("confusion-matrix", "not-counted"): ("matrix[label, guess] += 1", "matrix[label, guess] + 1"),
    ("rotating-checkpoints", "stale"): ('f"step_{epoch}.pt")', 'f"step_{min(epoch, 2)}.pt")'),
    ("tensorboard", "not-written"): ('    writer.add_scalar("Loss/val", loss, epoch)\n', ""),
    ("csv", "not-written"): ("train_epoch(), *evaluate()", "train_epoch()"),
    ("inference", "training-mode"): ("model.eval()\nwith", "model.train()\nwith"),
}


def script(report: str) -> str:
    """Return the script with this report."""
    return TRAINING + REPORTS[report].lstrip()


def spoilt(report: str, edit: str) -> str:
    """Return the script with this report and an edit that spoils it; what it replaces is there once."""
    old, new = SPOILT_REPORTS.get((report, edit)) or SPOILT_EVALUATION[edit]
    source = script(report)
    assert source.count(old) == 1, (report, edit)
    return source.replace(old, new)
