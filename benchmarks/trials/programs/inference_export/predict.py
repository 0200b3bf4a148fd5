"""Tag sentences with a small bag-of-words model; writes predictions.csv and prints the most likely tag of each."""
import csv
import hashlib
import sys

import torch
import torch.nn as nn

SENTENCES = [
    "the quick brown fox",
    "jumps over the lazy dog",
    "colourless green ideas sleep furiously",
    "to be or not to be",
    "all happy families are alike",
    "call me ishmael",
]
TAGS = ["noun", "verb", "other"]


def bucket(word, size=64):
    return int(hashlib.md5(word.encode()).hexdigest(), 16) % size


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.EmbeddingBag(64, 16, mode="mean")
        self.head = nn.Linear(16, len(TAGS))

    def forward(self, words, offsets):
        return self.head(torch.tanh(self.table(words, offsets)))


class Predictor:
    def __init__(self, model):
        self.model = model.eval()
        self.temperature = torch.tensor([1.5, 1.0, 0.7])

    @torch.inference_mode()
    def __call__(self, sentences):
        words, offsets = [], []
        for sentence in sentences:
            offsets.append(len(words))
            words += [bucket(word) for word in sentence.split()]
        device = next(self.model.parameters()).device
        words, offsets = torch.tensor(words, device=device), torch.tensor(offsets, device=device)
        return torch.softmax(self.model(words, offsets) / self.temperature, dim=-1)


def main():
    torch.manual_seed(12)
    model = Bag()
    if torch.cuda.is_available():
        model = model.cuda()
    predictor = Predictor(model)
    rows = []
    for start in range(0, len(SENTENCES), 2):
        chunk = SENTENCES[start : start + 2]
        rows += zip(chunk, predictor(chunk).tolist())
    with open("predictions.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["sentence", *TAGS])
        for sentence, scores in rows:
            writer.writerow([sentence, *(f"{score:.5f}" for score in scores)])
            print(sentence, "->", TAGS[max(range(len(TAGS)), key=scores.__getitem__)])


if __name__ == "__main__":
    sys.exit(main())
