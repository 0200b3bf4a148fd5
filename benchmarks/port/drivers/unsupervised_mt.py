from argparse import Namespace

import torch
from src.gumbel import gumbel_softmax
from src.model.seq2seq import Decoder, Encoder
from torch import nn

torch.manual_seed(0)
options = Namespace(
    n_langs=2, n_words=[12, 12], share_lang_emb=True, share_encdec_emb=False, share_decpro_emb=False, share_output_emb=False,
    share_lstm_proj=False, share_enc=1, share_dec=1, emb_dim=8, hidden_dim=8, lstm_proj=False, dropout=0.0, n_enc_layers=1,
    n_dec_layers=1, enc_dim=8, proj_mode="pool", pad_index=2, eos_index=1, bos_index=[0, 0], init_encoded=True, freeze_enc_emb=False,
    freeze_dec_emb=False, vocab=[], vocab_mask_neg=[],
)  # fmt: skip
encoder = Encoder(options)
decoder = Decoder(options, encoder)
encoder.cuda()
decoder.cuda()
criterion = nn.CrossEntropyLoss().cuda()
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.01)
lengths = torch.tensor([5, 5, 5])
for step in range(3):
    sentences = torch.randint(3, 12, (5, 3)).cuda()
    scores = decoder(encoder(sentences, lengths, step % 2), sentences[:-1], step % 2)
    loss = criterion(scores.view(-1, 12), sentences[1:].reshape(-1))
    chosen = gumbel_softmax(torch.log_softmax(scores.view(-1, 12), 1), 0.5)
    loss = loss + 0.1 * (chosen * scores.view(-1, 12)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
