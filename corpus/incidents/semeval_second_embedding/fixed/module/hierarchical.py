import torch
import torch.nn as nn


class HierarchicalPredictor(nn.Module):
    def __init__(self, vocab, emb_dim, elmo_dim, hidden_dim, num_label):
        super(HierarchicalPredictor, self).__init__()
        self.embeddings = nn.Embedding(vocab, emb_dim)
        self.sent_lstm = nn.LSTM(emb_dim + elmo_dim, hidden_dim, batch_first=True, bidirectional=True)
        self.ctx_lstm = nn.LSTM(2 * hidden_dim, hidden_dim, batch_first=True)
        self.a2c = nn.Linear(hidden_dim, num_label)

    def lstm_cat_elmo(self, x, elmo_x):
        emb_x = torch.cat((self.embeddings(x), elmo_x), dim=2)
        out, _ = self.sent_lstm(emb_x)
        return out.max(dim=1)[0]

    def forward(self, turns, elmo):
        sents = [self.lstm_cat_elmo(turns[:, i], elmo[:, i]) for i in range(turns.size(1))]
        ctx, _ = self.ctx_lstm(torch.stack(sents, dim=1))
        return self.a2c(ctx[:, -1])
