import random

import numpy as np
import torch
from model.sequential.CL4SRec import CL4SRec
from model.sequential.SASRec import SASRec
from util.conf import ModelConf

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
training = {f"s{user}": [f"i{random.randrange(12)}" for _ in range(6)] for user in range(6)}
test = {f"s{user}": [f"i{random.randrange(12)}"] for user in range(6)}
options = """training.set: train.txt
test.set: test.txt
model:
  name: {0}
  type: sequential
item.ranking.topN: [3]
embedding.size: 8
max.epoch: 2
batch.size: 3
learning.rate: 0.01
reg.lambda: 0.0001
max.len: 8
output: ./results/
{0}:
  n_blocks: 1
  n_heads: 2
  drop_rate: 0.2
  aug_type: 1
  aug_rate: 0.4
  cl_rate: 0.1
  lambda: 0.1
"""
for model in (SASRec, CL4SRec):
    with open("options.yaml", "w", encoding="utf-8") as file:
        file.write(options.format(model.__name__))
    model(ModelConf("options.yaml"), training, test).execute()
