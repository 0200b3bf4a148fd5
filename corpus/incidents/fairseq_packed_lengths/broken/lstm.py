import torch.nn as nn


class LSTMEncoder(nn.Module):
    """LSTM encoder."""

    def __init__(self, num_embeddings, embed_dim, hidden_size, padding_idx=0, left_pad=False):
        super().__init__()
        self.padding_idx = padding_idx
        self.hidden_size = hidden_size
        self.embed_tokens = nn.Embedding(num_embeddings, embed_dim, padding_idx)
        self.lstm = nn.LSTM(input_size=embed_dim, hidden_size=hidden_size, num_layers=1, bidirectional=False)

    def forward(self, src_tokens, src_lengths, enforce_sorted: bool = True):
        bsz, seqlen = src_tokens.size()

        # embed tokens
        x = self.embed_tokens(src_tokens)

        # B x T x C -> T x B x C
        x = x.transpose(0, 1)

        # pack embedded source tokens into a PackedSequence
        packed_x = nn.utils.rnn.pack_padded_sequence(x, src_lengths.data, enforce_sorted=enforce_sorted)

        # apply LSTM
        h0 = x.new_zeros(1, bsz, self.hidden_size)
        c0 = x.new_zeros(1, bsz, self.hidden_size)
        packed_outs, (final_hiddens, final_cells) = self.lstm(packed_x, (h0, c0))

        # unpack outputs
        x, _ = nn.utils.rnn.pad_packed_sequence(packed_outs, padding_value=self.padding_idx * 1.0)
        return x


class LSTMModel(nn.Module):
    def __init__(self, num_embeddings, embed_dim, hidden_size, num_outputs):
        super().__init__()
        self.encoder = LSTMEncoder(num_embeddings, embed_dim, hidden_size)
        self.out = nn.Linear(hidden_size, num_outputs)

    def forward(self, src_tokens, src_lengths):
        return self.out(self.encoder(src_tokens, src_lengths)).transpose(0, 1)
