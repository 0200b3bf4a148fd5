""" Perplexity of a text under a recurrent language model.
>>> scorer = LM()
>>> scorer.get_perplexity(['sad, bad', 'happy'])
"""
import logging
from math import exp
from typing import List

import torch
from torch import nn

from .tokenizer import CharTokenizer

PAD_TOKEN_LABEL_ID = nn.CrossEntropyLoss().ignore_index


class RecurrentLM(nn.Module):

    def __init__(self, vocab_size: int, hidden: int):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, hidden)
        self.rnn = nn.GRU(hidden, hidden, batch_first=True)
        self.lm_head = nn.Linear(hidden, vocab_size)

    def forward(self, input_ids, attention_mask):
        h, _ = self.rnn(self.embed(input_ids) * attention_mask.unsqueeze(-1))
        return {'logits': self.lm_head(h)}


class LM:
    """ Language Model. """

    def __init__(self, max_length: int = 12, hidden: int = 16, seed: int = 0):
        logging.info('Loading Model')
        torch.manual_seed(seed)
        self.tokenizer = CharTokenizer()
        self.max_length = max_length
        self.vocab_size = len(self.tokenizer)
        self.model = RecurrentLM(self.vocab_size, hidden)

        # loss function
        self.loss_fct = nn.CrossEntropyLoss(reduction='none')

        # GPU setup
        self.device = 'cuda' if torch.cuda.device_count() > 0 else 'cpu'
        self.model.to(self.device)

    def _sequence_loss(self, input_texts: List):
        model_inputs = self.tokenizer(input_texts, max_length=self.max_length)
        out = self.model(**{k: v.to(self.device) for k, v in model_inputs.items()})
        logit = out['logits']

        # shift the label sequence for causal inference
        label = model_inputs['input_ids'].clone()
        label[label == self.tokenizer.pad_token_id] = PAD_TOKEN_LABEL_ID
        shift_logits = logit[..., :-1, :].contiguous()
        shift_label = label[:, 1:].contiguous()

        # compute loss
        valid_length = (shift_label != PAD_TOKEN_LABEL_ID).sum(dim=-1)
        loss = self.loss_fct(shift_logits.view(-1, self.vocab_size), shift_label.view(-1))
        loss = loss.view(len(logit), -1)
        return torch.sum(loss, -1) / valid_length

    def adapt(self, input_texts: List, steps: int = 4):
        optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-2)
        for n in range(steps):
            loss = self._sequence_loss(input_texts).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(f'adapt {n}: {loss.item():.4f}')

    def get_perplexity(self, input_texts: List, batch: int = 2):
        loss_list = []
        with torch.no_grad():
            for s in range(0, len(input_texts), batch):
                loss_list += self._sequence_loss(input_texts[s:s + batch]).cpu().tolist()
        return [exp(i) for i in loss_list]
