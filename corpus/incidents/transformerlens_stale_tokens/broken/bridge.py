from typing import List, Optional, Union

import torch
from torch import nn


class BridgeConfig:
    def __init__(self, d_model=12, d_vocab=30, n_ctx=16, device: Optional[str] = None):
        self.d_model = d_model
        self.d_vocab = d_vocab
        self.n_ctx = n_ctx
        if device is None:
            device = "cuda" if torch.cuda.is_available() else "cpu"
        self.device = device


class HookedBridge(nn.Module):
    """A transformer whose intermediate values can be looked at."""

    def __init__(self, cfg: BridgeConfig):
        super().__init__()
        self.cfg = cfg
        self.embed = nn.Embedding(cfg.d_vocab, cfg.d_model)
        self.pos_embed = nn.Embedding(cfg.n_ctx, cfg.d_model)
        self.block = nn.TransformerEncoderLayer(cfg.d_model, 2, 24, dropout=0.0, batch_first=True)
        self.unembed = nn.Linear(cfg.d_model, cfg.d_vocab)
        self.to(cfg.device)

    def to_tokens(self, text: Union[str, List[str]]) -> torch.Tensor:
        texts = [text] if isinstance(text, str) else text
        rows = [[ord(c) % self.cfg.d_vocab for c in t[: self.cfg.n_ctx]] for t in texts]
        width = max(map(len, rows))
        return torch.tensor([row + [0] * (width - len(row)) for row in rows])

    def loss_fn(self, logits, tokens):
        log_probs = logits[:, :-1].log_softmax(-1)
        return -log_probs.gather(-1, tokens[:, 1:, None]).mean()

    def forward(self, input: Union[str, List[str], torch.Tensor], return_type: str = "logits"):
        if isinstance(input, (str, list)):
            input = self.to_tokens(input)
        input_tokens = input

        # Nothing may stay behind: inputs come from data loaders as often as from text
        if input.device != torch.device(self.cfg.device):
            input = input.to(self.cfg.device)

        positions = torch.arange(input.shape[1], device=input.device)
        residual = self.embed(input) + self.pos_embed(positions)
        logits = self.unembed(self.block(residual))
        if return_type == "logits":
            return logits
        loss = self.loss_fn(logits, input_tokens)
        return (logits, loss) if return_type == "both" else loss
