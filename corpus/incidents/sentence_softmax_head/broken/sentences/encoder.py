from typing import Dict, Iterable, List, Optional, Tuple

import torch
from torch import Tensor, nn


def get_device_name() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "cpu"


def batch_to_device(batch: Dict[str, Tensor], target_device: torch.device):
    """Send a batch to a device."""
    for key in batch:
        if isinstance(batch[key], Tensor):
            batch[key] = batch[key].to(target_device)
    return batch


class SentenceEncoder(nn.Sequential):
    def __init__(self, vocab: int = 50, dim: int = 12, device: Optional[str] = None):
        super().__init__(nn.Embedding(vocab, dim), nn.Linear(dim, dim))
        self.dim = dim
        if device is None:
            device = get_device_name()
        self.to(device)

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def forward(self, features: Dict[str, Tensor]) -> Dict[str, Tensor]:
        tokens = super().forward(features["input_ids"])
        return {"sentence_embedding": torch.tanh(tokens).mean(1)}

    def get_sentence_embedding_dimension(self) -> int:
        return self.dim

    def fit(self, train_objectives: Iterable[Tuple[List, nn.Module]], epochs: int = 1, lr: float = 2e-3):
        for batches, loss_model in train_objectives:
            optimizer = torch.optim.AdamW(loss_model.parameters(), lr=lr)
            for epoch in range(epochs):
                for features, labels in batches:
                    labels = labels.to(self.device)
                    features = [batch_to_device(dict(batch), self.device) for batch in features]
                    loss_value = loss_model(features, labels)
                    loss_value.backward()
                    torch.nn.utils.clip_grad_norm_(loss_model.parameters(), 1.0)
                    optimizer.step()
                    optimizer.zero_grad()
                    print(epoch, loss_value.item())
