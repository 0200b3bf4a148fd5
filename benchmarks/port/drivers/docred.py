import json
import os
from argparse import Namespace

import config
import models
import numpy as np
import torch

torch.manual_seed(0)
draw = np.random.RandomState(0)
os.makedirs("prepro_data", exist_ok=True)


def save(name, array):
    np.save(os.path.join("prepro_data", name), array)


def document(title):
    places = [[{"pos": [start, start + 2]}] for start in (0, 3, 6)]
    return {"vertexSet": places, "labels": [{"h": 0, "t": 1, "r": 2, "intrain": False}], "na_triple": [[0, 2], [1, 0]], "title": title}


for part, count in (("train", 4), ("dev", 2)):
    words = draw.randint(1, 30, (count, 12))
    words[1::2, 10:] = 0
    save(f"{part}_word.npy", words)
    save(f"{part}_pos.npy", draw.randint(0, 4, (count, 12)))
    save(f"{part}_ner.npy", draw.randint(0, 7, (count, 12)))
    save(f"{part}_char.npy", draw.randint(0, 20, (count, 12, 16)))
    with open(f"prepro_data/{part}.json", "w", encoding="utf-8") as file:
        json.dump([document(f"{part} {each}") for each in range(count)], file)
save("vec.npy", draw.rand(30, 10).astype(np.float32))
save("char_vec.npy", draw.rand(20, 8).astype(np.float32))
with open("prepro_data/rel2id.json", "w", encoding="utf-8") as file:
    json.dump({f"P{each}": each for each in range(97)}, file)
for model in (models.LSTM, models.CNN3):
    con = config.Config(Namespace(train_prefix="train", test_prefix="dev"))
    con.set_max_length(12)
    con.set_batch_size(2)
    con.h_t_limit = con.test_relation_limit = 8
    con.period = 1
    con.set_max_epoch(2)
    con.load_train_data()
    con.load_test_data()
    con.train(model, model.__name__)
