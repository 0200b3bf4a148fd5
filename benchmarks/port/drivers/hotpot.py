import json
import runpy
import sys

import numpy as np
import torch

PARAGRAPH, QUESTION, SENTENCES, LETTERS = 24, 6, 3, 8


def question(number):
    draw = np.random.RandomState(number)
    words, length = draw.randint(2, 30, PARAGRAPH), 24 - number
    words[length:] = 0
    letters = {"context_char_idxs": draw.randint(2, 20, (PARAGRAPH, LETTERS)), "ques_char_idxs": draw.randint(2, 20, (QUESTION, LETTERS))}
    indices = {"context_idxs": words, "ques_idxs": draw.randint(2, 30, QUESTION), **letters}
    start = (-1, 2, 5, -2)[number % 4]
    facts = [(0, 6, True), (6, 12, False), (12, length, True)]
    return {**{name: torch.from_numpy(index) for name, index in indices.items()}, "y1": start, "y2": start, "id": str(number), "start_end_facts": facts}


get = torch.Tensor.__getitem__
torch.Tensor.__getitem__ = lambda self, index: self.item() if isinstance(index, int) and not self.dim() else get(self, index)  # as in PyTorch 0.3
sys.modules["ujson"] = json
draw = np.random.RandomState(0)
spans = [[2 * place, 2 * place + 1] for place in range(PARAGRAPH)]
answers = {str(number): {"context": "a " * PARAGRAPH, "spans": spans, "answer": ["yes"]} for number in range(8)}
contents = {"word_emb": draw.randn(30, 12).tolist(), "char_emb": draw.randn(20, 4).tolist(), "dev_eval": answers, "idx2word": {}}
for name, content in contents.items():
    with open(f"{name}.json", "w", encoding="utf-8") as file:
        json.dump(content, file)
torch.save([question(number) for number in range(8)], "train_record.pkl")
torch.save([question(number) for number in range(4)], "dev_record.pkl")
sys.argv = [
    "main.py", "--glove_dim", "12", "--char_dim", "4", "--para_limit", "24", "--ques_limit", "6", "--sent_limit", "3", "--char_limit", "8",
    "--batch_size", "4", "--hidden", "8", "--char_hidden", "8", "--period", "1", "--checkpoint", "2", "--sp_lambda", "1.0",
]
runpy.run_path("main.py", run_name="__main__")
