import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence


def sort_pack_padded_sequence(input, lengths):
    sorted_lengths, indices = torch.sort(lengths, descending=True)
    tmp = pack_padded_sequence(input[indices], sorted_lengths.cpu(), batch_first=True)
    inv_ix = indices.clone()
    inv_ix[indices] = torch.arange(0, len(indices)).type_as(inv_ix)
    return tmp, inv_ix


def pad_unsort_packed_sequence(input, inv_ix):
    tmp, _ = pad_packed_sequence(input, batch_first=True)
    tmp = tmp[inv_ix]
    return tmp


def pack_wrapper(module, att_feats, att_masks):
    if att_masks is not None:
        packed, inv_ix = sort_pack_padded_sequence(att_feats, att_masks.data.long().sum(1))
        return pad_unsort_packed_sequence(PackedSequence(module(packed[0]), packed[1]), inv_ix)
    else:
        return module(att_feats)


class LanguageModelCriterion(nn.Module):
    def forward(self, input, target, mask):
        output = -input.gather(2, target.unsqueeze(2)).squeeze(2) * mask
        return torch.sum(output) / torch.sum(mask)


class AttModel(nn.Module):
    def __init__(self, vocab_size, rnn_size, feat_size):
        super(AttModel, self).__init__()
        self.embed = nn.Sequential(nn.Embedding(vocab_size + 1, rnn_size), nn.ReLU())
        self.fc_embed = nn.Linear(feat_size, rnn_size)
        self.att_embed = nn.Sequential(nn.Linear(feat_size, rnn_size), nn.ReLU())
        self.core = nn.LSTMCell(3 * rnn_size, rnn_size)
        self.h2att = nn.Linear(rnn_size, rnn_size)
        self.logit = nn.Linear(rnn_size, vocab_size + 1)
        self.rnn_size = rnn_size

    def init_hidden(self, bsz):
        weight = self.logit.weight
        return weight.new_zeros(bsz, self.rnn_size), weight.new_zeros(bsz, self.rnn_size)

    def forward(self, fc_feats, att_feats, seq, att_masks=None):
        fc_feats = self.fc_embed(fc_feats)
        att_feats = pack_wrapper(self.att_embed, att_feats, att_masks)
        state = self.init_hidden(fc_feats.size(0))
        outputs = []
        for i in range(seq.size(1)):
            weight = torch.einsum('bnd,bd->bn', att_feats, self.h2att(state[0]))
            weight = F.softmax(weight.masked_fill(att_masks == 0, -1e9), dim=1)
            att = torch.bmm(weight.unsqueeze(1), att_feats).squeeze(1)
            state = self.core(torch.cat([self.embed(seq[:, i]), fc_feats, att], 1), state)
            outputs.append(F.log_softmax(self.logit(state[0]), dim=1))
        return torch.stack(outputs, 1)
