"""
Implementation of "Attention is All You Need", the decoder only.
"""

import math

import numpy as np
import torch
import torch.nn as nn

MAX_SIZE = 50
PAD = 1


class MultiHeadedAttention(nn.Module):
    def __init__(self, n_head, d_model):
        super(MultiHeadedAttention, self).__init__()
        self.heads = n_head
        self.d_k = d_model // n_head
        self.linear_keys = nn.Linear(d_model, d_model, bias=False)
        self.linear_values = nn.Linear(d_model, d_model, bias=False)
        self.linear_query = nn.Linear(d_model, d_model, bias=False)
        self.final = nn.Linear(d_model, d_model)

    def forward(self, key, value, query, mask=None):
        def shape(x):
            return x.view(x.size(0), x.size(1), self.heads, self.d_k).transpose(1, 2)

        scores = torch.matmul(shape(self.linear_query(query)), shape(self.linear_keys(key)).transpose(2, 3)) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask.unsqueeze(1), -1e18)
        context = torch.matmul(torch.softmax(scores, -1), shape(self.linear_values(value)))
        return self.final(context.transpose(1, 2).reshape(query.size()))


class TransformerDecoderLayer(nn.Module):
    """Self attention over what has been said, then attention over the source."""

    def __init__(self, size, head_count=2, hidden_size=32):
        super(TransformerDecoderLayer, self).__init__()
        self.self_attn = MultiHeadedAttention(head_count, size)
        self.context_attn = MultiHeadedAttention(head_count, size)
        self.feed_forward = nn.Sequential(nn.Linear(size, hidden_size), nn.ReLU(), nn.Linear(hidden_size, size))
        self.layer_norm_1 = nn.LayerNorm(size)
        self.layer_norm_2 = nn.LayerNorm(size)
        self.mask = self._get_attn_subsequent_mask(MAX_SIZE)

    def forward(self, input, context, src_pad_mask, tgt_pad_mask):
        dec_mask = torch.gt(tgt_pad_mask.byte() + self.mask[:, :tgt_pad_mask.size(1), :tgt_pad_mask.size(1)].expand_as(tgt_pad_mask), 0)
        input_norm = self.layer_norm_1(input)
        query = self.self_attn(input_norm, input_norm, input_norm, mask=dec_mask) + input
        mid = self.context_attn(context, context, self.layer_norm_2(query), mask=src_pad_mask)
        return self.feed_forward(mid + query)

    def _get_attn_subsequent_mask(self, size):
        """ Get an attention mask to avoid using the subsequent info."""
        attn_shape = (1, size, size)
        subsequent_mask = np.triu(np.ones(attn_shape), k=1).astype('uint8')
        subsequent_mask = torch.from_numpy(subsequent_mask)
        return subsequent_mask


class TransformerDecoder(nn.Module):
    def __init__(self, num_layers, size, vocab):
        super(TransformerDecoder, self).__init__()
        self.embeddings = nn.Embedding(vocab, size, padding_idx=PAD)
        self.transformer_layers = nn.ModuleList([TransformerDecoderLayer(size) for _ in range(num_layers)])
        self.generator = nn.Linear(size, vocab)

    def forward(self, src, tgt):
        context, output = self.embeddings(src), self.embeddings(tgt)
        src_pad_mask = src.eq(PAD).unsqueeze(1).expand(-1, tgt.size(1), -1)
        tgt_pad_mask = tgt.eq(PAD).unsqueeze(1).expand(-1, tgt.size(1), -1)
        for layer in self.transformer_layers:
            output = layer(output, context, src_pad_mask, tgt_pad_mask)
        return self.generator(output)
