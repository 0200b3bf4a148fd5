import os
import runpy
import sys
import types

import numpy as np
import torch
from torch import nn


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


module("nltk")
module("nltk.tokenize", word_tokenize=str.split)
from models import InferSent

torch.manual_seed(0)
draw = np.random.RandomState(0)
words = [f"w{number}" for number in range(30)]
with open("words.vec", "w", encoding="utf-8") as file:
    for word in ["<s>", "</s>", "<p>", "</p>", *words]:
        file.write(word + " " + " ".join(f"{value:.4f}" for value in draw.randn(300)) + "\n")
sentences = [" ".join(draw.choice(words, 5)) for _ in range(8)]
with open("sentences.txt", "w", encoding="utf-8") as file:
    file.write("\n".join(sentences) + "\n")
labels = torch.randint(0, 3, (4,)).cuda()


def train(pool_type, enc_lstm_dim, steps):
    """Train the encoder on natural language inference: a classifier of pairs of sentences."""
    params_model = {'bsize': 64, 'word_emb_dim': 300, 'enc_lstm_dim': enc_lstm_dim,
                    'pool_type': pool_type, 'dpout_model': 0.0, 'version': 2}
    infersent = InferSent(params_model).cuda()
    infersent.set_w2v_path("words.vec")
    infersent.build_vocab(sentences, tokenize=True)
    classifier = nn.Sequential(nn.Linear(8 * enc_lstm_dim, 32), nn.Tanh(), nn.Linear(32, 3)).cuda()
    loss_fn = nn.CrossEntropyLoss().cuda()
    optimizer = torch.optim.SGD([*infersent.parameters(), *classifier.parameters()], lr=0.1)
    tokens, lengths, _ = infersent.prepare_samples(sentences, 64, True, True)
    for step in range(steps):
        u = infersent((infersent.get_batch(tokens[:4]).cuda(), lengths[:4]))
        v = infersent((infersent.get_batch(tokens[4:]).cuda(), lengths[4:]))
        loss = loss_fn(classifier(torch.cat((u, v, torch.abs(u - v), u * v), 1)), labels)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(infersent.parameters(), 5)
        optimizer.step()
        print(pool_type, step, loss.item())
    return infersent


print(train("mean", 64, 2).encode(sentences, tokenize=True, verbose=True).shape)
torch.save(train("max", 2048, 2).state_dict(), "infersent2.pkl")
sys.argv = ["extract_features.py", "-g", "words.vec", "-v", "2", "-f", "infersent2.pkl", "-t", "-o", "features", "sentences.txt"]
runpy.run_path("extract_features.py", run_name="__main__")
print(np.load(os.path.join("features", "sentences.txt.embs.npy")).mean())
