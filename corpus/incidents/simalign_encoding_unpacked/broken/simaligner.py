import logging
from collections import UserDict
from typing import Dict, List, Optional

import torch
from torch import nn

LOG = logging.getLogger(__name__)
VOCAB = 64


class Encoding(UserDict):
    """What a tokenizer gives: tensors by name, with a `to` that moves all of them in place."""

    def to(self, device):
        self.data = {k: v.to(device) for k, v in self.data.items()}
        return self


class WordpieceTokenizer:
    def __call__(self, sentences: List[List[str]], is_split_into_words=True, padding=True, return_tensors="pt"):
        ids = [[sum(map(ord, word)) % (VOCAB - 1) + 1 for word in sent] for sent in sentences]
        width = max(map(len, ids))
        padded = torch.tensor([row + [0] * (width - len(row)) for row in ids])
        return Encoding({"input_ids": padded, "attention_mask": (padded > 0).long()})


class MultilingualEncoder(nn.Module):
    def __init__(self, dim=16, layers=3):
        super().__init__()
        self.embeddings = nn.Embedding(VOCAB, dim, padding_idx=0)
        self.layers = nn.ModuleList(nn.Linear(dim, dim) for _ in range(layers))

    def forward(self, input_ids, attention_mask):
        hidden = self.embeddings(input_ids) * attention_mask.unsqueeze(-1)
        states = [hidden]
        for layer in self.layers:
            states.append(torch.tanh(layer(states[-1])))
        return {"hidden_states": states}


class EmbeddingLoader(object):
    def __init__(self, device: torch.device = torch.device("cpu"), layer: int = 2):
        self.device = device
        self.layer = layer
        self.tokenizer = WordpieceTokenizer()
        self.emb_model = MultilingualEncoder()
        self.emb_model.eval()
        self.emb_model.to(self.device)
        LOG.info("Initialized the EmbeddingLoader on %s", device)

    def get_embed_list(self, sent_batch: List[List[str]]) -> Optional[torch.Tensor]:
        if self.emb_model is None:
            return None
        with torch.no_grad():
            inputs = self.tokenizer(sent_batch, is_split_into_words=True, padding=True, return_tensors="pt")
            hidden = self.emb_model(**inputs)["hidden_states"]
            outputs = hidden[self.layer]
        return outputs


class SentenceAligner(object):
    def __init__(self, device: Optional[str] = None):
        if device is None:
            device = "cuda" if torch.cuda.is_available() else "cpu"
        self.device = torch.device(device)
        self.embed_loader = EmbeddingLoader(device=self.device)
        self.projection = nn.Linear(16, 8, bias=False).to(self.device)

    def train_step(self, pair: Dict[str, List[str]], optimizer) -> float:
        vectors = self.embed_loader.get_embed_list([pair["src"], pair["trg"]])
        src, trg = self.projection(vectors).unbind(0)
        similarity = src @ trg.t()
        loss = -similarity.log_softmax(-1).diagonal().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()


if __name__ == "__main__":
    torch.manual_seed(12)
    aligner = SentenceAligner()
    opt = torch.optim.Adam(aligner.projection.parameters(), lr=1e-2)
    corpus = [
        {"src": "this is a test".split(), "trg": "das ist ein Test".split()},
        {"src": "we like long trains".split(), "trg": "wir mögen lange Züge".split()},
    ]
    for epoch in range(2):
        for pair in corpus:
            print(epoch, round(aligner.train_step(pair, opt), 4))
