import torch

from seq2seq_model import EncoderDecoder, save_model

torch.manual_seed(1)
params = {'n_terms': 12, 'n_words': 15, 'emb_size': 8}
model = EncoderDecoder(**params)
if torch.cuda.is_available():
    model = model.cuda()
save_model(model, params, 'termtoword.pt')
