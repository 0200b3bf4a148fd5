import os
import runpy
import sys

import numpy as np

os.makedirs("data/tiny", exist_ok=True)
draw = np.random.RandomState(0)
for part in ("train", "val"):
    draw.randint(0, 60, 200).astype(np.uint16).tofile(f"data/tiny/{part}.bin")
np.random.seed(0)
sys.argv = [
    "train.py", "--dataset=tiny", "--compile=False", "--batch_size=2", "--block_size=8", "--n_layer=1", "--n_head=2", "--n_embd=16",
    "--gradient_accumulation_steps=2", "--max_iters=3", "--lr_decay_iters=3", "--warmup_iters=1", "--eval_interval=2", "--eval_iters=2",
    "--log_interval=1", "--dtype='float32'", "--always_save_checkpoint=True",
]
runpy.run_path("train.py", run_name="__main__")
