import json
import sys

import numpy as np
import torch

sys.path[1:1] = ["../utils", "../transformer", "../solver", "../data"]
import data
import train

torch.manual_seed(0)
draw = np.random.RandomState(0)
data.kaldi_io.read_mat = lambda name: draw.rand(int(name), 10).astype(np.float32)
for part, lengths in (("train", (30, 28, 24, 22)), ("valid", (26, 24))):
    said = {
        f"{part}{each}": {
            "input": [{"feat": str(each), "shape": [each, 10]}],
            "output": [{"tokenid": " ".join(map(str, draw.randint(3, 12, 5))), "shape": [5, 12]}],
        }
        for each in lengths
    }
    with open(f"{part}.json", "w", encoding="utf-8") as file:
        json.dump({"utts": said}, file)
with open("words.txt", "w", encoding="utf-8") as file:
    file.write("<unk> 0\n<sos> 1\n<eos> 2\n" + "".join(f"w{each} {each}\n" for each in range(3, 12)))
train.main(train.parser.parse_args([
    "--train-json", "train.json", "--valid-json", "valid.json", "--dict", "words.txt", "--d_input", "10", "--n_layers_enc", "1",
    "--n_layers_dec", "1", "--n_head", "2", "--d_k", "8", "--d_v", "8", "--d_model", "16", "--d_inner", "32", "--d_word_vec", "16",
    "--pe_maxlen", "100", "--epochs", "2", "--batch-size", "2", "--num-workers", "0", "--print-freq", "1", "--warmup_steps", "10",
]))
