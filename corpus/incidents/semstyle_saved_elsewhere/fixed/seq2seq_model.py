import torch
import torch.nn as nn


class EncoderDecoder(nn.Module):

    def __init__(self, n_terms, n_words, emb_size):
        super(EncoderDecoder, self).__init__()
        self.term_emb = nn.Embedding(n_terms, emb_size)
        self.encoder = nn.GRU(emb_size, emb_size, batch_first=True)
        self.word_emb = nn.Embedding(n_words, emb_size)
        self.decoder = nn.GRU(emb_size, emb_size, batch_first=True)
        self.out = nn.Linear(emb_size, n_words)

    def forward(self, terms, words):
        _, h = self.encoder(self.term_emb(terms))
        y, _ = self.decoder(self.word_emb(words), h)
        return self.out(y)


def save_model(model, params, path):
    torch.save({'model': model.state_dict(), 'params': params}, path)


def load_model(path):
    saved = torch.load(path, map_location='cpu')
    params = saved['params']
    model = EncoderDecoder(params['n_terms'], params['n_words'], params['emb_size'])
    model.load_state_dict(saved['model'])
    return model, params
