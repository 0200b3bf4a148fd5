from dataclasses import dataclass
from typing import List

import torch


@dataclass
class PropositionBatch:
    """Sentences, masks of their propositions, and which proposition belongs to which sentence."""
    input_ids: torch.Tensor
    attention_mask: torch.Tensor
    all_prop_mask: torch.Tensor
    prop_to_sent: torch.Tensor
    labels: torch.Tensor
    texts: List[str]

    def to(self, device):
        for name, value in self.__dict__.items():
            if isinstance(value, torch.Tensor):
                setattr(self, name, value.to(device))
        return self


class PropPairCollator:
    def __init__(self, max_len=8):
        self.max_len = max_len

    def __call__(self, examples):
        ids = torch.zeros(len(examples), self.max_len, dtype=torch.long)
        masks, owner, labels = [], [], []
        for n, (tokens, props) in enumerate(examples):
            ids[n, :len(tokens)] = torch.tensor(tokens)
            for begin, end, label in props:
                mask = torch.zeros(self.max_len)
                mask[begin:end] = 1.0
                masks.append(mask)
                owner.append(n)
                labels.append(label)
        return PropositionBatch(ids, (ids > 0).float(), torch.stack(masks), torch.tensor(owner), torch.tensor(labels),
                                [" ".join(map(str, tokens)) for tokens, _ in examples])
